"""The HTTP routes, one file for each resource. Functions create the blueprints, so that each app has its own."""

from collections.abc import Collection

from flask import Blueprint, Response, request

from photosvc.api import folders, oauth, photos, search, suggest
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
from photosvc.api.overview import clusters, timeline, viewer
from photosvc.api.pictures import covers, downloads, thumbnails, videos, zips
from photosvc.api.service import config, monitoring, openapi
from photosvc.api.upkeep import failures, imports, index_runs, trash
from photosvc.web.answers.answer import add_security_headers, count_request, start_timer
from photosvc.web.answers.errors import register_errors
from photosvc.web.auditing import write_due_refusals
from photosvc.web.blueprint import OwnBlueprint
from photosvc.web.current import current_service
from photosvc.web.requests.client_address import warn_of_unread_proxy
from photosvc.web.service import parts

#: The resources of each part, and those that all have.
_RESOURCES = {
    parts.SEARCH: (
        search, suggest, viewer, timeline, clusters, folders, photos, edits, history, batch, photo_files, albums,
        album_photos, subjects, labels, markers, photo_labels, uploads, resumable, index_runs, imports, failures, trash,
    ),
    parts.SESSION: (session, users, open_sessions, app_passwords, passcode, audit),
    parts.OAUTH: (oauth,),
    parts.MEDIA: (thumbnails, covers, videos, downloads, zips),
    "": (monitoring, config, openapi),
}  # fmt: skip


def create_api(mounted: Collection[str]) -> Blueprint:
    """The blueprint of the routes below `/api/v1` of these parts."""
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

    for part, resources in _RESOURCES.items():
        for resource in resources if not part or part in mounted else ():
            resource.add_routes(api)
    return api
