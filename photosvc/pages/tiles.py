"""The grid of a search: its query with the filters as chips, its results as tiles, and data for its scripts."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode

from flask import url_for
from sqlalchemy import Connection
from werkzeug.datastructures import MultiDict

from photosvc.auth.policy import may
from photosvc.auth.principal import Principal
from photosvc.auth.tokens import preview_token
from photosvc.core.errors import InvalidValueError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.core.vocabulary import UNKNOWN, UNKNOWN_PLACE
from photosvc.pages.language import N_, _, date_text
from photosvc.pictures.sizes import NAMED, Area, thumbnail_size
from photosvc.query.lexer import TokenKind, close_quote, quote
from photosvc.query.parser import read_tokens, split_order, understand
from photosvc.records.fields import MOST_LISTED
from photosvc.search.reading.files import turns_of
from photosvc.search.reading.pages import find
from photosvc.search.reading.request import SearchRequest, best_order
from photosvc.search.reading.selection import MOST_SELECTED
from photosvc.web.current import current_service

DEFAULT_ORDER: Final = "newest"
BEST_ORDER: Final = "relevance"
#: The pages of photos that have a name, by their endpoints, with the condition of each.
SHELVES: Final = {
    "favorites": "favorite:true", "archive": "archived:true", "review": "review:true", "folders": "path:/",
}  # fmt: skip
#: The sizes of covers in lists.
COVERS: Final = ("tile_224", "tile_500")
_MOST: Final = 20
Record = Mapping[str, Any]
#: Style classes have no decimals: shapes are rounded to the twentieth, within what a row can show.
_STEP: Final = 5
_NARROWEST, _WIDEST = 40, 300
_SHOWN: Final = tuple(NAMED[name] for name in ("fit_360", "fit_720"))
#: Heights of rows in the style sheet, in pixels, and the factor by which a row may grow until it is full.
_ROW, _PHONE_ROW, _GROWTH = 220, 128, 1.3
_VIDEO, _LIVE, _ANIMATED = "video", "live", "animated"
_BADGES: Final = {_LIVE: N_("Live"), _ANIMATED: "GIF", "raw": "RAW"}
#: The names that the scripts have for rights, with the actions that each needs.
_RIGHTS: Final = {
    "update": ("photos.update",), "albums": ("albums.update", "albums.create"), "download": ("photos.download",),
    "upload": ("files.upload",), "delete": ("photos.delete",), "untrash": ("trash.restore",),
}  # fmt: skip
_TIMELINE: Final = "/photos/timeline"
_UNKNOWN: Final = frozenset({"", UNKNOWN, UNKNOWN_PLACE})


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and an order, within all photos or one album."""

    query: str
    order: str
    """Empty: the order in the query, else `usual`."""
    seed: str
    album: str = ""
    """The UID of the album that is searched; empty: all photos."""
    usual: str = DEFAULT_ORDER
    """The order when nothing names one."""
    shelf: str = ""
    """The named page on which it is asked, one of `SHELVES`; empty: none."""
    folder: str = ""
    """The path of the folder whose album is searched; empty: none."""

    @property
    def whole(self) -> str:
        """Return the query with the condition of the named page."""
        return with_condition(self.query, SHELVES[self.shelf]) if self.shelf else self.query

    def pairs(self, **more: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        """Return the parameters of the search by their names in the API."""
        order = self.order or ("" if "order:" in self.query.lower() else self.usual)
        given = {"q": self.whole, "s": self.album, "order": order, "seed": self.seed, "merged": "true", **more}
        return tuple((name, str(value)) for name, value in given.items())

    def link(self, **changes: object) -> str:
        """Return the address of this search with another query or order."""
        asked = {"q": self.query, "order": self.order, "seed": self.seed}
        asked |= {name: str(value) for name, value in changes.items()}
        if "q" in changes or "order" in changes:
            asked["seed"] = ""
        if asked["order"] == self.usual:
            asked["order"] = ""
        return self.address + query_string(asked)

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
        """Return the search as query string of a photo's page, which leads to its place in the search."""
        # That page does not read the album, so it does not know the album's usual order.
        order = "" if self.order == self.usual and not self.album else self.order
        return query_string({"s": self.album, "in": self.shelf, "q": self.query, "order": order, "seed": self.seed})


def usual_order(query: str) -> str:
    """Return the order of all photos that match a query when nothing names one: for words alone the best match."""
    with suppress(InvalidValueError):
        return BEST_ORDER if best_order(query, current_service().today()) == BEST_ORDER else DEFAULT_ORDER
    return DEFAULT_ORDER


def read_asked(given: MultiDict[str, str]) -> Asked:
    """Read the search from the parameters of a photo's page; an invalid album counts as none."""
    query, order, seed, album, shelf = (given.get(name, "").strip() for name in ("q", "order", "seed", "s", "in"))
    query, album = close_quote(query), album if is_uid(album, ALBUM) else ""
    shelf = shelf if shelf in SHELVES and not album else ""
    return Asked(query, order, seed, album, DEFAULT_ORDER if album or shelf else usual_order(query), shelf)


def narrowed(query: str) -> str:
    """Return a query without its order, in parentheses if needed, so that a condition can be appended.

    A query that is not valid may be returned as it is: parsing it tells what is wrong.
    """
    with suppress(InvalidValueError):
        query = split_order(query)[0].strip()
    # A word such as `or` or `not` at the end would be an operator in front of the condition.
    *own, _ = read_tokens(f"{query} is:video")
    bound = any(one.kind is TokenKind.EITHER for one in own) or any(one.kind is TokenKind.NEGATE for one in own[-1:])
    return f"({query})" if bound else query


def with_condition(query: str, condition: str) -> str:
    """Return a query for those of its photos that also fulfil a condition, in its order."""
    order = ""
    with suppress(InvalidValueError):
        order = split_order(query)[1]
    return " ".join(filter(None, (narrowed(query), condition, order and f"order:{order}")))


def with_value(name: str, value: str) -> str:
    """Return the query for photos of which a filter has this value; empty for an unknown value."""
    return "" if value in _UNKNOWN else f"{name}:{quote(value, always=True)}"


def query_string(pairs: Mapping[str, object]) -> str:
    """Return these parameters, except empty ones, as a query string with its question mark; empty without any."""
    text = urlencode({name: str(value) for name, value in pairs.items() if value})
    return f"?{text}" if text else ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter of the query, or words that mean one."""

    name: str
    """The name of the filter, or the words."""
    value: str
    """The value of the filter, or the query that the words mean."""
    negated: bool
    rest: str
    """The query without this filter, or with these words in quotes, where they mean only themselves."""
    spoken: bool = False
    """True for words."""


def chips_of(query: str) -> list[Chip]:
    """Return the filters of a valid query outside of groups and alternatives, and words that mean some, in order."""
    found, depth = list[Chip](), 0
    known = read_tokens(query)
    meanings = {one.start: one for one in understand(query, current_service().today())}
    if any(token.kind is TokenKind.EITHER for token in known):
        return []
    for before, token in zip([None, *known], known, strict=False):
        depth += (token.kind is TokenKind.OPEN) - (token.kind is TokenKind.CLOSE)
        if depth or len(found) == _MOST:
            continue
        sign = before if before and before.kind is TokenKind.NEGATE else None
        if meant := meanings.get(token.start):
            words = query[meant.start : meant.end]
            rest = f"{query[: meant.start]}{quote(words, always=True)}{query[meant.end :]}"
            found.append(Chip(words, meant.meaning.text, sign is not None, rest, True))
        elif token.kind is TokenKind.FILTER:
            start = sign.start if sign else token.start
            rest = f"{query[:start].rstrip()} {query[token.end :].lstrip()}".strip()
            found.append(Chip(token.key, token.text[len(token.key) + 1 :], sign is not None, rest))
    return found


class Thumbnails:
    """The addresses of thumbnails that a principal may see."""

    def __init__(self, who: Principal, turns: Mapping[str, int], *, waits: bool = False) -> None:
        """Prepare them, with the result of `turns_of`; `waits` for visitors, who may have no script that asks again."""
        token = preview_token(current_service().settings, who)
        quiet = "waits" if waits else 1
        address = url_for("photosvc.thumbnails.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=quiet)
        before, _, behind = address.partition("HASH")
        self._parts = before, *behind.split("SIZE", 1)
        self._turns = turns

    def address(self, content_hash: str, size: str, area: Area | None = None) -> str:
        """Return the address of a thumbnail, or of an area of it: browsers keep it, so it differs with the turn."""
        before, between, behind = self._parts
        turn = f"{'&' if '?' in behind else '?'}turn={self._turns[content_hash]}" if content_hash in self._turns else ""
        part = "" if area is None else f"-{area}"
        return f"{before}{content_hash}{part}{between}{size}{behind}{turn}"

    def cover(self, content_hash: str, area: Area | None = None) -> tuple[str, str]:
        """Return the address of a square cover, and those of all its sizes as a `srcset`; empty without a hash."""
        covers = {size: self.address(content_hash, size, area) for size in COVERS} if content_hash else {}
        return next(iter(covers.values()), ""), cover_sizes(covers)


def cover_sizes(covers: Mapping[str, str]) -> str:
    """Return the `srcset` of a cover from its addresses by size."""
    return ", ".join(f"{address} {size.removeprefix('tile_')}w" for size, address in covers.items())


@dataclass(frozen=True, slots=True)
class Tile:
    """A photo in a grid that the server makes: of a shared album, or of an album to arrange."""

    uid: str
    alt: str
    shape: int
    """Width by height in hundredths, rounded: a style class."""
    color: str
    """The digit of its main colour: a style class."""
    src: str
    srcset: str
    sizes: str
    width: int
    height: int
    badge: str
    """Its kind unless it is a plain picture; for a video its length."""
    playable: bool


def records_of(
    connection: Connection, asked: SearchRequest, *, sees_private: bool
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the results of a search, and the turns of their files for `Thumbnails`."""
    found = find(connection, asked, sees_private=sees_private)
    records = [record for records in found.results() for record in records]
    return records, turns_of(connection, {record["Hash"] for record in records})


def month_label(year: int, month: int) -> str:
    """Return a month in words: `May 2023`."""
    return date_text(date(year, month, 1), "month")


def taken_label(record: Record) -> str:
    """Return the date of a photo as far as it is known: `18 October 2026`, `May 1987`, `1987`; empty if it is not."""
    if iso := _day(record):
        return date_text(date.fromisoformat(iso))
    if record["Year"] <= 0:
        return ""
    return month_label(record["Year"], record["Month"]) if record["Month"] > 0 else str(record["Year"])


def title_of(record: Record) -> str:
    """Return the title of a photo; empty if it has none but the one that the index gives where it knows nothing."""
    title = record["Title"].strip()
    return "" if title == UNKNOWN and not record.get("TitleSrc") else str(title)


def alt_text(record: Record) -> str:
    """Return the alternative text of a picture."""
    if title := title_of(record):
        return title
    kind = _("Video") if record["Type"] == _VIDEO else _("Photo")
    return ", ".join(filter(None, (kind, taken_label(record), _place(record))))


def duration_text(nanoseconds: int) -> str:
    """Return a playing time: `0:42`, `1:02:03`."""
    minutes, seconds = divmod(round(nanoseconds / 10**9), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def tile_of(record: Record, thumbs: Thumbnails) -> Tile:
    """Return the tile of a search result."""
    width, height = record["Width"], record["Height"]
    ratio = width / height if width > 0 and height > 0 else 1.0
    shape = min(max(round(ratio * 100 / _STEP) * _STEP, _NARROWEST), _WIDEST)
    kind, content_hash = record["Type"], record["Hash"]
    whole = (max(width, 1), max(height, 1))
    sources: list[str] = []
    for size in _SHOWN:
        shown = f"{thumbs.address(content_hash, size.name)} {thumbnail_size(whole, size)[0]}w"
        if not sources or not sources[-1].endswith(shown.rpartition(" ")[2]):
            sources.append(shown)
    phone, desk = (round(shape / 100 * row * _GROWTH) for row in (_PHONE_ROW, _ROW))
    playing = duration_text(record.get("Duration", 0)) if kind == _VIDEO else ""
    return Tile(
        uid=record["UID"],
        alt=alt_text(record),
        shape=shape,
        color=f"{record['Color']:x}" if 0 <= record["Color"] <= 0xF else "1",
        src=thumbs.address(content_hash, _SHOWN[0].name),
        srcset=", ".join(sources),
        sizes=f"(max-width: 699px) {phone}px, {desk}px",
        width=width,
        height=height,
        badge=playing or _(_BADGES.get(kind, "")),
        playable=kind in {_VIDEO, _LIVE},
    )


def _day(record: Record) -> str:
    """Return the local date on which it was taken; empty when that is not known to the day."""
    known = record["Year"] > 0 and record["Month"] > 0 and record["Day"] > 0
    return f"{record['Year']:04}-{record['Month']:02}-{record['Day']:02}" if known else ""


def _place(record: Record) -> str:
    city = str(record["PlaceCity"])
    return "" if city in {"", UNKNOWN_PLACE, UNKNOWN} else city


def grid_data(who: Principal, search: Asked, *, of_album: Collection[str] = ()) -> dict[str, str]:
    """Return the data attributes of the grid for its scripts.

    `of_album` are further rights of principals that may change albums.
    """
    settings = current_service().settings
    token = preview_token(settings, who)
    in_archive = "archived:true" in search.whole.lower().split()
    rights = [name for name, actions in _RIGHTS.items() if all(may(who, action) for action in actions)]
    if may(who, "albums.update"):
        rights += of_album
    # Without a trash and the right to restore from it, somebody has to archive a photo before it can be deleted.
    comes_back = settings.delete_originals and "untrash" in rights
    if not (in_archive or comes_back) or (settings.delete_originals and settings.readonly):
        rights = [name for name in rights if name != "delete"]
    return {
        "api": url_for("photosvc.timeline.timeline").removesuffix(_TIMELINE),
        "thumbs": url_for("photosvc.thumbnails.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=1),
        "videos": url_for("photosvc.videos.video", content_hash="HASH", token=token, video_format="avc"),
        "photo": url_for(".photo", uid="UID") + search.where,
        "photos": url_for(".photos"),
        "places": url_for(".places"),
        "albumpage": url_for(".album", uid="UID"),
        "query": search.whole,
        "album": search.album,
        "order": search.order or search.usual,
        "seed": search.seed,
        "may": " ".join(rights),
        "archive": "1" if in_archive else "",
        "review": "1" if search.shelf == "review" else "",
        "deletes": "trash" if settings.delete_originals else "",
        "trashdays": str(settings.trash_days),
        "user": who.user_uid or "",
        "portion": str(MOST_LISTED),
        "mostphotos": str(MOST_SELECTED),
        "mostbytes": str(settings.max_file_size << 20),
    }
