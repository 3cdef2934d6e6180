"""Answers a WebDAV request: WsgiDAV's methods, and our own where its answers are wrong or slow."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, cast
from urllib.parse import quote

from flask import Response
from sqlalchemy.orm import Session
from wsgidav.dav_error import HTTP_NOT_FOUND, DAVError
from wsgidav.request_server import RequestServer
from wsgidav.util import parse_if_header_dict

from photosvc.core.errors import PhotosvcError
from photosvc.dav import locks
from photosvc.dav.addresses import path_in
from photosvc.dav.conditions import check_headers, check_if
from photosvc.dav.copying import copy
from photosvc.dav.errors import UnfitPathError, dav_error_answer
from photosvc.dav.lock_manager import LockManager, refusal
from photosvc.dav.paths import key
from photosvc.dav.property_manager import PropertyManager
from photosvc.dav.propfind import propfind
from photosvc.dav.proppatch import proppatch
from photosvc.dav.put import put
from photosvc.dav.relocate import delete, make_folder, move
from photosvc.dav.tree import Environ, OriginalFile, OriginalFolder, Originals, etag_of
from photosvc.dav.xml_body import bound_xml
from photosvc.library import disk
from photosvc.library.relocation import Relocation, is_junk
from photosvc.library.staging.names import checked_name
from photosvc.web.answer import cache_headers
from photosvc.web.current import Service
from photosvc.web.files import FileAnswer, send_file
from photosvc.web.indexer import wake_indexer
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
        if "#" in environ.get("RAW_URI", ""):  # gunicorn cuts it off: a folder could be meant instead of what is in it
            raise UnfitPathError
        mount = environ["SCRIPT_NAME"] + self._folder
        provider = Originals(self._service, mount)
        provider.set_lock_manager(self._locks)
        provider.set_prop_manager(self._properties)
        request = Request(provider, environ, path_in(environ["PATH_INFO"], self._folder))
        try:
            answer = request.respond()
        except DAVError as error:
            return dav_error_answer(error, quote(mount))
        if request.has_wished and not is_junk(request.name):
            wake_indexer(self._service)
        return answer


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
        self.user_uid = principal().user_uid or ""
        self.user_id = principal().user_id or 0
        self._session: Session | None = None
        self.has_wished = False
        """Whether the indexer may have to look at something."""
        self.environ = environ = {
            **environ,
            "SCRIPT_NAME": provider.mount_path,
            "PATH_INFO": path,
            "wsgidav.config": _CONFIG,
            "wsgidav.provider": provider,
            "wsgidav.verbose": 0,
            # The owner of locks and properties.
            "wsgidav.auth.user_name": self.user_uid,
            "wsgidav.user_name": self.user_uid,
        }
        if "HTTP_DEPTH" in environ:
            environ["HTTP_DEPTH"] = environ["HTTP_DEPTH"].lower()
        if "HTTP_OVERWRITE" in environ:
            environ["HTTP_OVERWRITE"] = environ["HTTP_OVERWRITE"].upper()

    @property
    def name(self) -> str:
        """The name of the resource as the library writes it; empty for the folder of originals."""
        return self.path.strip("/")

    @property
    def service(self) -> Service:
        """Of the app."""
        return self.provider.service

    def respond(self) -> Response:
        """The answer.

        Raises:
            DAVError: it fails.
            PhotosvcError: it fails.

        """
        method = self.environ["REQUEST_METHOD"]
        if method in _OWN:
            return _OWN[method](self)
        return self._locking(method)

    def find(self, path: str) -> OriginalFile | OriginalFolder | None:
        """The resource at a path."""
        return self.provider.get_resource_inst(path, self.environ)

    @staticmethod
    def parent_of(path: str) -> str:
        """The path of the folder around a resource."""
        return path.rstrip("/").rpartition("/")[0] or "/"

    @staticmethod
    def key(path: str) -> str:
        """By which locks and properties know a resource."""
        return key(quote(path))

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A write transaction, in which no other process decides about locks; the checks of this class read in it."""
        with self.service.writing() as session:
            locks.serialize(session)
            self._session = session
            try:
                yield session
            finally:
                self._session = None

    def relocation(self) -> Relocation:
        """What lets the library follow changes of originals, in the open write transaction.

        Raises:
            RuntimeError: none is open.

        """
        if self._session is None:
            msg = "no write transaction is open"
            raise RuntimeError(msg)
        self.has_wished = True
        return Relocation(self._session, self.service.settings, self.service.now())

    def check_conditions(self, found: OriginalFile | OriginalFolder | None) -> None:
        """Check the conditions of a request that changes something; `found` is its resource.

        Raises:
            DAVError: 412, one does not hold.

        """
        check_headers(self.environ, found)
        self.check_if()

    def check_if(self) -> None:
        """Check the header `If`.

        Raises:
            DAVError: 412, it does not hold.

        """
        check_if(self.environ, self.provider, self.path, self._tokens_on)

    def check_writable(self, path: str, *, deep: bool = False) -> None:
        """Make sure that no lock of others forbids to write a resource, with `deep` also what is in it.

        Raises:
            DAVError: 423, one does.

        """
        parse_if_header_dict(self.environ)
        tokens = self.environ["wsgidav.ifLockTokenList"]
        with self._reading() as session:
            now = self.service.now()
            roots = locks.blocking(session, now, self.key(path), deep=deep, user_uid=self.user_uid, tokens=tokens)
        if roots:
            raise refusal(roots)

    def _tokens_on(self, path: str) -> set[str]:
        """The tokens of the locks that cover a resource."""
        with self._reading() as session:
            return {lock.token for lock in locks.covering(session, self.service.now(), self.key(path))}

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        if self._session is not None:
            yield self._session
        else:
            with self.service.loading() as session:
                yield session

    def _evaluate_if_headers(self, found: OriginalFile | OriginalFolder | None, environ: Environ) -> None:  # noqa: ARG002 - of the interface
        """What WsgiDAV calls before it locks a resource."""
        self.check_conditions(found)

    def _locking(self, method: str) -> Response:
        """LOCK and UNLOCK by WsgiDAV."""
        if method == "LOCK":
            bound_xml(self.environ, "lockinfo")
        parse_if_header_dict(self.environ)
        found = self.find(self.path)
        if found is None and method == "LOCK":
            checked_name(self.name)
            self.check_writable(self.parent_of(self.path))
        try:
            return cast("Response", Response.from_app(getattr(self, f"do_{method}"), self.environ, buffered=True))
        except BaseException:
            if found is None:
                self._remove_empty()
            raise

    def _remove_empty(self) -> None:
        """Remove the empty file that WsgiDAV makes before it is refused the lock."""
        made = self.find(self.path)
        if isinstance(made, OriginalFile) and made.status.st_size == 0:
            with suppress(PhotosvcError):
                disk.remove(self.provider.root, self.name)


