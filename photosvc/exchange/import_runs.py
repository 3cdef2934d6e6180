"""The runs of imports: their numbers, and their undoing."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import Engine, delete, func, select, update
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, NotFoundError
from photosvc.core.ids import LABEL, SUBJECT, is_uid
from photosvc.exchange.imported import Report
from photosvc.library.album_photos import remove_photos
from photosvc.library.albums import delete_album
from photosvc.library.batches import undo_batch
from photosvc.library.journal import Author, Change
from photosvc.library.labels import mark_favorite
from photosvc.library.people import mark_person, spellings
from photosvc.models import Album, Imported, ImportRun, Keyword, Photo, Subject
from photosvc.models.engine import write_session
from photosvc.models.statements import in_portions
from photosvc.search.reading.people import Person

#: Photos of one transaction.
_PORTION: Final = 300
_ACTION: Final = "photos.update"


class RunOfImport:
    """A run, whose row is made with its first change."""

    def __init__(self, source: str, report: Report) -> None:
        """Begin without a number."""
        self.source = source
        self.report = report
        self.change = Change(_ACTION, _actor(source))

    def number(self, session: Session, now: datetime) -> int:
        """Return the number of the run in a write transaction that changes something."""
        if self.report.run is None:
            row = ImportRun(source=self.source, batch=self.change.batch, created_at=now)
            session.add(row)
            session.flush()
            self.report.run = row.id
        return self.report.run


@dataclass(slots=True)
class Undone:
    """The effects of the undoing of a run."""

    photos: int = 0
    """Photos that have their former values."""
    changed_since: int = 0
    """Photos that stay because somebody changed the same values since."""
    albums: int = 0
    """Albums that the run made, and that are deleted."""
    kept_albums: int = 0
    """Albums that the run made, and that stay because somebody changed them since."""
    album_photos: int = 0
    """Photos that are taken out of other albums."""
    marks: int = 0
    """Marks of people and labels, such as favorites and birth dates, that have their former values."""


def undo_run(engine: Engine, clock: Clock, zone: str, number: int) -> Undone:
    """Take back what a run did; one that was interrupted goes on.

    Raises:
        NotFoundError: there is no such run.
        ConflictError: it is undone already.
    """
    with Session(engine) as session:
        run = session.get(ImportRun, number)
        if run is None:
            last = session.scalar(select(func.max(ImportRun.id)))
            hint = f"the last one is {last}" if last else "nothing has been imported from another program"
            raise NotFoundError(f"there is no import {number}: {hint}", field="RUN")
        if run.undone_at is not None:
            raise ConflictError(f"import {number} was undone already", field="RUN")
        batch, change = run.batch, Change(_ACTION, _actor(run.source))
        distinct = select(Imported.uid).where(Imported.run_id == number).distinct()  # several records are one photo
        uids = session.scalars(distinct.order_by(Imported.uid)).all()
    undone = Undone()
    for portion in in_portions(uids, _PORTION):
        with write_session(engine, library=True) as session:
            photo_ids = session.scalars(select(Photo.id).where(Photo.uid.in_(portion))).all()
            if not photo_ids:
                continue
            restored, changed_since = undo_batch(session, photo_ids, batch, change, clock(), zone)
            undone.photos += restored
            undone.changed_since += changed_since
            of_photos = Imported.uid.in_(select(Photo.uid).where(Photo.id.in_(photo_ids)))
            session.execute(delete(Imported).where(Imported.run_id == number, of_photos))
    with Session(engine) as session:
        rest = session.execute(select(Imported.key, Imported.uid).where(Imported.run_id == number)).all()
    for key, uid in rest:
        if is_uid(uid, SUBJECT) or is_uid(uid, LABEL):
            undone.marks += _undo_marks(engine, clock, number, key)
        else:
            while not _undo_album(engine, clock, number, key, undone):
                pass
    with write_session(engine) as session:
        session.execute(update(ImportRun).where(ImportRun.id == number).values(undone_at=clock()))
    return undone


def _undo_album(engine: Engine, clock: Clock, number: int, key: str, undone: Undone) -> bool:
    """Delete an album that a run made, or take the run's photos out of it; return whether that is complete."""
    now = clock()
    with write_session(engine, library=True) as session:
        row = session.get(Imported, (number, key))
        if row is None:  # another process undoes the run, too
            return True
        album = session.scalars(select(Album).where(Album.uid == row.uid, Album.deleted_at.is_(None))).first()
        if album is not None:
            former = album.updated_at
            if row.made and former == row.album_updated_at:
                if not delete_album(session, album, now):
                    return False
                undone.albums += 1
            elif row.made:
                undone.kept_albums += 1
            else:
                some, row.members = row.members[:_PORTION], row.members[_PORTION:]
                photo_ids = session.scalars(select(Photo.id).where(Photo.uid.in_(some))).all()
                undone.album_photos += len(remove_photos(session, album, photo_ids, now))
                follow_album(session, album, former)
                if row.members:
                    return False
        session.delete(row)
    return True


def _undo_marks(engine: Engine, clock: Clock, number: int, key: str) -> int:
    """Take back the marks of a person or label that nobody changed since; return their number."""
    undone = 0
    with write_session(engine, library=True) as session:
        row = session.get(Imported, (number, key))
        if row is None:  # another process undoes the run, too
            return 0
        subject = session.scalars(select(Subject).where(Subject.uid == row.uid)).first()
        for member in row.members:
            name, new, former = member.split(" ")
            if is_uid(row.uid, LABEL):
                folded = select(Keyword).where(Keyword.favorite)
                label = next((one for one in session.scalars(folded) if one.uid == row.uid), None)
                if label is not None:
                    mark_favorite(session, label.id, favorite=False)
                    undone += 1
            elif subject is not None and str(getattr(subject, name)) == new:
                names = spellings(session.connection(), {subject.folded})
                values: dict[str, Any] = {name: False}
                if name == "birth_date":
                    values[name] = former and date.fromisoformat(former)
                mark_person(session, Person(subject.uid, subject.name, 0, names), clock(), **values)
                undone += 1
        session.delete(row)
    return undone


def follow_album(session: Session, album: Album, former: datetime) -> None:
    """Note that an import or undo changed an album, so that runs that see no change of a person still see none.

    Args:
        former: `Album.updated_at` before that.
    """
    session.flush()
    unchanged = update(Imported).where(Imported.uid == album.uid, Imported.album_updated_at == former)
    session.execute(unchanged.values(album_updated_at=album.updated_at))


def _actor(source: str) -> Author:
    """Return the author of the changes of an import."""
    return Author("", f"import: {source}")
