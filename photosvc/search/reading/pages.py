"""Pages of results, made from the ids of files and their stored JSON texts; and the neighbours of a photo.

A merged page is a window of files too. A photo appears once, in the window that contains its first file, with all of
its matching files, also those after the end of the window. Files at the start of a window whose photo was on the
previous page are counted but not repeated. So each photo comes once and complete, and `X-Count` counts files.
"""

from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import chain, groupby, pairwise, repeat
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import orjson
from sqlalchemy import Connection, select

from photosvc.core.errors import PhotosvcError
from photosvc.core.ids import PHOTO, alias
from photosvc.models import FileKey, SearchDocument, SearchRow
from photosvc.models.statements import run_text
from photosvc.query.nodes import Everything, terms
from photosvc.records.public_photos import public_file, public_head, row_ids_of
from photosvc.search.reading.library import page_key, plan_key
from photosvc.search.reading.plan import Plan
from photosvc.search.reading.request import UNINDEXED_ORDERS, Cursor, SearchRequest
from photosvc.search.reading.resolve import MOST_TERMS_KEPT
from photosvc.search.reading.window import KeyedFile, Search, photo_of, prepare

_TABLE = SearchDocument.__tablename__
Value = TypeVar("Value")
#: One parameter for any number of files, so that the text of the statement stays the same.
_BY_IDS = {"sqlite": "file_id IN (SELECT value FROM json_each(?))", "postgresql": "file_id = ANY(%s)"}
#: The text after the head in the result of one file, and in a merged result up to its files.
_SINGLE, _MERGED = ',"Merged":false,"Files":[]}', ',"Merged":true,"Files":['
#: Results of the largest answer that is read as a whole.
CHUNK = 1000
#: Results of a piece of a larger answer: few enough to take little memory, and little time from other requests of the
#: same process.
PIECE = 200
#: The most files of known windows, which are 6 MB, and the number that stands for the size of a window without files.
_MOST_FILES, _OF_EACH = 500_000, 100
#: The most known plans: each takes some KB, or 140 KB with the photos of a pattern in a million files.
_MOST_PLANS = 128


