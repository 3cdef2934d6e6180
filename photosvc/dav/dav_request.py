"""One WebDAV request: its environment, with headers in one form, and the checks that its method makes.

Large transfers wait for a slot: WebDAV clients send and fetch several files at once, and few of them try again.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Final, TypeVar
from urllib.parse import quote

from sqlalchemy.orm import Session

from photosvc.dav import locks
from photosvc.dav.addresses import key
from photosvc.dav.conditions import check_headers, check_if, parse_if
from photosvc.dav.errors import TOKEN_SUBMITTED, DAVError, locked
from photosvc.dav.tree import Environ, Original, Originals
from photosvc.library.journal import Actor
from photosvc.library.relocation import Relocation
from photosvc.library.staging_part import Part
from photosvc.library.upload_albums import count_stored
from photosvc.library.upload_checks import check_disk
from photosvc.models.engine import begin_write
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal
from photosvc.web.sending import ServerBusyError, TooManyAtOnceError

Result = TypeVar("Result")
#: Seconds for which a request waits for a slot; it occupies a thread meanwhile.
PATIENCE: Final = 5.0
_PAUSE: Final = 0.05


def patiently(act: Callable[[], Result]) -> Result:
    """Return the result of `act`, trying again until there is a slot; few requests of an owner or process may wait.

    Raises:
        PhotosvcError: there was no slot for `PATIENCE` seconds, or too many requests wait already.
    """
    try:
        return act()
    except (ServerBusyError, TooManyAtOnceError):
        free = current_service().patient.take(principal().owner_uid)
        if free is None:
            raise
    end = time.monotonic() + PATIENCE
    try:
        while True:
            time.sleep(_PAUSE)
            try:
                return act()
            except (ServerBusyError, TooManyAtOnceError):
                if time.monotonic() > end:
                    raise
    finally:
        free()


class Request:
    """One request: its environment, with headers in one form, and the checks of its method.

    Args:
        provider: the tree of originals.
        path: the path below the folder of originals, from `spelled`.
        asked: the same path as the client spells it, from `path_in`.

    Raises:
        IfHeaderError: the header `If` cannot be read.
    """

    def __init__(self, provider: Originals, environ: Environ, path: str, asked: str) -> None:
        self.provider = provider
        self.path = path
        self._asked = asked
        self.user_uid = principal().user_uid or ""
        self.user_id = principal().user_id or 0
        self._session: Session | None = None
        self.has_wished = False
        """True once the indexer has something to look at."""
        self.environ = environ = {
            **environ,
            "SCRIPT_NAME": provider.mount_path,
            "PATH_INFO": path,
        }
        if "HTTP_DEPTH" in environ:
            environ["HTTP_DEPTH"] = environ["HTTP_DEPTH"].lower()
        if "HTTP_OVERWRITE" in environ:
            environ["HTTP_OVERWRITE"] = environ["HTTP_OVERWRITE"].upper()
        self._lists = parse_if(environ["HTTP_IF"]) if "HTTP_IF" in environ else []
        self.tokens = {one.value for part in self._lists for one in part.conditions if not one.is_tag}
        """The lock tokens that the request shows."""

    @property
    def name(self) -> str:
        """Return the name of the resource as the library writes it; empty for the folder of originals."""
        return self.path.strip("/")

    @property
    def service(self) -> Service:
        """Return the service of the app."""
        return self.provider.service

    def existing(self) -> Original:
        """Return the resource of the request.

        Raises:
            DAVError: 404, there is none.
        """
        found = self.find(self.path)
        if found is None:
            raise DAVError(HTTPStatus.NOT_FOUND)
        return found

    @property
    def is_deep(self) -> bool:
        """Return whether a PROPFIND asks for everything in a folder, at any depth."""
        is_propfind: bool = self.environ["REQUEST_METHOD"] == "PROPFIND"
        return is_propfind and self.environ.get("HTTP_DEPTH", "infinity") == "infinity"

    def check_disk(self, name: str, *, within: bool = False) -> None:
        """Check that the disk of this name is mounted: clients delete their copies of files that seem to be gone.

        Raises:
            StorageFailedError: its disk is missing or, with `within`, one that was mounted below it.
        """
        with self.service.reading(orm=True) as session:
            check_disk(session, self.service.settings, name, within=within)

    def find(self, path: str) -> Original | None:
        """Return the resource at a path, if any."""
        return self.provider.find(path)

    def as_asked(self, path: str) -> str:
        """Return a path at or below that of the request as the client spelled it, since clients compare paths."""
        own = self.path.rstrip("/")
        return self._asked.rstrip("/") + path[len(own) :] if path.startswith(own) else path

    @staticmethod
    def parent_of(path: str) -> str:
        """Return the path of the folder around a resource."""
        return path.rstrip("/").rpartition("/")[0] or "/"

    @staticmethod
    def key(path: str) -> str:
        """Return the key of a resource in the tables of locks and properties."""
        return key(quote(path))

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a write transaction in which no other process decides about locks; the checks of this class use it."""
        with self.service.writing() as session:
            locks.serialize(session)
            self._session = session
            try:
                yield session
            finally:
                self._session = None

    def relocation(self) -> Relocation:
        """Return the `Relocation` with which the library follows changes of originals, in the open write transaction.

        Raises:
            RuntimeError: no write transaction is open.
        """
        session = self._open()
        begin_write(session, library=True)
        self.has_wished = True
        return Relocation(session, self.service.settings, self.service.now(), Actor.of(principal()))

    def count(self, name: str, part: Part) -> None:
        """Count a file towards the quota of the account before it is stored, in the open write transaction.

        Raises:
            QuotaExceededError: the account may not store so much.
        """
        session, settings = self._open(), self.service.settings
        if settings.upload_quota:
            count_stored(session, settings, self.user_id, (name, part.sha1, part.size), self.service.now())

    def _open(self) -> Session:
        if self._session is None:
            msg = "no write transaction is open"
            raise RuntimeError(msg)
        return self._session

    def check_conditions(self, found: Original | None) -> None:
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
        check_if(self._lists, self.environ, self.provider, self.path, self._tokens_on)

    def check_writable(self, path: str, *, deep: bool = False) -> None:
        """Check that no other lock forbids writing a resource or, with `deep`, anything in it.

        Raises:
            DAVError: 423, a lock does.
        """
        with self._reading() as session:
            now = self.service.now()
            roots = locks.blocking(session, now, self.key(path), deep=deep, user_uid=self.user_uid, tokens=self.tokens)
        if roots:
            raise locked(TOKEN_SUBMITTED, roots)

    def _tokens_on(self, path: str) -> set[str]:
        """Return the tokens of the locks that cover a resource."""
        with self._reading() as session:
            return {lock.token for lock in locks.covering(session, self.service.now(), self.key(path))}

    @contextmanager
    def _reading(self) -> Iterator[Session]:
        if self._session is not None:
            yield self._session
        else:
            with self.service.reading(orm=True) as session:
                yield session
