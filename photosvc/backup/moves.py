"""Files that take the place of others, all of them or none, whenever the process is killed.

The files wait in a folder of the instance folder. Once the list of moves is on the disk there, they will be made: by
this process, or by the next one that asks. Each is a rename within one file system, and can be repeated. Meanwhile no
service starts (`require_finished`).
"""

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from photosvc.core.errors import SettingError
from photosvc.core.folders.flushed import flush_folder

_FOLDER: Final = ".restore"
_LIST: Final = "moves.json"


class Move(msgspec.Struct, frozen=True):
    """What happens to one name."""

    target: str
    """The name."""
    waiting: str = ""
    """What takes its place; empty if nothing does."""
    aside: str = ""
    """Where that goes which has the name now."""


class Plan(msgspec.Struct, frozen=True):
    """All moves, in their order."""

    archive: str
    """What tells archives apart: the SHA-256 of the manifest."""
    moves: list[Move]


def staging(instance: Path) -> Path:
    """An empty folder for the files that wait; what an earlier process left there is removed.

    Raises:
        OSError: it cannot be made.

    """
    discard(instance)
    folder = instance / _FOLDER
    folder.mkdir(mode=0o700)
    return folder


def discard(instance: Path) -> None:
    """Remove that folder."""
    shutil.rmtree(instance / _FOLDER, ignore_errors=True)


def unfinished(instance: Path) -> Plan | None:
    """The moves that a process was killed at; None if there are none."""
    try:
        return msgspec.json.decode((instance / _FOLDER / _LIST).read_bytes(), type=Plan)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        msg = f"{instance / _FOLDER / _LIST} cannot be read: {error}"
        raise SettingError(msg) from None


def require_finished(instance: Path) -> None:
    """Make sure that no restore has stopped half-way.

    Raises:
        SettingError: one has; the message names the command that finishes it.

    """
    if (instance / _FOLDER / _LIST).exists():
        msg = f"A restore into {instance} was not finished: run the same `svc restore` again."
        raise SettingError(msg)


def commit(instance: Path, plan: Plan) -> None:
    """Write the list of moves to the disk: from here on they will be made.

    Raises:
        OSError: it cannot be written; nothing has happened yet.

    """
    folder = instance / _FOLDER
    new = folder / f"{_LIST}.new"
    with new.open("wb") as file:
        file.write(msgspec.json.encode(plan))
        file.flush()
        os.fsync(file.fileno())
    for path in {folder, *(Path(move.waiting).parent for move in plan.moves if move.waiting)}:
        flush_folder(path)
    new.rename(folder / _LIST)
    flush_folder(folder)


def finish(instance: Path, plan: Plan) -> None:
    """Make the moves that are not made yet.

    Raises:
        OSError: a name cannot be changed; the next call continues.

    """
    for move in plan.moves:
        target = Path(move.target)
        due = os.path.lexists(move.waiting) if move.waiting else not os.path.lexists(move.aside)
        if due and os.path.lexists(target):
            aside = _free(Path(move.aside))
            aside.parent.mkdir(mode=0o700, exist_ok=True)
            target.rename(aside)
        if due and move.waiting:
            Path(move.waiting).rename(target)
    for folder in {Path(move.target).parent for move in plan.moves}:
        with suppress(FileNotFoundError):
            flush_folder(folder)
    shutil.rmtree(instance / _FOLDER / "instance", ignore_errors=True)
    (instance / _FOLDER / _LIST).unlink()
    discard(instance)


def _free(path: Path) -> Path:
    """The name, or the first with a number that nothing has."""
    number = 1
    found = path
    while os.path.lexists(found):
        number += 1
        found = path.with_name(f"{path.name}-{number}")
    return found
