"""The renaming and merging of people.

Names come from files, so a chosen name is stored for each name in files.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.message import of_field
from photosvc.core.vocabulary import MANUAL
from photosvc.index import file_columns
from photosvc.index.describe import areas_of, describe
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.journal import Actor, Change
from photosvc.library.labels import ChangeSome
from photosvc.library.unit_of_work import changing, load_photos, store_and_project
from photosvc.models import STATE, File, LibraryState, Marker, Photo, SearchRow, Subject, SubjectName
from photosvc.models.counters import record_change
from photosvc.models.library import subject_uid
from photosvc.models.statements import insert_into
from photosvc.query.fold import fold, words
from photosvc.search.reading.compile import EVERY_SWITCH, visible
from photosvc.search.reading.people import Person


def check_name(name: str) -> None:
    """Raise `InvalidValueError` for a name without letters or digits."""
    if not words(name):
        raise InvalidValueError(of_field("Name", "send a name with letters or digits"), field="Name")


def choose_name(session: Session, person: Person, name: str, now: datetime, *, favorite: bool | None = None) -> str:
    """Give a person another name, and return their UID; a name that another person has makes one person of both.

    `PersonChange` brings the name to their photos. Files that have one of the earlier names have the new one from now
    on, also those that are indexed later.

    Args:
        favorite: whether they are a favourite; None: as before.
    """
    # One renaming at a time: two could make two rows of one name.
    session.execute(select(LibraryState.value).where(LibraryState.name == STATE).with_for_update())
    old, new = fold(person.name), fold(name)
    own = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    other = session.scalars(select(Subject).where(Subject.folded == new)).first()
    if other is None and new != old and _spellings(session.connection(), {new}):
        other = _new(session, subject_uid(new), name, now)
    if other is None or other is own:
        kept = own or _new(session, person.uid, name, now)
    else:
        kept = other
        kept.hidden = kept.hidden and own is not None and own.hidden
        if own is not None:
            move = update(SubjectName).where(SubjectName.subject_id == own.id).values(subject_id=kept.id)
            session.execute(move)
            kept.favorite = kept.favorite or own.favorite
            kept.favorite_open = kept.favorite_open or own.favorite_open
            session.execute(delete(Subject).where(Subject.id == own.id))
    kept.name, kept.folded, kept.updated_at = name, new, now
    connection = session.connection()
    private = not photos_with(connection, _spellings(connection, {old, new}), sees_private=False)
    if favorite is not None:
        kept.favorite, kept.favorite_open = favorite, favorite and not private
    session.flush()
    session.execute(
        insert_into(SubjectName, session).on_conflict_do_nothing(),
        [{"folded": folded, "subject_id": kept.id} for folded in {old, new}],
    )
    record_change(session, private=private)
    return kept.uid


@dataclass(frozen=True, slots=True)
class PersonChange:
    """The name of a person that `choose_name` has stored, for all photos that have an earlier one."""

    PASSES: ClassVar = 2
    """Number of searches for photos with an earlier name: an index run in progress may add some meanwhile."""

    uid: str
    earlier: str
    """The last earlier name, without case and accents; the person may own others."""

    @property
    def about(self) -> str:
        """Return the person that it is about."""
        return f"person {self.uid}"

    def prepare(self, connection: Connection, _actor: Actor, zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of the photos that are left to change, and the function that changes some hundreds of them.

        These are also photos that an interrupted renaming left. A person who was merged with another one since has
        none: the change of that one does the rest.
        """
        names = self.names(connection)
        chosen = connection.scalar(select(Subject.name).where(Subject.uid == self.uid)) or ""
        photo_ids = photos_with(connection, names) if names else ()
        return photo_ids, partial(rename_photos, names=names, name=chosen, zone=zone)

    def names(self, connection: Connection) -> frozenset[str]:
        """Return the names of markers that are to be replaced."""
        own = select(Subject.id, Subject.name, Subject.folded).where(Subject.uid == self.uid)
        person = connection.execute(own).first()
        if person is None:
            return frozenset()
        owned = connection.scalars(select(SubjectName.folded).where(SubjectName.subject_id == person.id))
        return _spellings(connection, {self.earlier, person.folded, *owned}) - {person.name}


