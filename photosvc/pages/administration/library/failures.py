"""Administration > Library > Files that failed: their reasons, and their photos where there are any."""

from typing import Final

from flask import Blueprint, Response, request, url_for

from photosvc.library.files.problems import IMPORT, count_failed, failed_files, forget_import_failures, photos_of_failed
from photosvc.pages import wording
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import page_number
from photosvc.pages.layout import see_other
from photosvc.pages.photos.listing import thumbnails
from photosvc.web.current import current_service
from photosvc.web.protector import principal

_PATH: Final = "/administration/library/failures"
#: Files on a page.
_COUNT: Final = 50
#: Characters of a name to look for.
_LONGEST: Final = 1024
_DONE: Final = {"forgotten": "The failures of imports are forgotten."}


def add_routes(pages: Blueprint) -> None:
    """Add the files that failed to the pages."""
    pages.add_url_rule(_PATH, "failures", list_failures, methods=["GET"])
    pages.add_url_rule(f"{_PATH}/forget", view_func=forget_failures, methods=["POST"])


@administration_page("errors.view")
def list_failures() -> Response:
    """Files that could not be indexed, shown or imported, the last one first."""
    text = request.args.get("q", "").strip().replace("\0", "")[:_LONGEST]
    number = page_number()
    with current_service().loading() as session:
        found = failed_files(session, text=text, count=_COUNT + 1, offset=(number - 1) * _COUNT)
        return show_administration(
            "failures",
            "library",
            told=_DONE,
            files=found[:_COUNT],
            more=len(found) > _COUNT,
            number=number,
            total=count_failed(session),
            photos=photos_of_failed(session, found),
            thumbs=thumbnails(principal()),
            imported=any(one.source == IMPORT for one in found),
            search=text,
            wording=wording,
        )


@administration_page("errors.clear")
def forget_failures() -> Response:
    """Forget the files that imports failed at."""
    with current_service().writing() as session:
        forget_import_failures(session)
    return see_other(url_for(".failures", done="forgotten"))
