"""Answers a WebDAV request: WsgiDAV's methods, and our own where its answers are wrong or slow."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final, cast
from urllib.parse import quote

from flask import Response
from wsgidav.dav_error import DAVError
from wsgidav.util import parse_if_header_dict

from photosvc.core.errors import PhotosvcError
from photosvc.dav.addresses import path_in
from photosvc.dav.copying import copy
from photosvc.dav.dav_request import Request
from photosvc.dav.errors import UnfitPathError, dav_error_answer
from photosvc.dav.get import get
from photosvc.dav.lock_manager import LockManager
from photosvc.dav.property_manager import PropertyManager
from photosvc.dav.propfind import propfind
from photosvc.dav.proppatch import proppatch
from photosvc.dav.put import put
from photosvc.dav.relocate import delete, make_folder, move
from photosvc.dav.tree import Environ, OriginalFile, Originals
from photosvc.dav.xml_body import bound_xml
from photosvc.library import disk
from photosvc.library.relocation import is_junk
from photosvc.library.staging.names import checked_name
from photosvc.web.current import Service
from photosvc.web.indexer import wake_indexer


class Server:
    """Answers the requests of an app.

    Args:
        service: of the app.
        folder: the path of the folder of originals within the app.

    """

    def __init__(self, service: Service, folder: str) -> None:
        self._service = service
        self._folder = folder
        self._locks = LockManager(service)
        self._properties = PropertyManager(service)

    def respond(self, environ: Environ) -> Response:
        """The answer to a request whose principal may make it.

        Raises:
            PhotosvcError: it fails; `dav.errors.error_answer` renders it.

        """
        if "#" in environ.get("RAW_URI", ""):  # gunicorn cuts it off: a folder could be meant instead of what is in it
            raise UnfitPathError
        mount = environ["SCRIPT_NAME"] + self._folder
        provider = Originals(self._service, mount)
        provider.set_lock_manager(self._locks)
        provider.set_prop_manager(self._properties)
        request = Request(provider, environ, path_in(environ["PATH_INFO"], self._folder))
        try:
            answer = _METHODS[environ["REQUEST_METHOD"]](request)
        except DAVError as error:
            return dav_error_answer(error, quote(mount))
        if request.has_wished and not is_junk(request.name):
            wake_indexer(self._service)
        return answer


def _propfind(request: Request) -> Response:
    found = request.existing()
    request.check_if()
    return propfind(request.provider, request.environ, found)


def _proppatch(request: Request) -> Response:
    found = request.existing()
    request.check_conditions(found)
    return proppatch(request.provider, request.environ, found)


def _lock(request: Request) -> Response:
    bound_xml(request.environ, "lockinfo")
    found = request.find(request.path)
    if found is None:
        checked_name(request.name)
        request.check_writable(request.parent_of(request.path))
    try:
        return _by_wsgidav(request)
    except BaseException:
        if found is None:
            _remove_empty(request)
        raise


def _remove_empty(request: Request) -> None:
    """Remove the empty file that WsgiDAV makes before it is refused the lock."""
    made = request.find(request.path)
    if isinstance(made, OriginalFile) and made.status.st_size == 0:
        with suppress(PhotosvcError):
            disk.remove(request.provider.root, request.name)


def _by_wsgidav(request: Request) -> Response:
    parse_if_header_dict(request.environ)  # before the environment is copied
    method = getattr(request, f"do_{request.environ['REQUEST_METHOD']}")
    return cast("Response", Response.from_app(method, request.environ, buffered=True))


_METHODS: Final[dict[str, Callable[[Request], Response]]] = {
    "GET": get,
    "HEAD": get,
    "PROPFIND": _propfind,
    "PROPPATCH": _proppatch,
    "PUT": put,
    "MKCOL": make_folder,
    "DELETE": delete,
    "MOVE": move,
    "COPY": copy,
    "LOCK": _lock,
    "UNLOCK": _by_wsgidav,
}
