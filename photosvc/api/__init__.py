"""The HTTP routes: a module with a blueprint for each resource, nested in the blueprint of the API."""

from collections.abc import Collection

from flask import Blueprint

from photosvc.api import (
    albums,
    audit,
    batch,
    config,
    downloads,
    folders,
    health,
    index_runs,
    labels,
    memories,
    metrics,
    oauth,
    photos,
    places,
    resumable,
    search,
    session,
    shares,
    subjects,
    thumbnails,
    timeline,
    trash,
    uploads,
    users,
    viewer,
)
from photosvc.web import parts
from photosvc.web.begin import add_hooks
from photosvc.web.browser_origin import is_foreign
from photosvc.web.cors import add_cors_headers, is_allowed
from photosvc.web.errors import register_errors
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import token_of
from photosvc.web.responses import add_security_headers, tag_by_body

#: The blueprints of each part; those of the empty name are always mounted.
_RESOURCES = {
    parts.SEARCH: (
        search.search, viewer.viewer, timeline.timeline, memories.memories, places.places,
        folders.folders, photos.photos, batch.batch, albums.albums, shares.links, shares.shares, subjects.subjects,
        labels.labels, uploads.uploads, resumable.resumable, index_runs.index_runs, index_runs.imports, trash.trash,
    ),
    parts.SESSION: (session.session, users.users, audit.audit),
    parts.OAUTH: (oauth.oauth,),
    parts.MEDIA: (thumbnails.thumbnails, thumbnails.videos, downloads.downloads),
    "": (health.health, metrics.metrics, config.config),
}  # fmt: skip


def create_api(mounted: Collection[str]) -> Blueprint:
    """Create the blueprint of the routes below `/api/v1` that belong to these parts."""
    api = OwnBlueprint("photosvc", __name__)
    register_errors(api)

    add_hooks(
        api,
        add_headers=lambda answer: add_cors_headers(add_security_headers(tag_by_body(answer))),
        needs_database=lambda endpoint: not endpoint.endswith(health.ALIVE),
        # A form or script of another site would use up the log-in attempts of its visitor's address. Scripts that may
        # send a header, for which browsers ask us first (CORS), show a token of their own.
        is_foreign=lambda request, base_url: (
            is_foreign(request, base_url) and token_of(request) is None and not is_allowed(request)
        ),
    )
    for part, resources in _RESOURCES.items():
        for resource in resources if not part or part in mounted else ():
            api.register_blueprint(resource)
    return api
