"""The stacks of an import: photos that a person made one photo in the other program, stacked by hand here."""

from sqlalchemy import Engine, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.exchange.import_runs import RunOfImport
from photosvc.exchange.imported import ImportedStack, Outcome
from photosvc.exchange.photo_matches import PhotoMatches
from photosvc.index.shared_rows import SharedRows
from photosvc.library.stacks import stack, stacked_photos
from photosvc.library.unit_of_work import load_photos
from photosvc.models import Imported, ImportRun
from photosvc.models.engine import write_session


class StackImport:
    """The stacks of one run of an import."""

    def __init__(
        self, engine: Engine, clock: Clock, zone: str, run: RunOfImport, matches: PhotoMatches, *, dry_run: bool
    ) -> None:
        """Prepare the stacks; from now on, `matches` has the photos that contain files of earlier stacks."""
        self._engine = engine
        self._clock = clock
        self._zone = zone
        self._run = run
        self._matches = matches
        self._dry_run = dry_run
        with Session(engine) as session:
            matches.move(stacked_photos(session))

    def take(self, theirs: ImportedStack) -> None:
        """Stack photos, unless they are one photo already or a person took this stack apart."""
        report, key = self._run.report, f"stack {theirs.keys[0]}"
        ids = self._matches.ids(theirs.keys)
        photo_ids = list(dict.fromkeys(ids[key] for key in theirs.keys if key in ids))
        if len(ids) < 2:
            report.count("stack", Outcome.NO_MATCH)
            return
        if len(photo_ids) == 1:
            report.count("stack", Outcome.EQUAL)
            return
        with Session(self._engine) as session:
            known = select(Imported.key).join(ImportRun).where(ImportRun.source == self._run.source)
            is_known = session.scalars(known.where(Imported.key == key)).first() is not None
        if is_known:
            report.count("stack", Outcome.KEPT)
            return
        try:
            if not self._dry_run:
                self._write(key, photo_ids)
        except (InvalidValueError, ConflictError) as error:  # too many files, or one of a visitor
            report.count("stack", Outcome.NO_HOME)
            report.list_unmatched(f"stack of {len(photo_ids)} photos: {error.message}")
            return
        report.count("stack", Outcome.TAKEN)

    def _write(self, key: str, photo_ids: list[int]) -> None:
        now = self._clock()
        with write_session(self._engine, library=True) as session:
            photos = sorted(load_photos(session, photo_ids), key=lambda photo: photo_ids.index(photo.id))
            target = photos[0].uid
            stack(session, SharedRows(session, self._zone), photos, self._run.change, now)
            session.add(Imported(run_id=self._run.number(session, now), key=key, uid=target))
        self._matches.move(dict.fromkeys(photo_ids[1:], photo_ids[0]))
