"""A page of results: the ids of its files in order, then their stored texts."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from sqlalchemy import Connection

from photosvc.search.reading import documents
from photosvc.search.reading.cursor import Cursor
from photosvc.search.reading.merged import Groups, merged_window, single_files
from photosvc.search.reading.request import SearchRequest
from photosvc.search.reading.window import Search, prepare
from photosvc.search.record_text import join_results, merge_result

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


def find(connection: Connection, request: SearchRequest, *, sees_private: bool) -> Page:
    """The page this request asks for.

    Raises:
        NotFoundError: its album or the photo of `near` does not exist, or may not be seen.

    """
    search = prepare(connection, request, sees_private=sees_private)
    total = search.total() if request.total else None
    pieces: Iterable[str]
    if request.merged:
        found, groups = merged_window(search)
        pieces = _pieces(search, groups)
    elif search.is_plain and request.count <= CHUNK and (request.cursor or not request.offset):
        found, heads = search.first_results()
        pieces = (f"[{join_results(heads)}]",)
    else:
        found = search.window(request.offset, request.count)
        pieces = _pieces(search, single_files(found))
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
