"""Style sheets, scripts and pictures of the pages, below one version, as they refer to each other by relative paths."""

import gzip
import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from flask import Response, request, url_for

from photosvc.core.errors import NotFoundError
from photosvc.pages.blueprint import pages
from photosvc.web.contract import public

_FOLDER: Final = Path(__file__).with_name("assets")
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
#: The service worker of the pages, whose scope is not below its own address.
_SHARE_WORKER: Final = "grid/share.js"
_FOREVER: Final = "public, max-age=31536000, immutable"
_CHECKED: Final = "public, no-cache"


@pages.get("/assets/<version>/<path:name>")
@public
def asset(version: str, name: str) -> Response:
    """Send a file that pages load; its address changes with its content."""
    content = _contents().get(name)
    if content is None:
        msg = "there is no such file"
        raise NotFoundError(msg)
    packed = _packed(name) if request.accept_encodings["gzip"] else None
    answer = Response(packed or content, content_type=_TYPES[Path(name).suffix])
    if packed:
        answer.headers["Content-Encoding"] = "gzip"
    answer.vary.add("Accept-Encoding")
    answer.headers["Cache-Control"] = _FOREVER if version == asset_version() else _CHECKED
    if name == _SHARE_WORKER:
        answer.headers["Service-Worker-Allowed"] = f"{url_for('.upload')}/"
    answer.set_etag(asset_version() + ("-gzip" if packed else ""))
    answer.make_conditional(request)
    return answer


@cache
def asset_version() -> str:
    """Return a digest of all files."""
    digest = hashlib.blake2b(digest_size=6)
    for name, content in sorted(_contents().items()):
        digest.update(b"%d %s %d " % (len(name), name.encode(), len(content)) + content)
    return digest.hexdigest()


@cache
def _contents() -> dict[str, bytes]:
    """Read the files, by their names below the folder."""
    files = (path for path in _FOLDER.rglob("*") if path.suffix in _TYPES)
    return {path.relative_to(_FOLDER).as_posix(): path.read_bytes() for path in files}


@cache
def _packed(name: str) -> bytes | None:
    """Return the file compressed with gzip; None if that is not smaller."""
    content = _contents()[name]
    packed = gzip.compress(content, 9, mtime=0)
    return packed if len(packed) < len(content) else None
