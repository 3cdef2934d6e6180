"""Towns by name and by position, GET /places/named, for people who say where a photo was taken."""

from typing import Any, Final

from flask import Response, request

from photosvc.core.errors import InvalidValueError
from photosvc.index.gazetteer import Gazetteer
from photosvc.query.areas import read_latitude, read_longitude
from photosvc.web.contract import TEXT, answers, describe, json_object, takes_query
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import require
from photosvc.web.responses import cached_answer

places = OwnBlueprint("places", __name__)

_MOST: Final = 8
_MOST_NEAR: Final = 8
_LONGEST: Final = 100
_DEGREES: Final = {"type": "number"}
_TOWN: Final = json_object(name=TEXT, label=TEXT, lat=_DEGREES, lng=_DEGREES)


def _parameters() -> list[dict[str, Any]]:
    return describe(
        {
            "q": (
                {"type": "string", "maxLength": _LONGEST},
                "The beginning of a name, in any language; behind a comma its state or country.",
            ),
            "near": (TEXT, f"Latitude and longitude instead: the {_MOST_NEAR} nearest towns, the nearest first."),
        }
    )


@places.get("/places/named")
@require("photos.clusters")
@takes_query(_parameters)
@answers({"type": "array", "items": _TOWN, "maxItems": _MOST}, "The towns, the largest first.")
def find_places() -> Response:
    """Find towns by their name or near a position, with the label that a photo there gets.

    They are those of the gazetteer of the service, whether photos were taken there or not.
    """
    gazetteer, text, near = Gazetteer.load(), request.args.get("q", ""), request.args.get("near", "")
    if len(text) > _LONGEST:
        raise InvalidValueError(f"q: at most {_LONGEST} characters", field="q")
    towns = gazetteer.near(*_position(near), _MOST_NEAR) if near else gazetteer.named(text, _MOST)
    return cached_answer(
        [{"name": town.place.city, "label": town.place.label, "lat": town.lat, "lng": town.lng} for town in towns], None
    )


def _position(text: str) -> tuple[float, float]:
    try:
        lat, lng = text.split(",")
        return read_latitude(lat.strip()), read_longitude(lng.strip())
    except ValueError:
        msg = "near must be latitude,longitude in degrees, such as 47.56903,9.37510"
        raise InvalidValueError(msg, field="near") from None
