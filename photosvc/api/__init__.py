"""The HTTP routes, one file for each resource. Functions create the blueprints, so that each app has its own."""

from flask import Blueprint, Response, request

from photosvc.api import (
    clusters,
    config,
    folders,
    monitoring,
    oauth,
    openapi,
    photos,
    search,
    suggest,
    timeline,
    viewer,
)
from photosvc.api.accounts import app_passwords, audit, open_sessions, passcode, session, users
from photosvc.api.library import (
    album_photos,
    albums,
    batch,
    edits,
    history,
    photo_files,
    resumable,
    uploads,
)
from photosvc.api.names import labels, markers, photo_labels, subjects
from photosvc.api.pictures import covers, downloads, thumbnails, videos, zips
from photosvc.api.upkeep import failures, imports, index_runs, trash
from photosvc.web.answer import add_security_headers, count_request, start_timer
from photosvc.web.auditing import write_due_refusals
from photosvc.web.blueprint import OwnBlueprint
from photosvc.web.client_address import warn_of_unread_proxy
from photosvc.web.current import current_service
from photosvc.web.errors import register_errors

_RESOURCES = (
    search, suggest, viewer, timeline, clusters, folders, photos, edits, history, batch, photo_files, albums,
    album_photos, subjects, labels, markers, photo_labels, uploads, resumable, index_runs, imports, failures, trash,
    session, users, open_sessions, app_passwords, passcode, audit, oauth, monitoring, config, thumbnails, covers,
    videos, downloads, zips, openapi,
)  # fmt: skip


def create_api() -> Blueprint:
    """The blueprint of all routes below `/api/v1`."""
    api = OwnBlueprint("photosvc", __name__)
    register_errors(api)

    @api.before_request
    def begin() -> None:
        start_timer()
        if (request.endpoint or "").endswith(monitoring.ALIVE):
            return
        service = current_service()
        service.require_schema()
        service.follow_key(seldom=True)
        warn_of_unread_proxy(service, request)
        write_due_refusals(service)

    @api.after_request
    def end(answer: Response) -> Response:
        return count_request(add_security_headers(answer))

    for resource in _RESOURCES:
        resource.add_routes(api)
    return api
