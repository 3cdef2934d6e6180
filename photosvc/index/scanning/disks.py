"""Disks that are mounted below the originals, which the database remembers: without its disk no file counts as gone."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from photosvc.core.paths import clean_name
from photosvc.index.scanning.scan import is_hidden, is_too_long
from photosvc.index.watch.mounts import mounts_below
from photosvc.models import LibraryState
from photosvc.models.database.inserts import insert_into
from photosvc.models.database.transactions import begin_write

#: Begins the names of their rows in the state of the library; the folder follows.
_ROW: Final = "disk:"
#: More are not remembered: rows must not grow without limit where disks are mounted under ever new names.
_MOST: Final = 1000


def remember_disks(session: Session, originals: Path) -> None:
    """Remember the disks that are mounted now, in a transaction of its own if there are new ones."""
    remembered = _remembered(session)
    if new := sorted(_mounted(originals) - remembered)[: max(0, _MOST - len(remembered))]:
        begin_write(session)
        rows = [{"name": _ROW + folder, "value": 1} for folder in new]
        session.execute(insert_into(LibraryState, session).on_conflict_do_nothing(), rows)
        session.commit()


def absent_disks(session: Session, originals: Path) -> frozenset[str]:
    """The folders, relative to the originals, on which a disk was mounted in an earlier run and none is now."""
    remembered = _remembered(session)
    return frozenset(remembered - _mounted(originals)) if remembered else frozenset()


def forget_disks(session: Session, folders: Iterable[str]) -> None:
    """Let the files of these folders count as gone when they are not found, in a transaction of its own."""
    if names := [_ROW + folder for folder in folders]:
        begin_write(session)
        session.execute(
            delete(LibraryState).where(LibraryState.name.in_(names)), execution_options={"synchronize_session": False}
        )
        session.commit()


def _remembered(session: Session) -> set[str]:
    rows = select(LibraryState.name).where(LibraryState.name.startswith(_ROW, autoescape=True))
    return {name.removeprefix(_ROW) for name in session.connection().execute(rows).scalars()}


def _mounted(originals: Path) -> set[str]:
    root = os.path.realpath(originals)
    names = {clean_name(os.path.relpath(mount, root)) for mount in mounts_below(originals)}
    return {name for name in names if not is_hidden(name) and not is_too_long(name)}
