"""The page that uploads: a form with files, which scripts replace by resumable uploads with their progress."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from flask import Response, request, url_for
from werkzeug.exceptions import RequestEntityTooLarge

from photosvc.core.errors import PhotosvcError
from photosvc.library.staging_part import TooLargeError
from photosvc.library.uploads import ADDED, DAMAGED, DUPLICATE, NOT_SHOWN, REFUSED, Admitted
from photosvc.pages.errors import show_form
from photosvc.pages.language import N_, _
from photosvc.pages.layout import form_page, page, pages, public_page, see_other
from photosvc.pages.messages import message_text
from photosvc.pages.tiles import Asked, grid_data
from photosvc.web.current import current_service
from photosvc.web.incoming import add_form, record_of_outcome
from photosvc.web.protector import principal
from photosvc.web.receiving import sender

#: The status of a file that the index has not read yet.
_STORED: Final = "stored"
_LABELS: Final = {
    ADDED: N_("Added"),
    _STORED: N_("Stored; it appears once it is indexed"),
    DAMAGED: N_("Stored, but damaged"),
    NOT_SHOWN: N_("Stored, but cannot be shown"),
    DUPLICATE: N_("In the library already"),
    REFUSED: N_("Refused"),
}


class Result(NamedTuple):
    """The result for a file of the form."""

    name: str
    status: str
    text: str
    photo_uid: str
    """The UID of the photo that it belongs to; empty if it is not indexed yet, or refused."""


@pages.post("/upload/shared")
@public_page
def share_files() -> Response:
    """Lead to the page that uploads, without the files that another app shared: only its service worker takes those."""
    return see_other(url_for(".upload", shared="none"))


@pages.post("/upload")
@page("files.upload")
def send_files() -> Response:
    """Add the files of the form to the originals, and show the result of each."""
    try:
        outcomes = add_form(sender())
    except PhotosvcError as error:
        return _form(error=error)
    except RequestEntityTooLarge:
        msg = N_("The files are larger in total than one form or your account may have.")
        return _form(error=TooLargeError(msg))
    return _form([_result(outcome) for outcome in outcomes])


def _result(outcome: Admitted) -> Result:
    record = record_of_outcome(current_service(), outcome)
    reason = message_text(record.get("reason", ""))
    status = _STORED if record["status"] == ADDED and not record.get("indexed", True) else record["status"]
    label = _(_LABELS[status])
    text = _("%(field)s: %(message)s", field=label, message=reason) if reason else label
    return Result(outcome.file.name, status, text, record.get("PhotoUID", ""))


@form_page("/upload", "upload", page("files.upload"))
def _form(results: Sequence[Result] = (), *, error: PhotosvcError | None = None) -> Response:
    """Show the form."""
    data = grid_data(principal(), Asked("", "", ""))
    shared = request.args.get("shared", "")
    readonly = current_service().settings.readonly
    return show_form("upload", error, results=results, data=data, readonly=readonly, shared=shared)
