"""Administration > Library: index runs, what the library has, and what it takes on its disks."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from flask import Blueprint, Response, url_for
from sqlalchemy import select

from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.core.paths import disk_name
from photosvc.index.running import reports, wishes
from photosvc.index.running.last_run import last_run
from photosvc.index.running.run_lock import is_running
from photosvc.library.files.disk_use import disk_of, trash_use
from photosvc.library.files.problems import count_failed
from photosvc.library.trash.folder import Trash
from photosvc.models import Photo
from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import read_form
from photosvc.pages.layout import see_other
from photosvc.pages.photos.photo import size_text
from photosvc.pictures.cache.use import cache_use
from photosvc.web.current import current_service
from photosvc.web.service.indexer import Indexer, wake_indexer

_PATH: Final = "/administration/library"
_SHOWN: Final = 20
#: Folders that the field suggests.
_SUGGESTED: Final = 200
_DONE: Final = {
    "asked": "The index run begins in a moment.",
    "waits": "The index run waits: no process indexes at present. Start svc watch, or svc run.",
    "stopping": "The index run stops before its next files. What it has indexed stays.",
    "idle": "No index run was going on. Folders that wait are indexed all the same.",
}
_STATES: Final = {
    reports.State.RUNNING: "Running",
    reports.State.DONE: "Done",
    reports.State.STOPPED: "Stopped",
    reports.State.FAILED: "Failed",
    reports.State.INTERRUPTED: "Interrupted",
}
_COUNTS: Final = (
    ("indexed", "new"), ("updated", "changed"), ("missing", "gone"), ("failed", "failed"), ("skipped", "left out"),
    ("unchanged", "as before"),
)  # fmt: skip


def add_routes(pages: Blueprint) -> None:
    """Add the overview of the library to the pages."""
    pages.add_url_rule(_PATH, "library", show_library, methods=["GET"])
    pages.add_url_rule(f"{_PATH}/index", view_func=start_run, methods=["POST"])
    pages.add_url_rule(f"{_PATH}/index/stop", view_func=stop_run, methods=["POST"])


@administration_page("library.view")
def show_library() -> Response:
    """Index runs, figures and disks."""
    return _library()


@administration_page("library.tidy")
def start_run() -> Response:
    """Ask for an index run."""
    service, form = current_service(), read_form()
    folder = disk_name(form.get("folder", "").strip().strip("/"))
    try:
        with service.writing() as session:
            wishes.wish(session, service.now(), folder, force=bool(form.get("again")))
            _check_folder(service.settings.originals / folder)  # an error takes the wish back
    except InvalidValueError as error:
        return _library(error, given=form)
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".library", done="asked" if begins else "waits"))


@administration_page("library.tidy")
def stop_run() -> Response:
    """Ask the index run that is going on to stop."""
    service = current_service()
    with service.writing() as session:
        stopped = wishes.stop(session, service.now())
    return see_other(url_for(".library", done="stopping" if stopped else "idle"))


def _check_folder(path: Path) -> None:
    """Make sure that this is a folder.

    Raises:
        InvalidValueError: it is none, or its name is too long or too strange to ask.

    """
    with suppress(OSError, ValueError):
        if path.is_dir():
            return
    msg = "There is no such folder among the originals."
    raise InvalidValueError(msg, field="path")


def _library(error: PhotosvcError | None = None, *, given: dict[str, str] | None = None) -> Response:
    service, now = current_service(), current_service().now()
    with service.loading() as session:
        figures = service.statistics.read(session.connection(), sees_private=True)
        return show_administration(
            "library",
            "library",
            error=error,
            told=_DONE,
            given=given or {},
            wording=wording,
            running=is_running(session, now),
            waiting=wishes.waiting(session),
            runs=reports.reports(session, now, count=_SHOWN),
            states=_STATES,
            counts=_COUNTS,
            last=last_run(session),
            failed=count_failed(session),
            folders=session.scalars(select(Photo.path).distinct().order_by(Photo.path).limit(_SUGGESTED)).all(),
            figures=figures,
            disk=disk_of(service.settings.originals),
            cache=cache_use(service.pictures.cache),
            trash=trash_use(Trash(service.settings.originals)),
            size_text=size_text,
        )