def _get(request: Request) -> Response:
    """A file, sent as downloads of the API are; a folder is empty, as some clients ask whether it exists."""
    found = _existing(request)
    request.check_if()
    if not isinstance(found, OriginalFile):
        return Response(content_type="text/html; charset=utf-8")
    file = found.get_content()
    request.service.close()  # a large file is read for long, without the database
    status = os.fstat(file.fileno())
    return send_file(
        FileAnswer(
            file=file,
            size=status.st_size,
            content_type=found.get_content_type(),
            etag=etag_of(status),
            internal=f"originals{request.path}",
            modified_ns=status.st_mtime_ns,
            headers=[*cache_headers(None), _SANDBOX],
        )
    )


def _propfind(request: Request) -> Response:
    found = _existing(request)
    request.check_if()
    return propfind(request.provider, request.environ, found)


def _proppatch(request: Request) -> Response:
    found = _existing(request)
    request.check_conditions(found)
    return proppatch(request.provider, request.environ, found)


def _existing(request: Request) -> OriginalFile | OriginalFolder:
    found = request.find(request.path)
    if found is None:
        raise DAVError(HTTP_NOT_FOUND)
    return found


_OWN: Final[dict[str, Callable[[Request], Response]]] = {
    "GET": _get,
    "HEAD": _get,
    "PROPFIND": _propfind,
    "PROPPATCH": _proppatch,
    "PUT": put,
    "MKCOL": make_folder,
    "DELETE": delete,
    "MOVE": move,
    "COPY": copy,
}
