"""A page of results: the ids of its files in order, then their stored texts.

A merged page is a window of files too. A photo appears once, in the window that contains its first file, with all of
its matching files, also those behind the end of the window. Files at the start of a window whose photo was on the page
before are counted but not repeated. Over all pages every photo so comes once and complete, and `X-Count` counts files
as the specification says.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from typing import Any

import orjson
from sqlalchemy import Connection

from photosvc.models import FileKey
from photosvc.search.reading.orders import Cursor
from photosvc.search.reading.paging import documents
from photosvc.search.reading.paging.documents import LibraryChangedError, join_results, merge_result
from photosvc.search.reading.paging.prepare import prepare
from photosvc.search.reading.paging.window import Found, Search, photo_of
from photosvc.search.reading.request import SearchRequest

#: Files whose texts are read at once.
CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Page:
    """One page: the answer's body and what its headers say (spec section 4.2)."""

    pieces: Iterable[str]
    """A JSON array of photo search results in pieces; those behind the first are read when they are sent."""
    count: int
    limit: int
    offset: int
    next: Cursor | None
    """Where the next page begins; None when this one was not full."""
    total: int | None = None
    """How many files match, if the request wants it counted."""

    @property
    def is_whole(self) -> bool:
        """Whether the body is one piece that has been read."""
        return isinstance(self.pieces, tuple)

    @property
    def body(self) -> str:
        """The whole body."""
        return "".join(self.pieces)

    def results(self) -> Iterator[list[dict[str, Any]]]:
        """The results as records, those of one piece at a time; this reads the pieces."""
        for piece in self.pieces:
            if records := piece.strip("[,]"):  # a record itself begins and ends with a brace
                yield orjson.loads(f"[{records}]")


class Groups:
    """The ids of the files of each result, the file that represents it first.

    Arrays of machine integers, because an answer may have 100,000 results.
    """

    def __init__(self) -> None:
        self._files, self._ends = array("q"), array("q", [0])

    def add(self, files: Iterable[int]) -> None:
        """Append a result with these files."""
        self._files.extend(files)
        self._ends.append(len(self._files))

    def part(self, start: int, stop: int) -> list[list[int]]:
        """The results from `start` up to but not including `stop`; fewer at the end."""
        ends = self._ends[start : stop + 1].tolist()
        return [self._files[begin:end].tolist() for begin, end in pairwise(ends)]

    def __len__(self) -> int:
        return len(self._ends) - 1


def _single_files(found: Iterable[Found]) -> Groups:
    """One result for each file."""
    groups = Groups()
    for one in found:
        groups.add((one[0],))
    return groups


def _merged_window(search: Search) -> tuple[Sequence[Found], Groups]:
    """The files of the request's window, and the photos that its page shows.

    Raises:
        LibraryChangedError: the last photo was removed meanwhile.

    """
    request = search.request
    peek = request.cursor is None and request.offset > 0
    found = search.window(request.offset - peek, request.count + peek)
    before = photo_of(found[0]) if peek and found else None
    if request.cursor:
        before = FileKey.unpack_photo_id(int(request.cursor.values[-1]))
    window = found[peek:]
    # The last photo may have further files behind the end of the window.
    last = photo_of(window[-1]) if len(window) == request.count else None
    groups = Groups()
    for photo_id, files in groupby(window, key=photo_of):
        if photo_id != before:
            group = _whole(search, photo_id) if photo_id == last else [one[0] for one in files]
            # The primary file represents the photo in a reversed order, too.
            groups.add(reversed(group) if request.order.is_reversed else group)
    return window, groups


def _whole(search: Search, photo_id: int) -> list[int]:
    files = search.files_of(photo_id)
    if not files:
        raise LibraryChangedError
    return files


def find(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Page:
    """The page this request asks for.

    Raises:
        NotFoundError: its album or the photo of `near` does not exist, or may not be seen.

    """
    search = prepare(connection, request, sees_private=sees_private)
    total = search.total() if request.total else None
    pieces: Iterable[str]
    if request.merged:
        found, groups = _merged_window(search)
        pieces = _pieces(search, groups)
    elif search.is_plain and request.count <= CHUNK and (request.cursor or not request.offset):
        found, heads = search.first_results()
        pieces = (f"[{join_results(heads)}]",)
    else:
        found = search.window(request.offset, request.count)
        pieces = _pieces(search, _single_files(found))
    full = len(found) == request.count
    return Page(
        pieces=pieces,
        count=len(found),
        limit=request.count,
        offset=request.offset,
        next=search.cursor_behind(found[-1], request.offset + len(found)) if full else None,
        total=total,
    )


def _pieces(search: Search, groups: Groups) -> Iterable[str]:
    # The first piece is read now, so that a database error still becomes an error answer.
    first = "[" + _records(search, groups.part(0, CHUNK))
    return (first + "]",) if len(groups) <= CHUNK else chain((first,), _rest(search, groups))


def _rest(search: Search, groups: Groups) -> Iterator[str]:
    """The pieces behind the first. An error ends the answer before its closing bracket, so it is not valid JSON."""
    for start in range(CHUNK, len(groups), CHUNK):
        yield "," + _records(search, groups.part(start, start + CHUNK))
    yield "]"


def _records(search: Search, groups: Sequence[Sequence[int]]) -> str:
    connection = search.connection
    heads = documents.result_heads(connection, [group[0] for group in groups])
    if not search.request.merged:
        return join_results(heads)
    files = iter(documents.files(connection, list(chain.from_iterable(groups))))
    merged = (merge_result(head, [next(files) for _ in group]) for head, group in zip(heads, groups, strict=True))
    return ",".join(merged)
