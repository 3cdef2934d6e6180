"""Answers a WebDAV request: each method has a function of its own, over the resources and errors of WsgiDAV.

WsgiDAV's methods hold for one process, decide and write in several transactions, and lose files that arrive in part.
"""

from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from flask import Response
from wsgidav.dav_error import DAVError

from photosvc.dav.addresses import path_in, spelled
from photosvc.dav.dav_request import Request
from photosvc.dav.errors import UnfitPathError, dav_error_answer
from photosvc.dav.files.copying import copy
from photosvc.dav.files.get import get
from photosvc.dav.files.put import put
from photosvc.dav.files.relocate import delete, make_folder, move
from photosvc.dav.locking.methods import lock, unlock
from photosvc.dav.properties.propfind import propfind
from photosvc.dav.properties.proppatch import proppatch
from photosvc.dav.tree import Environ, Originals
from photosvc.library.files.relocation import is_junk
from photosvc.web.current import Service
from photosvc.web.service.indexer import wake_indexer


class Server:
    """Answers the requests of an app.

    Args:
        service: of the app.
        folder: the path of the folder of originals within the app.

    """

    def __init__(self, service: Service, folder: str) -> None:
        self._service = service
        self._folder = folder

    def respond(self, environ: Environ) -> Response:
        """The answer to a request whose principal may make it.

        Raises:
            PhotosvcError: it fails; `dav.errors.error_answer` renders it.

        """
        if "#" in environ.get("RAW_URI", ""):  # gunicorn cuts it off: a folder could be meant instead of what is in it
            raise UnfitPathError
        mount = environ["SCRIPT_NAME"] + self._folder
        provider = Originals(self._service, mount)
        asked = path_in(environ["PATH_INFO"], self._folder)
        request = Request(provider, environ, spelled(provider.root, asked), asked)
        try:
            answer = _METHODS[environ["REQUEST_METHOD"]](request)
        except DAVError as error:
            return dav_error_answer(error, quote(mount))
        if request.has_wished and (environ["REQUEST_METHOD"] in _NAMING or not is_junk(request.name)):
            wake_indexer(self._service)
        return answer


#: Methods that name a second file: programs save under a hidden name first.
_NAMING: Final = frozenset({"MOVE", "COPY"})
_METHODS: Final[dict[str, Callable[[Request], Response]]] = {
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
