"""The mark of a restore that has not ended: its list of moves in the staging folder of the instance folder."""

from pathlib import Path

from photosvc.core.errors import SettingError


def staging_folder(instance: Path) -> Path:
    """Return the path of the staging folder, in which new files wait."""
    return instance / ".restore"


def list_of_moves(instance: Path) -> Path:
    """Return the path of the list of moves."""
    return staging_folder(instance) / "moves.json"


def require_finished(instance: Path) -> None:
    """Make sure that no restore has stopped half-way.

    Raises:
        SettingError: a restore has; the message names the command that finishes it.
    """
    if list_of_moves(instance).exists():
        raise SettingError(f"A restore into {instance} was not finished: run the same `svc restore` again.")
