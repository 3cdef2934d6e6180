"""Overviews of a search: by month and by position for pages that scroll, and in clusters for maps.

Their addresses begin with `/photos/timeline`, `/photos/sequence` and `/photos/clusters`.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, Final

from flask import Response, request
from sqlalchemy import Connection

from photosvc.auth.policy import may
from photosvc.core.errors import InvalidValueError
from photosvc.index.run_log import progress
from photosvc.search.reading.clusters import DEEPEST_ZOOM, MOST_CLUSTERS, find_clusters, parse_box
from photosvc.search.reading.library import state_tag, version_of
from photosvc.search.reading.photos import PhotoQuery, parse_query
from photosvc.search.reading.request import ALBUM_ORDERS, DEFAULT_ORDER, PRIME, parse_number, parse_request
from photosvc.search.reading.timeline import (
    DEFAULT_SHOWN,
    MOST_SHOWN,
    NEWEST,
    OLDEST,
    count_months,
    count_photos,
    month_columns,
    months_between,
    parse_month,
    parse_order,
    photos_of_month,
    position_of,
    read_slice,
    write_month,
)
from photosvc.web.contract import ETAG, FLAG, NUMBER, TEXT, Parameters, answers, json_object, takes_query
from photosvc.web.paging import POSITIONS
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import cached_answer, json_answer, require_modified
from photosvc.web.searching import overview_parameters, searching
from photosvc.web.service import current_service

timeline = OwnBlueprint("timeline", __name__)

#: A limit that no library reaches: all photos.
_LAST_POSITION = 2**31 - 1
_NUMBERS = {"type": "array", "items": NUMBER}
_PAIR = {"type": "array", "prefixItems": [NUMBER, NUMBER], "minItems": 2, "maxItems": 2}
_MONTH = {"type": "array", "prefixItems": [TEXT, NUMBER], "minItems": 2, "maxItems": 2}
_MONTHS = json_object(total=NUMBER, version=TEXT, months={"type": "array", "items": _MONTH})
_COLUMNS = json_object(
    version=TEXT, month=TEXT, days={"type": "array", "items": _PAIR}, ratio=_NUMBERS,
    color={"type": "string", "pattern": "^[0-9a-f]*$"}, type={"type": "string", "pattern": "^[0-7]*$"},
)  # fmt: skip
_PHOTO = json_object(
    uid=TEXT, hash=TEXT, duration=NUMBER, favorite=FLAG, private=FLAG, width=NUMBER, height=NUMBER, turn=NUMBER,
    text=TEXT,
)  # fmt: skip
_PHOTOS = json_object(version=TEXT, month=TEXT, **{"from": NUMBER}, photos={"type": "array", "items": _PHOTO})
_PROGRESS = json_object(done=NUMBER, total=NUMBER)
_STATE = json_object(version=TEXT, indexing={"anyOf": [_PROGRESS, {"type": "null"}]})
_FULL_MONTH = json_object(
    "month days ratio color type photos",
    **{name: _COLUMNS["properties"][name] for name in ("month", "days", "ratio", "color", "type")},
    photos={"type": "array", "items": _PHOTO},
)
_FULL_MONTHS = json_object(version=TEXT, months={"type": "array", "items": _FULL_MONTH})
_SEQUENCE = json_object(
    "version from ratio color type photos next",
    version=TEXT,
    **{"from": NUMBER, **{name: _COLUMNS["properties"][name] for name in ("ratio", "color", "type")}},
    photos={"type": "array", "items": _PHOTO, "maxItems": MOST_SHOWN},
    next=TEXT,
    total=NUMBER,
)
_DEGREES = {"type": "number"}
_CLUSTER = {
    "type": "array",
    "prefixItems": [_DEGREES, _DEGREES, NUMBER, TEXT, TEXT, NUMBER],
    "minItems": 6,
    "maxItems": 6,
}
_CLUSTERS = json_object(
    version=TEXT, cell=_DEGREES, clusters={"type": "array", "items": _CLUSTER, "maxItems": MOST_CLUSTERS}
)


_VERSION: Final[Parameters] = {
    "version": (TEXT, "The version in an earlier answer; 409 if the library has changed since."),
}


def _parameters(*, positions: bool = False) -> list[dict[str, Any]]:
    orders = {"type": "string", "enum": [NEWEST, OLDEST], "default": NEWEST}
    order: Parameters = {"order": (orders, "The order of the months and of the photos in them.")}
    return overview_parameters({**order, **_VERSION, **(POSITIONS if positions else {})})


@timeline.get("/photos/state")
@require("photos.timeline")
@answers(_STATE, "The version of the library, and how far the index run is; null without one, or without the right.")
def library_version() -> Response:
    """Say cheaply whether the library has changed, for pages that ask every few seconds.

    `version` is the one that the answers of the timeline have.
    """
    service = current_service()
    with service.reading() as connection:
        version = version_of(connection, sees_private=principal().sees_private)
        present = progress(connection, service.now()) if may(principal(), "index.view") else None
    indexing = None if present is None else {"done": present[0], "total": present[1]}
    return json_answer({"version": version, "indexing": indexing})


@timeline.get("/photos/timeline", endpoint="timeline")
@require("photos.timeline")
@takes_query(_parameters)
@answers(_MONTHS, "The months in order, each with the number of its photos.", headers=ETAG, refuses=(404, 409))
def timeline_months() -> Response:
    """Count the photos of a search by month.

    The order is `newest` or `oldest`; the month `0000-00`, of photos without a date, is always the last one. Photos
    are counted, not files. Later requests with this `version` are answered 409 as soon as the library has changed.
    """

    def read(connection: Connection, query: PhotoQuery, *, oldest_first: bool) -> dict[str, Any]:
        months = count_months(connection, query, oldest_first=oldest_first)
        named = [(write_month(month), count) for month, count in months]
        return {"total": sum(count for _, count in months), "months": named}

    return _answer_months("months", read)


@timeline.get("/photos/timeline/months/<month>")
@require("photos.timeline")
@takes_query(_parameters)
@answers(_COLUMNS, "A value for each photo of the month, in order.", headers=ETAG, refuses=(404, 409))
def timeline_month(month: str) -> Response:
    """List what a page needs to lay out the photos of a month before it shows them.

    `days`: days of the month, 0 if unknown, each with the number of its photos. `ratio`: width by height of each photo,
    upright, in hundredths. `color`: the main colour of each, a hexadecimal digit. `type`: a digit for each, 0 image,
    1 raw, 2 live, 3 video, 4 animated, 5 vector, 6 audio, 7 document.
    """
    number = parse_month(month)

    def read(connection: Connection, query: PhotoQuery, *, oldest_first: bool) -> dict[str, Any]:
        columns = month_columns(connection, query, number, oldest_first=oldest_first)
        return {"month": write_month(number), **columns}

    return _answer_months(number, read)


@timeline.get("/photos/timeline/between/<first>/<last>")
@require("photos.timeline")
@takes_query(_parameters)
@answers(
    _FULL_MONTHS, "The months with photos, each with its columns and its photos.", headers=ETAG, refuses=(404, 409)
)
def timeline_months_between(first: str, last: str) -> Response:
    """List several months with few photos at once: their columns, and the photos themselves.

    `first` and `last` are months in either order, such as `2012-05`. They may have 500 photos together.
    """
    months = parse_month(first), parse_month(last)

    def read(connection: Connection, query: PhotoQuery, *, oldest_first: bool) -> dict[str, Any]:
        return {"months": months_between(connection, query, *months, oldest_first=oldest_first)}

    return _answer_months(months, read)


@timeline.get("/photos/timeline/months/<month>/photos")
@require("photos.timeline")
@takes_query(partial(_parameters, positions=True))
@answers(_PHOTOS, "The photos at these positions.", headers=ETAG, refuses=(404, 409))
def timeline_photos(month: str) -> Response:
    """List the photos at positions of a month, counted from 0 in the order of its columns; fewer at its end.

    Thumbnails of photos whose `turn` is not 1 have `turn` in their address, so that browsers show no older ones.
    """
    number = parse_month(month)
    start = parse_number(request.args.get("from", ""), "from", 0, _LAST_POSITION, 0)
    count = parse_number(request.args.get("n", ""), "n", 1, MOST_SHOWN, DEFAULT_SHOWN)

    def read(connection: Connection, query: PhotoQuery, *, oldest_first: bool) -> dict[str, Any]:
        photos = photos_of_month(connection, query, number, start, count, oldest_first=oldest_first)
        return {"month": write_month(number), "from": start, "photos": photos}

    return _answer_months((number, start, count), read)


def _answer_months(part: object, read: Callable[..., dict[str, Any]]) -> Response:
    """Answer with the result of `read` for the search of this request, in its order of the timeline."""
    query = _query()
    oldest_first = parse_order(request.args.get("order", ""))
    made_of = ("timeline", part, oldest_first, query)
    return _answer(made_of, query.today, lambda connection: read(connection, query, oldest_first=oldest_first))


def _query() -> PhotoQuery:
    who, today = principal(), current_service().today()
    return parse_query(request.args.items(multi=True), today, sees_private=who.sees_private)


def _answer(
    made_of: tuple[object, ...], today: date, read: Callable[[Connection], dict[str, Any]], part: str = "q"
) -> Response:
    """Answer with the result of `read` and the version of the library, unless the client has it.

    Args:
        made_of: what the answer depends on besides the library and the day.
        part: the parameter that errors call costly if there is no query.
    """
    who = principal()
    with searching(who.owner_uid, part) as connection:
        version = version_of(connection, request.args.get("version", "").strip(), sees_private=who.sees_private)
        etag = state_tag(connection, *made_of, sees_private=who.sees_private, today=today)
        require_modified(etag)
        return cached_answer({"version": version, **read(connection)}, etag)


def _sequence_parameters() -> list[dict[str, Any]]:
    orders = {"type": "string", "enum": [*ALBUM_ORDERS], "default": DEFAULT_ORDER}
    further: Parameters = {
        "order": (orders, "The order of the photos, as for `/photos`; a `-` before it reverses it."),
        "seed": (
            {"type": "integer", "minimum": 0, "maximum": PRIME - 1},
            "The seed of the order `random`, which needs one.",
        ),
        **POSITIONS,
        "cursor": (TEXT, "`next` of an earlier answer that ends at or before `from`: spares counting up to there."),
        "locate": (TEXT, "The UID of a photo, in place of `from`: the positions begin with it."),
        "total": ({"type": "boolean", "default": False}, "Count all photos of the search."),
        **_VERSION,
    }
    return overview_parameters(further)


@timeline.get("/photos/sequence")
@require("photos.timeline")
@takes_query(_sequence_parameters)
@answers(
    _SEQUENCE, "The photos at these positions, in columns and with their details.", headers=ETAG, refuses=(404, 409)
)
def photo_sequence() -> Response:
    """List the photos at positions of a search in any order, counted from 0; fewer at its end.

    Photos are counted, not files. `ratio`, `color`, `type` and `photos` are those of
    `/photos/timeline/months/{month}`. `next` is the cursor of what follows; empty at the end.
    """
    who = principal()
    pairs = [(name, text) for name, text in request.args.items(multi=True) if name not in {"count", "offset", "merged"}]
    shown = parse_number(request.args.get("n", ""), "n", 1, MOST_SHOWN, DEFAULT_SHOWN)
    start = parse_number(request.args.get("from", ""), "from", 0, _LAST_POSITION, 0)
    located = request.args.get("locate", "").strip()
    parsed = parse_request([*pairs, ("merged", "true"), ("count", str(shown))], current_service().today())
    if not parsed.repeats:
        msg = "the order random needs a seed here, so that all positions are of one order"
        raise InvalidValueError(msg, field="seed")
    if located:
        parsed = replace(parsed, cursor=None, offset=0)

    def read(connection: Connection) -> dict[str, Any]:
        at = position_of(connection, parsed, located, sees_private=who.sees_private) if located else start
        part = read_slice(connection, parsed, at, sees_private=who.sees_private)
        query = PhotoQuery(parsed.node, parsed.album, who.sees_private, parsed.today)
        total = {"total": count_photos(connection, query)} if parsed.total else {}
        return {"from": at, **part.columns, "photos": part.photos, "next": str(part.next or ""), **total}

    return _answer(("sequence", parsed, start, located), parsed.today, read, "from")


def _cluster_parameters() -> list[dict[str, Any]]:
    further: Parameters = {
        "bbox": (TEXT, "west,south,east,north in degrees; the whole globe when left out."),
        "zoom": ({"type": "integer", "minimum": 0, "maximum": DEEPEST_ZOOM, "default": 0}, "The zoom of the map."),
        **_VERSION,
    }
    return overview_parameters(further)


@timeline.get("/photos/clusters")
@require("photos.clusters")
@takes_query(_cluster_parameters)
@answers(
    _CLUSTERS,
    "Latitude, longitude, photos, hash, place and turn of each, the largest first.",
    headers=ETAG,
    refuses=(404, 409),
)
def cluster_photos() -> Response:
    """Group the photos of a search inside `bbox` into at most 200 clusters by a grid that `zoom` divides.

    `cell` is the side of each square of that grid in degrees, counted from 180 degrees west and 90 south: a cluster
    has all photos in one square. Its position is the mean of their positions; hash, place and turn are those of the
    photo that was added last. `turn` is the Exif orientation that a person gave it, 1 if none.
    """
    query, box = _query(), parse_box(request.args.get("bbox", ""))
    zoom = parse_number(request.args.get("zoom", ""), "zoom", 0, DEEPEST_ZOOM, 0)

    def read(connection: Connection) -> dict[str, Any]:
        grid = find_clusters(connection, query, box, zoom)
        clusters = [
            (cluster.lat, cluster.lng, cluster.count, cluster.hash, cluster.place, cluster.turn)
            for cluster in grid.clusters
        ]
        return {"cell": grid.side, "clusters": clusters}

    return _answer(("clusters", box, zoom, query), query.today, read, "bbox")
