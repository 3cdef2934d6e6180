"""The instance folder: where the database, the keys and the configuration of a service lie."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from photosvc.core.errors import SettingError
from photosvc.core.paths import full_path

#: Environment variable with the folder; it is read before the settings, because `config.py` lies there.
INSTANCE_VARIABLE: Final = "PHOTOSVC_INSTANCE"
_PACKAGE: Final = Path(__file__).resolve().parents[2]


def make_instance(given: Path | str | None, environ: Mapping[str, str]) -> Path:
    """The instance folder, made if it is not there, for its owner alone.

    Args:
        given: by a caller; overrides all else.
        environ: with `PHOTOSVC_INSTANCE`, and what tells where people keep data.

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
    """The instance folder when none is named.

    Of a checkout it is `instance` beside the package. Of an installed package it is a folder of the user's data: what
    lies in a virtual environment is lost when that is made again. Earlier versions used `var/photosvc-instance` there;
    a database in it is still used.

    Raises:
        ValueError: the user has no home folder.

    """
    if not any(package.parent.glob(f"{package.name}-*.dist-info")):
        return package.parent / "instance"
    former = Path(sys.prefix) / "var" / "photosvc-instance"
    if (former / "photosvc.db").exists():
        return former
    data = Path(environ.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():  # the XDG specification says to ignore others
        data = full_path("~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share")
    return data / "photosvc"
