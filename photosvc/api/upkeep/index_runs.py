"""/index: start, stop and list index runs. A process of its own does the work, `svc watch` where it runs."""

from typing import Any, Final

from flask import Blueprint, Response

from photosvc.index.running import reports, wishes
from photosvc.index.running.run_lock import is_running
from photosvc.records.upkeep.index_report import IndexReportSchema, IndexWishSchema
from photosvc.records.upkeep.runs import IndexRunSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import FLAG, NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import require
from photosvc.web.service.indexer import Indexer, wake_indexer

INDEXER: Final = {"type": "string", "enum": [indexer.value for indexer in Indexer]}
MESSAGES: Final = {
    Indexer.RUNNING: "The indexer that runs takes it.",
    Indexer.STARTED: "An indexer was started for it.",
    Indexer.NONE: "It waits for svc watch.",
}
#: Runs of the list.
SHOWN: Final = 20
_wish, _report = IndexWishSchema(), IndexReportSchema()
_ARRAY: Final = {"type": "array", "items": {"type": "object"}}
_LISTED: Final = json_object("running waiting runs", running=FLAG, waiting=_ARRAY, runs=_ARRAY)


def add_routes(api: Blueprint) -> None:
    """Add the index runs to the API."""
    api.add_url_rule("/index", view_func=list_index_runs, methods=["GET"])
    api.add_url_rule("/index", view_func=start_index, methods=["POST"])
    api.add_url_rule("/index", view_func=stop_index, methods=["DELETE"])


@require("index.view")
@answers(_LISTED, "The index runs.")
def list_index_runs() -> Response:
    """Whether a run is going on, the folders that wait for one, and the last 20 runs, the latest first, with counts.

    Of the runs over one folder that changed nothing, only the last one is listed.
    """
    service = current_service()
    with service.loading() as session:
        running = is_running(session, service.now())
        waiting = [_wish.dump(one) for one in wishes.waiting(session)]
        runs = [_report.dump(one) for one in reports.reports(session, service.now(), count=SHOWN)]
    return json_answer({"running": running, "waiting": waiting, "runs": runs})


@require("photos.index")
@takes(IndexRunSchema, any_type=True)
@answers(json_object("code message indexer", code=NUMBER, message=TEXT, indexer=INDEXER), "Who does it.")
@refuses(400, 503)
def start_index(given: dict[str, Any]) -> Response:
    """Ask for the originals, or a folder of them, to be indexed. Equal requests that wait become one."""
    service = current_service()
    with service.writing() as session:
        wishes.wish(session, service.now(), (given["path"] or "").strip("/"), force=bool(given["rescan"]))
    indexer = wake_indexer(service)
    return json_answer({"code": 200, "message": MESSAGES[indexer], "indexer": indexer.value})


@require("photos.index")
@answers(json_object("code message stopped", code=NUMBER, message=TEXT, stopped=FLAG), "Whether there was one.")
@refuses(503)
def stop_index() -> Response:
    """Ask the index run that is going on to stop before its next batch, and drop requests that wait for one.

    What it has indexed stays; folders of new uploads are still indexed.
    """
    service = current_service()
    with service.writing() as session:
        stopped = wishes.stop(session, service.now())
    message = "The index run stops." if stopped else "No index run is going on."
    return json_answer({"code": 200, "message": message, "stopped": stopped})
