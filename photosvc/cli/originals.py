"""The folder of originals: a library has one, and no command may switch to another one by accident."""

import os
from pathlib import Path

import click

from photosvc import samples
from photosvc.cli.group import PlainError
from photosvc.cli.terminal import confirm, has_terminal
from photosvc.core.message import counted
from photosvc.search.reading.statistics import read_library_size
from photosvc.settings.instance import is_same, is_samples, remember_originals, remembered_originals
from photosvc.web.service import Service

replace_option = click.option(
    "--replace", is_flag=True, help="Index a different folder than before; photos outside it are no longer found."
)


def choose_folder(service: Service, chosen: Path | None, *, replace: bool) -> Path:
    """Return the folder that `svc run` indexes, and remember it for later commands.

    Args:
        service: the service; its tables must exist.
        replace: accept another folder than before without a question.

    Raises:
        PlainError: the folder is another one than before, and there is no terminal to ask; or a setting names a third
            one; or it does not exist, and the library shows no photos of it.
    """
    settings, origin = service.settings, service.settings.origins.get("originals", "app")
    if chosen is None:
        is_unset = origin == "default" and not settings.originals.is_dir()
        folder = samples.ORIGINALS if is_unset else settings.originals
    elif origin in {"instance/config.py", "environment"} and not is_same(chosen, settings.originals):
        msg = f"PHOTOSVC_ORIGINALS ({origin}) is {settings.originals}: leave out --photos, or change that setting."
        raise PlainError(msg, 2)
    else:
        folder = chosen
    former = remembered_originals(service.instance)
    is_former = former is not None and is_same(former, folder)
    if not folder.is_dir() and not is_former and not (chosen is None and shown_photos(service)):
        raise PlainError(f"The folder of originals {str(folder)!r} does not exist.", 3)
    if former is None and origin == "default" and settings.originals.is_dir() and shown_photos(service):
        former = settings.originals
    _require_same(service, former, folder, replace=replace)
    if not warn_of_missing_originals(service, folder) and not folder.is_dir():
        raise PlainError(f"The folder of originals {str(folder)!r} does not exist.", 3)
    if chosen is not None or folder == samples.ORIGINALS or former is not None:
        remember_originals(service.instance, folder)
    return folder


def keep_folder(service: Service, *, replace: bool) -> None:
    """Make sure that the settings name the folder that `svc run` remembers, or that the user accepts another one.

    Raises:
        PlainError: the settings name another folder, and there is no terminal to ask.
    """
    former = remembered_originals(service.instance)
    settings = service.settings
    if former is not None and not is_same(former, settings.originals):
        _require_same(service, former, settings.originals, replace=replace)
        remember_originals(service.instance, settings.originals)


def _require_same(service: Service, former: Path | None, folder: Path, *, replace: bool) -> None:
    """Ask before the library switches to another folder, unless it shows no photos or the bundled samples."""
    if former is None or replace or is_same(former, folder) or is_samples(former):
        return
    if not (count := shown_photos(service)):
        return
    shown = service.settings.originals if is_same(folder, service.settings.originals) else folder
    what = f"The library in {service.instance} shows {counted(count, 'photo')} of {former}"
    if has_terminal():
        confirm(f"{what}. Index {shown} instead? Photos that are not in it are no longer found.", yes=False)
        return
    msg = (
        f"{what}, and one library shows one folder. Pass --replace to index {shown} instead, "
        "or set PHOTOSVC_INSTANCE to another folder for a second library."
    )
    raise PlainError(msg, 2)


def shown_photos(service: Service) -> int:
    """Count the photos that a search may find, private ones included."""
    with service.reading(orm=True) as session:
        return sum(read_library_size(session, sees_private=True).photos.values())


def warn_of_missing_originals(service: Service, folder: Path) -> bool:
    """Warn of a folder that is missing or empty while the library shows photos of it; return whether it is."""
    try:
        with os.scandir(folder) as entries:
            what = "" if any(not entry.name.startswith(".") for entry in entries) else "is empty"
    except FileNotFoundError:
        what = "does not exist"
    except OSError as error:
        what = f"cannot be read ({error.strerror})"
    if not what or not (count := shown_photos(service)):
        return False
    warning = f"WARNING: {folder} {what}. Is its disk mounted? The library still shows {counted(count, 'photo')} of it."
    click.secho(warning, fg="red", bold=True, err=True)
    return True
