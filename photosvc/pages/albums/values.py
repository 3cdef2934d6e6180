"""The values of an album as its forms have them, and what is wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from photosvc.core.errors import PhotosvcError
from photosvc.core.ids import digest
from photosvc.models import Album
from photosvc.pages.forms import read_form
from photosvc.pages.photos.listing import ORDERS
from photosvc.records.album import AlbumEditSchema
from photosvc.search.reading.orders import MANUAL
from photosvc.search.reading.overview.albums import AlbumRecord
from photosvc.web.requests.json_body import load_values

#: Characters of a field: more than any may have, so that what is too long is told. Bytes of a form.
_LONGEST: Final = 5000
_MOST: Final = 128 * 1024
_TEXTS: Final = ("Title", "Description", "Filter", "Order")
#: Others stay as they are when a form lacks them.
_MAY_BE_EMPTY: Final = frozenset({"Title", "Description", "Favorite", "Private"})
_FLAGS: Final = ("Favorite", "Private")
_DIGITS: Final = 20
_ON: Final = "yes"
#: What is called otherwise here than in the API.
_MESSAGES: Final = {
    "Longer than maximum length 200.": "At most 200 characters.",
    "Longer than maximum length 4096.": "At most 4,096 characters.",
    "an album needs a title": "An album needs a title.",
}

_schema: Final = AlbumEditSchema()


@dataclass(frozen=True, slots=True)
class AlbumForm:
    """The values of a form, by the names that the API has for them."""

    values: Mapping[str, Any]
    errors: Mapping[str, str] = field(default_factory=dict)
    """Messages by the field they are about; `""`: about none."""
    status: int = 200


def read_album_form() -> dict[str, str]:
    """The form of the request."""
    return read_form(longest=_LONGEST, most=_MOST)


def given_values(form: Mapping[str, str]) -> dict[str, Any]:
    """The values of a form that has a field for each of them."""
    texts = {name: form.get(name, "").replace("\r\n", "\n") for name in _TEXTS}
    return texts | {name: form.get(name) == _ON for name in _FLAGS}


def values_of(album: AlbumRecord | Album) -> dict[str, Any]:
    """The values of an album by the names that the API has for them."""
    return {name: getattr(album, name.lower()) for name in (*_TEXTS, *_FLAGS)}


def load(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as columns.

    Raises:
        InvalidBodyError: one is not valid; says which.

    """
    return load_values(_schema, {name: value for name, value in values.items() if name in _MAY_BE_EMPTY or value})


def version_of(album: AlbumRecord | Album) -> str:
    """Changes as soon as somebody changes one of the values; not by photos that are added or removed."""
    return digest(orjson.dumps(list(values_of(album).values())).decode())[:_DIGITS]


def refused(values: Mapping[str, Any], error: PhotosvcError) -> AlbumForm:
    """The form with what is wrong beside its fields."""
    details = error.details or [{"field": error.field or "", "message": error.message}]
    errors = {}
    for detail in details:
        name = detail["field"] if detail["field"] in values else ""
        message = detail["message"].removeprefix(f"{name}: ")
        errors[name] = _MESSAGES.get(message, message)
    return AlbumForm(values, errors, error.status)


def order_choices(*, by_hand: bool) -> tuple[tuple[str, str], ...]:
    """The orders that an album may have, with their labels."""
    return ((MANUAL.name, "By hand"), *ORDERS) if by_hand else ORDERS