@dataclass(frozen=True, slots=True)
class SeenPersonChange:
    """A new name for a person, as edits of the photos that an actor without access to private ones may see.

    Other photos keep the name, so that the person is another one on these photos.
    """

    PASSES: ClassVar = 1

    earlier: str
    """The name before, without case and accents."""
    name: str
    favorite: bool | None = None
    """True if that person is a favourite afterwards, False if not; None: as before."""

    @property
    def about(self) -> str:
        """Return the person that it is about."""
        return f"seen person {self.earlier}"

    def prepare(self, connection: Connection, actor: Actor, zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of the photos that are left to change, and the function that changes some hundreds of them."""
        names = _spellings(connection, {self.earlier}) - {self.name}
        change = Change("people.rename", actor)
        photo_ids = photos_with(connection, names, sees_private=False)
        return photo_ids, partial(rename_seen, names=names, name=self.name, change=change, zone=zone)

    def finish(self, session: Session, now: datetime) -> None:
        """Make the person a favourite, or not, in the write transaction after the last photos."""
        if self.favorite is not None:
            folded = fold(self.name)
            own = session.scalars(select(Subject).where(Subject.folded == folded)).first()
            own = own or _new(session, subject_uid(folded), self.name, now)
            own.favorite = own.favorite_open = self.favorite
            own.updated_at = now
            record_change(session)


def _spellings(connection: Connection, folded: Collection[str]) -> frozenset[str]:
    """Return the names of markers that are these without case and accents."""
    every = connection.scalars(select(Marker.name).where(Marker.name != "").distinct())
    return frozenset(name for name in every if fold(name) in folded)


def mark(
    session: Session, person: Person, now: datetime, *, favorite: bool | None = None, hidden: bool | None = None
) -> None:
    """Make a person a favourite or hidden, or not, in a write transaction; None: as before. Markers keep names."""
    own = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    own = own or _new(session, person.uid, person.name, now)
    private = not photos_with(session.connection(), person.names, sees_private=False)
    if favorite is not None:
        own.favorite, own.favorite_open = favorite, favorite and not private
    own.hidden = own.hidden if hidden is None else hidden
    own.updated_at = now
    record_change(session, private=private)


def photos_with(connection: Connection, names: Collection[str], *, sees_private: bool = True) -> Sequence[int]:
    """Return the ids of the photos whose markers have one of these names, as far as they may be seen."""
    query = select(File.photo_id).join(Marker, Marker.file_id == File.id).where(Marker.name.in_(names))
    if not sees_private:
        seen = select(SearchRow.photo_id).where(visible(sees_private=False, opened=EVERY_SWITCH))
        query = query.where(File.photo_id.in_(seen))
    return connection.scalars(query.distinct().order_by(File.photo_id)).all()


def rename_photos(
    session: Session, photo_ids: Sequence[int], now: datetime, *, names: Collection[str], name: str, zone: str
) -> int:
    """Replace names of markers on photos, some hundreds at most; project these, and return their number."""
    shared_rows, photos = SharedRows(session, zone), load_photos(session, photo_ids)
    sidecars = sidecars_of(session, photo_ids)
    for photo in photos:
        for file in photo.files:
            for marker in file.markers:
                if marker.name in names:
                    marker.name = name
        with session.no_autoflush:
            describe(photo, sidecars, shared_rows, now)  # titles may be made of names
    store_and_project(session, photo_ids)
    return len(photos)


def rename_seen(
    session: Session,
    photo_ids: Sequence[int],
    now: datetime,
    *,
    names: Collection[str],
    name: str,
    change: Change,
    zone: str,
) -> int:
    """Replace names of the marked areas of photos, some hundreds at most, as edits; return how many photos changed."""
    shared_rows, photos = SharedRows(session, zone), load_photos(session, photo_ids)
    sidecars = sidecars_of(session, photo_ids)
    with changing(session, shared_rows, photos, change, now) as touched:
        for file in (file for photo in photos for file in photo.files):
            own, areas = file_columns.own_markers(file), areas_of(file, sidecars.get(file.id, ()))
            for number, marker in enumerate(own):
                if marker.name in names and len(own) == len(areas):
                    file_columns.choose_name(file, areas, number, name)
            for marker in file.markers:
                if marker.src == MANUAL and marker.name in names:
                    file_columns.name_added(file, marker, name)
    return len(touched)


def name_area(session: Session, photo: Photo, marker_uid: str, name: str | None) -> None:
    """Name the person on a marked area of a photo, inside `changing`; None restores the name in the file, if any.

    Raises:
        NotFoundError: no file of the photo has this area.
        ConflictError: the areas of the file are others than when it was indexed.
    """
    file, marker = _area(photo, marker_uid)
    if marker.src == MANUAL:
        file_columns.name_added(file, marker, name or "")
        return
    sidecars = sidecars_of(session, [photo.id])
    own, areas = file_columns.own_markers(file), areas_of(file, sidecars.get(file.id, ()))
    if marker not in own or len(own) != len(areas):
        raise ConflictError("the file has changed: name people after it is indexed again")
    file_columns.choose_name(file, areas, own.index(marker), name)


def remove_area(photo: Photo, marker_uid: str) -> Marker:
    """Remove an area that a person added to a file of a photo, inside `changing`, and return its marker.

    Raises:
        NotFoundError: no file of the photo has this area.
        ConflictError: it is in the file.
    """
    file, marker = _area(photo, marker_uid)
    if marker.src != MANUAL:
        raise ConflictError("this area is in the file; remove its name instead", field="Invalid")
    file_columns.remove_added(file, marker)
    return marker


def _area(photo: Photo, marker_uid: str) -> tuple[File, Marker]:
    marked = ((file, marker) for file in photo.files if not file.missing for marker in file.markers)
    found = next((one for one in marked if one[1].uid == marker_uid), None)
    if found is None:
        raise no_area()
    return found


def no_area() -> NotFoundError:
    """Return the error that there is no marked area of this UID."""
    return NotFoundError("there is no such marked area", field="uid")


def _new(session: Session, uid: str, name: str, now: datetime) -> Subject:
    subject = Subject(uid=uid, name=name, folded=fold(name), updated_at=now)
    session.add(subject)
    session.flush()
    return subject
