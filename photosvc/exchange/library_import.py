"""The import of what people entered in another program, as edits of an actor such as `import: photoprism`.

Each value is taken, equal already, or kept because a person set another one here. A run writes portions of photos in
transactions of their own, so that one that was killed is completed by the next. `exchange.import_runs` takes it back.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any, Final, Literal, TypeAlias, TypeVar

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.times import to_utc
from photosvc.core.vocabulary import MANUAL
from photosvc.exchange.album_import import AlbumImport
from photosvc.exchange.area_import import PeopleUnion, take_orientations
from photosvc.exchange.import_runs import RunOfImport
from photosvc.exchange.imported import ImportedPhoto, Outcome, Reader, Report, Unreadable
from photosvc.exchange.name_import import NameImport, Names
from photosvc.exchange.photo_matches import MatchedPhoto, PhotoMatches
from photosvc.exchange.stack_import import StackImport
from photosvc.index.shared_rows import SharedRows
from photosvc.library.edits import Each, apply, is_shown_as
from photosvc.library.unit_of_work import changing, load_photos
from photosvc.models import Imported, Photo
from photosvc.models.engine import many_pages, write_session
from photosvc.models.photo import load_whole
from photosvc.query.fold import fold
from photosvc.records import limits

#: Photos of one transaction.
PORTION: Final = 100
_Record = TypeVar("_Record")
Preference: TypeAlias = Literal["ours", "theirs", "newest"]
#: Decimals in which positions are compared.
_PLACES: Final = {"lat": 7, "lng": 7}
#: Value in the report -> the column with its source, if that is not its name with `_src`.
_SOURCES: Final = {"time": "taken_src", "position": "place_src"}


@dataclass(slots=True)
class _Edit:
    """The values that a photo takes."""

    values: dict[str, Any] = field(default_factory=dict)
    """As `edits.apply` takes them."""
    added: list[str] = field(default_factory=list)
    """Keywords and people; see `Imported.members`."""
    changes: bool = False


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
        self._matches = PhotoMatches(reader.SOURCE, self.report)
        self._named = Names()

    def run(self) -> Iterator[int]:
        """Import photos, then what refers to them; yield the number of photos after each portion."""
        with closing(self._matches), closing(self._reader):
            photos = self._reader.photos()
            while portion := list(islice(photos, PORTION)):
                self._take(list(self._readable(portion)))
                yield len(portion)
            stacks = StackImport(self._engine, self._clock, self._zone, self._run, self._matches, dry_run=self._dry_run)
            for stack in self._readable(self._reader.stacks()):
                stacks.take(stack)
            names = NameImport(self._engine, self._clock, self._run, self._named, self._prefer, dry_run=self._dry_run)
            for person in self._readable(self._reader.people()):
                names.take_person(person)
            for label in self._readable(self._reader.labels()):
                names.take_label(label)
            albums = AlbumImport(self._engine, self._clock, self._run, self._matches, dry_run=self._dry_run)
            for album in self._readable(self._reader.albums()):
                albums.take(album)

    def _readable(self, records: Iterable[_Record | Unreadable]) -> Iterator[_Record]:
        """Yield the records that can be read, and report the others."""
        for record in records:
            if isinstance(record, Unreadable):
                self.report.list_unreadable(record)
            else:
                yield record

    def _take(self, portion: Sequence[ImportedPhoto]) -> None:
        """Change the photos of a portion, or report what would change."""
        if self._dry_run:
            with Session(self._engine) as session, session.no_autoflush:  # areas change in memory alone
                matches = self._matches.match(session, portion)
                shared_rows = SharedRows(session, self._zone)
                for photo in load_whole(session, list(matches)):
                    self._count_photo(self._edit(photo, matches[photo.id], shared_rows).changes)
            return
        with write_session(self._engine, library=True) as session, many_pages(session):
            self._write(session, self._matches.match(session, portion), self._clock())

    def _write(self, session: Session, matches: Mapping[int, MatchedPhoto], now: datetime) -> None:
        """Change photos in a write transaction; `matches` has what the other program says by id of photo."""
        shared_rows, photos = SharedRows(session, self._zone), load_photos(session, list(matches))
        with changing(session, shared_rows, photos, self._run.change, now) as touched, session.no_autoflush:
            edits = {photo.id: self._edit(photo, matches[photo.id], shared_rows) for photo in photos}
            every = [edit.values for edit in edits.values()]
            shared_rows.load_cells((values["lat"], values["lng"]) for values in every if "lat" in values)
            shared_rows.keywords(word for values in every for word in values.get("keywords", ()))
            for photo in photos:
                self._apply(photo, edits[photo.id].values, matches[photo.id], shared_rows)
        changed = {photo.id for photo in touched}
        for photo in photos:
            self._count_photo(photo.id in changed)
            if photo.id in changed:
                number, added = self._run.number(session, now), edits[photo.id].added
                keys = [record.key for record in matches[photo.id].records]
                session.add_all(Imported(run_id=number, key=key, uid=photo.uid, members=added) for key in keys)

    def _apply(self, photo: Photo, values: dict[str, Any], match: MatchedPhoto, shared_rows: SharedRows) -> None:
        if "archived_at" in values:
            photo.archived_at, photo.archived_src = values.pop("archived_at"), MANUAL
        try:
            apply(photo, values, shared_rows)
        except InvalidValueError as error:
            self.report.list_unreadable(Unreadable(match.records[0].name or match.records[0].key, error.message))

    def _count_photo(self, changes: bool) -> None:
        self.report.count("photo", Outcome.TAKEN if changes else Outcome.EQUAL)

    def _edit(self, photo: Photo, match: MatchedPhoto, shared_rows: SharedRows) -> _Edit:
        """Return what a photo takes, and count all; people and orientations are written into the photo."""
        edit = _Edit()
        for number, record in enumerate(match.records):
            is_first = number == 0 and not match.is_further
            theirs, ours = record.edited_at, photo.edited_at
            is_newer = theirs is not None and ours is not None and theirs > ours
            wins = is_first and (self._prefer == "theirs" or (self._prefer == "newest" and is_newer))
            self._take_values(photo, record, edit, wins=wins)
            self._take_keywords(photo, record, match.united, edit)
            outcomes = [("orientation", one) for one in take_orientations(photo, record, wins=wins)]
            people = PeopleUnion(shared_rows.session, shared_rows, photo, match.united, wins=wins)
            for folded, outcome in people.unite(record) if record.people else ():
                outcomes.append(("people", outcome))
                self._named.people.add(folded)
                edit.added += [f"person {folded}"] if outcome is Outcome.TAKEN else []
            for name, outcome in outcomes:
                self.report.count(name, outcome)
                edit.changes = edit.changes or outcome is Outcome.TAKEN
        return edit

    def _take_values(self, photo: Photo, record: ImportedPhoto, edit: _Edit, *, wins: bool) -> None:
        for name, values in record.values.items():
            source = getattr(photo, _SOURCES.get(name, f"{name}_src"), "")
            if _is_equal(photo, values):
                self.report.count(name, Outcome.EQUAL)
            elif values.keys() & edit.values.keys() or (source == MANUAL and not wins):
                self.report.count(name, Outcome.KEPT)
            else:
                self.report.count(name, Outcome.TAKEN)
                edit.values |= values
                edit.changes = True
        for name in record.homeless:
            self.report.count(name.lower(), Outcome.NO_HOME)

    def _take_keywords(self, photo: Photo, record: ImportedPhoto, united: Collection[str], edit: _Edit) -> None:
        """Unite keywords, except those that a person took away after an import."""
        if not record.keywords:
            return
        present = {fold(keyword.word) for keyword in photo.keywords}
        present |= {fold(word) for word in edit.values.get("keywords", ())}
        missing = [word for word in record.keywords if fold(word) not in present]
        new = [word for word in missing if f"keyword {fold(word)}" not in united]
        self._named.labels |= {fold(word) for word in record.keywords}
        if not new or len(present) + len(new) > limits.KEYWORDS:
            self.report.count("keywords", Outcome.KEPT if missing else Outcome.EQUAL)
            return
        self.report.count("keywords", Outcome.TAKEN)
        given = {"keywords": edit.values["keywords"]} if "keywords" in edit.values else {}
        edit.values |= Each(add_keywords=new).values(photo, given)
        edit.added += [f"keyword {fold(word)}" for word in new]
        edit.changes = True


def _is_equal(photo: Photo, values: Mapping[str, Any]) -> bool:
    if "archived_at" in values:
        return photo.archived_at is not None
    zone = values.get("time_zone", "")
    if zone.startswith("Etc/") and photo.time_zone:  # a named zone says more than the same offset
        local = values["taken_at_local"].replace(tzinfo=None)
        if to_utc(local, zone) == to_utc(local, photo.time_zone):
            values = {name: value for name, value in values.items() if name != "time_zone"}
    return all(is_shown_as(_value(photo, name), value, _PLACES.get(name, 2)) for name, value in values.items())


def _value(photo: Photo, name: str) -> Any:  # noqa: ANN401 - of a column
    """Return the value of a photo by its name in an edit, such as `camera_make`."""
    relation, _, column = name.partition("_")
    return getattr(getattr(photo, relation), column) if column in ("make", "model") else getattr(photo, name)
