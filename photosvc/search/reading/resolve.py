"""The pass between parsing and compiling, which replaces names by ids, once for each search.

There are few names and many photos, so names are compared in Python, by the word rule of `query.fold.words`.

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

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import ALBUM, SUBJECT, computed_uid, is_uid
from photosvc.core.message import Message
from photosvc.models import NOWHERE, Camera, Lens, Marker, SearchRow, Subject
from photosvc.models.search_values import camera_or_lens_name
from photosvc.query.filters import FILTERS
from photosvc.query.fold import fold
from photosvc.query.nodes import (
    And,
    Choice,
    Circle,
    Everything,
    Filter,
    MarkerNames,
    Near,
    Node,
    Not,
    Nothing,
    Operand,
    Or,
    Pattern,
    Phrase,
    TakenOut,
    Town,
    Uid,
    Word,
    conjunction,
    disjunction,
    levels,
    negation,
    terms,
)
from photosvc.query.parser import MOST_LEVELS
from photosvc.search.limits import each_of, note_query
from photosvc.search.reading.albums_named import (
    NamedAlbum,
    NamedAlbums,
    Operands,
    find_library_album,
    fits_name,
    kind_of,
)
from photosvc.search.reading.columns import identified
from photosvc.search.reading.compile import visible
from photosvc.search.reading.look_alikes import similar_photos
from photosvc.search.reading.towns import find_town

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
MOST_TERMS_KEPT = 8
#: Places that one filter may name: each is looked for in the whole gazetteer.
_MOST_TOWNS = 4
#: Photos that one filter may compare with all others; further ones are left out.
_MOST_LOOKS = 10
#: The place between a letter and a digit.
_JOINED: Final = re.compile(r"(?<=[^\W\d_])(?=\d)")
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
    if terms(resolved) > MOST_TERMS_KEPT:
        connection.execution_options(compiled_cache=None)
    return resolved


class _Resolver:
    """The resolver of one query; each lookup runs once, however often the query and its albums repeat it."""

    def __init__(self, connection: Connection, field: str, *, sees_private: bool, today: date) -> None:
        self._connection = connection
        self._field = field
        self._smart: dict[object, tuple[Node, int]] = {}
        self._names = _Lookups(connection, field, sees_private=sees_private)
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
        albums = self._albums.named((Uid(uid, "albums"),)) if is_uid(uid, ALBUM) else []
        if not albums:
            of_library = find_library_album(self._connection, uid)
            if of_library is not None:
                return of_library.node
            raise NotFoundError("there is no such album", field="s")
        return self._in_any(albums, "album", ())

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
        parts = [self._in_any(albums, name, inside)] if (albums := self._albums.named(operands)) else []
        uids = [operand.text for operand in operands if isinstance(operand, Uid) and kind_of(operand.text)]
        for uid in uids[:_MOST_LIBRARY_ALBUMS]:
            of_library = find_library_album(self._connection, uid)
            parts += [of_library.node] if of_library else []
        return disjunction(parts) if parts else Nothing()

    def _in_any(self, albums: list[NamedAlbum], name: str, inside: tuple[int, ...]) -> Node:
        plain = tuple(album.id for album in albums if not album.filter)
        smart = [album for album in albums if album.filter] if len(inside) < _DEEPEST_ALBUM else []
        parts: list[Node] = [Filter(name, Choice(plain))] if plain else []
        parts += [self._in_smart_album(album, inside) for album in smart[:MOST_SMART_ALBUMS]]
        return disjunction(parts) if parts else Nothing()

    def _in_smart_album(self, album: NamedAlbum, inside: tuple[int, ...]) -> Node:
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


class _Lookups:
    """The lookups of one query; each runs once, however often the query and its smart albums repeat it.

    Where a photo or place is `required`, an unknown one is an error; elsewhere it is left out.

    Args:
        field: the parameter that errors name.
    """

    def __init__(self, connection: Connection, field: str, *, sees_private: bool) -> None:
        self._connection = connection
        self._field = field
        self._sees_private = sees_private
        self._found: dict[object, Any] = {}

    def once(self, key: object, look_up: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `look_up` gives
        """Return the result of `look_up`, which is called once for each key."""
        if key not in self._found:
            self._found[key] = look_up()
        return self._found[key]

    def gear_ids(self, kind: type[Camera | Lens], operands: Operands) -> Operands:
        """Replace words by the ids of the cameras or lenses whose names have one of them."""
        ids = {operand for operand in operands if isinstance(operand, int)}
        terms = [operand for operand in operands if isinstance(operand, Word | Phrase)]
        if terms:
            query = select(kind.id, kind.make, kind.model)
            every = self.once(kind, lambda: self._connection.execute(query).all())
            named = ((row.id, camera_or_lens_name(row.make, row.model)) for row in each_of(self._connection, every))
            # `85mm` is a word of `EF85mm` as well.
            ids |= {key for key, name in named if fits_name(name, terms, _JOINED.sub(" ", name))}
        return tuple(sorted(ids))

    def people(self, operands: Operands) -> Operands:
        """Replace wildcards and UIDs by the names that fit; whole names and words are found in words of photos."""
        patterns = [
            operand
            for operand in operands
            if isinstance(operand, Pattern) and (len(operand.pieces) > 1 or is_uid(operand.pieces[0], SUBJECT))
        ]
        if not patterns:
            return operands
        uids = {operand.pieces[0] for operand in patterns if len(operand.pieces) == 1}
        query = select(Marker.name).where(Marker.name != "").distinct()
        every = self.once(Marker, lambda: self._connection.scalars(query).all())
        names = tuple(name for name in each_of(self._connection, every) if fits_name(name, patterns))
        names += self._people_with(uids, every) if uids else ()
        others = tuple(operand for operand in operands if operand not in patterns)
        return (*others, MarkerNames(names)) if names else others

    def _people_with(self, uids: set[str], names: Iterable[str]) -> tuple[str, ...]:
        """Return the names that belong to people with these UIDs."""
        query = select(Subject.folded, Subject.uid)
        chosen = self.once(Subject, lambda: dict(self._connection.execute(query).all()))
        named = each_of(self._connection, names)
        return tuple(name for name in named if (chosen.get(fold(name)) or computed_uid(SUBJECT, fold(name))) in uids)

    def circles(self, operands: Operands, *, required: bool) -> Operands:
        """Replace photos and places by circles around their positions; leave out photos without a position."""
        circles: list[Operand] = []
        if sum(isinstance(operand, Town) for operand in operands) > _MOST_TOWNS:
            raise InvalidValueError(f"near names more than {_MOST_TOWNS} places", field=self._field)
        for operand in operands:
            if isinstance(operand, Town):
                circles += [Circle(lat, lng, operand.km) for lat, lng in self._towns(operand, required=required)]
            elif isinstance(operand, Near):
                position = self._position(operand.uid, required=required)
                circles += [Circle(*position, operand.km)] if position else []
        return tuple(circles)

    def _towns(self, town: Town, *, required: bool) -> Sequence[tuple[float, float]]:
        try:
            return find_town(town.name, town.region)
        except (InvalidValueError, NotFoundError):
            if required:
                raise
            return ()

    def look_alikes(self, operands: Operands, *, required: bool) -> Operands:
        """Replace photos by the ids of the photos that look like them."""
        photo_ids: set[int] = set()
        for uid in [operand.text for operand in operands if isinstance(operand, Uid)][:_MOST_LOOKS]:
            look_up = partial(similar_photos, self._connection, uid, sees_private=self._sees_private)
            ids = self.once(("similar", uid), look_up)
            if ids is None and required:
                raise NotFoundError(Message("there is no photo {name}", name=uid), field="similar")
            photo_ids.update(ids or ())
        return tuple(sorted(photo_ids))

    def _position(self, uid: str, *, required: bool) -> tuple[float, float] | None:
        query = select(SearchRow.lat, SearchRow.lng).where(identified("photo_uid", [uid]))
        query = query.where(visible(sees_private=self._sees_private)).limit(1)
        row = self.once(("near", uid), lambda: self._connection.execute(query).first())
        if row is None and required:  # in the filter of a smart album an unknown photo is no error of the search
            raise NotFoundError(Message("there is no photo {name}", name=uid), field="near")
        return None if row is None or row.lat == NOWHERE else (row.lat, row.lng)


def _with_operands(node: Filter, value: Choice, resolved: Callable[[Operands], Operands]) -> Node:
    """Return the filter with resolved operands.

    An empty `any_of` would match everything, so a filter whose operands fit nothing becomes `Nothing`.
    """
    wanted = resolved(value.any_of)
    if value.any_of and not wanted:
        return Nothing()
    return replace(node, value=Choice(wanted, resolved(value.none_of)))
