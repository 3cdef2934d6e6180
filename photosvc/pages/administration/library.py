"""Administration > Library: index runs, statistics, disks and failed files."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from flask import Response, request, url_for
from sqlalchemy import select

from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.core.files import disk_name
from photosvc.index import requests, run_log
from photosvc.index.run_log import last_run
from photosvc.jobs.queue import State, is_running
from photosvc.library.failures import (
    IMPORT,
    count_failed,
    disk_of,
    failed_files,
    forget_import_failures,
    photos_of_failed,
    trash_use,
)
from photosvc.library.thumbnail_jobs import last_progress, request_thumbnails
from photosvc.library.trash.folder import Trash
from photosvc.models import Photo
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import page_number, read_form
from photosvc.pages.language import N_, P_, ngettext
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.pictures.cache import cache_use
from photosvc.search.reading.files import turns_of
from photosvc.search.reading.statistics import read_statistics
from photosvc.sight.labels import SightUnavailableError
from photosvc.sight.runs import read_status, turn_off, turn_on
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.protector import principal
from photosvc.web.service import current_service

_PATH: Final = "/administration/library/failures"
#: The most files on a page.
_COUNT: Final = 50
#: The most characters of a name to look for.
_LONGEST: Final = 1024
_OVERVIEW_PATH: Final = "/administration/library"
_SHOWN: Final = 20
#: The most folders that the field suggests.
_SUGGESTED: Final = 200
_OVERVIEW_DONE: Final = {
    "starts": N_("The index run starts in a moment."),
    "waits": N_("This is waiting: no indexer is running. Start svc watch or svc run."),
    "stopping": N_("The index run is stopping. Files that are already indexed stay."),
    "thumbnails": N_("The thumbnails are made in the background."),
    "seeing": N_("Labels are looked for in the background."),
    "unseeing": N_("No labels are looked for. Those that were found stay."),
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
    """List the files that could not be indexed, shown or imported, the last failure first."""
    text = request.args.get("q", "").strip().replace("\0", "")[:_LONGEST]
    number = page_number()
    with current_service().reading(orm=True) as session:
        files = failed_files(session, text=text, count=_COUNT + 1, offset=(number - 1) * _COUNT)
        photos = photos_of_failed(session, files)
        turns = turns_of(session.connection(), {photo.content_hash for photo in photos.values()})
        return show_administration(
            "failures",
            "library",
            done_texts={"forgotten": N_("The list of failed imports is cleared.")},
            files=files[:_COUNT],
            more=len(files) > _COUNT,
            number=number,
            link=lambda page: url_for(".failures", q=text or None, page=page or None),
            total=count_failed(session),
            photos=photos,
            thumbs=ThumbnailAddresses(principal(), turns),
            imported=any(file.source == IMPORT for file in files),
            search=text,
        )


@pages.post(f"{_PATH}/forget")
@administration_page("errors.clear")
def forget_failures() -> Response:
    """Delete the list of files that could not be imported."""
    with current_service().writing() as session:
        forget_import_failures(session)
    return see_other(url_for(".failures", done="forgotten"))


@pages.post(f"{_OVERVIEW_PATH}/index")
@administration_page("library.tidy")
def start_run() -> Response:
    """Request an index run."""
    service, form = current_service(), read_form()
    folder = disk_name(form.get("folder", "").strip().strip("/"))
    try:
        with service.writing() as session:
            requests.enqueue(session, service.now(), folder, force=bool(form.get("again")))
            _check_folder(service.settings.originals / folder)  # an error rolls the request back
    except InvalidValueError as error:
        return _library(error, values=form)
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="starts" if begins else "waits"))


@pages.post(f"{_OVERVIEW_PATH}/index/stop")
@administration_page("library.tidy")
def stop_run() -> Response:
    """Ask the current index run to stop."""
    service = current_service()
    with service.writing() as session:
        stopped = requests.stop(session, service.now())
    return see_other(url_for(".library", done="stopping" if stopped else "idle"))


@pages.post(f"{_OVERVIEW_PATH}/thumbnails")
@administration_page("library.tidy")
def make_thumbnails() -> Response:
    """Ask an indexer to make the thumbnails of all pictures."""
    service = current_service()
    with service.writing() as session:
        request_thumbnails(session, service.now())
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="thumbnails" if begins else "waits"))


@pages.post(f"{_OVERVIEW_PATH}/labels")
@administration_page("library.tidy")
def turn_sight() -> Response:
    """Let indexers look for labels in pictures, or not."""
    service, wanted = current_service(), bool(read_form().get("on"))
    try:
        with service.writing() as session:
            (turn_on if wanted else turn_off)(session, service.clock)
    except SightUnavailableError as error:
        return _library(error)
    if not wanted:
        return see_other(url_for(".library", done="unseeing"))
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="seeing" if begins else "waits"))


def _check_folder(path: Path) -> None:
    """Check that this is a folder."""
    with suppress(OSError, ValueError):
        if path.is_dir():
            return
    raise InvalidValueError(N_("This folder does not exist in the originals."), field="path")


@form_page(_OVERVIEW_PATH, "library", administration_page("library.view"))
def _library(error: PhotosvcError | None = None, *, values: dict[str, str] | None = None) -> Response:
    """Show index runs, statistics and disks."""
    service, now = current_service(), current_service().now()
    with service.reading(orm=True) as session:
        statistics = service.cached(read_statistics).read(session.connection(), sees_private=True)
        return show_administration(
            "library",
            "library",
            error=error,
            done_texts=_OVERVIEW_DONE,
            values=values or {},
            running=is_running(session, now),
            waiting=requests.waiting(session),
            runs=run_log.reports(session, now, count=_SHOWN),
            states=_STATES,
            counts=_COUNTS,
            count_text=lambda name, number: ngettext(*_COUNTS[name], number),
            last=last_run(session),
            failed=count_failed(session),
            folders=session.scalars(select(Photo.path).distinct().order_by(Photo.path).limit(_SUGGESTED)).all(),
            statistics=statistics,
            disk=disk_of(service.settings.originals),
            thumbnails=last_progress(session),
            sight=read_status(session.connection(), service.clock),
            cache=cache_use(service.picture_cache),
            trash=trash_use(Trash(service.settings.originals)),
        )