class LibraryChangedError(PhotosvcError):
    """The library changed while this was read; try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def result_heads(connection: Connection, file_ids: Sequence[int]) -> list[str]:
    """Return the heads of the photo search results of these files, in their order.

    Raises:
        LibraryChangedError: a file was removed meanwhile.
    """
    return _read(connection, "result_head", file_ids)


def file_documents(connection: Connection, file_ids: Sequence[int]) -> list[str]:
    """Return the file records of these files, in their order.

    Raises:
        LibraryChangedError: a file was removed meanwhile.
    """
    return _read(connection, "file", file_ids)


def _read(connection: Connection, column: str, file_ids: Sequence[int]) -> list[str]:
    dialect = connection.dialect.name
    query = f"SELECT file_id, {column} FROM {_TABLE} WHERE {_BY_IDS[dialect]}"  # noqa: S608 - names of this module
    ids = orjson.dumps(file_ids).decode() if dialect == "sqlite" else list(file_ids)
    texts: dict[int, str] = dict(run_text(connection, query, (ids,)))  # type: ignore[arg-type]
    try:
        return [texts[file_id] for file_id in file_ids]
    except KeyError:
        raise LibraryChangedError from None


def join_results(heads: Sequence[str]) -> str:
    """Join the results of single files by commas."""
    if not heads:
        return ""
    *others, last = heads
    return f"{_SINGLE},".join((*others, last + _SINGLE))  # one copy of the text, which may have megabytes


def merge_result(head: str, files: Sequence[str]) -> str:
    """Return the result of a photo with the records of its files."""
    return f"{head}{_MERGED}{','.join(files)}]}}"


class Neighbours(NamedTuple):
    """The UIDs of the two photos beside a photo; None at an end of the search."""

    before: str | None
    behind: str | None


def neighbours(
    connection: Connection, request: SearchRequest, photo_id: int, *, sees_private: bool
) -> Neighbours | None:
    """Return the photos beside this photo in a merged search, on any page; None if the search does not find it."""
    request = replace(request, offset=0, cursor=None, count=1)
    search = prepare(connection, request, sees_private=sees_private)
    own = search.places_of(photo_id)
    if not own:
        return None
    turned = prepare(connection, replace(request, order=search.request.order.reversed()), sees_private=sees_private)
    before, behind = _behind(turned, own[0]), _behind(search, own[-1])
    beside = [photo_id for photo_id in (before, behind) if photo_id is not None]
    key = request.alias_key
    uids = {photo_id: alias(PHOTO, photo_id, key) for photo_id in beside} if key else uids_of(connection, beside)
    return Neighbours(*(None if photo_id is None else uids.get(photo_id) for photo_id in (before, behind)))


def _behind(search: Search, place: KeyedFile) -> int | None:
    """Return the photo of the next file in the order of a search; None at its end."""
    order = search.request.order
    cursor = Cursor(order.name, search.request.seed, 0, tuple(place[1:]))
    files = replace(search, request=replace(search.request, cursor=cursor, ordered=True)).window(0, 1)
    return next(map(photo_of, files), None)


def uids_of(connection: Connection, photo_ids: Sequence[int]) -> dict[int, str]:
    """Return the UIDs of photos in searches by their ids."""
    query = select(SearchRow.photo_id, SearchRow.photo_uid).where(SearchRow.photo_id.in_(photo_ids)).distinct()
    return {row.photo_id: row.photo_uid for row in connection.execute(query)}


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the body of the answer and the values of its headers."""

    pieces: Iterable[str]
    """A JSON array of photo search results in pieces; pieces after the first are read when they are sent."""
    count: int
    limit: int
    offset: int
    next: Cursor | None
    """The start of the next page; None when this one was not full."""
    total: int | None = None
    """The number of files that match, if the request wants it counted."""
    hint: str = ""
    """The header of an empty page with queries that find photos."""

    @property
    def is_whole(self) -> bool:
        """Return whether the body is one piece that has been read."""
        return isinstance(self.pieces, tuple)

    @property
    def body(self) -> str:
        """Return the whole body."""
        return "".join(self.pieces)

    def results(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the results as records, one piece at a time; this reads the pieces."""
        for piece in self.pieces:
            if records := piece.strip("[,]"):  # a record itself begins and ends with a brace
                yield orjson.loads(f"[{records}]")


class Groups:
    """The ids of the files of each result, beginning with the file that represents it.

    They are in arrays of machine integers, because an answer may have 100,000 results.
    """

    def __init__(self) -> None:
        self._files, self._ends = array("q"), array("q", [0])

    def add(self, files: Iterable[int]) -> None:
        """Append a result with these files."""
        self._files.extend(files)
        self._ends.append(len(self._files))

    def add_single(self, files: Sequence[int]) -> None:
        """Append a result for each of these files."""
        self._ends.extend(range(len(self._files) + 1, len(self._files) + len(files) + 1))
        self._files.extend(files)

    def part(self, start: int, stop: int) -> list[list[int]]:
        """Return the results from `start` up to but not including `stop`, or to the end."""
        ends = self._ends[start : stop + 1].tolist()
        return [self._files[begin:end].tolist() for begin, end in pairwise(ends)]

    def __len__(self) -> int:
        return len(self._ends) - 1


class _Window(NamedTuple):
    """The results of a window of files, without the rows of the files."""

    groups: Groups
    files: int
    next: Cursor | None
    """The start of the next page; None when the window is not full."""


def _single_files(search: Search) -> _Window:
    """Return one result for each file of the request's window."""
    groups, last = Groups(), None
    for files in search.parts_of_window(search.request.start, search.request.count):
        if files:
            groups.add_single([row[0] for row in files])
            last = files[-1]
    return _window(search, groups, len(groups), last)


def _window(search: Search, groups: Groups, count: int, last: KeyedFile | None) -> _Window:
    request = search.request
    # A cursor contains the sort keys of a file, among them the time in UTC, which together with the local time tells
    # the time zone.
    has_next = count == request.count and not request.without_metadata
    return _Window(groups, count, search.cursor_behind(last, request.offset + count) if last and has_next else None)


def _merged_window(search: Search) -> _Window:
    """Return the photos that the page of the request's window shows."""
    request = search.request
    groups, count, last = Groups(), 0, None
    peek = request.cursor is None and request.offset > 0
    rows = search.window(request.start - peek, request.count + peek)
    before = next(map(photo_of, rows), None) if peek else None
    if request.cursor:
        before = FileKey.unpack_photo_id(int(request.cursor.values[-1]))
    for photo_id, files in groupby(rows, key=photo_of):
        group = []
        for last in files:
            group.append(last[0])
        count += len(group)
        if photo_id != before:
            if count == request.count:  # the last photo may have further files after the end of the window
                group = _whole(search, photo_id)
            # The primary file represents the photo in a reversed order, too.
            groups.add(reversed(group) if request.order.is_reversed else group)
    return _window(search, groups, count, last)


def _whole(search: Search, photo_id: int) -> list[int]:
    files = [place[0] for place in search.places_of(photo_id)]
    if not files:
        raise LibraryChangedError
    return files


def find(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Page:
    """Return the page that this request asks for."""
    search = prepare(connection, request, sees_private=sees_private)
    total = search.total() if request.total else None
    if search.is_plain and not (request.start or request.merged or request.without_metadata) and request.count <= CHUNK:
        files, heads = search.first_results()
        window = _window(search, Groups(), len(files), files[-1] if files else None)
        return _page(request, window, (f"[{join_results(heads)}]",), total)
    window = _window_of(search)
    return _page(request, window, _pieces(connection, request, window.groups), total)


def _window_of(search: Search) -> _Window:
    return _merged_window(search) if search.request.merged else _single_files(search)


def _page(request: SearchRequest, window: _Window, pieces: Iterable[str], total: int | None = None) -> Page:
    return Page(pieces, window.files, request.count, request.offset, window.next, total)


class _Known(Generic[Value]):
    """The last values that were kept, as many as their sizes allow."""

    def __init__(self, most: int) -> None:
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._left = most
        self._lock = Lock()

    def get(self, key: str) -> Value | None:
        with self._lock:
            if key not in self._values:
                return None
            self._values.move_to_end(key)
            return self._values[key][0]

    def keep(self, key: str, value: Value, size: int) -> None:
        with self._lock:
            _, former = self._values.pop(key, (None, 0))
            self._values[key] = value, size
            self._left += former - size
            while self._left < 0:
                _, (_, oldest) = self._values.popitem(last=False)
                self._left += oldest


class KnownSearches:
    """The last searches with conditions: windows for pages that are asked for again, and plans for further pages.

    Planning such a search by counts of its candidates takes about half of the time of a page. Windows and plans are
    known by all that they follow from (see `library.page_key`), so that they end with the state of the library.
    """

    def __init__(self) -> None:
        self._windows = _Known[_Window](_MOST_FILES)
        self._plans = _Known[Plan](_MOST_PLANS)

    def find(self, connection: Connection, request: SearchRequest, state: int, *, sees_private: bool) -> Page:
        """Return the page like `find`.

        Args:
            state: the state of the library in the transaction of the connection; 0: unknown.
        """
        is_quick = isinstance(request.node, Everything) and not request.album
        if (
            not state
            or request.total
            or not request.repeats
            or request.count > CHUNK
            or (is_quick and request.order.base not in UNINDEXED_ORDERS)
        ):
            return find(connection, request, sees_private=sees_private)
        key = page_key(state, request, sees_private=sees_private)
        window = self._windows.get(key)
        if window is None:
            window = self._find(prepare(connection, request, sees_private=sees_private), state)
            self._windows.keep(key, window, _OF_EACH + window.files)
        return _page(request, window, _pieces(connection, request, window.groups))

    def _find(self, search: Search, state: int) -> _Window:
        """Return the window of a search, by the plan of its former pages if they are known."""
        if search.is_plain or terms(search.node) > MOST_TERMS_KEPT:
            return _window_of(search)
        key = plan_key(state, search.node, search.reading, search.context)
        if (plan := self._plans.get(key)) is not None:
            search.follow(plan)
        window = _window_of(search)
        self._plans.keep(key, search.plan, 1)  # the plan of the end, if a limited walk did not fill the page
        return window


def _pieces(connection: Connection, request: SearchRequest, groups: Groups) -> Iterable[str]:
    # The first piece is read now, so that a database error still becomes an error answer.
    if len(groups) <= CHUNK:
        return (f"[{_records(connection, request, groups.part(0, CHUNK))}]",)
    first = "[" + _records(connection, request, groups.part(0, PIECE))
    return chain((first,), _rest(connection, request, groups))


def _rest(connection: Connection, request: SearchRequest, groups: Groups) -> Iterator[str]:
    """Yield the pieces after the first.

    An error ends the answer before its closing bracket, so that it is not valid JSON.
    """
    for start in range(PIECE, len(groups), PIECE):
        yield "," + _records(connection, request, groups.part(start, start + PIECE))
    yield "]"


def _records(connection: Connection, request: SearchRequest, groups: Sequence[Sequence[int]]) -> str:
    heads = result_heads(connection, [group[0] for group in groups])
    key, stored = request.alias_key, heads
    if key:
        heads = [public_head(head, key) for head in stored]
    if not request.merged:
        return join_results(heads)
    file_ids = list(chain.from_iterable(groups))
    files = iter(file_documents(connection, file_ids))
    if key:
        owners = [row_ids_of(head)[0] for head, group in zip(stored, groups, strict=True) for _ in group]
        files = (public_file(*texts) for texts in zip(files, repeat(key), owners, file_ids))
    merged = (merge_result(head, [next(files) for _ in group]) for head, group in zip(heads, groups, strict=True))
    return ",".join(merged)
