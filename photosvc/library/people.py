"""The renaming and merging of people, and the names of marked areas.

Names come from files, so `SubjectName` stores the chosen name of each name in files.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import ClassVar, Literal

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.message import of_field
from photosvc.core.vocabulary import MANUAL
from photosvc.index import file_columns
from photosvc.index.describe import areas_of, describe
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import sidecars_of
from photosvc.library.journal import Author, Change
from photosvc.library.labels import ChangeSome
from photosvc.library.unit_of_work import changing, load_photos, store_and_project
from photosvc.models import STATE, File, LibraryState, Marker, Photo, Subject, SubjectName
from photosvc.models.counters import record_change
from photosvc.models.library import subject_uid
from photosvc.models.statements import insert_into
from photosvc.query.fold import fold, words
from photosvc.search.reading.compile import visible_ids
from photosvc.search.reading.people import Person


def check_person_name(name: str) -> None:
    """Raise `InvalidValueError` for a name without letters or digits."""
    if not words(name):
        raise InvalidValueError(of_field("Name", "send a name with letters or digits"), field="Name")


def choose_person_name(
    session: Session, person: Person, name: str, now: datetime, *, favorite: bool | None = None
) -> str:
    """Give a person another name, and return their UID; the name of another person makes one person of both.

    `PersonChange` changes the photos. Files that are indexed later with an earlier name get the new one, too.

    Args:
        favorite: make them a favourite or not; None changes nothing.
    """
    # Renamings wait for each other, because two could make two rows of one name.
    session.execute(select(LibraryState.value).where(LibraryState.name == STATE).with_for_update())
    old, new = fold(person.name), fold(name)
    subject = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    other = session.scalars(select(Subject).where(Subject.folded == new)).first()
    if other is None and new != old and spellings(session.connection(), {new}):
        other = _add_subject(session, subject_uid(new), name, now)
    if other is None or other is subject:
        remaining = subject or _add_subject(session, person.uid, name, now)
    else:
        remaining = other
        remaining.hidden = remaining.hidden and subject is not None and subject.hidden
        if subject is not None:
            move = update(SubjectName).where(SubjectName.subject_id == subject.id).values(subject_id=remaining.id)
            session.execute(move)
            remaining.favorite = remaining.favorite or subject.favorite
            remaining.favorite_open = remaining.favorite_open or subject.favorite_open
            remaining.birth_date = remaining.birth_date or subject.birth_date
            session.execute(delete(Subject).where(Subject.id == subject.id))
    remaining.name, remaining.folded, remaining.updated_at = name, new, now
    connection = session.connection()
    private = not photos_of_people(connection, spellings(connection, {old, new}), sees_private=False)
    if favorite is not None:
        remaining.favorite, remaining.favorite_open = favorite, favorite and not private
    session.flush()
    session.execute(
        insert_into(SubjectName, session).on_conflict_do_nothing(),
        [{"folded": folded, "subject_id": remaining.id} for folded in {old, new}],
    )
    record_change(session, private=private)
    return remaining.uid


@dataclass(frozen=True, slots=True)
class PersonChange:
    """The change of all photos with an earlier name of a person, after `choose_person_name` stored the new name."""

    PASSES: ClassVar = 2
    """Number of searches for photos with an earlier name: an index run in progress may add some meanwhile."""

    uid: str
    earlier: str
    """The last earlier name, without case and accents; the person may own others."""

    @property
    def about(self) -> str:
        """Return a text that names the person."""
        return f"person {self.uid}"

    def prepare(self, connection: Connection, _actor: Author, zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of the photos that are left to change, and the function that changes some hundreds of them.

        The photos include those of an interrupted renaming. If the person was merged with another one meanwhile, there
        are none: the change of the other person does the rest.
        """
        names = self.names(connection)
        chosen = connection.scalar(select(Subject.name).where(Subject.uid == self.uid)) or ""
        photo_ids = photos_of_people(connection, names) if names else ()
        return photo_ids, partial(rename_photos, names=names, name=chosen, zone=zone)

    def names(self, connection: Connection) -> frozenset[str]:
        """Return the names of markers that the new name replaces."""
        own = select(Subject.id, Subject.name, Subject.folded).where(Subject.uid == self.uid)
        person = connection.execute(own).first()
        if person is None:
            return frozenset()
        owned = connection.scalars(select(SubjectName.folded).where(SubjectName.subject_id == person.id))
        return spellings(connection, {self.earlier, person.folded, *owned}) - {person.name}


