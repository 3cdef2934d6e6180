"""The import of an open archive: photos that are not here come with their rows, their history and their originals.

A photo that is here, by its UID or the content of a file, is left to `exchange.library_import`. The others keep their
UIDs: their rows are made as those of photos whose files are missing, and their originals arrive afterwards, so that an
index run finds the files of known photos. Each step can be interrupted, and is completed by the next run.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from itertools import islice
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.files import disk_name
from photosvc.core.times import is_zone
from photosvc.exchange.archive_folder import ArchiveFolder
from photosvc.exchange.archive_originals import ArchiveOriginals, with_hash
from photosvc.exchange.archive_records import ALBUM, AREA, FILE
from photosvc.exchange.archive_schema import (
    COLUMN_OF,
    COLUMNS,
    AlbumRecord,
    ChangeRecord,
    FileRecord,
    PersonRecord,
    PlaceRecord,
)
from photosvc.exchange.imported import Outcome, Report, Unreadable
from photosvc.index.file_columns import set_added_areas, set_chosen_names
from photosvc.index.quality import HIDDEN
from photosvc.index.requests import enqueue, parent
from photosvc.index.shared_rows import SharedRows
from photosvc.library.album_photos import MOST_AT_ONCE, project_members
from photosvc.library.albums import MOST_ALBUMS, check_values, uids_by_title
from photosvc.library.content import check_disk
from photosvc.library.journal import MOST_OF_PHOTO, stored_text
from photosvc.library.labels import mark_favorite
from photosvc.library.people import check_person_name, photos_of_people
from photosvc.library.storage_errors import ReadOnlyError
from photosvc.library.unit_of_work import store_and_project
from photosvc.media.formats import split_name
from photosvc.models import (
    ORIGINALS_ROOT,
    Album,
    AlbumPhoto,
    File,
    Marker,
    Photo,
    PhotoChange,
    Place,
    Subject,
    SubjectName,
    UploadedFile,
)
from photosvc.models.counters import record_change
from photosvc.models.engine import write_session
from photosvc.models.statements import among, in_portions, insert_into, number_new
from photosvc.query.fold import fold
from photosvc.settings import Settings

#: Photos of one transaction.
PORTION: Final = 100
#: The distance between the positions of neighbours in an album.
_STEP: Final = 1 << 20
_Item = TypeVar("_Item")


class ArchiveImport:
    """One import of an archive."""

    def __init__(
        self, engine: Engine, settings: Settings, clock: Clock, archive: ArchiveFolder, report: Report, *, dry_run: bool
    ) -> None:
        """Prepare an import; `dry_run` only reports."""
        self._engine = engine
        self._settings = settings
        self._clock = clock
        self._archive = archive
        self.report = report
        self._dry_run = dry_run
        self._originals = ArchiveOriginals(settings, archive, report)
        self.listed: set[str] = set()
        """UIDs of all photos of the archive."""
        self.new: set[str] = set()
        """UIDs of the photos that are not here, by UID or content."""
        self.new_people: set[str] = set()
        """UIDs of the people who are not here, by UID or name."""
        self.new_albums: set[str] = set()
        """UIDs of the albums that are not here, by UID or title."""

    def run(self) -> Iterator[int]:
        """Import all that is not here; yield the number of photos after each portion.

        Raises:
            InvalidValueError: the archive is damaged, or a record is not valid; nothing was imported.
            ReadOnlyError: it has originals, and none may be added.
            PhotosvcError: the disk is full, or fails.
        """
        self._check()
        if not self._dry_run:
            self._require_disk()
        self._take_history()
        self._take_people()
        for portion in _portions(self._archive.photos(), PORTION):
            self._take_photos(portion)
            yield len(portion)
        for trashed in self._archive.listed("trash.json"):
            self._originals.bring_trash(trashed, dry_run=self._dry_run)
        for album in self._archive.listed("albums.json"):
            self._take_album(album)

    def finish(self) -> None:
        """Mark labels and people as favorites, once the photos are indexed: who may notice that depends on them."""
        if self._dry_run:
            return
        with write_session(self._engine, library=True) as session:
            shared_rows, changes = SharedRows(session, self._settings.timezone), False
            for label in self._archive.listed("labels.json"):
                keyword = next(iter(shared_rows.keywords([label.Name])), None)
                if keyword is None:
                    continue
                session.flush()
                is_new = label.Favorite and not keyword.favorite
                self.report.count("label", Outcome.TAKEN if is_new else Outcome.EQUAL)
                if is_new:
                    mark_favorite(session, keyword.id, favorite=True)
                    changes = True
            for person in self._archive.listed("people.json"):
                subject = session.scalars(select(Subject).where(Subject.uid == person.UID)).first()
                if subject is not None and subject.favorite and not subject.favorite_open:
                    seen = photos_of_people(session.connection(), [subject.name], sees_private=False)
                    subject.favorite_open = bool(seen)
                    changes |= subject.favorite_open
            if changes:
                record_change(session)

    def _check(self) -> None:
        """Check all records before anything changes, and find the photos and albums that are not here."""
        self._archive.check()
        names: set[str] = set()
        for portion in _portions(self._archive.photos(), PORTION):
            for record in portion:
                if record.uid in self.listed or not is_zone(record.time_zone):
                    why = "two photos have it as UID" if record.uid in self.listed else "its time zone is unknown"
                    raise InvalidValueError(f"photos.jsonl: {record.uid}: {why}; nothing was imported", field="FOLDER")
                self.listed.add(record.uid)
                for file in record.files:
                    if file.Name in names:
                        why = f"another photo has the file {file.Name[:100]!r}, too; nothing was imported"
                        raise InvalidValueError(f"photos.jsonl: {record.uid}: {why}", field="FOLDER")
                    names.add(file.Name)
            hashes = {file.SHA1 for record in portion for file in record.files} - {""}
            with Session(self._engine) as session:
                uids = [record.uid for record in portion]
                here = set(session.scalars(select(Photo.uid).where(among(session, Photo.uid, uids))))
                known = set(session.scalars(select(File.hash).where(among(session, File.hash, hashes))))
            for record in portion:
                if record.uid not in here and known.isdisjoint(file.SHA1 for file in record.files):
                    self.new.add(record.uid)
        for _ in self._archive.changes():
            pass
        for name in ("people.json", "labels.json", "trash.json"):
            for _ in self._archive.listed(name):
                pass
        self._check_albums()

    def _check_albums(self) -> None:
        with Session(self._engine) as session:
            here = {row.uid: row.updated_at for row in session.execute(select(Album.uid, Album.updated_at))}
            titles = uids_by_title(session)
            count = session.scalar(select(func.count()).select_from(Album)) or 0
        for album in self._archive.listed("albums.json"):
            is_unchanged = here.get(album.UID) == album.UpdatedAt  # perhaps an interrupted run has made it
            if is_unchanged or (album.UID not in here and fold(album.Title) not in titles):
                self.new_albums.add(album.UID)
        if count + len(self.new_albums) > MOST_ALBUMS:
            raise ConflictError(f"there would be more than {MOST_ALBUMS} albums; nothing was imported", field="FOLDER")

    def _require_disk(self) -> None:
        has_files = any(name.startswith(("originals/", "trash/")) for name in self._archive.digests)
        if has_files and self._settings.readonly:
            raise ReadOnlyError
        with Session(self._engine) as session:
            check_disk(session, self._settings)

    def _writing(self) -> AbstractContextManager[Session]:
        """Return a write transaction; in a dry run, a session that reads."""
        return Session(self._engine) if self._dry_run else write_session(self._engine, library=True)

    def _take_history(self) -> None:
        """Add the history of new photos, and of deleted ones, in one transaction: a part of it would not be noticed."""
        accepted: Counter[str] = Counter()
        refused: set[str] = set()
        numbers = array("q")
        """Ids of the changes here by their lines; 0 for those that are left out."""
        with self._writing() as session:
            shared_rows = SharedRows(session, self._settings.timezone)
            for portion in _portions(self._archive.changes(), PORTION):
                uids = {change.PhotoUID for change in portion} - accepted.keys() - refused
                refused |= self._with_history(session, uids)
                rows = []
                for change in portion:
                    uid = change.PhotoUID
                    accepted[uid] += uid not in refused
                    is_taken = 0 < accepted[uid] <= MOST_OF_PHOTO
                    self.report.count("history", Outcome.TAKEN, int(is_taken))
                    if not self._dry_run:
                        rows.append(_change_row(change, shared_rows) if is_taken else None)
                taken = [row for row in rows if row is not None]
                if not taken:
                    numbers.extend([0] * len(portion))
                    continue
                number_new(session, PhotoChange, taken)
                numbers.extend(row.id if row is not None else 0 for row in rows)
                for change, row in zip(portion, rows, strict=True):
                    if row is not None and change.Undoes is not None:
                        row.undoes = numbers[change.Undoes - 1] or None
                session.add_all(taken)
                session.flush()
                session.expunge_all()
                shared_rows = SharedRows(session, self._settings.timezone)

    def _with_history(self, session: Session, uids: Iterable[str]) -> set[str]:
        """Return those of these photos of which no history is taken: they have one here, or are other photos here."""
        wanted = set(uids)
        here = {uid for uid in wanted if uid in self.listed and uid not in self.new}
        others = wanted - self.listed
        here |= set(session.scalars(select(Photo.uid).where(among(session, Photo.uid, others))))
        changed = select(PhotoChange.photo_uid).where(among(session, PhotoChange.photo_uid, wanted)).distinct()
        return here | set(session.scalars(changed))

    def _take_people(self) -> None:
        """Add people who are not here; the marks and names of others stay."""
        with self._writing() as session:
            for record in self._archive.listed("people.json"):
                try:
                    check_person_name(record.Name)
                except InvalidValueError as error:
                    self.report.list_unreadable(Unreadable(record.UID, error.message))
                    continue
                known = select(Subject.id).where((Subject.uid == record.UID) | (Subject.folded == fold(record.Name)))
                is_new = session.scalar(known) is None
                if is_new:
                    self.new_people.add(record.UID)
                    self.report.count("person", Outcome.TAKEN)
                    if not self._dry_run:
                        self._add_person(session, record)

    def _add_person(self, session: Session, record: PersonRecord) -> None:
        subject = Subject(
            uid=record.UID, name=record.Name, folded=fold(record.Name), favorite=record.Favorite, hidden=record.Hidden,
            birth_date=record.BirthDate, updated_at=self._clock(),
        )  # fmt: skip
        session.add(subject)
        session.flush()
        if names := [{"folded": fold(name), "subject_id": subject.id} for name in record.OtherNames]:
            session.execute(insert_into(SubjectName, session).on_conflict_do_nothing(), names)

    def _take_photos(self, portion: Sequence[Any]) -> None:
        """Make the rows of new photos, then bring originals that are missing."""
        new = [record for record in portion if record.uid in self.new]
        self.report.count("photo", Outcome.TAKEN, len(new))
        if self._dry_run:
            files = [file for record in new for file in record.files if not file.Missing]
            self.report.count("file", Outcome.TAKEN, sum(map(self._originals.has, files)))
            return
        if new:
            with write_session(self._engine, library=True) as session:
                self._add_photos(session, new)
        with Session(self._engine) as session:
            files = [file for record in portion for file in record.files if file.SHA1 and not file.Missing]
            hashes = {file.SHA1 for file in files}
            stored = select(File.hash, File.name, File.missing).where(among(session, File.hash, hashes))
            rows: dict[str, list[tuple[str, bool]]] = {}
            for content, name, missing in session.execute(stored):
                rows.setdefault(content, []).append((name, missing))
        folders = {parent(file.Name) for file in files if self._is_to_bring(file, rows) and self._originals.bring(file)}
        if folders:
            with write_session(self._engine) as session:
                for folder in sorted(folders):
                    enqueue(session, self._clock(), disk_name(folder))

    def _is_to_bring(self, file: FileRecord, rows: Mapping[str, Sequence[tuple[str, bool]]]) -> bool:
        """Return whether the archive has an original that is not here, nor in the trash."""
        known = rows.get(file.SHA1, ())
        awaited = {(file.Name, True), (with_hash(file), True)}
        return self._originals.has(file) and (not known or not awaited.isdisjoint(known))

    def _add_photos(self, session: Session, records: Sequence[Any]) -> None:
        now = self._clock()
        shared_rows = SharedRows(session, self._settings.timezone)
        shared_rows.keywords(word for record in records for word in record.keywords)
        files = [file for record in records for file in record.files]
        names = {file.Name for file in files}
        taken = set(session.scalars(select(File.name).where(among(session, File.name, names))))
        used = _used(session, File.uid, [file.UID for file in files])
        used |= _used(session, Marker.uid, [area.UID for file in files for area in file.Areas])
        photos = []
        with session.no_autoflush:
            for record in records:
                photo = self._photo(record, shared_rows, now)
                for file in record.files:
                    row = _file(file, used, now)
                    if file.Name in taken:  # another content has the name here
                        row.name = with_hash(file)
                    taken.add(row.name)
                    photo.files.append(row)
                photos.append(photo)
        session.add_all(photos)
        session.flush()
        claims = [
            {"hash": file.SHA1, "name": file.Name, "size": file.Size, "original_name": file.OriginalName,
             "link_uid": "", "contributed": False, "created_at": now}
            for file in files if file.SHA1 and file.OriginalName
        ]  # fmt: skip
        if claims:
            session.execute(insert_into(UploadedFile, session).on_conflict_do_nothing(), claims)
        store_and_project(session, [photo.id for photo in photos])

    def _photo(self, record: Any, shared_rows: SharedRows, now: datetime) -> Photo:  # noqa: ANN401 - a `PhotoRecord`
        shown = next((file.Name for file in record.files if file.Primary), "")  # without files, in a stack
        folder, base, _ = split_name(shown or next((file.Name for file in record.files), ""))
        values = {name: getattr(record, name) for name in COLUMNS} | {"uid": record.uid, "path": folder, "name": base}
        times = {"created_at": record.created_at, "edited_at": record.edited_at, "updated_at": now, "checked_at": now}
        photo = Photo.with_defaults(values | times | {"quality": HIDDEN})
        photo.camera = shared_rows.camera(record.camera.Make, record.camera.Model)
        photo.lens = shared_rows.lens(record.lens.Make, record.lens.Model)
        photo.place = _place(shared_rows, record.place)
        photo.keywords = shared_rows.keywords(record.keywords)
        return photo

    def _take_album(self, record: AlbumRecord) -> None:
        """Make an album that is not here, with its photos in portions; one of an interrupted run is completed."""
        if record.UID not in self.new_albums:
            return
        values = {column: getattr(record, name) for name, column in ALBUM.items()}
        try:
            check_values(values, self._clock(), smart=bool(record.Filter))
        except InvalidValueError as error:
            self.report.count("album", Outcome.NO_HOME)
            self.report.list_unmatched(f"album {record.Title}: {error.message}")
            self.new_albums.discard(record.UID)
            return
        with Session(self._engine) as session:
            is_here = session.scalar(select(Album.id).where(Album.uid == record.UID)) is not None
        self.report.count("album", Outcome.EQUAL if is_here else Outcome.TAKEN)
        if self._dry_run:
            self.report.count("album photo", Outcome.EQUAL if is_here else Outcome.TAKEN, len(record.Photos))
            return
        for start in range(0, max(1, len(record.Photos)), MOST_AT_ONCE):
            with write_session(self._engine, library=True) as session:
                album = session.scalars(select(Album).where(Album.uid == record.UID)).first()
                if album is None:
                    times = {"created_at": record.CreatedAt, "updated_at": record.UpdatedAt}
                    album = Album(uid=record.UID, **values, **times)
                    session.add(album)
                    session.flush()
                    record_change(session, private=album.private)
                self._add_members(session, album, record, start)

    def _add_members(self, session: Session, album: Album, record: AlbumRecord, start: int) -> None:
        members = record.Photos[start : start + MOST_AT_ONCE]
        ids_by_uid: dict[str, int] = {}
        for portion in in_portions([member.UID for member in members]):
            found = session.execute(select(Photo.uid, Photo.id).where(Photo.uid.in_(portion)))
            ids_by_uid |= {row.uid: row.id for row in found}
        held = select(AlbumPhoto.photo_id).where(AlbumPhoto.album_id == album.id)
        present = set(session.scalars(held.where(among(session, AlbumPhoto.photo_id, set(ids_by_uid.values())))))
        rows: list[dict[str, Any]] = [
            {"album_id": album.id, "photo_id": photo_id, "position": number * _STEP, "hidden": member.Hidden,
             "created_at": member.AddedAt}
            for number, member in enumerate(members, start + 1)
            if (photo_id := ids_by_uid.get(member.UID)) is not None and photo_id not in present
        ]  # fmt: skip
        self.report.count("album photo", Outcome.TAKEN, len(rows))
        self.report.count("album photo", Outcome.EQUAL, len(present))
        self.report.count("album photo", Outcome.NO_MATCH, len(members) - len(rows) - len(present))
        if rows:
            session.execute(insert_into(AlbumPhoto, session).on_conflict_do_nothing(), rows)
            project_members(session, [row["photo_id"] for row in rows])


def _portions(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    iterator = iter(items)
    while portion := list(islice(iterator, size)):
        yield portion


def _used(session: Session, column: Any, uids: Sequence[str]) -> set[str]:  # noqa: ANN401 - a column
    """Return those of these UIDs that the library has."""
    return set(session.scalars(select(column).where(among(session, column, set(uids)))))


def _free(uid: str, used: set[str], prefix: str, now: datetime) -> str:
    """Return a UID, or a new one if it is used; it is used from now on."""
    free = ids.new_uid(prefix, now) if uid in used else uid
    used.add(free)
    return free


def _file(record: FileRecord, used: set[str], now: datetime) -> File:
    """Return the row of a file that is yet to arrive."""
    values = {column: getattr(record, name) for name, column in FILE.items()}
    values |= {"uid": _free(record.UID, used, ids.FILE, now), "root": ORIGINALS_ROOT, "mtime_ns": 0, "missing": True}
    file = File.with_defaults(values | {"created_at": record.CreatedAt, "updated_at": now})
    set_added_areas(file, [area.region() for area in record.AddedAreas])
    set_chosen_names(file, record.ChosenNames)
    for area in record.Areas:
        marked = {column: getattr(area, name) for name, column in AREA.items()}
        file.markers.append(Marker(uid=_free(area.UID, used, ids.MARKER, now), created_at=now, **marked))
    return file


def _place(shared_rows: SharedRows, record: PlaceRecord) -> Place:
    """Return the place of this id, which is made with these names if it is not here."""
    session = shared_rows.session
    known = session.get(Place, record.ID)
    if known is None:
        names = {"label": record.Label, "city": record.City, "state": record.State, "country": record.Country}
        known = Place(id=record.ID, **names)
        session.add(known)
        session.flush()
    return known


def _change_row(record: ChangeRecord, shared_rows: SharedRows) -> PhotoChange:
    before, after = (stored_text(_numbered(values, shared_rows)) for values in (record.Before, record.After))
    return PhotoChange(
        photo_uid=record.PhotoUID, action=record.Action, undoes=None, batch=min(int(record.Batch), (1 << 63) - 1),
        actor_uid="", actor_name=record.Actor, before=before, after=after, created_at=record.At,
    )  # fmt: skip


def _numbered(values: Mapping[str, Any], shared_rows: SharedRows) -> dict[str, Any]:
    """Return the values of a change by their columns, with the numbers of rows here."""
    result: dict[str, Any] = {}
    for wire, value in values.items():
        name = COLUMN_OF[wire]
        if name == "place":
            result["place_id"] = _place(shared_rows, msgspec.convert(value, PlaceRecord)).id
        elif name in ("camera", "lens"):
            row = getattr(shared_rows, name)(value["Make"], value["Model"])
            shared_rows.session.flush()
            result[f"{name}_id"] = row.id
        else:
            result[name] = value
    return result
