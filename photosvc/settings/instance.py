"""The instance folder of a service: it holds the database, the keys and the configuration.

It also remembers the folder of originals that `svc run` was given, so that later commands use the same one, and has a
mark while a restore has not ended: the list of its moves.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from photosvc import samples
from photosvc.core.errors import SettingError
from photosvc.core.files import flush_folder, full_path, write_private

#: Environment variable with the folder; it is read before the settings, because `config.py` lies there.
INSTANCE_VARIABLE: Final = "PHOTOSVC_INSTANCE"
_PACKAGE: Final = Path(__file__).resolve().parents[1]
#: The file in the instance folder that remembers the folder of originals.
FILE: Final = "photos_folder"
#: The content of that file for the bundled samples, whose path changes with the installation.
_SAMPLES: Final = b"samples"


def make_instance(given: Path | str | None, environ: Mapping[str, str]) -> Path:
    """Return the instance folder; make it, for its owner alone, if it does not exist.

    Args:
        given: the folder that a caller names; it overrides the environment.
        environ: environment variables: `PHOTOSVC_INSTANCE`, else `XDG_DATA_HOME`.

    Raises:
        SettingError: it cannot be made; the message names the variable.
    """
    named = given or environ.get(INSTANCE_VARIABLE)
    try:
        folder = full_path(named) if named else default_instance(environ)
    except ValueError as error:
        raise SettingError(f"{INSTANCE_VARIABLE} is not valid: {error}", field=INSTANCE_VARIABLE) from None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        origin = "" if named else f", the default of {INSTANCE_VARIABLE},"
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        where = f"{INSTANCE_VARIABLE} ({folder})" if named else f"The instance folder {folder}{origin}"
        raise SettingError(f"{where} cannot be made: {reason}", field=INSTANCE_VARIABLE) from None
    return folder


def default_instance(environ: Mapping[str, str], package: Path = _PACKAGE) -> Path:
    """Return the instance folder for which no name is given.

    In a checkout it is `instance` beside the package. An installed package has it in the folder for the user's data,
    because a virtual environment loses its files when it is made again.

    Raises:
        ValueError: the user has no home folder.
    """
    if not any(package.parent.glob(f"{package.name}-*.dist-info")):
        return package.parent / "instance"
    data = Path(environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # the XDG specification says to ignore others
        data = full_path("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return data / "photosvc"


def remembered(instance: Path) -> Path | None:
    """Return the remembered folder of originals, or None if there is none yet.

    Raises:
        ValueError: the file holds no absolute path.
        OSError: it cannot be read.
    """
    try:
        data = (instance / FILE).read_bytes().removesuffix(b"\n")
    except FileNotFoundError:
        return None
    if data == _SAMPLES:
        return samples.ORIGINALS
    if not data.startswith(b"/") or b"\0" in data:
        raise ValueError("expected an absolute path")
    return Path(os.fsdecode(data))


def remember(instance: Path, folder: Path) -> None:
    """Remember this folder of originals, in one step: other processes read the former one or this one.

    Raises:
        OSError: the file cannot be written.
    """
    data = _SAMPLES if is_samples(folder) else os.fsencode(folder.absolute())
    temporary = instance / f".{FILE}.{os.urandom(8).hex()}"
    try:
        write_private(temporary, data + b"\n")
        temporary.rename(instance / FILE)
        flush_folder(instance)
    finally:
        temporary.unlink(missing_ok=True)


def is_samples(folder: Path) -> bool:
    """Return whether this is the folder of the bundled samples."""
    return is_same(folder, samples.ORIGINALS)


def is_same(one: Path, other: Path) -> bool:
    """Return whether two paths mean the same folder, which need not exist."""
    return os.path.realpath(one) == os.path.realpath(other)


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
