"""The service of the app that a request or command belongs to. It is the only live state."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Final

from flask import current_app
from sqlalchemy import Engine

from photosvc.auth.audit.pending import Pending
from photosvc.auth.credentials.tokens import Known
from photosvc.auth.oauth.signing_keys import SigningKeys
from photosvc.auth.service_key import check_key, claim, read_key, stored_fingerprint
from photosvc.auth.throttle.attempts import Throttle
from photosvc.core.clock import Clock
from photosvc.models.database.schema import check_schema
from photosvc.models.database.unchanged import Commits, Unchanged
from photosvc.pictures.service import Pictures
from photosvc.pictures.slots import Slots
from photosvc.search.limits.read import Limits
from photosvc.search.limits.turns import Turns
from photosvc.search.limits.watch import Watch
from photosvc.search.reading.overview.albums import KnownAlbums
from photosvc.search.reading.overview.counts import Counts, count, years
from photosvc.search.reading.overview.kept import Kept
from photosvc.search.reading.overview.people import Label, Person, labels, people
from photosvc.search.reading.overview.statistics import Statistics, read_statistics
from photosvc.search.reading.suggesting.names import Names, read_names
from photosvc.settings import Settings
from photosvc.web.answers.kept_pages import KeptPages
from photosvc.web.requests.request_counts import RequestCounts
from photosvc.web.service.host_users import HostUsers
from photosvc.web.service.starter import Starter
from photosvc.web.service.transactions import Transactions

EXTENSION = "photosvc"
#: Archives that one owner downloads at the same time.
ARCHIVES_EACH = 3

#: Seconds between two looks at the file of the service key, where links are made.
_KEY_SECONDS: Final = 0.5


@dataclass(slots=True)
class Service(Transactions):
    """The live parts of an app's photosvc, and its transactions."""

    settings: Settings
    clock: Clock
    engine: Callable[[], Engine]
    instance: Path
    """The folder of the keys, request counts and archive slots."""
    requests: RequestCounts
    parts: frozenset[str]
    """Those that are mounted."""
    hosts: HostUsers
    """Who is signed in to the host app."""
    url_prefix: str = ""
    """Where the service is mounted in a host app, as `/media`."""
    address: str = ""
    """Where `svc run` serves it: the issuer while no public address is set."""
    throttle: Throttle = field(init=False)
    signing_keys: SigningKeys = field(init=False)
    pictures: Pictures = field(init=False)
    archives: Slots = field(init=False)
    transfers: Slots = field(init=False)
    """Of answers that are sent for long."""
    receptions: Slots = field(init=False)
    """Of requests by which files are received."""
    limits: Limits = field(init=False)
    """Of searches."""
    counts: Kept[Counts] = field(default_factory=lambda: Kept(count), init=False)
    years: Kept[tuple[int, ...]] = field(default_factory=lambda: Kept(years), init=False)
    albums: KnownAlbums = field(default_factory=KnownAlbums, init=False)
    statistics: Kept[Statistics] = field(default_factory=lambda: Kept(read_statistics), init=False)
    people: Kept[list[Person]] = field(default_factory=lambda: Kept(people), init=False)
    labels: Kept[list[Label]] = field(default_factory=lambda: Kept(labels), init=False)
    names: Kept[Names] = field(default_factory=lambda: Kept(read_names), init=False)
    """Of values that are suggested."""
    commits: Commits = field(init=False)
    known_tokens: Unchanged[Known] = field(default_factory=Unchanged, init=False)
    """Credentials by the digests of their secrets."""
    known_state: Unchanged[int] = field(default_factory=Unchanged, init=False)
    """That of the library."""
    sent_pages: KeptPages = field(default_factory=KeptPages, init=False)
    indexers: Starter = field(default_factory=Starter, init=False)
    """Of indexers that run where no other takes wishes."""
    is_alone: bool = field(default=False, init=False)
    """Whether the app contains photosvc only."""
    schema_fits: bool = field(default=False, init=False)
    key_stamp: tuple[int, int] | None = field(default=None, init=False)
    """The file of the service key as it was last read: inode, and nanoseconds of its last change."""
    key_due: float = field(default=0, init=False)
    """When to look at that file again before links are made, by `perf_counter`."""
    swept_at: datetime | None = field(default=None, init=False)
    """When a log-in of this process last deleted what had expired."""
    refusals: Pending = field(default_factory=Pending, init=False)
    """For the security log."""
    pages_path: str | None = None
    """The path of the cookie of the web page; None where it is not mounted: then no cookie counts."""
    warned_of_proxy: bool = field(default=False, init=False)
    """Whether this process has logged that the headers of a proxy are not read."""

    def __post_init__(self) -> None:
        former = self.instance / "signing_keys"
        self.signing_keys = SigningKeys(self.reading, self.writing, lambda: self.settings, self.clock, former)
        self.throttle = Throttle(self.reading, self.writing, self.write_if_free)
        self.pictures = Pictures(self.settings)
        self.commits = Commits(self.engine)
        self.archives = Slots(self.instance / "archives.lock", each=ARCHIVES_EACH)
        each, total = self.settings.transfers_each, self.settings.transfers
        self.transfers = Slots(self.instance / "transfers.lock", each=each, total=total)
        uploads = self.settings.uploads
        turns = Turns(self.instance / "searches.lock", places=self.settings.costly_searches)
        self.limits = Limits(self.settings.search_timeout, turns, Watch())
        self.receptions = Slots(self.instance / "uploads.lock", each=uploads, total=uploads)

    def now(self) -> datetime:
        """The present time by the service's clock."""
        return self.clock()

    def require_schema(self) -> None:
        """Make sure, once in the life of the process, that it fits the database, as `check_database` does.

        Raises:
            SchemaError: the tables are not those this code needs; the message names the command to run.
            OtherServiceKeyError: the database belongs to another service key.

        """
        if not self.schema_fits:
            self.check_database()
            self.schema_fits = True

    def check_database(self, *, any_key: bool = False) -> None:
        """Make sure that the database answers, has the tables of this version and belongs to the service key.

        A database that belongs to no key yet belongs to this one afterwards.

        Args:
            any_key: do not look at the key.

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
        found = [] if stored is None else [stored]
        if stored is None:
            self.write_if_free(lambda session: found.append(claim(session, self.settings, exclusive=False)))
        for fingerprint in found:
            check_key(self.settings, fingerprint)

    def follow_key(self, *, seldom: bool = False) -> None:
        """Take the service key over when its file was replaced.

        Before each check of a link, so that those signed with the old key end in all workers at once. Before links are
        made, `seldom`: looking at a file would cost a page of ten results 1 % of its time.
        """
        file, now = self.settings.key_file, perf_counter()
        if file is None or (seldom and now < self.key_due):
            return
        self.key_due = now + _KEY_SECONDS
        try:
            status = file.stat()
        except OSError:  # it is not in the way of those who have read it
            return
        stamp = (status.st_ino, status.st_mtime_ns)
        if stamp != self.key_stamp and (present := read_key(file)) is not None:
            self.settings, self.key_stamp = replace(self.settings, secret_key=present), stamp


def current_service() -> Service:
    """The service of the current app."""
    service: Service = current_app.extensions[EXTENSION]
    return service
