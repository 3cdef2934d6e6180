"""Albums by their UIDs and titles, and the queries of the smart ones. Each is looked up once for each search."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, select

from photosvc.core.errors import InvalidValueError
from photosvc.models import Album
from photosvc.query.filters import FILTERS
from photosvc.query.fold import words
from photosvc.query.nodes import And, Filter, Node, Not, Or
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Uid, Word
from photosvc.query.parser import parse_query
from photosvc.query.values.areas import locate
from photosvc.search.reading.conditions.visible import visible_albums
from photosvc.search.word_text import needles, word_text

Operands: TypeAlias = tuple[Operand, ...]
AlbumRow: TypeAlias = Row[Any]


class NamedAlbums:
    """The albums that the filters of a search name, limited to those that the caller may see."""

    def __init__(self, connection: Connection, *, sees_private: bool) -> None:
        self._connection = connection
        self._query = select(Album.id, Album.uid, Album.title, Album.filter).where(
            visible_albums(sees_private=sees_private)
        )
        self._every: list[AlbumRow] | None = None
        self._named: dict[Operands, list[AlbumRow]] = {}
        self._smart: dict[int, AlbumRow] = {}
        self._queries: dict[int, Node | None] = {}
        self._reached: dict[int, set[int]] = {}

    @property
    def has_smart(self) -> bool:
        """Whether one of the albums that were named is a smart one."""
        return bool(self._smart)

    def named(self, operands: Operands) -> list[AlbumRow]:
        """The albums with one of these UIDs or titles."""
        if operands not in self._named:
            self._named[operands] = found = self._look_up(operands)
            self._smart |= {album.id: album for album in found if album.filter}
        return self._named[operands]

    def query_of(self, album: AlbumRow) -> Node | None:
        """The query of a smart album; None when a version with other filters saved it: the search itself is valid."""
        if album.id not in self._queries:
            try:
                self._queries[album.id] = locate(parse_query(album.filter, "filter"))
            except InvalidValueError:
                self._queries[album.id] = None
        return self._queries[album.id]

    def names(self, outer: int, inner: int) -> bool:
        """Whether the query of the smart album `outer` names the album `inner`, by others too, or is the same album."""
        if outer not in self._reached:
            reached, waiting = {outer}, [outer]
            while waiting:
                query = self.query_of(self._smart[waiting.pop()])
                named = {album.id for operands in _albums_in(query) for album in self.named(operands)}
                further = (named & self._smart.keys()) - reached
                waiting += further
                reached |= further
            self._reached[outer] = reached
        return inner in self._reached[outer]

    def _look_up(self, operands: Operands) -> list[AlbumRow]:
        uids = [operand.text for operand in operands if isinstance(operand, Uid)]
        if len(uids) == len(operands):
            return list(self._connection.execute(self._query.where(Album.uid.in_(uids))))
        if self._every is None:
            self._every = list(self._connection.execute(self._query))
        return [album for album in self._every if album.uid in uids or fits(album.title, operands)]


def _albums_in(node: Node | None) -> Iterator[Operands]:
    """The operands of the filters by albums in a query, in the portions that are looked up."""
    match node:
        case Filter(name, Choice(any_of, none_of)) if FILTERS[name].columns[0] == "albums":
            yield from (operands for operands in (any_of, none_of) if operands)
        case Not(part):
            yield from _albums_in(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _albums_in(part)


def fits(name: str, operands: Iterable[Operand]) -> bool:
    """Whether a name has one of these words, or its words make one of these whole names."""
    text, whole = word_text((name,)), " ".join(words(name))
    return any(
        any(needle in text for needle in needles(operand))
        if isinstance(operand, Word | Phrase)
        else isinstance(operand, Pattern) and operand.matches(whole)
        for operand in operands
    )
