"""The imports of the API: /import starts, stops and lists them.

A process of its own does the work, as for index runs.
"""

from typing import Any, Final

from flask import Response

from photosvc.api.index_runs import INDEXER, MESSAGES
from photosvc.api.uploads import albums_by_name
from photosvc.library import import_jobs
from photosvc.library.import_folder import ImportFolder
from photosvc.library.staging_part import ReadOnlyError
from photosvc.records.upkeep import ImportReportSchema, ImportRunSchema, ImportWishSchema
from photosvc.web.answers import json_answer
from photosvc.web.contract import FLAG, NUMBER, TEXT, OwnBlueprint, answers, json_object, refuses, takes, uses
from photosvc.web.current import current_service
from photosvc.web.indexer import wake_indexer
from photosvc.web.protector import principal, require

imports = OwnBlueprint("imports", __name__)


_wish, _report = ImportWishSchema(), ImportReportSchema()
#: Imports in the list, and failed files of each; `/errors` lists more of these files.
_SHOWN: Final = 20
_SHOWN_FAILURES: Final = 20
_ARRAY: Final = {"type": "array", "items": {"type": "object"}}
_LISTED: Final = json_object("waiting imports", waiting=_ARRAY, imports=_ARRAY)
_STARTED = json_object("code message indexer", code=NUMBER, message=TEXT, indexer=INDEXER)


@imports.get("/import", strict_slashes=False)
@require("files.imports")
@answers(_LISTED, "The imports.")
def list_imports() -> Response:
    """List the imports that wait, and the last ones that began, with their counts and the first files that failed."""
    with current_service().reading(orm=True) as session:
        waiting = [_wish.dump(one) for one in import_jobs.waiting(session)]
        began = [_report.dump(one) for one in import_jobs.reports(session, count=_SHOWN, failures=_SHOWN_FAILURES)]
    return json_answer({"waiting": waiting, "imports": began})


@imports.post("/import", strict_slashes=False)
@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(_STARTED, "The indexer that takes the job.")
@refuses(400, 404, 409, 429, 503)
def start_import(given: dict[str, Any]) -> Response:
    """Request an import of the import folder, or of a folder in it, into the originals.

    Its files are copied or moved, named by the time at which they were taken, and indexed. Files that the originals
    have already are not stored again. A request replaces an earlier one for the same folder that still waits.
    """
    return _start(given, given["path"] or "")


@imports.post("/import/<path:folder>")
@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(_STARTED, "The indexer that takes the job.")
@refuses(400, 404, 409, 429, 503)
def start_import_of_folder(given: dict[str, Any], folder: str) -> Response:
    """Request an import of the folder that the path names, below the import folder."""
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
        one = import_jobs.Wish(folder, bool(given["move"]), principal().user_id, tuple(albums), now)
        import_jobs.wish(session, one)
    indexer = wake_indexer(service)
    return json_answer({"code": 200, "message": MESSAGES[indexer], "indexer": indexer.value})


@imports.delete("/import", strict_slashes=False)
@require("files.import")
@answers(json_object("code message stopped", code=NUMBER, message=TEXT, stopped=FLAG), "Whether a run was stopped.")
@refuses(503)
def stop_import() -> Response:
    """Ask the running import to stop after the files that it is copying, and drop the imports that wait.

    Files that are imported already stay.
    """
    service = current_service()
    with service.writing() as session:
        stopped = import_jobs.withdraw(session, service.now())
    message = "The import is stopping." if stopped else "No import is running."
    return json_answer({"code": 200, "message": message, "stopped": stopped})
