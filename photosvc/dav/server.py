"""Answers a WebDAV request: WsgiDAV's methods, and our own where its answers are wrong or slow."""

import os
from collections.abc import Callable
from typing import Any, Final, cast
from urllib.parse import quote

from flask import Response
from wsgidav.dav_error import HTTP_NOT_FOUND, DAVError
from wsgidav.request_server import RequestServer

from photosvc.dav.addresses import path_in
from photosvc.dav.conditions import check_headers, check_if
from photosvc.dav.errors import dav_error_answer
from photosvc.dav.lock_manager import LockManager
from photosvc.dav.property_manager import PropertyManager
from photosvc.dav.propfind import propfind
from photosvc.dav.proppatch import proppatch
from photosvc.dav.tree import Environ, OriginalFile, OriginalFolder, Originals, etag_of
from photosvc.dav.xml_body import bound_xml
from photosvc.web.answer import cache_headers
from photosvc.web.current import Service
from photosvc.web.files import FileAnswer, send_file
from photosvc.web.protector import principal

_CONFIG: Final[dict[str, Any]] = {"hotfixes": {}, "mutable_live_props": []}
#: Whatever a browser makes of a file, it runs nothing of it.
_SANDBOX: Final = ("Content-Security-Policy", "default-src 'none'; sandbox")


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
        mount = environ["SCRIPT_NAME"] + self._folder
        provider = Originals(self._service, mount)
        provider.set_lock_manager(self._locks)
        provider.set_prop_manager(self._properties)
        request = Request(provider, environ, path_in(environ["PATH_INFO"], self._folder))
        try:
            return request.respond()
        except DAVError as error:
            return dav_error_answer(error, quote(mount))


class Request(RequestServer):  # type: ignore[misc]  # WsgiDAV has no types
    """One request: its environment as WsgiDAV needs it, and its methods.

    Args:
        provider: the tree of originals.
        environ: of the server.
        path: below the folder of originals, from `path_in`.

    """

    def __init__(self, provider: Originals, environ: Environ, path: str) -> None:
        super().__init__(provider)
        self.provider = provider
        self.path = path
        self.environ = environ = {
            **environ,
            "SCRIPT_NAME": provider.mount_path,
            "PATH_INFO": path,
            "wsgidav.config": _CONFIG,
            "wsgidav.provider": provider,
            "wsgidav.verbose": 0,
            # The owner of locks and properties.
            "wsgidav.auth.user_name": principal().user_uid,
            "wsgidav.user_name": principal().user_uid,
        }
        if "HTTP_DEPTH" in environ:
            environ["HTTP_DEPTH"] = environ["HTTP_DEPTH"].lower()
        if "HTTP_OVERWRITE" in environ:
            environ["HTTP_OVERWRITE"] = environ["HTTP_OVERWRITE"].upper()

    def respond(self) -> Response:
        """The answer.

        Raises:
            DAVError: it fails.

        """
        own: dict[str, Callable[[], Response]] = {
            "GET": self._get,
            "HEAD": self._get,
            "PROPFIND": self._propfind,
            "PROPPATCH": self._proppatch,
        }
        method = self.environ["REQUEST_METHOD"]
        if method in own:
            return own[method]()
        if method == "LOCK":
            bound_xml(self.environ, "lockinfo")
        return cast("Response", Response.from_app(getattr(self, f"do_{method}"), self.environ, buffered=True))

    def _evaluate_if_headers(self, found: OriginalFile | OriginalFolder | None, environ: Environ) -> None:
        """What WsgiDAV calls before it changes a resource."""
        check_headers(environ, found)
        check_if(environ, self.provider, self.path)

    def _get(self) -> Response:
        """A file, sent as downloads of the API are; a folder is empty, as some clients ask whether it exists."""
        found = self._found()
        check_if(self.environ, self.provider, self.path)
        if not isinstance(found, OriginalFile):
            return Response(content_type="text/html; charset=utf-8")
        file = found.get_content()
        self.provider.service.close()  # a large file is read for long, without the database
        status = os.fstat(file.fileno())
        return send_file(
            FileAnswer(
                file=file,
                size=status.st_size,
                content_type=found.get_content_type(),
                etag=etag_of(status),
                internal=f"originals{self.path}",
                modified_ns=status.st_mtime_ns,
                headers=[*cache_headers(None), _SANDBOX],
            )
        )

    def _propfind(self) -> Response:
        found = self._found()
        check_if(self.environ, self.provider, self.path)
        return propfind(self.provider, self.environ, found)

    def _proppatch(self) -> Response:
        found = self._found()
        self._evaluate_if_headers(found, self.environ)
        return proppatch(self.provider, self.environ, found)

    def _found(self) -> OriginalFile | OriginalFolder:
        found = self.provider.get_resource_inst(self.path, self.environ)
        if found is None:
            raise DAVError(HTTP_NOT_FOUND)
        return found
