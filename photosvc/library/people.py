"""Renaming and merging people. Names come from files, so a chosen name is stored for each name that files have."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.orm import Session

from photosvc.index.describing.describe import describe
from photosvc.index.places import Gazetteer
from photosvc.index.sidecars.links import sidecars_of
from photosvc.index.storing.catalog import PlainCatalog
from photosvc.library.edits.loading import load_photos
from photosvc.models import STATE, File, LibraryState, Marker, Subject, SubjectName
from photosvc.models.content.people import subject_uid
from photosvc.models.database.inserts import insert_into
from photosvc.query.fold import fold
from photosvc.search.projection.project import project, record_change
from photosvc.search.projection.update import project_values
from photosvc.search.reading.overview.people import Person

#: Photos that one transaction renames: for them it holds the write lock less than a tenth of a second.
MOST_RENAMED: Final = 100


def choose_name(session: Session, person: Person, name: str, now: datetime) -> tuple[str, frozenset[str]]:
    """Give a person another name; one that another person has makes one person of both.

    Gives the UID of the person, and the names of markers that `rename_photos` has to replace: also those that an
    interrupted renaming left. Files that have one of the earlier names have the new one from now on, also those that
    are indexed later.
    """
    # One renaming at a time: two could make two rows of one name.
    session.execute(select(LibraryState.value).where(LibraryState.name == STATE).with_for_update())
    old, new = fold(person.name), fold(name)
    every = session.scalars(select(Marker.name).where(Marker.name != "").distinct()).all()
    own = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    other = session.scalars(select(Subject).where(Subject.folded == new)).first()
    if other is None and new != old and any(fold(known) == new for known in every):
        other = _new(session, subject_uid(new), name, now)
    if other is None or other is own:
        kept = own or _new(session, person.uid, name, now)
    else:
        kept = other
        if own is not None:
            move = update(SubjectName).where(SubjectName.subject_id == own.id).values(subject_id=kept.id)
            session.execute(move)
            kept.favorite = kept.favorite or own.favorite
            session.execute(delete(Subject).where(Subject.id == own.id))
    kept.name, kept.folded, kept.updated_at = name, new, now
    session.flush()
    session.execute(
        insert_into(SubjectName, session).on_conflict_do_nothing(),
        [{"folded": folded, "subject_id": kept.id} for folded in {old, new}],
    )
    record_change(session)
    owned = session.scalars(select(SubjectName.folded).where(SubjectName.subject_id == kept.id))
    replaced = {old, new, *owned}
    return kept.uid, frozenset(known for known in every if fold(known) in replaced and known != name)


def mark_favorite(session: Session, person: Person, now: datetime, *, favorite: bool) -> None:
    """Make a person a favourite, or not, in a write transaction; the names on markers stay as they are."""
    own = session.scalars(select(Subject).where(Subject.uid == person.uid)).first()
    own = own or _new(session, person.uid, person.name, now)
    own.favorite, own.updated_at = favorite, now
    record_change(session)


def photos_with(connection: Connection, names: Collection[str]) -> Sequence[int]:
    """The ids of the photos whose markers have one of these names."""
    query = select(File.photo_id).join(Marker, Marker.file_id == File.id).where(Marker.name.in_(names))
    return connection.scalars(query.distinct().order_by(File.photo_id)).all()


def rename_photos(session: Session, photo_ids: Sequence[int], names: Collection[str], name: str, now: datetime) -> None:
    """Replace names of markers on photos, and project these.

    Args:
        session: in a write transaction.
        photo_ids: at most `MOST_RENAMED`.
        names: of markers.
        name: what replaces them.
        now: the present.

    """
    catalog = PlainCatalog(session, Gazetteer.load())
    sidecars = sidecars_of(session, photo_ids)
    loaded = load_photos(session, photo_ids)
    catalog.remember(loaded.photos)
    for photo in loaded.photos:
        for file in photo.files:
            for marker in file.markers:
                if marker.name in names:
                    marker.name = name
        describe(photo, sidecars, catalog, now)  # titles may be made of names
        if loaded.is_changed(photo):
            photo.updated_at = now
    marked = [photo for photo in loaded.photos if loaded.has_other_markers(photo)]
    loaded.store(loaded.photos)
    project_values(session, [photo for photo in loaded.photos if photo not in marked])
    if marked:
        project(session, [photo.id for photo in marked])


def _new(session: Session, uid: str, name: str, now: datetime) -> Subject:
    subject = Subject(uid=uid, name=name, folded=fold(name), updated_at=now)
    session.add(subject)
    session.flush()
    return subject
