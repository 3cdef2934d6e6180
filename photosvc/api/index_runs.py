"""Index runs (/index) and imports (/import), the jobs of requests (/jobs), and the files that failed (/errors).

A process of its own does the work: `svc watch`, or one that the request starts.
"""

from typing import Any, Final

from flask import Response, request

from photosvc.auth.principal import Principal
from photosvc.core.accounts import ADMIN
from photosvc.core.errors import NotFoundError
from photosvc.core.message import counted
from photosvc.index import requests, run_log
from photosvc.jobs import queue
from photosvc.jobs.queue import IMPORT, State, is_running
from photosvc.library.albums import albums_by_name
from photosvc.library.failures import failed_files, forget_import_failures
from photosvc.library.import_folder import ImportFolder
from photosvc.library.import_jobs import import_reports, withdraw_imports
from photosvc.library.renames import is_asked_by
from photosvc.library.storage_errors import ReadOnlyError
from photosvc.models import Job
from photosvc.records.upkeep import (
    FailedFileSchema,
    ImportReportSchema,
    ImportRequestSchema,
    ImportRunSchema,
    IndexReportSchema,
    IndexRequestSchema,
    IndexRunSchema,
    JobSchema,
)
from photosvc.web.contract import (
    FLAG,
    NUMBER,
    TEXT,
    answers,
    describe,
    json_object,
    outcome,
    takes,
    takes_query,
    uses,
)
from photosvc.web.job_answers import STARTED, answer_started
from photosvc.web.paging import page_headers, page_parameters, read_page
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

index_runs = OwnBlueprint("index_runs", __name__)
imports = OwnBlueprint("imports", __name__)

#: Index runs and imports in their lists.
SHOWN: Final = 20
_wish, _report = IndexRequestSchema(), IndexReportSchema()
_ARRAY: Final = {"type": "array", "items": {"type": "object"}}
_job = JobSchema()
#: The largest integer that both databases store.
_LAST = 2**63 - 1
_failed = FailedFileSchema()
#: Characters of the longest part of a name to look for.
_LONGEST: Final = 1024
_import_wish, _import_report = ImportRequestSchema(), ImportReportSchema()
#: Failed files of each import; `/errors` lists more of these files.
_SHOWN_FAILURES: Final = 20


@index_runs.get("/index")
@require("index.view")
@answers(json_object(running=FLAG, waiting=_ARRAY, runs=_ARRAY), "The index runs.")
def list_index_runs() -> Response:
    """List the last 20 index runs, the latest first, and the folders that wait; `running` says if a run is going on.

    Of the runs over one folder that changed nothing, only the last one is listed.
    """
    service = current_service()
    with service.reading(orm=True) as session:
        running = is_running(session, service.now())
        waiting = [_wish.dump(wish) for wish in requests.waiting(session)]
        runs = [_report.dump(report) for report in run_log.reports(session, service.now(), count=SHOWN)]
    return json_answer({"running": running, "waiting": waiting, "runs": runs})


@index_runs.post("/index")
@require("photos.index")
@takes(IndexRunSchema, any_type=True)
@answers(STARTED, "The indexer that takes the job.", refuses=(400, 503))
def start_index(body: dict[str, Any]) -> Response:
    """Request an index run over the originals or one of their folders. Equal waiting requests are merged."""
    service = current_service()
    with service.writing() as session:
        requests.enqueue(session, service.now(), (body["path"] or "").strip("/"), force=bool(body["rescan"]))
    return answer_started()


@index_runs.delete("/index")
@require("photos.index")
@answers(outcome(stopped=FLAG), "Whether a run was stopped.", refuses=(503,))
def stop_index() -> Response:
    """Ask the running index run to stop before its next batch, and drop the requests that wait.

    Files that are indexed already stay; folders of new uploads are still indexed.
    """
    service = current_service()
    with service.writing() as session:
        stopped = requests.stop(session, service.now())
    message = "The index run is stopping." if stopped else "No index run is active."
    return json_answer({"code": 200, "message": message, "stopped": stopped})


