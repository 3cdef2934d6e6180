"""The values of filters in plain words: `July 2023`, `Anna`, `Germany`, `★★★★`."""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from typing import Final

from photosvc.core.ids import PHOTO, is_uid
from photosvc.pages.language import N_, _, country_label, date_text, month_names
from photosvc.pages.wording import COLOR_LABELS, TYPES
from photosvc.query.filters import NAMES
from photosvc.query.values import MONTHS

STARS: Final = {str(stars): "★" * stars for stars in range(1, 6)} | {"0": N_("Not rated"), "-1": N_("Rejected")}
#: What a filter without a value of its own means when it is true.
_TRUE: Final = {
    "favorite": N_("Favorites"), "private": N_("Private"), "archived": N_("Archived"), "review": N_("In review"),
    "video": N_("Videos"), "live": N_("Live photos"), "raw": N_("RAW"), "geo": N_("On the map"),
    "panorama": N_("Panoramas"), "scan": N_("Scanned"), "hidden": N_("Low quality"), "unsorted": N_("In no album"),
}  # fmt: skip
#: Filters whose value alone says what is meant.
_PLAIN: Final = frozenset(
    {"subject", "subjects", "city", "state", "place", "album", "albums", "label", "keywords", "camera", "lens", "year"}
)
_ESCAPED: Final = re.compile(r'\\([\\"|&*!-])|"')
_DATE: Final = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", re.ASCII)


def filter_words(key: str, value: str) -> str:
    """Return a filter of a query in words; those that have none as name and value."""
    spec = NAMES.get(key.lower())
    name = spec.name if spec is not None else key
    plain = _ESCAPED.sub(lambda mark: mark[1] or "", value)
    if name in _PLAIN:
        return plain
    words = _WORDS[name](plain) if name in _WORDS else ""
    if not words and plain.lower() in {"true", "yes", "1"}:
        words = _(_TRUE.get(name, ""))
    return words or f"{name} {plain}"


def _date(text: str) -> str:
    first, dots, last = text.partition("..")
    if dots:
        return " – ".join(filter(None, (_date(first), _date(last))))
    known = _DATE.fullmatch(text)
    with suppress(ValueError):
        if known and known[3]:
            return date_text(date.fromisoformat(text))
        if known and known[2]:
            return date_text(date(int(known[1]), int(known[2]), 1), "month")
    return text if known else ""


def _month(text: str) -> str:
    numbers = {name: int(number) for name, number in MONTHS.items()}
    number = numbers.get(text.lower(), int(text) if text.isascii() and text.isdigit() and len(text) < 3 else 0)
    return month_names().get(number, "")


def _stars(text: str) -> str:
    least, _sign, most = text.partition("-")
    if least in STARS and most in {"", "5"} and _sign and least > "0":
        return _("%(stars)s and more", stars=STARS[least]) if least < "5" else STARS[least]
    return _(STARS.get(text, ""))


def _of(table: Mapping[str, str]) -> Callable[[str], str]:
    return lambda text: _(table.get(text.lower(), ""))


def _near(text: str) -> str:
    return _("Near a photo") if is_uid(text, PHOTO) else _("Near %(place)s", place=text)


def _framed(frame: str) -> Callable[[str], str]:
    return lambda text: _(frame, day=_date(text)) if _date(text) else ""


_WORDS: Final[Mapping[str, Callable[[str], str]]] = {
    "taken": _date, "month": _month, "rating": _stars, "type": _of(TYPES), "color": _of(COLOR_LABELS), "is": _of(_TRUE),
    "country": lambda code: country_label(code.lower()) if len(code) == 2 else code,
    "near": _near,
    "similar": lambda _text: _("Like a photo"),
    "uid": lambda _text: _("Chosen photos"),
    "after": _framed(N_("since %(day)s")),
    "before": _framed(N_("until %(day)s")),
}  # fmt: skip
