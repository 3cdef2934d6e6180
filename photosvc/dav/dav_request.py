"""One WebDAV request: its environment, with headers in one form, and the checks that its method makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from sqlalchemy.orm import Session
from wsgidav.dav_error import HTTP_NOT_FOUND, DAVError, PRECONDITION_CODE_MissingLockToken

from photosvc.dav.errors import locked
from photosvc.dav.locking import locks
from photosvc.dav.locking.conditions import check_headers, check_if
from photosvc.dav.locking.if_header import parse_if
from photosvc.dav.paths import key
from photosvc.dav.tree import Environ, OriginalFile, OriginalFolder, Originals
from photosvc.library.edits.journal import Actor
from photosvc.library.files.relocation import Relocation
from photosvc.library.staging import Part
from photosvc.library.uploads.waiting import count_stored
from photosvc.models.database.transactions import lock_library
from photosvc.web.current import Service
from photosvc.web.protector import principal


class Request:
    """One request: its environment, with headers in one form, and the checks of its method.

    Args:
        provider: the tree of originals.
        environ: of the server.
        path: below the folder of originals, from `spelled`.
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
        """Whether the indexer may have to look at something."""
        self.environ = environ = {
            **environ,
            "SCRIPT_NAME": provider.mount_path,
            "PATH_INFO": path,
            "wsgidav.provider": provider,  # the resources of WsgiDAV look for it
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
        """The name of the resource as the library writes it; empty for the folder of originals."""
        return self.path.strip("/")

    @property
    def service(self) -> Service:
        """Of the app."""
        return self.provider.service

    def existing(self) -> OriginalFile | OriginalFolder:
        """The resource of the request.

        Raises:
            DAVError: 404, there is none.

        """
        found = self.find(self.path)
        if found is None:
            raise DAVError(HTTP_NOT_FOUND)
        return found

    def find(self, path: str) -> OriginalFile | OriginalFolder | None:
        """The resource at a path."""
        return self.provider.get_resource_inst(path, self.environ)

    def as_asked(self, path: str) -> str:
        """A path at or below that of the request, in the spelling of its client, which may compare these."""
        own = self.path.rstrip("/")
        return self._asked.rstrip("/") + path[len(own) :] if path.startswith(own) else path

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
        session = self._open()
        lock_library(session)
        self.has_wished = True
        return Relocation(session, self.service.settings, self.service.now(), Actor.of(principal()))

    def count(self, name: str, part: Part) -> None:
        """Count a file that is about to be stored in the quota of the account, in the open write transaction.

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
        check_if(self._lists, self.environ, self.provider, self.path, self._tokens_on)

    def check_writable(self, path: str, *, deep: bool = False) -> None:
        """Make sure that no lock of others forbids to write a resource, with `deep` also what is in it.

        Raises:
            DAVError: 423, one does.

        """
        with self._reading() as session:
            now = self.service.now()
            roots = locks.blocking(session, now, self.key(path), deep=deep, user_uid=self.user_uid, tokens=self.tokens)
        if roots:
            raise locked(PRECONDITION_CODE_MissingLockToken, roots)

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
