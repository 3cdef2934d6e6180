"""The photos here that are those of another program: by an earlier import, SHA-1, path, or name with size and time."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.exchange.imported import ImportedPhoto, Outcome, Report
from photosvc.index.file_columns import INT64
from photosvc.models import File, Imported, ImportRun, Photo
from photosvc.models.statements import among, in_portions

_SCHEMA: Final = """
    CREATE TABLE matches (key TEXT PRIMARY KEY, photo_id INTEGER) WITHOUT ROWID;
    CREATE INDEX by_photo ON matches (photo_id)
"""


@dataclass(slots=True)
class MatchedPhoto:
    """A photo here, and the records that are it: another program may make several photos of its files."""

    records: list[ImportedPhoto] = field(default_factory=list)
    is_further: bool = False
    """True if earlier records of this run are this photo, too, so that these do not replace what those said."""
    united: set[str] = field(default_factory=set)
    """What earlier runs added to it, see `Imported.members`: what is gone since, a person took away."""


class PhotoMatches:
    """The photos of one run, in a table on disk: libraries may be larger than the memory."""

    def __init__(self, source: str, report: Report) -> None:
        """Begin without matches."""
        self._source = source
        self._report = report
        self._store = sqlite3.connect("", isolation_level=None)  # a temporary file, of which SQLite caches a part
        self._store.executescript(_SCHEMA)

    def close(self) -> None:
        """Forget all matches."""
        self._store.close()

    def ids(self, keys: Sequence[str]) -> dict[str, int]:
        """Return key -> id of our photo for those keys that are matched."""
        found: dict[str, int] = {}
        for portion in in_portions(keys):
            query = f"SELECT key, photo_id FROM matches WHERE key IN ({', '.join('?' * len(portion))})"  # noqa: S608
            found |= dict(self._store.execute(query, portion))
        return found

    def move(self, photos: Mapping[int, int]) -> None:
        """Let keys of photos be those of other photos, which have their files now."""
        self._store.executemany(
            "UPDATE matches SET photo_id = ? WHERE photo_id = ?", [(to, of) for of, to in photos.items()]
        )

    def match(self, session: Session, portion: Iterable[ImportedPhoto]) -> dict[int, MatchedPhoto]:
        """Return id of our photo -> the records that are it; the others are reported."""
        records: dict[str, ImportedPhoto] = {}
        for record in portion:
            if record.key in records or self.ids([record.key]):
                self._miss(record, "another record has the same UID")
            else:
                records[record.key] = record
        found: dict[int, MatchedPhoto] = {}
        known = self._known(session, list(records))
        for key, (photo_id, united) in known.items():
            self._find(found, photo_id, records.pop(key)).united |= united
        for record, photo_id in _by_hash(session, records.values()):
            self._find(found, photo_id, records.pop(record.key))
        by_path, by_name = _by_path(session, records.values()), _by_name(session, records.values())
        for record in records.values():
            paths, names = by_path[record.path, record.name], by_name[record.key]
            ids = paths or names
            if len(ids) != 1:
                how = "path" if paths else "name, size and time"
                self._miss(record, f"several photos have this {how}" if ids else _missing(record))
            elif ids[0] in found or self._is_used(ids[0]):
                self._miss(record, "another record has the same photo")
            else:
                self._find(found, ids[0], record)
                if not paths:
                    self._report.list_by_name(f"{_named(record)}: found by name, size and time alone")
        return found

    def _find(self, found: dict[int, MatchedPhoto], photo_id: int, record: ImportedPhoto) -> MatchedPhoto:
        match = found.get(photo_id)
        if match is None:
            match = found[photo_id] = MatchedPhoto(is_further=self._is_used(photo_id))
        match.records.append(record)
        self._store.execute("INSERT INTO matches VALUES (?, ?)", (record.key, photo_id))
        return match

    def _is_used(self, photo_id: int) -> bool:
        return bool(self._store.execute("SELECT 1 FROM matches WHERE photo_id = ?", (photo_id,)).fetchone())

    def _known(self, session: Session, keys: Sequence[str]) -> dict[str, tuple[int, set[str]]]:
        """Return key -> id of the photo that earlier runs changed, and what they added to it."""
        known: dict[str, tuple[int, set[str]]] = {}
        for portion in in_portions(keys):
            query = select(Imported.key, Photo.id, Imported.members).join(Photo, Photo.uid == Imported.uid)
            query = query.join(ImportRun).where(Imported.key.in_(portion), ImportRun.source == self._source)
            for key, photo_id, members in session.execute(query.order_by(Imported.run_id)):
                known[key] = photo_id, (known[key][1] if key in known else set()) | set(members)
        return known

    def _miss(self, record: ImportedPhoto, why: str) -> None:
        """Report a photo that is not here with all its values."""
        self._report.list_unmatched(f"{_named(record)}: {why}")
        for name in ("photo", *record.values, *(name for name in ("keywords", "people") if getattr(record, name))):
            self._report.count(name, Outcome.NO_MATCH)


def _named(record: ImportedPhoto) -> str:
    return "/".join(filter(None, (record.path, record.name or record.file_name))) or record.key


def _missing(record: ImportedPhoto) -> str:
    if record.hashes:
        return "no photo has this content, this path, or this name with size and time"
    return "no photo has this path"


def _by_hash(session: Session, records: Iterable[ImportedPhoto]) -> Iterator[tuple[ImportedPhoto, int]]:
    """Yield the records one of whose files is here, each with the photo of the first such file."""
    listed = list(records)
    hashes = {one for record in listed for one in record.hashes}
    photos: dict[str, set[int]] = defaultdict(set)
    if hashes:
        query = select(File.hash, File.photo_id).where(among(session, File.hash, hashes), File.missing.is_(False))
        for digest, photo_id in session.execute(query):
            photos[digest].add(photo_id)
    for record in listed:
        ids = next((photos[one] for one in record.hashes if len(photos[one]) == 1), None)
        if ids:
            yield record, min(ids)


def _by_path(session: Session, records: Iterable[ImportedPhoto]) -> Mapping[tuple[str, str], list[int]]:
    """Return folder and name -> ids of photos."""
    names: dict[str, list[str]] = {}
    for record in records:
        if record.name:
            names.setdefault(record.path, []).append(record.name)
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for path, wanted in names.items():
        query = select(Photo.id, Photo.name).where(Photo.path == path, Photo.name.in_(wanted)).order_by(Photo.id)
        for photo_id, name in session.execute(query):
            found[path, name].append(photo_id)
    return found


def _by_name(session: Session, records: Iterable[ImportedPhoto]) -> Mapping[str, list[int]]:
    """Return key -> ids of the photos with a file of this name and size that were taken at this time."""
    wanted: dict[int, list[ImportedPhoto]] = defaultdict(list)
    for record in records:
        if record.file_name and 0 < record.size <= INT64 and record.taken_local:
            wanted[record.size].append(record)
    found: dict[str, list[int]] = defaultdict(list)
    if not wanted:
        return found
    query = select(File.size, File.name, File.original_name, Photo.id, Photo.taken_at_local).join(Photo)
    query = query.where(among(session, File.size, wanted.keys()), File.missing.is_(False)).order_by(File.id)
    for size, name, original_name, photo_id, taken_at in session.execute(query):
        names = {path.rpartition("/")[2].casefold() for path in (name, original_name)}
        local = taken_at.replace(tzinfo=None, microsecond=0)
        for record in wanted[size]:
            is_same = record.taken_local == local and record.file_name.casefold() in names
            if is_same and photo_id not in found[record.key]:
                found[record.key].append(photo_id)
    return found
