"""/errors: files that could not be indexed, shown or imported."""

from typing import Any, Final

from flask import Blueprint, Response, request

from photosvc.core.texts.counted import counted
from photosvc.library.files.problems import failed_files, forget_import_failures
from photosvc.records.upkeep.failed_file import FailedFileSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.answers.paging import page_headers, page_parameters, read_page
from photosvc.web.contract import NUMBER, TEXT, answers, json_object, takes_query
from photosvc.web.current import current_service
from photosvc.web.protector import require
from photosvc.web.requests.parameters import describe

_failed = FailedFileSchema()
#: Characters of a name to look for.
_LONGEST: Final = 1024


def add_routes(api: Blueprint) -> None:
    """Add the files that failed to the API."""
    api.add_url_rule("/errors", view_func=list_failures, methods=["GET"])
    api.add_url_rule("/errors", view_func=clear_failures, methods=["DELETE"])


def _parameters() -> list[dict[str, Any]]:
    return describe({**page_parameters("files"), "q": (TEXT, "Part of the name.")})


@require("errors.view")
@takes_query(_parameters)
@answers(FailedFileSchema, "A page of files that failed.", many=True, headers=page_headers("files"))
def list_failures() -> Response:
    """Files that could not be indexed, shown or imported, the last one first.

    A file of the originals is listed until an index run can read it or it is gone.
    """
    page = read_page()
    text = request.args.get("q", "").strip().replace("\x00", "")[:_LONGEST]
    with current_service().loading() as session:
        found = failed_files(session, text=text, count=page.count, offset=page.offset)
        return page.answer(json_answer([_failed.dump(one) for one in found]), len(found))


@require("errors.clear")
@answers(json_object("code message files", code=NUMBER, message=TEXT, files=NUMBER), "How many were forgotten.")
def clear_failures() -> Response:
    """Forget the files that imports failed at. What index runs cannot read is still listed."""
    with current_service().writing() as session:
        files = forget_import_failures(session)
    return json_answer({"code": 200, "message": f"{counted(files, 'failure')} of imports forgotten", "files": files})
