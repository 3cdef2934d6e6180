"""Pages by `count` and `offset`: their parameters, and the headers that say which page an answer is."""

from dataclasses import dataclass

from flask import Response, request

from photosvc.search.reading.request import DEFAULT_COUNT, MAX_COUNT, parse_request
from photosvc.web.contract import Header, Headers
from photosvc.web.requests.parameters import Parameters


@dataclass(frozen=True, slots=True)
class PageOfList:
    """The part of a list that a request asks for."""

    count: int
    """The most entries."""
    offset: int
    """Entries before it."""

    def answer(self, answer: Response, found: int) -> Response:
        """The answer, with the headers of a page that has so many entries."""
        answer.headers.extend(page_numbers(found, self.count, self.offset))
        return answer


def page_parameters(entries: str, count: str = "") -> Parameters:
    """The parameters of a page.

    Args:
        entries: what the list contains, in the plural, such as `files`.
        count: what `count` limits; left out, the entries on a page.

    """
    limits = {"type": "integer", "minimum": 1, "maximum": MAX_COUNT, "default": DEFAULT_COUNT}
    name = entries.capitalize()
    return {
        "count": (limits, count or f"{name} on a page."),
        "offset": ({"type": "integer", "minimum": 0, "default": 0}, f"{name} to skip."),
    }


def page_headers(entries: str) -> Headers:
    """The headers of a page of these entries, as its contract has them."""
    name = entries.capitalize()
    return {
        "X-Count": Header("integer", f"{name} on this page."),
        "X-Limit": Header("integer", f"The most {entries} that a page can have."),
        "X-Offset": Header("integer", f"{name} before it."),
    }


def page_numbers(found: int, limit: int, offset: int) -> list[tuple[str, str]]:
    """The headers of a page: its entries, the most that it can have, and the entries before it."""
    return [("X-Count", str(found)), ("X-Limit", str(limit)), ("X-Offset", str(offset))]


def read_page() -> PageOfList:
    """The page that this request asks for.

    Raises:
        InvalidValueError: `count` or `offset` is not valid.

    """
    asked = parse_request({name: request.args.get(name, "") for name in ("count", "offset")})
    return PageOfList(asked.count, asked.offset)
