"""One WebDAV request: its environment, with headers in one form, its conditions, and the checks that its method makes.

Conditions are preconditions of HTTP (RFC 9110 section 13), and `If` of WebDAV (RFC 4918 section 10.4).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import quote

from sqlalchemy.orm import Session
from werkzeug.datastructures import EnvironHeaders, Headers

from photosvc.core.errors import PhotosvcError
from photosvc.dav import locks
from photosvc.dav.addresses import key, path_of_url
from photosvc.dav.errors import TOKEN_SUBMITTED, DAVError, locked
from photosvc.dav.if_header import hold, parse_if
from photosvc.dav.tree import Environ, Resource, Tree
from photosvc.library.content import check_disk
from photosvc.library.journal import Author
from photosvc.library.originals import Relocation
from photosvc.library.upload_queue import count_stored
from photosvc.models.engine import begin_write
from photosvc.web.files import check_preconditions
from photosvc.web.protector import principal
from photosvc.web.service import Service

#: Seconds for which a large transfer waits for a place: clients send several files at once, and few of them try again.
PATIENCE: Final = 5.0


class DavRequest:
    """One request: its environment, with headers in one form, and the checks of its method.

    Args:
        provider: the tree of originals.
        path: the path below the folder of originals, from `spelled`.
        client_path: the same path in the spelling of the client, from `path_in`.

    Raises:
        IfHeaderError: the header `If` cannot be read.
    """

    def __init__(self, tree: Tree, environ: Environ, path: str, client_path: str) -> None:
        self.tree = tree
        self.path = path
        self._client_path = client_path
        self.user_uid = principal().user_uid or ""
        self.user_id = principal().user_id or 0
        self._session: Session | None = None
        self.asks_indexer = False
        """True once an open or committed transaction has work for the indexer."""
        self.environ = environ = {**environ, "SCRIPT_NAME": tree.mount_path, "PATH_INFO": path}
        if "HTTP_DEPTH" in environ:
            environ["HTTP_DEPTH"] = environ["HTTP_DEPTH"].lower()
        if "HTTP_OVERWRITE" in environ:
            environ["HTTP_OVERWRITE"] = environ["HTTP_OVERWRITE"].upper()
        self._lists = parse_if(environ["HTTP_IF"]) if "HTTP_IF" in environ else []
        self.tokens = {
            condition.value for _, conditions in self._lists for condition in conditions if not condition.is_tag
        }
        """The lock tokens in the header `If`."""

    @property
    def name(self) -> str:
        """Return the name of the resource as the library writes it; empty for the folder of originals."""
        return self.path.strip("/")

    @property
    def service(self) -> Service:
        """Return the service of the app."""
        return self.tree.service

    def existing(self) -> Resource:
        """Return the resource of the request.

        Raises:
            DAVError: 404, there is none.
        """
        if (resource := self.find(self.path)) is None:
            raise DAVError(HTTPStatus.NOT_FOUND)
        return resource

    @property
    def is_deep(self) -> bool:
        """Return whether this is a PROPFIND of a folder at any depth."""
        is_propfind: bool = self.environ["REQUEST_METHOD"] == "PROPFIND"
        return is_propfind and self.environ.get("HTTP_DEPTH", "infinity") == "infinity"

    def check_disk(self, name: str, *, within: bool = False) -> None:
        """Check that the disk of this name is mounted: clients delete their copies of files that seem to be gone.

        Raises:
            StorageFailedError: its disk is missing or, with `within`, one that was mounted below it.
        """
        with self.service.reading(orm=True) as session:
            check_disk(session, self.service.settings, name, within=within)

    def find(self, path: str) -> Resource | None:
        """Return the resource at a path, if any."""
        return self.tree.find(path)

    def in_client_spelling(self, path: str) -> str:
        """Return a path at or below that of the request in the client's spelling, because clients compare paths."""
        own = self.path.rstrip("/")
        return self._client_path.rstrip("/") + path[len(own) :] if path.startswith(own) else path

    @staticmethod
    def parent_of(path: str) -> str:
        """Return the path of the folder around a resource."""
        return path.rstrip("/").rpartition("/")[0] or "/"

    @staticmethod
    def key(path: str) -> str:
        """Return the key of a resource in the tables of locks and properties."""
        return key(quote(path))

    @contextmanager
    def writing(self, *, library: bool = False) -> Iterator[Session]:
        """Open a write transaction in which no other process decides about locks; the checks of this class use it.

        Args:
            library: lock photos and albums, before the checks, because originals change.
        """
        asked_indexer = self.asks_indexer
        with self.service.writing() as session:
            locks.serialize(session)
            if library:  # always after `serialize`: otherwise two requests could wait for each other
                begin_write(session, library=True)
            self._session = session
            try:
                yield session
            except BaseException:
                self.asks_indexer = asked_indexer
                raise
            finally:
                self._session = None

    def relocation(self) -> Relocation:
        """Return the `Relocation` with which the library follows changes of originals, in the open write transaction.

        Raises:
            RuntimeError: no write transaction is open.
        """
        session = self._open()
        begin_write(session, library=True)
        self.asks_indexer = True
        return Relocation(session, self.service.settings, self.service.now(), Author.of(principal()))

    def count_in_quota(self, *stored: tuple[str, str, int]) -> None:
        """Count files, by name, hash and size, towards the quota of the account in the open write transaction.

        Raises:
            QuotaExceededError: the account may not store so much.
        """
        session, settings = self._open(), self.service.settings
        if settings.upload_quota:
            count_stored(session, settings, self.user_id, stored, self.service.now())

    def _open(self) -> Session:
        if self._session is None:
            raise RuntimeError("no write transaction is open")
        return self._session

    def check_conditions(self, resource: Resource | None) -> None:
        """Check the conditions of a request that changes this resource, or makes it.

        Raises:
            DAVError: 412, one does not hold.
        """
        headers = Headers(EnvironHeaders(self.environ))
        headers.pop("If-Modified-Since", None)  # it is for reading alone
        if resource is None:
            holds = not headers.get("If-Match")
        else:
            modified = datetime.fromtimestamp(int(resource.status.st_mtime), UTC)
            holds = check_preconditions(headers, resource.etag or "", modified) is None
        if not holds:
            raise DAVError(HTTPStatus.PRECONDITION_FAILED)
        self.check_if()

    def check_if(self) -> None:
        """Check the lists of the header `If`, of which one must hold.

        Raises:
            DAVError: 412, none does.
        """
        etags: dict[str, str | None] = {}  # a header may name one resource in many lists
        tokens: dict[str, set[str]] = {}
        for address, conditions in self._lists:
            try:
                path = path_of_url(self.environ, self.tree.mount_path, address) if address else self.path
            except PhotosvcError:  # a resource of another server
                continue
            for is_tag in {condition.is_tag for condition in conditions}:
                if is_tag and path not in etags:
                    resource = self.find(path)
                    etags[path] = None if resource is None else resource.etag
                elif not is_tag and path not in tokens:
                    with self._reading() as session:
                        covering = locks.covering(session, self.service.now(), self.key(path))
                        tokens[path] = {lock.token for lock in covering}
            if hold(conditions, etags.get(path), tokens.get(path, set())):
                return
        if self._lists:
            raise DAVError(HTTPStatus.PRECONDITION_FAILED)

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

    def check_unlocked(self, path: str, *, changes_folder: bool) -> None:
        """Check that no other lock forbids adding, replacing or removing a resource with everything in it.

        Args:
            is_named: true if the folder around it changes, because it gets or loses the name.

        Raises:
            DAVError: 423, a lock does.
        """
        if changes_folder:
            self.check_writable(self.parent_of(path))
        self.check_writable(path, deep=True)

    def _reading(self) -> AbstractContextManager[Session]:
        return self.service.reading(orm=True) if self._session is None else nullcontext(self._session)
