"""The results of a search in the forms that picture viewers (GET /photos/view) and maps (GET /geo) read."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import orjson
from flask import Response, request, url_for

from photosvc.auth import link_tokens
from photosvc.pictures.sizes import SIZES, thumbnail_size
from photosvc.query.nodes import conjunction
from photosvc.query.parameters import parse_parameters
from photosvc.search.reading.guests import confine
from photosvc.search.reading.pages import Page
from photosvc.search.reading.request import MAX_COUNT, SearchRequest, parse_request
from photosvc.web.contract import ETAG, FLAG, NUMBER, TEXT, answers, for_visitors, json_object, takes_query
from photosvc.web.links import shown_tokens
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.searching import PAGE_HEADERS, answer_page, search_parameters
from photosvc.web.service import current_service

viewer = OwnBlueprint("viewer", __name__)

Record: TypeAlias = dict[str, Any]
#: The sizes of thumbnails in an answer for viewers.
_SHOWN: Final = tuple(SIZES[f"fit_{side}"] for side in (720, 1280, 1920, 2560, 4096, 7680))
#: Types that a viewer can play.
_PLAYABLE: Final = frozenset({"animated", "live", "video"})
#: The condition of every map: one file of each photo with a position.
_ON_MAP: Final = parse_parameters([("geo", "true"), ("primary", "true")])
_TIME: Final = {"type": "string", "format": "date-time"}
_THUMB: Final = json_object(w=NUMBER, h=NUMBER, src=TEXT)
_VIEW: Final = json_object(
    UID=TEXT, Type=TEXT, Title=TEXT, TakenAtLocal=_TIME, Description=TEXT, Caption=TEXT, Favorite=FLAG, Playable=FLAG,
    Hash=TEXT, Mime=TEXT, DownloadUrl=TEXT, Width=NUMBER, Height=NUMBER,
    Thumbs=json_object(**{size.name: _THUMB for size in _SHOWN}),
)  # fmt: skip
_POINT: Final = json_object(
    type={"const": "Point"}, coordinates={"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
)
_MARKED: Final = json_object(UID=TEXT, Hash=TEXT, Title=TEXT, Type=TEXT, TakenAt=_TIME, Favorite=FLAG)
_FEATURE: Final = json_object(type={"const": "Feature"}, id=TEXT, geometry=_POINT, properties=_MARKED)
_COLLECTION: Final = json_object(
    "type features",
    type={"const": "FeatureCollection"},
    features={"type": "array", "items": _FEATURE},
    bbox={"type": "array", "items": {"type": "number"}, "minItems": 4, "maxItems": 4},
)


@viewer.get("/photos/view")
@require("photos.search")
@takes_query(search_parameters)
@answers(_VIEW, "A page of results.", many=True, headers=PAGE_HEADERS, refuses=(404, 429))
@for_visitors
def search_for_viewer() -> Response:
    """Search: files with the addresses of their thumbnails and originals, a page at a time.

    The addresses contain tokens and begin with the path at which the service is mounted.
    """
    service, who = current_service(), principal()
    pairs = tuple(request.args.items(multi=True))
    parsed = confine(parse_request(pairs, service.today()), who, link_tokens.alias_key(service.settings, who))
    return _answer_for_viewer(parsed, "photos/view")


@viewer.get("/geo/view")
@require("places.view")
@takes_query(search_parameters)
@answers(_VIEW, "A page of results.", many=True, headers=PAGE_HEADERS, refuses=(404, 429))
def search_map_for_viewer() -> Response:
    """Search for photos with a position, in the form of `/photos/view`."""
    parsed = parse_request(tuple(request.args.items(multi=True)), current_service().today())
    return _answer_for_viewer(_on_map(parsed), "geo/view")


def _on_map(parsed: SearchRequest) -> SearchRequest:
    return replace(parsed, node=conjunction([parsed.node, _ON_MAP]), merged=False)


def _answer_for_viewer(parsed: SearchRequest, path: str) -> Response:
    links = _Links(url_for(".search_for_viewer").removesuffix("/photos/view"), *shown_tokens())
    return answer_page(parsed, path, pieces=lambda page: _array(page, links.view), cached=False)


@viewer.get("/geo")
@require("places.view")
@takes_query(search_parameters)
@answers(
    _COLLECTION,
    "A page of photos as a GeoJSON FeatureCollection (RFC 7946).",
    headers={**PAGE_HEADERS, **ETAG},
    refuses=(404, 429),
)
def search_for_map() -> Response:
    """Search for photos with a position: as many as a page can have, or `count`.

    `bbox` is west, south, east and north of the page's photos; it follows them and is absent without photos.
    """
    pairs = tuple(request.args.items(multi=True))
    # Of a repeated parameter the last value counts.
    parsed = parse_request((("count", str(MAX_COUNT)), *pairs), current_service().today())
    return answer_page(_on_map(parsed), "geo", pieces=_collection)


def _array(page: Page, convert: Callable[[Record], Record]) -> Iterator[str]:
    """Yield the converted results of a page as the pieces of a JSON array."""
    between = "["
    for results in page.results():
        # Without the brackets, because all pieces form one array.
        yield between + orjson.dumps([convert(result) for result in results])[1:-1].decode()
        between = ","
    yield "]" if between == "," else "[]"


class _Links(NamedTuple):
    """The parts of the addresses in an answer."""

    root: str
    """The path of the API."""
    preview_token: str
    """Empty, like `download_token`, if the credential may not use it."""
    download_token: str

    def view(self, result: Record) -> Record:
        """Return a search result in the form that viewers read."""
        content_hash, whole = result["Hash"], (result["Width"], result["Height"])
        thumbs = content_hash.encode().join(_thumbs(whole, self.root, self.preview_token))
        return {
            "UID": result["UID"],
            "Type": result["Type"],
            "Title": result["Title"],
            "TakenAtLocal": result["TakenAtLocal"],
            "Description": result["Description"],
            "Caption": result["Description"],
            "Favorite": result["Favorite"],
            "Playable": result["Type"] in _PLAYABLE,
            "Hash": content_hash,
            "Mime": result.get("Mime", ""),  # absent from rows that an earlier version wrote
            "DownloadUrl": f"{self.root}/dl/{content_hash}?t={self.download_token}" if self.download_token else "",
            "Width": result["Width"],
            "Height": result["Height"],
            "Thumbs": orjson.Fragment(thumbs),
        }


@lru_cache(maxsize=64)
def _thumbs(whole: tuple[int, int], root: str, token: str) -> list[bytes]:
    """Return the thumbnails of files of this width and height as JSON, split where the hash of a file goes.

    The result is cached: a library has few sizes of pictures, and an answer has thousands of files.
    """
    thumbs = {}
    for size in _SHOWN:
        width, height = thumbnail_size(whole, size) if all(whole) else (size.width, size.height)
        source = f"{root}/t/\0/{token}/{size.name}" if token else ""
        thumbs[size.name] = {"w": width, "h": height, "src": source}
    return orjson.dumps(thumbs).split(b"\\u0000")


def _collection(page: Page) -> Iterator[str]:
    """Yield the results of a page as the pieces of a FeatureCollection, then their bounding box (RFC 7946, 5)."""
    edges: list[float] = []

    def feature(result: Record) -> Record:
        nonlocal edges
        lng, lat = result["Lng"], result["Lat"]
        west, south, east, north = edges or [lng, lat, lng, lat]
        edges = [min(west, lng), min(south, lat), max(east, lng), max(north, lat)]
        return {
            "type": "Feature",
            "id": result["ID"],
            "geometry": {"type": "Point", "coordinates": [lng, lat]},
            "properties": {name: result[name] for name in _MARKED["required"]},
        }

    yield '{"type":"FeatureCollection","features":'
    yield from _array(page, feature)
    yield f',"bbox":{orjson.dumps(edges).decode()}}}' if edges else "}"
