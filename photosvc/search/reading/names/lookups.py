"""What the names of cameras, lenses, people, places and photos in a query stand for.

There are few names and many photos, so names are compared in Python, by the word rule of `query.fold.words`.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.ids import SUBJECT, computed_uid, is_uid
from photosvc.models import NOWHERE, Camera, Lens, Marker, SearchRow, Subject
from photosvc.query.fold import fold
from photosvc.query.operands import Circle, MarkerNames, Near, Operand, Pattern, Phrase, Town, Uid, Word
from photosvc.search.reading.conditions.visible import visible
from photosvc.search.reading.names.look_alikes import similar_photos
from photosvc.search.reading.names.named_albums import Operands, fits
from photosvc.search.reading.names.towns import find_town
from photosvc.search.word_text import gear_name

#: Places that one filter may name: each is looked for in the whole gazetteer.
_MOST_TOWNS = 4
#: Photos that one filter may compare with all others; further ones are left out.
_MOST_LOOKS = 10


class Lookups:
    """Looks names up for one query; each lookup runs once, however often the query and its smart albums repeat it.

    Where a photo or place is `required`, an unknown one is an error; elsewhere it is left out.

    Args:
        connection: in a read transaction.
        field: the parameter that errors name.
        sees_private: whether the caller may see private photos.

    """

    def __init__(self, connection: Connection, field: str, *, sees_private: bool) -> None:
        self._connection = connection
        self._field = field
        self._sees_private = sees_private
        self._found: dict[object, Any] = {}

    def once(self, key: object, look_up: Callable[[], Any]) -> Any:  # noqa: ANN401 - what `look_up` gives
        """What `look_up` gives, kept by this key."""
        if key not in self._found:
            self._found[key] = look_up()
        return self._found[key]

    def gear_ids(self, kind: type[Camera | Lens], operands: Operands) -> Operands:
        """Words as the ids of the cameras or lenses that have all of them in their names."""
        ids = {operand for operand in operands if isinstance(operand, int)}
        terms = [operand for operand in operands if isinstance(operand, Word | Phrase)]
        if terms:
            query = select(kind.id, kind.make, kind.model)
            every = self.once(kind, lambda: self._connection.execute(query).all())
            ids |= {row.id for row in every if fits(gear_name(row.make, row.model), terms)}
        return tuple(sorted(ids))

    def people(self, operands: Operands) -> Operands:
        """Names with wildcards as the names that fit; whole names and words are found in the words of photos."""
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
        names = tuple(name for name in every if fits(name, patterns))
        names += self._people_with(uids, every) if uids else ()
        others = tuple(operand for operand in operands if operand not in patterns)
        return (*others, MarkerNames(names)) if names else others

    def _people_with(self, uids: set[str], names: Iterable[str]) -> tuple[str, ...]:
        """Those of these names that belong to people with these UIDs."""
        query = select(Subject.folded, Subject.uid)
        chosen = self.once(Subject, lambda: dict(self._connection.execute(query).all()))
        return tuple(name for name in names if (chosen.get(fold(name)) or computed_uid(SUBJECT, fold(name))) in uids)

    def circles(self, operands: Operands, *, required: bool) -> Operands:
        """Photos and places as circles around their positions; photos without a position are left out."""
        found: list[Operand] = []
        if sum(isinstance(operand, Town) for operand in operands) > _MOST_TOWNS:
            msg = f"near names more than {_MOST_TOWNS} places"
            raise InvalidValueError(msg, field=self._field)
        for operand in operands:
            if isinstance(operand, Town):
                found += [Circle(lat, lng, operand.km) for lat, lng in self._towns(operand, required=required)]
            elif isinstance(operand, Near):
                position = self._position(operand.uid, required=required)
                found += [Circle(*position, operand.km)] if position else []
        return tuple(found)

    def _towns(self, town: Town, *, required: bool) -> Sequence[tuple[float, float]]:
        try:
            return find_town(town.name, town.region)
        except (InvalidValueError, NotFoundError):
            if required:
                raise
            return ()

    def look_alikes(self, operands: Operands, *, required: bool) -> Operands:
        """Photos as the ids of those that look like them."""
        found: set[int] = set()
        for uid in [operand.text for operand in operands if isinstance(operand, Uid)][:_MOST_LOOKS]:
            look_up = partial(similar_photos, self._connection, uid, sees_private=self._sees_private)
            ids = self.once(("similar", uid), look_up)
            if ids is None and required:
                msg = f"there is no photo {uid}"
                raise NotFoundError(msg, field="similar")
            found.update(ids or ())
        return tuple(sorted(found))

    def _position(self, uid: str, *, required: bool) -> tuple[float, float] | None:
        query = select(SearchRow.lat, SearchRow.lng).where(SearchRow.photo_uid == uid)
        query = query.where(visible(sees_private=self._sees_private)).limit(1)
        found = self.once(("near", uid), lambda: self._connection.execute(query).first())
        if found is None and required:  # in the filter of a smart album an unknown photo is no error of the search
            msg = f"there is no photo {uid}"
            raise NotFoundError(msg, field="near")
        return None if found is None or found.lat == NOWHERE else (found.lat, found.lng)
