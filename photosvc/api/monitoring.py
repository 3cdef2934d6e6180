"""Checks and metrics: GET /healthz, /readyz and /metrics for monitors, /credential for proxies, /status for clients.

The metrics are in the text format 0.0.4 of Prometheus; `api.gauges` has those that are measured at each request.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from flask import Response

from photosvc import __version__
from photosvc.api.gauges import of_disks, of_library, of_processes, of_replica, of_upkeep
from photosvc.core.errors import PermissionDeniedError
from photosvc.index.scan import are_away
from photosvc.library.staging_part import StorageFailedError
from photosvc.models import VISIT
from photosvc.models.engine import session_on
from photosvc.search.limits import ClientGoneError, SearchesBusyError, SearchTooLongError
from photosvc.search.reading.figures import figures
from photosvc.web.actions import OwnBlueprint, for_visitors, public
from photosvc.web.answers import json_answer
from photosvc.web.contract import TEXT, answers, json_object, refuses
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.request_counts import BOUNDS, Latency, Series
from photosvc.web.searching import searching

if TYPE_CHECKING:
    from prometheus_client import Metric

monitoring: OwnBlueprint = OwnBlueprint("monitoring", __name__)


_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class OriginalsAwayError(StorageFailedError):
    """The folder of originals is missing or empty; is its disk mounted? Searches work without it."""


#: The end of the name of the endpoint that answers even if the database fails.
ALIVE = ".healthz"


@monitoring.get("/healthz")
@public
@answers(json_object("status version", status=TEXT, version=TEXT), "The process is running.")
def healthz() -> Response:
    """Answer `alive`, even if the database fails: if this gets no answer, the process has to be restarted."""
    return json_answer({"status": "alive", "version": __version__})


@monitoring.get("/readyz")
@public
@answers(json_object("status version", status=TEXT, version=TEXT, replica=TEXT), "The service can answer requests.")
def readyz() -> Response:
    """Answer `ready`; 503 while /status does, or while the originals are away: searches work without them.

    `replica` is `in step`, `behind` or `away`; absent if searches are not read from a replica.
    """
    service = current_service()
    service.check_database()
    with service.reading(orm=True) as session:
        if are_away(session, service.settings.originals):
            raise OriginalsAwayError
        replica = service.replica and service.replica.report(session.connection())
    told = {"replica": replica.standing.value} if replica else {}
    return json_answer({"status": "ready", "version": __version__, **told})


@monitoring.get("/status")
@public
@answers(json_object("status version", status=TEXT, version=TEXT), "The service can answer.")
def status() -> Response:
    """Answer `operational`; 503 while the database is down, has another schema, or belongs to another service key."""
    current_service().check_database()
    return json_answer({"status": "operational", "version": __version__})


@monitoring.get("/credential")
@public
@answers(None, "The credential is valid.", status=204)
@refuses(401, 403, 429)
@for_visitors
def credential() -> Response:
    """Answer 204 for a valid credential of any scope, else 401; proxies ask before they accept a large body."""
    if principal().kind == VISIT:  # visitors send no files
        raise PermissionDeniedError
    return Response(status=204)


@monitoring.get("/metrics")
@require("metrics.view")
@answers(TEXT, "Prometheus text format 0.0.4.", media_type="text/plain")
def metrics() -> Response:
    """Show the size of the library, its upkeep, the requests with their latencies, disks and processes, as metrics.

    Private photos and albums count for clients that may see them.
    """
    # Of prometheus_client, only the text format is used. Its counters would need a folder in the environment before
    # their import, for the whole process and so for a host app as well; they cost 25 ms at each start and take four
    # times as long for each request.
    from prometheus_client import CollectorRegistry, generate_latest

    service = current_service()
    with searching(principal().owner_uid, "metrics") as connection, session_on(connection) as session:
        found = figures(session, sees_private=principal().sees_private)
        away = are_away(session, service.settings.originals, within=True)
        upkeep = [*of_upkeep(session)]
        if service.replica is not None:
            upkeep += of_replica(service.replica.report(connection))
    registry = CollectorRegistry(auto_describe=False)
    counts = service.requests
    searches = _searches(counts.ended_searches())
    library = [*of_library(found, away=away), *upkeep]
    machine = [*of_disks(service.settings, service.instance, service.pictures.cache), *of_processes()]
    registry.register(_Collected([*library, *_requests(counts.read()), searches, *machine]))
    return Response(generate_latest(registry), content_type=_TEXT)


class _Collected:
    """A collector of these metrics, as a registry expects it."""

    def __init__(self, metrics: "list[Metric]") -> None:
        self.collect = lambda: metrics


def _searches(ended: Mapping[str, int]) -> "Metric":
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily("photosvc_searches_ended", "Searches ended before they were done.", labels=["reason"])
    for reason in (SearchTooLongError.reason, ClientGoneError.reason, SearchesBusyError.reason):
        family.add_metric([reason], ended.get(reason, 0))
    return family


def _requests(counts: Mapping[Series, Latency]) -> "Iterator[Metric]":
    """Yield the counts by route, method and status, and the latencies by route."""
    from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
    from prometheus_client.utils import floatToGoString

    answered = CounterMetricFamily("photosvc_requests", "Requests answered.", labels=["route", "method", "status"])
    taken = HistogramMetricFamily(
        "photosvc_request_seconds", "Seconds until the headers of the answer were ready.", labels=["route"]
    )
    for series, latency in counts.items():
        answered.add_metric([series.route, series.method, str(series.status)], latency.buckets[-1])
    for route, members in groupby(counts.items(), key=lambda item: item[0].route):
        latencies = [latency for _, latency in members]
        buckets = map(sum, zip(*(latency.buckets for latency in latencies), strict=True))
        bounds = map(floatToGoString, (*BOUNDS, float("inf")))
        taken.add_metric([route], [*zip(bounds, buckets, strict=True)], sum(latency.seconds for latency in latencies))
    yield answered
    yield taken
