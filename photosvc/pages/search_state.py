"""The search that a page shows: its query and order in addresses, its filters as chips, and further conditions."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import url_for
from werkzeug.datastructures import MultiDict

from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.core.vocabulary import UNKNOWN, UNKNOWN_PLACE
from photosvc.pages.filter_words import filter_words
from photosvc.pages.language import _
from photosvc.pages.messages import message_text
from photosvc.query.lexer import TokenKind, close_quote, quote
from photosvc.query.parser import read_tokens, split_order, understand
from photosvc.search.reading.request import best_order
from photosvc.web.service import current_service

DEFAULT_ORDER: Final = "newest"
BEST_ORDER: Final = "relevance"
#: The pages of photos that have a name, by their endpoints, with the condition of each.
SHELVES: Final = {
    "favorites": "favorite:true", "archive": "archived:true", "review": "review:true", "folders": "path:/",
}  # fmt: skip
#: The most chips of a search.
_MOST: Final = 20
_UNKNOWN: Final = frozenset({"", UNKNOWN, UNKNOWN_PLACE})


@dataclass(frozen=True, slots=True)
class SearchState:
    """A search as a page shows it: a query and an order, within all photos or one album."""

    query: str
    order: str
    """Empty: the order in the query, else `usual`."""
    seed: str
    album: str = ""
    """The UID of the album that is searched; empty: all photos."""
    usual: str = DEFAULT_ORDER
    """The order of a search that names none."""
    shelf: str = ""
    """The named page of the search, one of `SHELVES`; empty: none."""
    folder: str = ""
    """The path of the folder whose album is searched; empty: no folder."""

    @property
    def whole(self) -> str:
        """Return the query with the condition of the named page."""
        return with_condition(self.query, SHELVES[self.shelf]) if self.shelf else self.query

    def pairs(self, **more: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        """Return the parameters of the search by their names in the API."""
        order = self.order or ("" if "order:" in self.query.lower() else self.usual)
        pairs = {"q": self.whole, "s": self.album, "order": order, "seed": self.seed, "merged": "true", **more}
        return tuple((name, str(value)) for name, value in pairs.items())

    def link(self, **changes: object) -> str:
        """Return the address of this search with another query or order."""
        parameters = {"q": self.query, "order": self.order, "seed": self.seed}
        parameters |= {name: str(value) for name, value in changes.items()}
        if "q" in changes or "order" in changes:
            parameters["seed"] = ""
        if parameters["order"] == self.usual:
            parameters["order"] = ""
        return self.address + query_string(parameters)

    @property
    def address(self) -> str:
        """Return the address of its page without a query."""
        if self.folder:
            return url_for(".folder", folder=self.folder)
        return url_for(".album", uid=self.album) if self.album else url_for(f".{self.shelf or 'photos'}")

    @property
    def filters(self) -> str:
        """Return the address of the page with the filters that narrow it."""
        return url_for(".filters") + self.where

    @property
    def where(self) -> str:
        """Return the query string by which the page of a photo leads to its place in this search."""
        # That page does not read the album, so it does not know the album's usual order.
        order = "" if self.order == self.usual and not self.album else self.order
        return query_string({"s": self.album, "in": self.shelf, "q": self.query, "order": order, "seed": self.seed})


def usual_order(query: str) -> str:
    """Return the order of a search in all photos that names none: best match first for words, else newest first."""
    with suppress(InvalidValueError):
        return BEST_ORDER if best_order(query, current_service().today()) == BEST_ORDER else DEFAULT_ORDER
    return DEFAULT_ORDER


def asked_query(parameters: MultiDict[str, str]) -> str:
    """Return the query of the parameters of a page: the parts of a field with chips, one after the other."""
    return close_quote(" ".join(filter(None, (part.strip() for part in parameters.getlist("q")))))


def read_search(parameters: MultiDict[str, str]) -> SearchState:
    """Read the search from the parameters of a photo's page; an invalid album counts as none."""
    order, seed, album, shelf = (parameters.get(name, "").strip() for name in ("order", "seed", "s", "in"))
    query, album = asked_query(parameters), album if is_uid(album, ALBUM) else ""
    shelf = shelf if shelf in SHELVES and not album else ""
    return SearchState(query, order, seed, album, DEFAULT_ORDER if album or shelf else usual_order(query), shelf)


def narrowed(query: str) -> str:
    """Return a query without its order, in parentheses if needed, so that a condition can be appended.

    An invalid query may be returned unchanged: the parser reports its errors.
    """
    with suppress(InvalidValueError):
        query = split_order(query)[0].strip()
    # A word such as `or` or `not` at the end would be an operator in front of the condition.
    *own, _ = read_tokens(f"{query} is:video")
    has_alternatives = any(token.kind is TokenKind.EITHER for token in own)
    needs_group = has_alternatives or (bool(own) and own[-1].kind is TokenKind.NEGATE)
    return f"({query})" if needs_group else query


def with_condition(query: str, condition: str) -> str:
    """Return a query narrowed by a further condition; it keeps its order."""
    order = ""
    with suppress(InvalidValueError):
        order = split_order(query)[1]
    return " ".join(filter(None, (narrowed(query), condition, order and f"order:{order}")))


def with_value(name: str, value: str) -> str:
    """Return the query of a filter with this value; empty if the value means unknown."""
    return "" if value in _UNKNOWN else f"{name}:{quote(value, always=True)}"


def query_string(pairs: Mapping[str, object]) -> str:
    """Return a query string with its question mark. Empty values are left out; without others it is empty."""
    text = urlencode({name: str(value) for name, value in pairs.items() if value})
    return f"?{text}" if text else ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter of the query, or words that mean one, in plain words."""

    label: str
    part: str
    """Its text in the query."""
    rest: str
    """The query without this filter; for words, the query with the words in quotes, so that they mean no filter."""
    meaning: str = ""
    """The meaning of words; empty for a filter."""


def chips_of(query: str) -> list[Chip]:
    """Return the filters of a valid query, and words that mean filters, in order; none of groups or alternatives."""
    return read_chips(query)[0]


def read_chips(query: str) -> tuple[list[Chip], str]:
    """Return the chips of a valid query as `chips_of` does, and what is left of the query beside them."""
    chips, depth, left, passed = list[Chip](), 0, list[str](), 0
    tokens = read_tokens(query)
    meanings = {meaning.start: meaning for meaning in understand(query, current_service().today())}
    if any(token.kind is TokenKind.EITHER for token in tokens):
        return [], query
    for before, token in zip([None, *tokens], tokens, strict=False):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        meant = meanings.get(token.start)
        if depth or len(chips) == _MOST or not (meant or token.kind is TokenKind.FILTER):
            continue
        sign = before if before and before.kind is TokenKind.NEGATE else None
        start, end = sign.start if sign else token.start, meant.end if meant else token.end
        words = query[token.start : end]
        if meant:
            label, rest = words, f"{query[: meant.start]}{quote(words, always=True)}{query[meant.end :]}"
        else:
            label = filter_words(token.key, token.text[len(token.key) + 1 :])
            rest = f"{query[:start].rstrip()} {query[end:].lstrip()}".strip()
        label = _("not %(filter)s", filter=label) if sign else label
        chips.append(Chip(label, query[start:end], rest, message_text(meant.meaning.text) if meant else ""))
        left.append(query[passed:start].strip())
        passed = end
    return chips, " ".join(filter(None, (*left, query[passed:].strip())))
