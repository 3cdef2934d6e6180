"""The answers of requests that leave work to an indexer."""

from typing import Final

from flask import Response, url_for

from photosvc.web.contract import NUMBER, Contract, Header, outcome
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

_INDEXER: Final = {"type": "string", "enum": [indexer.value for indexer in Indexer]}
_MESSAGES: Final = {
    Indexer.RUNNING: "The indexer that runs takes it.",
    Indexer.STARTED: "An indexer was started for it.",
    Indexer.NONE: "It waits for svc watch.",
}
#: The answer of a view that requests an index run or import.
STARTED: Final = outcome(indexer=_INDEXER)
#: The answer of a view that leaves a change of many photos to a job.
JOB: Final = Contract(
    outcome(job=NUMBER, indexer=_INDEXER),
    meaning="Over 1,000 photos have it, so a job changes them; its `State` says whether it is done.",
    status=202,
    headers={"Location": Header("string", "The address of the job's progress.")},
)


def answer_started() -> Response:
    """Start an indexer for the requested work unless one runs, and say which one takes it."""
    indexer = wake_indexer(current_service())
    return json_answer({"code": 200, "message": _MESSAGES[indexer], "indexer": indexer.value})


def answer_job(job_id: int) -> Response:
    """Start an indexer for a job unless one runs, and answer with the number and address of the job."""
    indexer = wake_indexer(current_service())
    record = {"code": JOB.status, "message": _MESSAGES[indexer], "job": job_id, "indexer": indexer.value}
    answer = json_answer(record, JOB.status)
    answer.headers["Location"] = url_for("photosvc.index_runs.show_job", job_id=job_id)
    return answer
