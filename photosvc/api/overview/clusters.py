"""GET /photos/clusters: the photos of a search for a map."""

from typing import Any

from flask import Blueprint, Response, request

from photosvc.api.search import overview_parameters
from photosvc.query.canonical import canonical_text
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.overview.clusters import DEEPEST_ZOOM, MOST_CLUSTERS, find_clusters, parse_box
from photosvc.search.reading.overview.photos import parse_number, parse_query, version_of
from photosvc.web.answers.answer import is_fresh, json_answer, not_modified
from photosvc.web.contract import ETAG, NUMBER, TEXT, answers, json_object, refuses, takes_query
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching

_DEGREES = {"type": "number"}
_CLUSTER = {"type": "array", "prefixItems": [_DEGREES, _DEGREES, NUMBER, TEXT, TEXT], "minItems": 5, "maxItems": 5}
_CLUSTERS = json_object(
    "version cell clusters",
    version=TEXT,
    cell=_DEGREES,
    clusters={"type": "array", "items": _CLUSTER, "maxItems": MOST_CLUSTERS},
)


def add_routes(api: Blueprint) -> None:
    """Add the clusters to the API."""
    api.add_url_rule("/photos/clusters", view_func=cluster_photos, methods=["GET"])


def _parameters() -> list[dict[str, Any]]:
    further: dict[str, tuple[dict[str, Any], str]] = {
        "bbox": (TEXT, "west,south,east,north in degrees; the whole globe when left out."),
        "zoom": ({"type": "integer", "minimum": 0, "maximum": DEEPEST_ZOOM, "default": 0}, "The zoom of the map."),
        "version": (TEXT, "The version that an earlier answer had: another one is answered 409."),
    }
    return overview_parameters(further)


@require("photos.clusters")
@takes_query(_parameters)
@answers(_CLUSTERS, "Latitude, longitude, number of photos, hash and place of each, the largest first.", headers=ETAG)
@refuses(404, 409)
def cluster_photos() -> Response:
    """The photos of a search inside `bbox`, gathered into at most 200 clusters by a grid that `zoom` divides.

    `cell` is the side of each square of that grid in degrees: a cluster is made of all photos in the square around its
    position, counted from 180 degrees west and 90 south. The position is the mean of those of the photos. Hash and
    place are those of the photo that was added last.
    """
    who = principal()
    query = parse_query(request.args.items(multi=True), sees_private=who.sees_private)
    box = parse_box(request.args.get("bbox", ""))
    zoom = parse_number(request.args.get("zoom", ""), "zoom", 0, DEEPEST_ZOOM, 0)
    with searching(who.owner_uid, "bbox") as connection:
        version = version_of(connection, request.args.get("version", "").strip())
        made_of = ("clusters", box, zoom, canonical_text(query.node), query.album)
        etag = state_tag(connection, *made_of, sees_private=query.sees_private)
        if is_fresh(etag):
            return not_modified(etag)
        found = find_clusters(connection, query, box, zoom)
    clusters = [(one.lat, one.lng, one.count, one.hash, one.place) for one in found.clusters]
    return json_answer({"version": version, "cell": found.side, "clusters": clusters}, etag=etag)
