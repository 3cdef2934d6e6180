"""/import: start, stop and list imports. A process of its own does the work, as for index runs."""

from typing import Any, Final

from flask import Blueprint, Response

from photosvc.api.library.adding import albums_by_name
from photosvc.api.upkeep.index_runs import INDEXER, MESSAGES
from photosvc.library.imports import reports, wishes
from photosvc.library.imports.folder import ImportFolder
from photosvc.library.staging.errors import ReadOnlyError
from photosvc.records.upkeep.import_report import ImportReportSchema, ImportWishSchema
from photosvc.records.upkeep.runs import ImportRunSchema
from photosvc.web.actions import uses
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.service.indexer import wake_indexer


def add_routes(api: Blueprint) -> None:
    """Add the imports to the API."""
    api.add_url_rule("/import", view_func=list_imports, methods=["GET"], strict_slashes=False)
    api.add_url_rule("/import", view_func=start_import, methods=["POST"], strict_slashes=False)
    api.add_url_rule("/import", view_func=stop_import, methods=["DELETE"], strict_slashes=False)
    api.add_url_rule("/import/<path:folder>", view_func=start_import_of_folder, methods=["POST"])


_wish, _report = ImportWishSchema(), ImportReportSchema()
#: Imports of the list, and failed files of each; `/errors` has more of these.
_SHOWN: Final = 20
_SHOWN_FAILURES: Final = 20
_ARRAY: Final = {"type": "array", "items": {"type": "object"}}
_LISTED: Final = json_object("waiting imports", waiting=_ARRAY, imports=_ARRAY)
_STARTED = json_object("code message indexer", code=NUMBER, message=TEXT, indexer=INDEXER)


@require("files.imports")
@answers(_LISTED, "The imports.")
def list_imports() -> Response:
    """The imports that wait, and the last ones that began, with their counts and the first files that failed."""
    with current_service().loading() as session:
        waiting = [_wish.dump(one) for one in wishes.waiting(session)]
        began = [_report.dump(one) for one in reports.reports(session, count=_SHOWN, failures=_SHOWN_FAILURES)]
    return json_answer({"waiting": waiting, "imports": began})


@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(_STARTED, "Who does it.")
@refuses(400, 404, 409, 429, 503)
def start_import(given: dict[str, Any]) -> Response:
    """Ask for the files in the folder of imports, or a folder of it, to be brought into the originals.

    They are copied, or moved, under names by the time at which they were taken, and indexed. Files that the originals
    have already are not stored again. A request for a folder that waits replaces the earlier one.
    """
    return _start(given, given["path"] or "")


@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(_STARTED, "Who does it.")
@refuses(400, 404, 409, 429, 503)
def start_import_of_folder(given: dict[str, Any], folder: str) -> Response:
    """Ask for a folder in the folder of imports to be brought into the originals; its path is that of the address."""
    return _start(given, folder)


def _start(given: dict[str, Any], path: str) -> Response:
    service = current_service()
    if service.settings.readonly:
        raise ReadOnlyError
    now = service.now()
    source = ImportFolder(service.settings.import_folder)
    folder = source.check(service.settings.originals, path.strip("/"))
    albums = albums_by_name(service, given["albums"] or (), now)
    with service.writing() as session:
        one = wishes.Wish(folder, bool(given["move"]), principal().user_id, tuple(albums), now)
        wishes.wish(session, one)
    indexer = wake_indexer(service)
    return json_answer({"code": 200, "message": MESSAGES[indexer], "indexer": indexer.value})


@require("files.import")
@answers(json_object("code message stopped", code=NUMBER, message=TEXT, stopped=FLAG), "Whether there was one.")
@refuses(503)
def stop_import() -> Response:
    """Ask the import that is going on to stop after the files that it copies just now, and drop those that wait.

    What it has imported stays.
    """
    service = current_service()
    with service.writing() as session:
        stopped = wishes.withdraw(session) > 0
    message = "The import stops." if stopped else "No import is going on."
    return json_answer({"code": 200, "message": message, "stopped": stopped})
