"""The import of what people entered in another program, as edits of an actor such as `import: photoprism`.

Each value is taken, equal already, or kept because a person set another one here. A run writes portions of photos in
transactions of their own, so that one that was killed is completed by the next. `exchange.import_runs` takes it back.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.vocabulary import MANUAL
from photosvc.exchange.album_import import AlbumImport
from photosvc.exchange.import_runs import RunOfImport
from photosvc.exchange.imported import ImportedPhoto, Outcome, Reader, Report, Unreadable
from photosvc.index.shared_rows import SharedRows
from photosvc.library.edits import Each, apply, is_shown_as
from photosvc.library.unit_of_work import changing, load_photos
from photosvc.models import Imported, ImportRun, Photo
from photosvc.models.engine import many_pages, write_session
from photosvc.models.photo import load_whole
from photosvc.models.statements import in_portions
from photosvc.query.fold import fold
from photosvc.records import limits

#: Photos of one transaction.
PORTION: Final = 100
Preference: TypeAlias = Literal["ours", "theirs", "newest"]
#: Decimals in which positions are compared.
_PLACES: Final = {"lat": 7, "lng": 7}
#: Value in the report -> the column with its source, if that is not its name with `_src`.
_SOURCES: Final = {"time": "taken_src", "position": "place_src"}


class LibraryImport:
    """One run of an import."""

    def __init__(
        self, engine: Engine, clock: Clock, zone: str, reader: Reader, *, prefer: Preference, dry_run: bool,
        report: Report | None = None,
    ) -> None:  # fmt: skip
        """Prepare a run.

        Args:
            zone: time zone of photos without a zone and a position of their own.
            prefer: which of two values of people is kept.
            dry_run: only report.
            report: counts go into this one, which others count in, too; by default into a new one.
        """
        self._engine = engine
        self._clock = clock
        self._zone = zone
        self._reader = reader
        self._prefer = prefer
        self._dry_run = dry_run
        self.report = report or Report()
        self._run = RunOfImport(reader.SOURCE, self.report)
        self._matched: dict[str, int] = {}
        """Key of a photo -> id of ours."""
        self._used: set[int] = set()

    def run(self) -> Iterator[int]:
        """Import photos, then albums; yield the number of photos after each portion."""
        photos = self._reader.photos()
        while portion := list(islice(photos, PORTION)):
            for record in portion:
                if isinstance(record, Unreadable):
                    self.report.list_unreadable(record)
            self._take([record for record in portion if isinstance(record, ImportedPhoto)])
            yield len(portion)
        albums = AlbumImport(self._engine, self._clock, self._run, self._matched, dry_run=self._dry_run)
        for album in self._reader.albums():
            if isinstance(album, Unreadable):
                self.report.list_unreadable(album)
            else:
                albums.take(album)

    def _take(self, portion: Sequence[ImportedPhoto]) -> None:
        """Change the photos of a portion, or report what would change."""
        if self._dry_run:
            with Session(self._engine) as session:
                records = self._match(session, portion)
                for photo in load_whole(session, list(records)):
                    self._count_photo(bool(self._edit(photo, records[photo.id])))
            return
        with write_session(self._engine, library=True) as session, many_pages(session):
            self._write(session, self._match(session, portion), self._clock())

    def _write(self, session: Session, records: Mapping[int, ImportedPhoto], now: datetime) -> None:
        """Change photos in a write transaction; `records` has what the other program says by id of photo."""
        shared_rows, photos = SharedRows(session, self._zone), load_photos(session, list(records))
        edits = {photo.id: self._edit(photo, records[photo.id]) for photo in photos}
        shared_rows.load_cells((edit["lat"], edit["lng"]) for edit in edits.values() if "lat" in edit)
        shared_rows.keywords(word for edit in edits.values() for word in edit.get("keywords", ()))
        with changing(session, shared_rows, photos, self._run.change, now) as touched, session.no_autoflush:
            for photo in photos:
                values = edits[photo.id]
                if "archived_at" in values:
                    photo.archived_at, photo.archived_src = values.pop("archived_at"), MANUAL
                try:
                    apply(photo, values, shared_rows)
                except InvalidValueError as error:
                    self.report.list_unreadable(Unreadable(records[photo.id].name, error.message))
        changed = {photo.id for photo in touched}
        for photo in photos:
            self._count_photo(photo.id in changed)
            if photo.id in changed:
                session.add(Imported(run_id=self._run.number(session, now), key=records[photo.id].key, uid=photo.uid))

    def _count_photo(self, changes: bool) -> None:
        self.report.count("photo", Outcome.TAKEN if changes else Outcome.EQUAL)

    def _edit(self, photo: Photo, record: ImportedPhoto) -> dict[str, Any]:
        """Return the values that a photo takes, and count all."""
        is_newer = record.edited_at is not None and photo.edited_at is not None and record.edited_at > photo.edited_at
        wins = self._prefer == "theirs" or (self._prefer == "newest" and is_newer)
        taken: dict[str, Any] = {}
        for name, values in record.values.items():
            if _is_equal(photo, values):
                self.report.count(name, Outcome.EQUAL)
            elif getattr(photo, _SOURCES.get(name, f"{name}_src"), "") == MANUAL and not wins:
                self.report.count(name, Outcome.KEPT)
            else:
                self.report.count(name, Outcome.TAKEN)
                taken |= values
        for name in record.homeless:
            self.report.count(name.lower(), Outcome.NO_HOME)
        if record.keywords:
            taken |= self._keywords(photo, record.keywords)
        return taken

    def _keywords(self, photo: Photo, theirs: Sequence[str]) -> Mapping[str, Any]:
        present = {fold(keyword.word) for keyword in photo.keywords}
        new = [word for word in theirs if fold(word) not in present]
        if not new or len(present) + len(new) > limits.KEYWORDS:
            self.report.count("keywords", Outcome.KEPT if new else Outcome.EQUAL)
            return {}
        self.report.count("keywords", Outcome.TAKEN)
        return Each(add_keywords=new).values(photo, {})

    def _match(self, session: Session, portion: Iterable[ImportedPhoto]) -> dict[int, ImportedPhoto]:
        """Return id of our photo -> record: the photo of earlier runs, else the only one at the same path."""
        records: dict[str, ImportedPhoto] = {}
        for record in portion:
            if record.key in self._matched or record.key in records:
                self._miss(record, "another record has the same UID")
            else:
                records[record.key] = record
        known = _known(session, self._reader.SOURCE, list(records))
        by_place = _by_place(session, [record for record in records.values() if record.key not in known])
        found: dict[int, ImportedPhoto] = {}
        for key, record in records.items():
            ids = [known[key]] if key in known else by_place.get((record.path, record.name), [])
            if len(ids) != 1:
                self._miss(record, "several photos have this path" if ids else "no photo has this path")
            elif ids[0] in self._used:
                self._miss(record, "another record has the same photo")
            else:
                found[ids[0]], self._matched[key] = record, ids[0]
                self._used.add(ids[0])
        return found

    def _miss(self, record: ImportedPhoto, why: str) -> None:
        """Report a photo that is not here with all its values."""
        self.report.list_unmatched(f"{'/'.join(filter(None, (record.path, record.name)))}: {why}")
        for name in ("photo", *record.values, *(["keywords"] if record.keywords else [])):
            self.report.count(name, Outcome.NO_MATCH)


def _is_equal(photo: Photo, values: Mapping[str, Any]) -> bool:
    if "archived_at" in values:
        return photo.archived_at is not None
    return all(is_shown_as(getattr(photo, name), value, _PLACES.get(name, 2)) for name, value in values.items())


def _known(session: Session, source: str, keys: Sequence[str]) -> dict[str, int]:
    """Return key -> id of photos that earlier runs changed."""
    known: dict[str, int] = {}
    for portion in in_portions(keys):
        query = select(Imported.key, Photo.id).join(Photo, Photo.uid == Imported.uid).join(ImportRun)
        known |= {
            row.key: row.id
            for row in session.execute(query.where(Imported.key.in_(portion), ImportRun.source == source))
        }
    return known


def _by_place(session: Session, records: Iterable[ImportedPhoto]) -> dict[tuple[str, str], list[int]]:
    """Return folder and name -> ids of photos."""
    names: dict[str, list[str]] = {}
    for record in records:
        names.setdefault(record.path, []).append(record.name)
    found: dict[tuple[str, str], list[int]] = {}
    for path, wanted in names.items():
        query = select(Photo.id, Photo.name).where(Photo.path == path, Photo.name.in_(wanted)).order_by(Photo.id)
        for photo_id, name in session.execute(query):
            found.setdefault((path, name), []).append(photo_id)
    return found
