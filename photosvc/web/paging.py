"""Pages of lists: the part that the parameters `count` and `offset` ask for; headers tell which part it is.

Logs have pages by `count` and `before`, because entries are added while a client reads them.
"""

from dataclasses import dataclass
from typing import Final

from flask import Response, request

from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT, parse_number, parse_request
from photosvc.search.reading.timeline import DEFAULT_SHOWN, MOST_SHOWN
from photosvc.web.contract import Header, Parameters
from photosvc.web.contract import Headers as HeaderDocs
from photosvc.web.service import current_service

#: Entries of a log on a page: at most, and by default; and the highest number that an entry may have.
_MOST_OF_LOG: Final = 1000
_USUAL_OF_LOG: Final = 100
_LAST: Final = 10**10 - 1
#: The parameters of answers by position.
POSITIONS: Final[Parameters] = {
    "from": ({"type": "integer", "minimum": 0, "default": 0}, "The first position."),
    "n": (
        {"type": "integer", "minimum": 1, "maximum": MOST_SHOWN, "default": DEFAULT_SHOWN},
        "The number of positions.",
    ),
}


@dataclass(frozen=True, slots=True)
class PageOfList:
    """The part of a list that a request asks for."""

    count: int
    """The most entries on the page."""
    offset: int
    """Entries before the page."""

    def answer(self, answer: Response, entries: int) -> Response:
        """Return the answer with the headers of a page that has this number of entries."""
        answer.headers.extend(page_numbers(entries, self.count, self.offset))
        return answer


def page_parameters(entries: str, count: str = "") -> Parameters:
    """Return the parameters of a page.

    Args:
        entries: the name of the entries, in the plural, such as `files`.
        count: the meaning of the parameter `count`; by default, the entries on a page.
    """
    limits = {"type": "integer", "minimum": 1, "default": DEFAULT_COUNT}
    name = entries.capitalize()
    return {
        "count": (limits, f"{count or f'{name} on a page.'} A larger number counts as {MAX_COUNT:,}."),
        "offset": ({"type": "integer", "minimum": 0, "default": 0}, f"{name} to skip."),
    }


def page_headers(entries: str) -> HeaderDocs:
    """Return the headers of a page of these entries, for the contract of a view."""
    name = entries.capitalize()
    return {
        "X-Count": Header("integer", f"{name} on this page."),
        "X-Limit": Header("integer", f"The most {entries} that a page can have."),
        "X-Offset": Header("integer", f"{name} before it."),
    }


def page_numbers(entries: int, limit: int, offset: int) -> list[tuple[str, str]]:
    """Return the headers of a page: its number of entries, its limit, and the number of entries before it."""
    return [("X-Count", str(entries)), ("X-Limit", str(limit)), ("X-Offset", str(offset))]


def read_page() -> PageOfList:
    """Return the page that this request asks for, or raise `InvalidValueError`."""
    asked = parse_request({name: request.args.get(name, "") for name in ("count", "offset")}, current_service().today())
    return PageOfList(asked.count, asked.offset)


def log_parameters(entries: str, number: str) -> Parameters:
    """Return the parameters of a page of a log, whose entries have ascending numbers.

    Args:
        entries: the name of the entries, in the plural.
        number: the field with the number.
    """
    count = {"type": "integer", "minimum": 1, "maximum": _MOST_OF_LOG, "default": _USUAL_OF_LOG}
    before = f"Only {entries} with a lower `{number}`: that of the last one of the previous page."
    return {"count": (count, f"The most {entries} in the answer."), "before": ({"type": "integer"}, before)}


def read_page_of_log() -> tuple[int, int]:
    """Return the most entries that this request asks for, and the number below which theirs are."""
    count = parse_number(request.args.get("count", ""), "count", 1, _MOST_OF_LOG, _USUAL_OF_LOG)
    return count, parse_number(request.args.get("before", ""), "before", 1, _LAST, _LAST)
