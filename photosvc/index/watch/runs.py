"""Which runs cover the folders that are to be looked at, and the wishes that a run has fulfilled."""

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from sqlalchemy import Engine

from photosvc.core.paths import disk_name
from photosvc.index.running import wishes
from photosvc.index.running.wishes import Wish
from photosvc.index.scanning.scan import is_left_out
from photosvc.index.watch.pending import around, gathered
from photosvc.models.database.transactions import write_session


def gathered_runs(root: Path, folders: Collection[str], wished: Sequence[Wish]) -> list[tuple[str, bool]]:
    """Few folders below `root` that cover all of these, and whether unchanged files are read again."""
    forced = gathered(existing_folder(root, one.folder) for one in wished if one.force)
    others = [*folders, *(one.folder for one in wished if not one.force)]
    plain = gathered(existing_folder(root, folder) for folder in others)
    left = [(folder, False) for folder in plain if not any(_is_within(folder, other) for other in forced)]
    return [(folder, True) for folder in forced] + left


def fulfil_run(engine: Engine, wished: Sequence[Wish], folder: str, *, force: bool) -> None:
    """Delete those of the wishes that a run over this folder has fulfilled."""
    done = [one for one in wished if force >= one.force and _is_within(one.folder, folder)]
    if done:
        with write_session(engine) as session:
            wishes.fulfil(session, done)


def existing_folder(root: Path, folder: str) -> str:
    """The folder, or the next one around it that exists, and that scans would reach: not through links."""
    base = os.path.realpath(root)
    for one in (folder, *around(folder)):
        path = f"{base}/{disk_name(one)}" if one else base
        is_reached = os.path.realpath(path) == path and not any(map(is_left_out, filter(None, one.split("/"))))
        if is_reached and os.path.isdir(path):  # noqa: PTH112 - that of Path fails for names that no disk can have
            return one
    return ""


def _is_within(folder: str, other: str) -> bool:
    return folder == other or other in around(folder)
