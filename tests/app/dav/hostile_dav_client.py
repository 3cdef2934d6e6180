"""A client that sends hostile requests, and what lies outside of the originals."""

import os
from urllib.parse import unquote_to_bytes

from tests.helpers.dav_client import DavClient
from tests.helpers.library import hashes

SECRET = b"SECRET-outside"
METHODS = (
    "GET",
    "HEAD",
    "PROPFIND",
    "PROPPATCH",
    "PUT",
    "MKCOL",
    "DELETE",
    "COPY",
    "MOVE",
    "LOCK",
    "UNLOCK",
    "OPTIONS",
)
PATCH = b'<propertyupdate xmlns="DAV:"><set><prop><a xmlns="urn:x">1</a></prop></set></propertyupdate>'
LOCKINFO = b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
BODIES = {"PUT": b"planted", "PROPPATCH": PATCH, "LOCK": LOCKINFO}


def prepare(api):
    """A client; beside the originals lies a folder that it must not reach."""
    dav = DavClient(api)
    dav.originals = api.library.originals
    dav.outside = api.library.instance / "outside"
    dav.outside.mkdir()
    (dav.outside / "secret.jpg").write_bytes(SECRET)
    api.library.put("one.jpg", b"one")
    api.library.put("folder/two.jpg", b"two")
    (dav.originals / "link").symlink_to(dav.outside)
    (dav.originals / "file-link.jpg").symlink_to(dav.outside / "secret.jpg")
    (dav.originals / "loop").symlink_to("loop")
    os.mkfifo(dav.originals / "fifo")
    return dav


def send(dav, method, path, *, target=None, headers=None, body=None):
    """The answer to a request whose path arrives as a server hands it on: decoded once, as Latin-1."""
    headers = {"Depth": "1" if method == "PROPFIND" else "infinity", **(headers or {})}
    if target is not None:
        headers["Destination"] = target
    # A quoted path is decoded by hand: the test client does not pass on what is not UTF-8.
    info = unquote_to_bytes(f"/originals{path.partition('?')[0]}").decode("latin-1")
    answer = dav.call(
        method,
        "/x",
        BODIES.get(method, b"") if body is None else body,
        headers=headers,
        environ_overrides={"PATH_INFO": info},
    )
    assert answer.status_code < 500 or answer.status_code in {502, 507}, (method, path, target, answer.text)
    assert SECRET not in answer.data, (method, path)
    assert bytes(dav.originals) not in answer.data
    return answer


def is_untouched(dav):
    """Whether the world outside is as it was; puts back what is inside."""
    for name, data in (("one.jpg", b"one"), ("folder/two.jpg", b"two")):
        path = dav.originals / name
        if not path.is_file():
            if path.parent.is_file():
                path.parent.unlink()
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
    return hashes(dav.outside), sorted(path.name for path in dav.outside.iterdir())
