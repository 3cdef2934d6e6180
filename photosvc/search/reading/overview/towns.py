"""Towns: how many photos of a query were taken in each."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, select

from photosvc.models import Place, SearchRow
from photosvc.models.database.unindexed import unindexed
from photosvc.query.fold import fold_recurring
from photosvc.search.reading.overview.photos import PhotoQuery, find_photos
from photosvc.search.reading.planning.plan import ALL_ROWS

#: Towns of an answer.
MOST_TOWNS: Final = 2000
_UNKNOWN: Final = "zz"


@dataclass(frozen=True, slots=True)
class Town:
    """A town with photos."""

    country: str
    """ISO 3166 code of two lower-case letters."""
    name: str
    """Empty where photos of the country were taken outside of towns."""
    count: int


def find_towns(connection: Connection, query: PhotoQuery) -> list[Town]:
    """At most `MOST_TOWNS` towns of the photos whose country is known, those with the most photos first.

    Raises:
        NotFoundError: the album or the photo of `near` does not exist, or may not be seen.

    """
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    columns = SearchRow.country, SearchRow.city_key
    # The index of towns gives them in order; of other queries, every row would be looked up through it.
    country, city = columns if photos.covered else map(unindexed, columns)
    known = unindexed(SearchRow.country) != _UNKNOWN
    statement = photos.select(SearchRow.country, SearchRow.city_key, photos.count).where(known)
    statement = statement.group_by(country, city).order_by(photos.count.desc(), country, city).limit(MOST_TOWNS)
    found = connection.execute(statement).all()
    names = _names(connection, {row[0] for row in found})
    return [Town(code, names.get((code, key), ""), count) for code, key, count in found]


def _names(connection: Connection, countries: set[str]) -> dict[tuple[str, str], str]:
    """Search rows contain folded names of towns; places contain their spelling."""
    written = select(Place.country, Place.city).where(Place.country.in_(countries)).distinct().order_by(Place.city)
    return {(code, fold_recurring(city)): city for code, city in connection.execute(written)}
