"""The service of the app that a request or command belongs to: the only live state.

It includes the starter of indexers, which never run twice at a time, and the users of a host app: a loader returns the
signed-in user, who becomes the principal of a request.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote

from flask import Request, current_app, g
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from photosvc.auth.service_key import KeyFile, check_key, claim, stored_fingerprint
from photosvc.auth.signing_keys import SigningKeys
from photosvc.auth.throttle import Throttle
from photosvc.core.clock import Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.logs import Outages
from photosvc.core.slots import Slots
from photosvc.core.times import to_local
from photosvc.models.engine import is_of_schema
from photosvc.models.schema import check_schema
from photosvc.search.limits import Limits
from photosvc.search.reading.library import CachedValue
from photosvc.settings import Settings
from photosvc.web.admission_gate import AdmissionGate, Cost
from photosvc.web.parts import OAUTH, WELL_KNOWN
from photosvc.web.proxies import client_address, has_unread_proxy
from photosvc.web.transactions import Transactions

if TYPE_CHECKING:
    from photosvc.pictures.cache import PictureCache
    from photosvc.pictures.service import Pictures
from photosvc.web.host_users import HostUsers

Made = TypeVar("Made")
Value = TypeVar("Value")
EXTENSION = "photosvc"
_LOG = logging.getLogger("photosvc")
#: Key in `flask.g` of the function that frees the request's place at the admission gate.
_PLACE: Final = "photosvc_place"
#: Characters that a path may have unescaped (RFC 3986 section 3.3).
_SAFE: Final = "/!$&'()*+,;=:@~"
_NO_ISSUER: Final = (
    "PHOTOSVC_BASE_URL is not set, and OAuth names the public address of the service: its operator must set it."
)


@dataclass(slots=True)
class Service(Transactions):
    """The live parts of an app's photosvc, and its transactions."""

    settings: Settings
    clock: Clock
    db: SQLAlchemy
    """The database extension of the app."""
    bind_key: str | None
    """The key of the engine of the tables; None for the default one."""
    instance: Path
    """The folder of the keys."""
    parts: frozenset[str]
    """The mounted parts."""
    hosts: HostUsers
    """The source of the signed-in user of a host app."""
    url_prefix: str = ""
    """The mount point in a host app, such as `/media`."""
    address: str = ""
    """The address at which `svc run` serves: the issuer while no public address is set."""
    throttle: Throttle = field(init=False)
    key_file: KeyFile = field(init=False)
    signing_keys: SigningKeys = field(init=False)
    gate: AdmissionGate = field(init=False)
    writers: Slots = field(init=False)
    limits: Limits = field(init=False)
    """Limits of searches."""
    made: dict[Any, Any] = field(default_factory=dict, init=False)
    """The objects of `only` and `cached`, by the functions that make them."""
    is_alone: bool = field(default=False, init=False)
    """True if the app contains photosvc only."""
    schema_fits: bool = field(default=False, init=False)
    pages_path: str | None = None
    """The path of the cookie of the web page; None if the page is not mounted: then no cookie counts."""
    say: Callable[[str], str] = field(default=str, init=False)
    """Return a message in the language of a request; the pages translate it for their scripts."""
    outages: Outages = field(init=False)
    warned_of_proxy: bool = field(default=False, init=False)
    """True if this process has logged that the headers of a proxy are not read."""
    lacks_address: bool = field(init=False)
    """True if this process must still log that the OAuth metadata are missing."""

    def __post_init__(self) -> None:
        self.lacks_address = bool(self.parts & {OAUTH, WELL_KNOWN}) and self.known_issuer is None
        self.key_file = KeyFile(self.settings.key_file, self.clock)
        self.signing_keys = SigningKeys(self.reading, self.writing, lambda: self.settings, self.clock)
        self.gate, self.outages = AdmissionGate(self.settings, self.clock), Outages(self.clock)
        self.writers = self.gate.places[Cost.WRITE]
        self.throttle = Throttle(self.reading, self.writing, self.write_if_free)
        self.limits = Limits(self.settings.search_timeout, self.gate.places[Cost.COSTLY], self.clock)

    def enter(self, owner: str) -> None:
        """Take the request's place at the admission gate, unless it has one; `end` frees it.

        Raises:
            NotAdmittedError: the owner has too many requests in progress.
        """
        if _PLACE not in g:
            setattr(g, _PLACE, self.gate.enter(owner))

    def end(self, error: BaseException | None = None) -> None:
        """End a request or command: free its place at the gate, and close its transaction."""
        if (free := g.pop(_PLACE, None)) is not None:
            free()
        self.close(error)

    def now(self) -> datetime:
        """Return the present time by the service's clock."""
        return self.clock()

    def today(self) -> date:
        """Return the present day in the service's time zone."""
        return to_local(self.clock(), self.settings.timezone).date()

    @property
    def picture_cache(self) -> "PictureCache":
        """Return the cache of thumbnails and videos; few commands need it."""
        return self.only(self._make_cache)

    def _make_cache(self) -> "PictureCache":
        from photosvc.pictures.cache import PictureCache

        return PictureCache(self.settings.cache, self.settings.cache_size << 20)

    @property
    def pictures(self) -> "Pictures":
        """Return the thumbnails and videos of this process; commands make none on demand."""
        return self.only(self._make_pictures)

    def _make_pictures(self) -> "Pictures":
        from photosvc.pictures.service import Pictures

        return Pictures(self.settings, self.picture_cache, self.clock)

    def only(self, kind: Callable[[], Made]) -> Made:
        """Return the service's only object of this kind, which the first call makes."""
        existing: Made | None = self.made.get(kind)
        return self.made.setdefault(kind, kind()) if existing is None else existing

    def cached(self, read: Callable[..., Value]) -> CachedValue[Value]:
        """Return the service's cached value that this function reads."""
        existing: CachedValue[Value] | None = self.made.get(read)
        return self.made.setdefault(read, CachedValue(read)) if existing is None else existing

    def address_of(self, request: Request, path: str) -> str:
        """Return the address by which clients reach `path`, which begins with a slash.

        It is never made from the Host header, which clients choose. With `PHOTOSVC_BASE_URL` it is absolute. Without it
        it is a path from the root of the server: right on any host and port, behind any WSGI mount (`SCRIPT_NAME`) and
        prefix of a host app.
        """
        if self.settings.base_url:
            return self.settings.base_url + path
        mount = request.environ.get("SCRIPT_NAME", "") + self.url_prefix
        if not mount:
            return path
        # The bytes of a WSGI mount are decoded as Latin-1 (PEP 3333). `//` at the beginning would name another host.
        return "/" + quote(mount.strip("/").encode("latin-1", "replace"), safe=_SAFE) + path

    @property
    def known_issuer(self) -> str | None:
        """Return the issuer as `issuer` does; None when it is not known."""
        return self.settings.base_url or self.address or None

    def issuer(self) -> str:
        """Return the issuer of tokens and metadata: the public address, or the one at which `svc run` serves.

        Raises:
            PhotosvcError: neither address is known.
        """
        known = self.known_issuer
        if known is None:
            raise PhotosvcError(_NO_ISSUER, field="PHOTOSVC_BASE_URL", status=HTTPStatus.SERVICE_UNAVAILABLE)
        return known

    def warn_of_missing_address(self) -> None:
        """Log once, at the first request, that OAuth metadata are missing; a process that serves nothing needs none."""
        if self.lacks_address:
            self.lacks_address = False
            _LOG.warning(
                "PHOTOSVC_BASE_URL is not set: the metadata at %s/.well-known/ are answered 503, and tokens in the "
                "format jwt are not issued, until it is the public address of the service, such as "
                "https://photos.example.org%s",
                self.url_prefix,
                self.url_prefix,
            )

    def warn_of_unread_proxy(self, request: Request) -> None:
        """Log once that a request came through a proxy whose `X-Forwarded-For` is not read."""
        if has_unread_proxy(request) and not self.warned_of_proxy:
            self.warned_of_proxy = True
            _LOG.warning(
                "X-Forwarded-For arrived from %s, but PHOTOSVC_PROXIES is 0: all clients behind a proxy count as one "
                "address. Set it to the number of proxies in front, or wrap the app that photosvc is part of in "
                "Werkzeug's ProxyFix; without a proxy, a client made the header up.",
                client_address(request),
            )

    def require_schema(self) -> None:
        """Check the database as `check_database` does, once in the life of the process.

        Raises:
            SchemaError: the tables are not those this code needs; the message names the command to run.
            OtherServiceKeyError: the database belongs to another service key.
        """
        if not self.schema_fits:
            self.check_database()
            self.schema_fits = True

    def explained(self, error: Exception) -> Exception:
        """Return the error of the schema if a change of it is why a statement failed, else the same error."""
        if isinstance(error, DBAPIError) and is_of_schema(error):
            self.schema_fits = False
            try:
                self.require_schema()
            except PhotosvcError as reason:
                return reason
            except SQLAlchemyError:
                return error
        return error

    def check_database(self, *, any_key: bool = False) -> None:
        """Check that the database answers, has the tables of this version and belongs to the service key.

        A database without a key is assigned to this one; `any_key` skips the check of the key.

        Raises:
            SchemaError: the tables are not those this code needs; the message names the command to run.
            OtherServiceKeyError: the database belongs to another service key.
        """
        with self.reading() as connection:
            check_schema(connection)
            stored = None if any_key else stored_fingerprint(connection)
        if any_key:
            return
        self.follow_key()
        fingerprints = [] if stored is None else [stored]
        if stored is None:
            self.write_if_free(lambda session: fingerprints.append(claim(session, self.settings)))
        for fingerprint in fingerprints:
            check_key(self.settings, fingerprint)

    def follow_key(self, *, seldom: bool = False) -> None:
        """Use the new service key if its file was replaced; see `KeyFile.read_new`.

        This is called before each check of a link, so that links signed with the old key end in all workers at once.
        Calls before links are made pass `seldom`.
        """
        if keys := self.key_file.read_new(seldom=seldom):
            self.settings = replace(self.settings, secret_key=keys[0], former_keys=tuple(keys[1:]))


def current_service() -> Service:
    """Return the service of the current app."""
    service: Service = current_app.extensions[EXTENSION]
    return service
