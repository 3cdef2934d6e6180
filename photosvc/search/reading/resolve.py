"""The pass between parsing and compiling, which replaces names by ids, once for each search.

A resolved query compares ids and points only, so that compiling it needs no database:

| parsed | resolved |
|---|---|
| `camera`, `lens` by words | ids |
| `album`, `albums` by UIDs and titles | ids of plain albums; the query of a smart one, a folder, month or state |
| `subject` with wildcards or UIDs | the names of people as their markers spell them |
| `near` a photo or a place | circles around their positions |
| `similar` to a photo | the ids of photos that look like it |

A smart album inside a smart album is resolved once, however often it is named. One that contains itself, by others or
directly, contains nothing there: whether it does follows from the filters alone, not from where a search begins.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial

from sqlalchemy import Connection

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import ALBUM, is_uid
from photosvc.models import Camera, Lens
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import (
    And,
    Choice,
    Everything,
    Filter,
    Node,
    Not,
    Nothing,
    Or,
    TakenOut,
    Uid,
    conjunction,
    disjunction,
    levels,
    negation,
    terms,
)
from photosvc.query.parser import MOST_LEVELS
from photosvc.search.limits import note_query
from photosvc.search.reading.library_albums import find_library_album, kind_of
from photosvc.search.reading.lookups import AlbumRow, Lookups, NamedAlbums, Operands

#: Smart albums inside smart albums: deeper ones contain nothing.
_DEEPEST_ALBUM = 3
#: Levels of the whole query; an album in a group of the query adds its own.
_MOST_LEVELS = MOST_LEVELS + 4
#: Smart albums that one filter may stand for; further ones are left out.
MOST_SMART_ALBUMS = 20
#: Conditions of the whole query, those of smart albums as often as the albums are named: SQLite parses about 1,000.
_MOST_CONDITIONS = 500
#: The most terms of a query whose compiled statements are cached. Clients choose the queries, and each term takes 6 KB:
#: the 500 statements that a process caches would take a gigabyte if all were of the longest queries.
_MOST_TERMS_KEPT = 8
#: Folders, months and states that one filter may name; further ones are left out.
_MOST_LIBRARY_ALBUMS = 20


def resolve(node: Node, album: str, connection: Connection, *, sees_private: bool, today: date) -> Node:
    """Return the query with ids in place of names, inside the album with the UID `album`; empty: all photos.

    The filters of smart albums count back from `today`.

    Raises:
        NotFoundError: the album, or the photo of `near` or `similar`, does not exist or may not be seen.
        InvalidValueError: smart albums make the query deeper or longer than databases can parse.
    """
    if not album and isinstance(node, Everything):
        return node
    note_query(connection, node, in_album=bool(album))
    resolver = _Resolver(connection, "s" if album else "q", sees_private=sees_private, today=today)
    resolved = resolver.resolve(node)
    if album:
        resolved = conjunction([resolved, resolver.album(album)])
    if levels(resolved) > _MOST_LEVELS:
        msg = "the query and the smart albums in it have too many groups inside each other"
        raise InvalidValueError(msg, field="s" if album else "q")
    if terms(resolved) > _MOST_TERMS_KEPT:
        connection.execution_options(compiled_cache=None)
    return resolved


class _Resolver:
    """The resolver of one query; each lookup runs once, however often the query and its albums repeat it."""

    def __init__(self, connection: Connection, field: str, *, sees_private: bool, today: date) -> None:
        self._connection = connection
        self._field = field
        self._smart: dict[object, tuple[Node, int]] = {}
        self._names = Lookups(connection, field, sees_private=sees_private)
        self._albums = NamedAlbums(connection, sees_private=sees_private, today=today)
        self._conditions = 0

    def resolve(self, node: Node, inside: tuple[int, ...] = ()) -> Node:
        """Return the node with ids in place of names; `inside` are the smart albums whose filter it is in.

        Raises:
            InvalidValueError: it has too many conditions, together with the smart albums in it.
        """
        match node:
            case Filter(_, Choice() as value):
                return self._filter(node, value, inside)
            case Not(part):
                return negation(self.resolve(part, inside))
            case And(parts):
                return conjunction([self.resolve(part, inside) for part in parts])
            case Or(parts):
                return disjunction([self.resolve(part, inside) for part in parts])
            case _:
                self._count(1)
                return node

    def _count(self, conditions: int) -> None:
        self._conditions += conditions
        if self._conditions > _MOST_CONDITIONS and self._albums.has_smart:
            msg = f"the query and the smart albums in it have more than {_MOST_CONDITIONS} conditions"
            raise InvalidValueError(msg, field=self._field)

    def album(self, uid: str) -> Node:
        """Return the query for the photos in the album with this UID.

        Raises:
            NotFoundError: there is none, or it may not be seen.
        """
        # PostgreSQL refuses texts with NUL, so only texts in the form of a UID are looked up.
        found = self._albums.named((Uid(uid, "albums"),)) if is_uid(uid, ALBUM) else []
        if not found:
            of_library = find_library_album(self._connection, uid)
            if of_library is not None:
                return of_library.node
            raise NotFoundError("there is no such album", field="s")
        return self._in_any(found, "album", ())

    def _filter(self, node: Filter, value: Choice, inside: tuple[int, ...]) -> Node:
        self._count(1)
        names, required = self._names, not inside
        match FILTERS[node.name].columns[0]:
            case "albums":
                parts: list[Node] = []
                if value.any_of:
                    parts.append(self._in_albums(value.any_of, node.name, inside))
                if value.none_of:
                    parts.append(negation(self._in_albums(value.none_of, node.name, inside)))
                return conjunction(parts)
            case "camera_id":
                return _with_operands(node, value, lambda operands: names.gear_ids(Camera, operands))
            case "lens_id":
                return _with_operands(node, value, lambda operands: names.gear_ids(Lens, operands))
            case "subjects":
                return _with_operands(node, value, names.people)
            case _ if node.name == "near":
                return _with_operands(node, value, lambda operands: names.circles(operands, required=required))
            case _ if node.name == "similar":
                return _with_operands(node, value, lambda operands: names.look_alikes(operands, required=required))
            case _:
                return node

    def _in_albums(self, operands: Operands, name: str, inside: tuple[int, ...]) -> Node:
        """Return the query for the photos in any of these albums, named by UIDs or titles.

        Folders, months and states are named by UIDs alone.
        """
        parts = [self._in_any(found, name, inside)] if (found := self._albums.named(operands)) else []
        uids = [operand.text for operand in operands if isinstance(operand, Uid) and kind_of(operand.text)]
        for uid in uids[:_MOST_LIBRARY_ALBUMS]:
            of_library = self._names.once(("library", uid), partial(find_library_album, self._connection, uid))
            parts += [of_library.node] if of_library else []
        return disjunction(parts) if parts else Nothing()

    def _in_any(self, albums: list[AlbumRow], name: str, inside: tuple[int, ...]) -> Node:
        plain = tuple(album.id for album in albums if not album.filter)
        smart = [album for album in albums if album.filter] if len(inside) < _DEEPEST_ALBUM else []
        parts: list[Node] = [Filter(name, Choice(plain))] if plain else []
        parts += [self._in_smart_album(album, inside) for album in smart[:MOST_SMART_ALBUMS]]
        return disjunction(parts) if parts else Nothing()

    def _in_smart_album(self, album: AlbumRow, inside: tuple[int, ...]) -> Node:
        """Return the query of the album's filter, without photos taken out; a cycle contains nothing."""
        if inside and self._albums.names(album.id, inside[-1]):
            return Nothing()
        key = album.id, len(inside)
        if key in self._smart:
            node, conditions = self._smart[key]
            self._count(conditions)
        else:
            before = self._conditions
            taken_out = Filter("album", Choice((TakenOut(album.id),)))
            parsed = self._albums.query_of(album)
            node = conjunction([self.resolve(parsed, (*inside, album.id)), Not(taken_out)]) if parsed else Nothing()
            self._smart[key] = node, self._conditions - before
        return node


def _with_operands(node: Filter, value: Choice, resolved: Callable[[Operands], Operands]) -> Node:
    """Return the filter with resolved operands.

    An empty `any_of` would match everything, so a filter whose operands fit nothing becomes `Nothing`.
    """
    wanted = resolved(value.any_of)
    if value.any_of and not wanted:
        return Nothing()
    return replace(node, value=Choice(wanted, resolved(value.none_of)))
