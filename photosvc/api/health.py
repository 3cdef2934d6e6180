"""The health of the service for monitors and clients, and of a credential for proxies.

GET /healthz and /readyz are for monitors, /status for clients, /credential for proxies.
"""

from flask import Response

from photosvc import __version__
from photosvc.auth.policy import may
from photosvc.core.errors import PermissionDeniedError
from photosvc.index.mounts import are_away
from photosvc.library.storage_errors import StorageFailedError
from photosvc.models import VISIT
from photosvc.web.contract import (
    TEXT,
    answers,
    for_visitors,
    json_object,
    public,
)
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

health: OwnBlueprint = OwnBlueprint("health", __name__)

#: The end of the name of the endpoint that answers even if the database fails.
ALIVE = ".healthz"


@health.get("/healthz")
@public
@answers(json_object(status=TEXT, version=TEXT), "The process is running.")
def healthz() -> Response:
    """Answer `alive`, even if the database fails: if this gets no answer, the process has to be restarted."""
    return json_answer({"status": "alive", "version": __version__})


@health.get("/readyz")
@public
@answers(json_object(status=TEXT, version=TEXT), "The service can answer requests.")
def readyz() -> Response:
    """Answer `ready`; 503 while /status does, or while the originals are away: searches work without them."""
    service = current_service()
    service.check_database()
    with service.reading(orm=True) as session:
        if are_away(session, service.settings.originals):
            msg = "The folder of originals is missing or empty; is its disk mounted? Searches work without it."
            raise StorageFailedError(msg)
    return json_answer({"status": "ready", "version": __version__})


@health.get("/status")
@public
@answers(json_object(status=TEXT, version=TEXT), "The service can answer.")
def status() -> Response:
    """Answer `operational`; 503 while the database is down, has another schema, or belongs to another service key."""
    current_service().check_database()
    return json_answer({"status": "operational", "version": __version__})


@health.get("/credential")
@public
@answers(None, "The credential is valid.", status=204, refuses=(401, 403, 429))
@for_visitors
def credential() -> Response:
    """Answer 204 for a valid credential of any scope, else 401; proxies ask before they accept a large body."""
    who = principal()
    if who.kind == VISIT and not may(who, "shared.add"):  # visitors send nothing else that is large
        raise PermissionDeniedError
    return Response(status=204)
