"""GET and HEAD: files are sent as downloads of the API are, without WsgiDAV in between."""

import os
from typing import TYPE_CHECKING, Final

from flask import Response

from photosvc.core.paths import clamped_time
from photosvc.dav.files.slots import patiently
from photosvc.dav.tree import OriginalFile, etag_of
from photosvc.web.answers.answer import cache_headers
from photosvc.web.transfers.files import FileAnswer, send_file

if TYPE_CHECKING:
    from photosvc.dav.dav_request import Request

#: Browsers must not run scripts of the file, even if they take it for a page.
_SANDBOX: Final = ("Content-Security-Policy", "default-src 'none'; sandbox")


def get(request: "Request") -> Response:
    """A file, whole or in ranges; a folder is empty, as some clients ask in this way whether it exists.

    Raises:
        DAVError: there is no such resource, or the header `If` does not hold.
        PhotosvcError: too many large files are being sent.

    """
    found = request.existing()
    request.check_if()
    if not isinstance(found, OriginalFile):
        return Response(content_type="text/html; charset=utf-8")
    request.service.close()  # a large file is read for long, without the database
    return patiently(lambda: _send(request, found))


def _send(request: "Request", found: OriginalFile) -> Response:
    file = found.get_content()
    status = os.fstat(file.fileno())
    return send_file(
        FileAnswer(
            file=file,
            size=status.st_size,
            content_type=found.get_content_type(),
            etag=etag_of(status),
            internal=f"originals{request.path}",
            modified_ns=clamped_time(status),
            headers=[*cache_headers(None), _SANDBOX],
        )
    )
