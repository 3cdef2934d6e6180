"""Stack the whole library again when the rules or their setting changed; no file is opened."""

from pathlib import Path
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.values.stacks import KINDS
from photosvc.index.places import Gazetteer
from photosvc.index.running.run_lock import Lease
from photosvc.index.storing.catalog import Catalog
from photosvc.index.storing.store import Store
from photosvc.models import STACKING, File, LibraryState
from photosvc.models.database.pace import Pace
from photosvc.models.database.transactions import begin_write

#: Grows whenever the rules give other photos for the same files.
_RULES_VERSION: Final = 3
_FIRST_BATCH: Final = 20
_MOST: Final = 500


def restack_library(
    session: Session, originals: Path, clock: Clock, kinds: frozenset[str], lease: Lease | None = None
) -> int:
    """Stack all files again unless they are stacked by these kinds and rules; gives the number of files read.

    Commits after each batch. A run that was interrupted starts again.
    """
    rules = _RULES_VERSION << len(KINDS) | sum(1 << number for number, kind in enumerate(KINDS) if kind in kinds)
    state = session.get(LibraryState, STACKING)
    if state is not None and state.value == rules:
        return 0
    count, last, pace = 0, 0, Pace(_FIRST_BATCH, _MOST)
    while ids := session.scalars(select(File.id).where(File.id > last).order_by(File.id).limit(pace.size)).all():
        with pace.writing(session, len(ids)):
            if lease:
                lease.check(session)
            store = Store(session, Catalog(session, Gazetteer.load()), originals, clock(), kinds)
            for file in session.scalars(select(File).where(File.id.in_(ids), File.sidecar.is_(False))):
                store.restack(file)
                count += 1
            store.finish()
        session.expunge_all()
        last = max(ids)
    begin_write(session)
    session.merge(LibraryState(name=STACKING, value=rules))
    session.commit()
    return count
