"""The instance folder of a service: it holds the database, the keys and the configuration.

It also remembers the folder of originals of the last `svc run`, so that later commands use the same folder, and has the
list of moves of a restore that has not ended.
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


def make_instance(folder: Path | str | None, environ: Mapping[str, str]) -> Path:
    """Return the instance folder; make it, for its owner alone, if it does not exist.

    Args:
        folder: the folder that a caller names; it overrides the environment.
        environ: environment variables: `PHOTOSVC_INSTANCE`, else `XDG_DATA_HOME`.

    Raises:
        SettingError: it cannot be made or read; the message names the variable.
    """
    named = folder or environ.get(INSTANCE_VARIABLE)
    try:
        path = full_path(named) if named else default_instance(environ)
    except ValueError as error:
        raise SettingError(f"{INSTANCE_VARIABLE} is not valid: {error}", field=INSTANCE_VARIABLE) from None
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        origin = "" if named else f", the default of {INSTANCE_VARIABLE},"
        reason = "it is a file" if isinstance(error, FileExistsError) else error.strerror
        where = f"{INSTANCE_VARIABLE} ({path})" if named else f"The instance folder {path}{origin}"
        raise SettingError(f"{where} cannot be made: {reason}", field=INSTANCE_VARIABLE) from None
    if not os.access(path, os.R_OK | os.X_OK):
        msg = f"The instance folder {path} cannot be read: permission denied; run svc as the user of the service"
        raise SettingError(msg, field=INSTANCE_VARIABLE)
    return path


def default_instance(environ: Mapping[str, str], package: Path = _PACKAGE) -> Path:
    """Return the default instance folder.

    In a checkout it is `instance` beside the package. For an installed package it lies in the folder for data of the
    user, because a virtual environment loses its files when it is made again.

    Raises:
        ValueError: the user has no home folder.
    """
    if not any(package.parent.glob(f"{package.name}-*.dist-info")):
        return package.parent / "instance"
    data = Path(environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # the XDG specification says to ignore relative paths
        data = full_path("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return data / "photosvc"


def remembered_originals(instance: Path) -> Path | None:
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


def remember_originals(instance: Path, folder: Path) -> None:
    """Remember this folder of originals in one step, so that other processes read either the former folder or this one.

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


def is_same(first: Path, second: Path) -> bool:
    """Return whether two paths mean the same folder, which need not exist."""
    return os.path.realpath(first) == os.path.realpath(second)


def staging_folder(instance: Path) -> Path:
    """Return the path of the folder in which the new files of a restore wait."""
    return instance / ".restore"


def list_of_moves(instance: Path) -> Path:
    """Return the path of the list of moves of a restore."""
    return staging_folder(instance) / "moves.json"


def require_finished(instance: Path) -> None:
    """Refuse an instance whose restore has stopped half-way.

    Raises:
        SettingError: a restore has stopped; the message names the command that finishes it.
    """
    if list_of_moves(instance).exists():
        raise SettingError(f"A restore into {instance} was not finished: run the same `svc restore` again.")
