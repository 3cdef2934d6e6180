"""Administration > Library > Trash: deleted originals, to restore or to delete permanently."""

from itertools import islice
from typing import Final

from flask import Response, request, url_for

from photosvc.core.errors import NotFoundError, PhotosvcError
from photosvc.library.failures import trash_use
from photosvc.library.trash.folder import Trash
from photosvc.library.trash.restoring import (
    END_OF_TIME,
    MOST_RESTORED,
    kept_until,
    open_trash,
    photos_of,
)
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import page_number, read_form, whole_number
from photosvc.pages.language import N_
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.web.changes import empty_files, restore_files
from photosvc.web.service import current_service

_PATH: Final = "/administration/library/trash"
#: The most files on a page.
_COUNT: Final = 50
_MOST: Final = 10**9
_DONE: Final = {
    "restored": N_("File restored, with all edits of its photo."),
    "all": N_("All files restored, with all edits of their photos."),
    "some": N_("Some files are restored; others are still in the trash. Restore all again."),
    "taken": N_("Files whose name is in use stay in the trash."),
    "emptied": N_("The trash is empty."),
    "rest": N_("This takes longer: some files are still in the trash. Empty it again."),
}


@pages.post(f"{_PATH}/restore")
@administration_page("trash.empty")
def restore_file() -> Response:
    """Restore one file."""
    read_form()  # limits its size
    item = request.form.get("item", "").replace("\0", "")
    try:
        service = current_service()
        trash = open_trash(service.writing, service.settings)
        file = trash.find(item)
        if file is None:
            raise NotFoundError(N_("This file is no longer in the trash."))
        done = restore_files([file])
    except PhotosvcError as error:
        return _trash(error)
    return see_other(url_for(".trash", done="taken" if done.taken else "restored"))


@pages.post(f"{_PATH}/restore-all")
@administration_page("trash.empty")
def restore_all() -> Response:
    """Restore all files, at most ten thousand at a time."""
    try:
        service = current_service()
        trash = open_trash(service.writing, service.settings)
        done = restore_files(list(islice(trash.every_file(), MOST_RESTORED + 1)))
    except PhotosvcError as error:
        return _trash(error)
    return see_other(url_for(".trash", done="some" if not done.is_complete else "taken" if done.taken else "all"))


@pages.get(f"{_PATH}/empty")
@administration_page("trash.empty")
def ask_to_empty() -> Response:
    """Ask for confirmation before files are deleted permanently."""
    trash = Trash(current_service().settings.originals)
    use = trash_use(trash)
    number = use.files if use.is_exact else trash.count(trash.deletions())
    return show_administration("empty-trash", "library", number=number, use=use, crumbs=True)


@pages.post(f"{_PATH}/empty")
@administration_page("trash.empty")
def empty_trash() -> Response:
    """Delete the files in the trash permanently, if there are as many as the page before showed."""
    form = read_form()
    try:
        service = current_service()
        trash = open_trash(service.writing, service.settings)
        expected = whole_number(form.get("expected", ""), low=0, high=_MOST, default=-1)
        done = empty_files(trash, END_OF_TIME, expected)
    except PhotosvcError as error:
        return _trash(error)
    return see_other(url_for(".trash", done="emptied" if done.is_complete else "rest"))


@form_page(_PATH, "trash", administration_page("trash.empty"))
def _trash(error: PhotosvcError | None = None) -> Response:
    """List the files in the trash, the last deleted first."""
    service, number = current_service(), page_number()
    trash, start = Trash(service.settings.originals), (number - 1) * _COUNT
    files = trash.page(start, _COUNT + 1)
    with service.reading(orm=True) as session:
        return show_administration(
            "trash",
            "library",
            error=error,
            done_texts=_DONE,
            files=files[:_COUNT],
            more=len(files) > _COUNT,
            number=number,
            link=lambda page: url_for(".trash", page=page or None),
            photos=photos_of(session, files[:_COUNT]),
            use=trash_use(trash),
            days=service.settings.trash_days,
            until=lambda file: kept_until(file, service.settings),
            readonly=service.settings.readonly,
        )
