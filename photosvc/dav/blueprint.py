"""The routes of WebDAV, and the function that answers each method."""

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from flask import Blueprint, Response, request

from photosvc.dav.addresses import path_in, spelled
from photosvc.dav.delete import delete
from photosvc.dav.errors import DAVError, UnfitPathError, dav_error_answer, error_answer
from photosvc.dav.get_put import get, put
from photosvc.dav.lock_methods import lock, unlock
from photosvc.dav.login import logged_in
from photosvc.dav.move_copy import copy, make_folder, move
from photosvc.dav.properties import proppatch
from photosvc.dav.propfind import propfind
from photosvc.dav.request import DavRequest
from photosvc.dav.tree import Tree
from photosvc.library.originals import is_junk
from photosvc.library.staging import require_writable
from photosvc.web.begin import add_hooks
from photosvc.web.browser_origin import is_foreign
from photosvc.web.contract import public, undocumented
from photosvc.web.indexer import wake_indexer
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
#: Methods with a second name. They wake the indexer even for hidden files: programs save under a hidden name first.
_NAMING: Final = frozenset({"MOVE", "COPY"})
#: Methods that change everything in a folder.
_WHOLE: Final = frozenset({"DELETE", "MOVE", "COPY"})
_METHODS: Final[dict[str, Callable[[DavRequest], Response]]] = {
    "GET": get,
    "HEAD": get,
    "PROPFIND": propfind,
    "PROPPATCH": proppatch,
    "PUT": put,
    "MKCOL": make_folder,
    "DELETE": delete,
    "MOVE": move,
    "COPY": copy,
    "LOCK": lock,
    "UNLOCK": unlock,
}


def create_dav(url_prefix: str = "") -> Blueprint:
    """Make the blueprint of the folder of originals at `/originals/` below `url_prefix`."""
    dav = OwnBlueprint(BLUEPRINT, __name__)
    dav.register_error_handler(Exception, error_answer)

    # Browsers keep passwords, and send them along.
    add_hooks(dav, add_headers=add_security_headers, is_foreign=is_foreign)

    @undocumented
    @logged_in
    @require("webdav.read")
    def read(**path: str) -> Response:
        # Only writing needs a large body. A client that may not write must not fill the proxy's disk with one.
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


def respond(folder: str) -> Response:
    """Answer this request, which the view has authorized.

    Args:
        folder: the path of the folder of originals within the app.

    Raises:
        PhotosvcError: the request fails; `dav.errors.error_answer` renders the error.
    """
    service, environ = current_service(), request.environ
    if "#" in environ.get("RAW_URI", ""):  # gunicorn cuts it off: the path could then name the folder around the file
        raise UnfitPathError
    mount = environ["SCRIPT_NAME"] + folder
    tree = Tree(service, mount)
    client_path = path_in(environ["PATH_INFO"], folder)
    dav_request = DavRequest(tree, environ, spelled(tree.root, client_path), client_path)
    dav_request.check_disk(dav_request.name, within=environ["REQUEST_METHOD"] in _WHOLE or dav_request.is_deep)
    try:
        return _METHODS[environ["REQUEST_METHOD"]](dav_request)
    except DAVError as error:
        return dav_error_answer(error, quote(mount))
    finally:  # also after an error: some files may have changed
        if dav_request.asks_indexer and (environ["REQUEST_METHOD"] in _NAMING or not is_junk(dav_request.name)):
            wake_indexer(service)