@index_runs.get("/jobs/<int:job_id>")
@require("jobs.view")
@answers(JobSchema, "The job.", refuses=(404,))
def show_job(job_id: int) -> Response:
    """Show the progress of a job that the account or client asked for; administrators see the jobs of everybody.

    `State` is `waiting` also between two tries; `Outcome` then says how the last try ended, and `Message` why. A job
    that has ended is remembered until enough later jobs of its kind have ended.
    """
    who = principal()
    with current_service().reading(orm=True) as session:
        job = session.get(Job, job_id) if job_id <= _LAST else None
        if job is None or not (_is_own(job, who) or who.role == ADMIN):
            raise NotFoundError("There is no such job, or it ended long ago.")
        state = State.STOPPED if job.cancelled else State(job.state)
        counts = {name: value for name, value in job.report.items() if name != "message"}
        message = job.report.get("message", "")
        return json_answer(_job.dump({"job": job, "state": state, "message": message, "counts": counts}))


def _is_own(job: Job, who: Principal) -> bool:
    if job.user_id is not None:
        return job.user_id == who.user_id
    return is_asked_by(job.arguments, who.owner_uid)  # clients and users of host apps have no account here


@index_runs.get("/errors")
@require("errors.view")
@takes_query(lambda: describe({**page_parameters("files"), "q": (TEXT, "Part of the name.")}))
@answers(FailedFileSchema, "A page of files that failed.", many=True, headers=page_headers("files"))
def list_failures() -> Response:
    """List the files that could not be indexed, shown or imported, the last one first.

    A file of the originals is listed until an index run can read it or it is gone.
    """
    page = read_page()
    text = request.args.get("q", "").strip().replace("\x00", "")[:_LONGEST]
    with current_service().reading(orm=True) as session:
        failures = failed_files(session, text=text, count=page.count, offset=page.offset)
        return page.answer(json_answer([_failed.dump(failure) for failure in failures]), len(failures))


@index_runs.delete("/errors")
@require("errors.clear")
@answers(outcome(files=NUMBER), "Number of removed entries.")
def clear_failures() -> Response:
    """Forget the files that could not be imported; files that index runs cannot read are still listed."""
    with current_service().writing() as session:
        files = forget_import_failures(session)
    return json_answer({"code": 200, "message": f"{counted(files, 'failure')} of imports forgotten", "files": files})


@imports.get("/import", strict_slashes=False)
@require("files.imports")
@answers(json_object(waiting=_ARRAY, imports=_ARRAY), "The imports.")
def list_imports() -> Response:
    """List the imports that wait, and the last ones that began, with their counts and the first files that failed."""
    with current_service().reading(orm=True) as session:
        waiting = [_import_wish.dump(wish) for wish in queue.requested(session, IMPORT)]
        reports = import_reports(session, count=SHOWN, failures=_SHOWN_FAILURES)
        imports = [_import_report.dump(report) for report in reports]
    return json_answer({"waiting": waiting, "imports": imports})


@imports.post("/import", strict_slashes=False)
@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(STARTED, "The indexer that takes the job.", refuses=(400, 404, 409, 429, 503))
def start_import(body: dict[str, Any]) -> Response:
    """Request an import of the import folder, or of a folder in it, into the originals.

    Its files are copied or moved, named by the time at which they were taken, and indexed. Files that the originals
    have already are not stored again. A request replaces an earlier one for the same folder that still waits.
    """
    return _start(body, body["path"] or "")


@imports.post("/import/<path:folder>")
@require("files.import")
@uses("albums.update", "albums.create")
@takes(ImportRunSchema, any_type=True)
@answers(STARTED, "The indexer that takes the job.", refuses=(400, 404, 409, 429, 503))
def start_import_of_folder(body: dict[str, Any], folder: str) -> Response:
    """Request an import of the folder that the path names, below the import folder."""
    return _start(body, folder)


def _start(body: dict[str, Any], path: str) -> Response:
    service = current_service()
    if service.settings.readonly:
        raise ReadOnlyError
    now = service.now()
    source = ImportFolder(service.settings.import_folder)
    folder = source.check(service.settings.originals, path.strip("/"))
    albums = albums_by_name(service.writing, body["albums"] or (), principal(), now)
    with service.writing() as session:
        arguments = {"moves": bool(body["move"]), "albums": list(albums)}
        queue.add(session, IMPORT, folder, now, arguments, user_id=principal().user_id)
    return answer_started()


@imports.delete("/import", strict_slashes=False)
@require("files.import")
@answers(outcome(stopped=FLAG), "Whether a run was stopped.", refuses=(503,))
def stop_import() -> Response:
    """Ask the running import to stop after the files that it is copying, and drop the imports that wait.

    Files that are imported already stay.
    """
    service = current_service()
    with service.writing() as session:
        stopped = withdraw_imports(session, service.now())
    message = "The import is stopping." if stopped else "No import is running."
    return json_answer({"code": 200, "message": message, "stopped": stopped})