@dataclass(frozen=True, slots=True)
class SeenPersonChange:
    """The renaming of a person by an actor without access to private photos, as edits of the other photos.

    Private photos keep the name, so that two people result.
    """

    PASSES: ClassVar = 1

    earlier: str
    """The name before, without case and accents."""
    name: str
    favorite: bool | None = None
    """True makes that person a favourite, False ends that; None changes nothing."""

    @property
    def about(self) -> str:
        """Return a text that names the person."""
        return f"seen person {self.earlier}"

    def prepare(self, connection: Connection, actor: Author, zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of the photos that are left to change, and the function that changes some hundreds of them."""
        names = spellings(connection, {self.earlier}) - {self.name}
        change = Change("people.rename", actor)
        photo_ids = photos_of_people(connection, names, sees_private=False)
        return photo_ids, partial(rename_seen, names=names, name=self.name, change=change, zone=zone)

    def finish(self, session: Session, now: datetime) -> None:
        """Make the person a favourite, or not, in the write transaction after the last photos."""
        if self.favorite is not None:
            folded = fold(self.name)
            subject = session.scalars(select(Subject).where(Subject.folded == folded)).first()
            subject = subject or _add_subject(session, subject_uid(folded), self.name, now)
            subject.favorite = subject.favorite_open = self.favorite
            subject.updated_at = now
            record_change(session)


def spellings(connection: Connection, folded: Collection[str]) -> frozenset[str]:
    """Return the names of markers that equal one of these without case and accents."""
    names = connection.scalars(select(Marker.name).where(Marker.name != "").distinct())
    return frozenset(name for name in names if fold(name) in folded)


def mark_person(
    session: Session,
    person: Person,
    now: datetime,
    *,
    favorite: bool | None = None,
    hidden: bool | None = None,
    birth_date: date | Literal[""] | None = None,
) -> None:
    """Make a person a favourite or hidden, or not, in a write transaction; None changes nothing.

    Args:
        birth_date: their birth date; an empty text removes it.
    """
    subject = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    subject = subject or _add_subject(session, person.uid, person.name, now)
    private = not photos_of_people(session.connection(), person.names, sees_private=False)
    if favorite is not None:
        subject.favorite, subject.favorite_open = favorite, favorite and not private
    subject.hidden = subject.hidden if hidden is None else hidden
    if birth_date is not None:
        subject.birth_date = birth_date or None
    subject.updated_at = now
    record_change(session, private=private)


def photos_of_people(connection: Connection, names: Collection[str], *, sees_private: bool = True) -> Sequence[int]:
    """Return the ids of the visible photos with a marker of one of these names."""
    query = select(File.photo_id).join(Marker, Marker.file_id == File.id).where(Marker.name.in_(names))
    if not sees_private:
        query = query.where(File.photo_id.in_(visible_ids(sees_private=False)))
    return connection.scalars(query.distinct().order_by(File.photo_id)).all()


def rename_photos(
    session: Session, photo_ids: Sequence[int], now: datetime, *, names: Collection[str], name: str, zone: str
) -> int:
    """Replace names of markers on some hundreds of photos, project these, and return their number."""
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
    """Replace names of marked areas on some hundreds of photos, as edits; return the number of changed photos."""
    shared_rows, photos = SharedRows(session, zone), load_photos(session, photo_ids)
    sidecars = sidecars_of(session, photo_ids)
    with changing(session, shared_rows, photos, change, now) as touched:
        for file in (file for photo in photos for file in photo.files):
            markers, areas = file_columns.own_markers(file), areas_of(file, sidecars.get(file.id, ()))
            for number, marker in enumerate(markers):
                if marker.name in names and len(markers) == len(areas):
                    file_columns.choose_name(file, areas, number, name)
            for marker in file.markers:
                if marker.src == MANUAL and marker.name in names:
                    file_columns.name_added(file, marker, name)
    return len(touched)


def name_area(session: Session, photo: Photo, marker_uid: str, name: str | None) -> None:
    """Name the person on a marked area of a photo, inside `changing`; None restores the name in the file, if any.

    Raises:
        NotFoundError: no file of the photo has this area.
        ConflictError: the areas of the file changed since it was indexed.
    """
    file, marker = _area(photo, marker_uid)
    if marker.src == MANUAL:
        file_columns.name_added(file, marker, name or "")
        return
    sidecars = sidecars_of(session, [photo.id])
    markers, areas = file_columns.own_markers(file), areas_of(file, sidecars.get(file.id, ()))
    if marker not in markers or len(markers) != len(areas):
        raise ConflictError("the file has changed: name people after it is indexed again")
    file_columns.choose_name(file, areas, markers.index(marker), name)


def remove_area(photo: Photo, marker_uid: str) -> Marker:
    """Remove an area that a person added to a file of a photo, inside `changing`, and return its marker.

    Raises:
        NotFoundError: no file of the photo has this area.
        ConflictError: the area is in the file itself.
    """
    file, marker = _area(photo, marker_uid)
    if marker.src != MANUAL:
        raise ConflictError("this area is in the file; remove its name instead", field="Invalid")
    file_columns.remove_added(file, marker)
    return marker


def _area(photo: Photo, marker_uid: str) -> tuple[File, Marker]:
    marked = ((file, marker) for file in photo.files if not file.missing for marker in file.markers)
    area_of_file = next((area for area in marked if area[1].uid == marker_uid), None)
    if area_of_file is None:
        raise no_area()
    return area_of_file


def no_area() -> NotFoundError:
    """Return the error of an unknown marked area."""
    return NotFoundError("there is no such marked area", field="uid")


def _add_subject(session: Session, uid: str, name: str, now: datetime) -> Subject:
    subject = Subject(uid=uid, name=name, folded=fold(name), updated_at=now)
    session.add(subject)
    session.flush()
    return subject
