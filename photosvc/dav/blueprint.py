"""WebDAV: the originals as a network folder at `/originals/` (RFC 4918)."""

from typing import Final

from flask import Blueprint, Response, request

from photosvc.dav.errors import error_answer
from photosvc.dav.login import logged_in, respond
from photosvc.library.staging import require_writable
from photosvc.web.begin import begin_request, finish_request
from photosvc.web.browser_origin import OtherSiteError, is_foreign
from photosvc.web.contract import public, undocumented
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.responses import add_security_headers
from photosvc.web.service import current_service

BLUEPRINT: Final = "photosvc_dav"
FOLDER: Final = "/originals"
_READING: Final = ("GET", "HEAD", "PROPFIND")
_WRITING: Final = ("PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK")
#: The header with which a proxy asks before it takes a large body, by a PROPFIND with the same credential.
_LARGE_BODY: Final = "X-Large-Body"
_ALLOWED: Final = ", ".join(("OPTIONS", *_READING, *_WRITING))


def create_dav(url_prefix: str = "") -> Blueprint:
    """Make the blueprint of the folder of originals at `/originals/` below `url_prefix`."""
    dav = OwnBlueprint(BLUEPRINT, __name__)
    dav.register_error_handler(Exception, error_answer)

    @dav.before_request
    def begin() -> None:
        service = begin_request()
        if is_foreign(request, service.settings.base_url):  # browsers keep passwords, and send them along
            raise OtherSiteError

    @dav.after_request
    def end(answer: Response) -> Response:
        return finish_request(add_security_headers(answer))

    @undocumented
    @logged_in
    @require("webdav.read")
    def read(**path: str) -> Response:
        # No method that only reads has a large body: one that may not write could only fill the disk of the proxy.
        return write(**path) if _LARGE_BODY in request.headers else respond(url_prefix + FOLDER)

    @undocumented
    @logged_in
    @require("webdav.write")
    def write(**_path: str) -> Response:
        require_writable(current_service().settings)
        return respond(url_prefix + FOLDER)

    for name, view, methods in (
        ("options", options, ("OPTIONS",)),
        ("read", read, _READING),
        ("write", write, _WRITING),
    ):
        # The views read the path from the WSGI environment: Werkzeug replaces bytes that are not UTF-8.
        for rule in ("", "/", "/<path:path>"):
            dav.add_url_rule(rule, name, view, methods=methods, provide_automatic_options=False)
    return dav


@undocumented
@public
def options(**_path: str) -> Response:
    """Answer OPTIONS, without a log-in and the same for every path: clients ask before they log in."""
    return Response(headers={"DAV": "1, 2", "Allow": _ALLOWED, "MS-Author-Via": "DAV", "Content-Length": "0"})
