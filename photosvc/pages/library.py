"""Administration > Library: index runs, figures, disks and failed files; Administration > Statistics.

The bars of the statistics have positions and lengths in percent, so that their SVG fits any width of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import Response, request, url_for
from sqlalchemy import select

from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.core.paths import disk_name
from photosvc.index import requested, run_log
from photosvc.index.jobs import State, is_running
from photosvc.index.run_log import last_run
from photosvc.library.problems import (
    IMPORT,
    count_failed,
    disk_of,
    failed_files,
    forget_import_failures,
    photos_of_failed,
    trash_use,
)
from photosvc.library.thumbnails import last_progress, wish_thumbnails
from photosvc.library.trash_folder import Trash
from photosvc.models import Photo
from photosvc.pages import wording
from photosvc.pages.forms import page_number, read_form
from photosvc.pages.frame import administration_page, show_administration
from photosvc.pages.language import N_, P_, _, grouped, ngettext
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.pages.tiles import Thumbnails
from photosvc.pictures.cache import cache_use
from photosvc.search.reading.figures import read_statistics
from photosvc.search.reading.files import turns_of
from photosvc.web.current import current_service
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.protector import principal

_PATH: Final = "/administration/library/failures"
#: The most files on a page.
_COUNT: Final = 50
#: The most characters of a name to look for.
_LONGEST: Final = 1024
#: The most columns side by side: narrower ones cannot be distinguished on a phone.
_MOST: Final = 40
_STEPS: Final = (1, 5, 10, 50, 100, 500, 1000)
#: The most cameras that have a bar of their own; the others share one.
_CAMERAS: Final = 20
_OVERVIEW_PATH: Final = "/administration/library"
_SHOWN: Final = 20
#: The most folders that the field suggests.
_SUGGESTED: Final = 200
_OVERVIEW_DONE: Final = {
    "asked": N_("The index run starts in a moment."),
    "waits": N_("This is waiting: no indexer is running. Start svc watch or svc run."),
    "stopping": N_("The index run is stopping. Files that are already indexed stay."),
    "thumbnails": N_("The thumbnails are made in the background."),
    "idle": N_("No index run was active. Waiting folders are still indexed."),
}
_STATES: Final = {
    State.RUNNING: N_("Running"), State.DONE: N_("Done"), State.STOPPED: N_("Stopped"), State.FAILED: N_("Failed"),
    State.INTERRUPTED: N_("Interrupted"),
}  # fmt: skip
_COUNTS: Final = {
    "indexed": P_("%(num)s new", "%(num)s new"),
    "updated": P_("%(num)s changed", "%(num)s changed"),
    "missing": P_("%(num)s gone", "%(num)s gone"),
    "failed": P_("%(num)s failed", "%(num)s failed"),
    "skipped": P_("%(num)s left out", "%(num)s left out"),
    "unchanged": P_("%(num)s as before", "%(num)s as before"),
}


@pages.get(_PATH, endpoint="failures")
@administration_page("errors.view")
def list_failures() -> Response:
    """List the files that could not be indexed, shown or imported, the last one first."""
    text = request.args.get("q", "").strip().replace("\0", "")[:_LONGEST]
    number = page_number()
    with current_service().reading(orm=True) as session:
        found = failed_files(session, text=text, count=_COUNT + 1, offset=(number - 1) * _COUNT)
        photos = photos_of_failed(session, found)
        turns = turns_of(session.connection(), {photo.content_hash for photo in photos.values()})
        return show_administration(
            "failures",
            "library",
            told={"forgotten": N_("The list of failed imports is cleared.")},
            files=found[:_COUNT],
            more=len(found) > _COUNT,
            number=number,
            link=lambda page: url_for(".failures", q=text or None, page=page or None),
            total=count_failed(session),
            photos=photos,
            thumbs=Thumbnails(principal(), turns),
            imported=any(one.source == IMPORT for one in found),
            search=text,
        )


@pages.post(f"{_PATH}/forget")
@administration_page("errors.clear")
def forget_failures() -> Response:
    """Delete the list of files that could not be imported."""
    with current_service().writing() as session:
        forget_import_failures(session)
    return see_other(url_for(".failures", done="forgotten"))


#: The most labels below the columns, and the widest column in percent: few years leave the rest of the axis empty.
_LABELS: Final = 6
_WIDEST: Final = 12.5


@dataclass(frozen=True, slots=True)
class Bar:
    """A value with its number of photos."""

    label: str
    photos: int
    address: str
    """The address of its photos; empty if no search finds them."""


@dataclass(frozen=True, slots=True)
class Column:
    """A bar on an axis of time."""

    bar: Bar
    left: float
    """Percent of the width."""
    width: float
    """Percent of the width."""
    height: float
    """Percent of the height."""
    label: str
    """The label below the column; empty below most of them."""


def columns(years: Mapping[int, int], search: Callable[[str], str]) -> Sequence[Column]:
    """Return a column for each year, or for 5, 10 or more years if there would be too many; also for empty years.

    Args:
        years: the number of photos of each year; years below 1 are left out.
        search: returns the address of the photos that a query finds.
    """
    known = {year: photos for year, photos in years.items() if year > 0}
    if not known:
        return ()
    first, last = min(known), max(known)
    step = next((step for step in _STEPS if last // step - first // step < _MOST), _STEPS[-1])
    starts = range(first // step * step, last + 1, step)
    numbers = [sum(known.get(year, 0) for year in range(start, start + step)) for start in starts]
    most, width = max(numbers), min(100 / len(numbers), _WIDEST)
    every = -(-len(numbers) // _LABELS)
    found = []
    for at, (start, photos) in enumerate(zip(starts, numbers, strict=True)):
        label = str(start) if step == 1 else f"{max(start, 1)}-{start + step - 1}"
        bar = Bar(label, photos, search(f"year:{label}") if photos else "")
        height = max(photos * 100 / most, 1.0) if photos else 0.0
        shown = str(start) if at % every == 0 else ""
        found.append(Column(bar, round(at * width, 3), round(width, 3), round(height, 3), shown))
    return found


@pages.get("/administration/statistics", endpoint="statistics")
@administration_page("library.view")
def show_statistics() -> Response:
    """Show how many photos there are of each year, camera and type."""
    service = current_service()
    with service.reading() as connection:
        found = service.kept(read_statistics).read(connection, sees_private=True)
    years = {int(share.value): share.photos for share in found.years}
    undated = sum(photos for year, photos in years.items() if year <= 0)
    cameras = [
        Bar(share.name or _("Unknown camera"), share.photos, _search(f"camera:{share.value}"))
        for share in found.cameras[:_CAMERAS]
    ]
    if others := sum(share.photos for share in found.cameras[_CAMERAS:]):
        cameras.append(Bar(_("%(number)s others", number=grouped(len(found.cameras) - _CAMERAS)), others, ""))
    types = [
        Bar(_(wording.TYPES.get(share.name, share.name)), share.photos, _search(f"type:{share.value}"))
        for share in found.types
    ]
    return show_administration(
        "statistics",
        "statistics",
        total=found.total,
        files=found.files,
        size=wording.size_text(found.size),
        years=columns(years, _search),
        undated=Bar(_("Without a date"), undated, _search("year:-1")) if undated else None,
        charts=[(N_("Cameras"), "camera", cameras), (N_("Types"), "type", types)],
    )


def _search(query: str) -> str:
    return url_for(".photos", q=query)


@pages.post(f"{_OVERVIEW_PATH}/index")
@administration_page("library.tidy")
def start_run() -> Response:
    """Request an index run."""
    service, form = current_service(), read_form()
    folder = disk_name(form.get("folder", "").strip().strip("/"))
    try:
        with service.writing() as session:
            requested.wish(session, service.now(), folder, force=bool(form.get("again")))
            _check_folder(service.settings.originals / folder)  # an error rolls the request back
    except InvalidValueError as error:
        return _library(error, given=form)
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="asked" if begins else "waits"))


@pages.post(f"{_OVERVIEW_PATH}/index/stop")
@administration_page("library.tidy")
def stop_run() -> Response:
    """Ask the current index run to stop."""
    service = current_service()
    with service.writing() as session:
        stopped = requested.stop(session, service.now())
    return see_other(url_for(".library", done="stopping" if stopped else "idle"))


@pages.post(f"{_OVERVIEW_PATH}/thumbnails")
@administration_page("library.tidy")
def make_thumbnails() -> Response:
    """Ask an indexer to make the thumbnails of all pictures."""
    service = current_service()
    with service.writing() as session:
        wish_thumbnails(session, service.now())
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="thumbnails" if begins else "waits"))


def _check_folder(path: Path) -> None:
    """Check that this is a folder."""
    with suppress(OSError, ValueError):
        if path.is_dir():
            return
    raise InvalidValueError(N_("This folder does not exist in the originals."), field="path")


@form_page(_OVERVIEW_PATH, "library", administration_page("library.view"))
def _library(error: PhotosvcError | None = None, *, given: dict[str, str] | None = None) -> Response:
    """Show index runs, figures and disks."""
    service, now = current_service(), current_service().now()
    with service.reading(orm=True) as session:
        figures = service.kept(read_statistics).read(session.connection(), sees_private=True)
        return show_administration(
            "library",
            "library",
            error=error,
            told=_OVERVIEW_DONE,
            given=given or {},
            running=is_running(session, now),
            waiting=requested.waiting(session),
            runs=run_log.reports(session, now, count=_SHOWN),
            states=_STATES,
            counts=_COUNTS,
            count_text=lambda name, number: ngettext(*_COUNTS[name], number),
            last=last_run(session),
            failed=count_failed(session),
            folders=session.scalars(select(Photo.path).distinct().order_by(Photo.path).limit(_SUGGESTED)).all(),
            figures=figures,
            disk=disk_of(service.settings.originals),
            thumbnails=last_progress(session),
            cache=cache_use(service.picture_cache),
            trash=trash_use(Trash(service.settings.originals)),
        )
