"""Photos of a query by place: clusters in an area, gathered by a grid for a map, and their numbers by town.

The grid is anchored to the globe, so that moving the map does not regroup photos: at a zoom of z, a square cell has a
side of 90 / 2^z degrees, a quarter of a map tile. Where an area has too many cells, four of them become one, until no
more than `MOST_CLUSTERS` have photos.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Connection, Integer, Label, cast, func, select

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import Box
from photosvc.core.vocabulary import UNKNOWN_PLACE
from photosvc.models import File, FileKey, Photo, Place, SearchRow
from photosvc.models.statements import unindexed
from photosvc.query.areas import read_latitude, read_longitude
from photosvc.query.fold import fold
from photosvc.search.reading.columns import in_box
from photosvc.search.reading.photos import PhotoQuery, find_photos
from photosvc.search.reading.plan import ALL_ROWS, Driver

MOST_CLUSTERS: Final = 200
#: The most towns of an answer.
_MOST_TOWNS: Final = 2000
DEEPEST_ZOOM: Final = 20
#: Cells of an area that the database may group by; it never has more groups than this.
_MOST_CELLS: Final = 4096
_GLOBE: Final = Box(-90.0, 90.0, -180.0, 180.0)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Photos that lie close together."""

    lat: float
    lng: float
    """The mean of the positions of the files that match, in degrees."""
    count: int
    hash: str
    """Hash of the file that shows the photo added last."""
    place: str
    """Place where that photo was taken; empty when unknown."""
    turn: int
    """Exif orientation that leads from the picture as that file shows it to the one that a person chose; 1: none."""


class Clusters(NamedTuple):
    """The clusters of an area."""

    side: float
    """Side of each cell of the grid, in degrees."""
    clusters: list[Cluster]


@dataclass(slots=True)
class _Cell:
    """The photos in a cell of the grid: their number, their rows, the sums of positions, the highest key."""

    count: int = 0
    rows: int = 0
    lat: float = 0.0
    lng: float = 0.0
    newest_key: int = 0

    def add(self, other: "_Cell") -> None:
        self.count += other.count
        self.rows += other.rows
        self.lat += other.lat
        self.lng += other.lng
        self.newest_key = max(self.newest_key, other.newest_key)


def parse_box(text: str) -> Box:
    """Return the area `west,south,east,north` in degrees; empty: the whole globe.

    The area crosses 180 degrees if west exceeds east.

    Raises:
        InvalidValueError: it is no such area.
    """
    if not text.strip():
        return _GLOBE
    try:
        west, south, east, north = (number.strip() for number in text.split(","))
        box = Box(read_latitude(south), read_latitude(north), read_longitude(west), read_longitude(east))
    except ValueError:
        box = None
    if box is None or box.south > box.north:
        msg = "bbox must be west,south,east,north in degrees, such as 11.3,48,11.8,48.3"
        raise InvalidValueError(msg, field="bbox")
    return box


def find_clusters(connection: Connection, query: PhotoQuery, box: Box, zoom: int) -> Clusters:
    """Return at most `MOST_CLUSTERS` clusters of the photos in the box, the largest first."""
    level = _level(box, zoom)
    grid = _Grid(connection, query, box)
    cells = grid.cells(level)
    while len(cells) > MOST_CLUSTERS:
        cells, level = _halved(cells), level - 1
    side = 360 / 2**level
    ordered = sorted(cells.values(), key=lambda cell: (-cell.count, -cell.newest_key))
    shown = _shown(connection, [cell.newest_key for cell in ordered])
    clusters = []
    for cell in ordered:
        lat, lng = _mean(cell.lat / cell.rows, side, 90), _mean(cell.lng / cell.rows, side, 180)
        clusters.append(Cluster(lat, lng, cell.count, *shown[cell.newest_key]))
    return Clusters(side, clusters)


def _mean(degrees: float, side: float, edge: int) -> float:
    """Round a position to a decimetre unless that moves it into a neighbouring cell."""
    short = round(degrees, 6)
    return short if (short + edge) // side == (degrees + edge) // side else degrees


def _level(box: Box, zoom: int) -> int:
    """Return how often the grid is divided at this zoom, with no more than `_MOST_CELLS` cells in the box."""
    width = (box.east - box.west) % 360 or (360 if box.east > box.west else 0)
    level = zoom + 2  # at zoom 0, the globe is four cells wide
    while level > 0 and (width * 2**level / 360 + 2) * ((box.north - box.south) * 2**level / 360 + 2) > _MOST_CELLS:
        level -= 1
    return level


class _Grid:
    """The photos of a query in a box, by the cells of the grid in which they lie."""

    def __init__(self, connection: Connection, query: PhotoQuery, box: Box) -> None:
        self._connection = connection
        self._photos = find_photos(connection, query, rows_needed=ALL_ROWS)
        by_index = self._photos.covered or self._photos.plan.driver is Driver.WALK_ORDER
        self._inside = in_box(
            box, *(column if by_index else unindexed(column) for column in (SearchRow.lat, SearchRow.lng))
        )

    def cells(self, level: int) -> dict[tuple[int, int], _Cell]:
        """Return the cells with photos in a grid that is divided so often."""
        row, column = self._place(level)
        sums = (func.count(), func.sum(SearchRow.lat), func.sum(SearchRow.lng), func.max(SearchRow.newest_key))
        statement = self._photos.select(row, column, self._photos.count, *sums).where(self._inside)
        cells: dict[tuple[int, int], _Cell] = {}
        for at_row, at_column, *values in self._connection.execute(statement.group_by(row.name, column.name)):
            cells.setdefault(_key(at_row, at_column, level), _Cell()).add(_Cell(*values))
        return cells

    def _place(self, level: int) -> tuple[Label[int], Label[int]]:
        side = 360 / 2**level
        row = _cell_number(SearchRow.lat + 90, side, self._connection).label("cell_row")
        return row, _cell_number(SearchRow.lng + 180, side, self._connection).label("cell_column")


def _key(row: int, column: int, level: int) -> tuple[int, int]:
    """Return the cell with these numbers; the last meridian and the north pole belong to the cells before them."""
    return min(row, max(2**level // 2, 1) - 1), min(column, 2**level - 1)


def _cell_number(distance: ColumnElement[float], side: float, connection: Connection) -> ColumnElement[int]:
    """Return the number of the cell in which a point at this distance from the edge of the grid lies."""
    # SQLite truncates and may have been built without `floor`; PostgreSQL rounds.
    number = distance / side
    return cast(func.floor(number) if connection.dialect.name == "postgresql" else number, Integer)


def _halved(cells: dict[tuple[int, int], _Cell]) -> dict[tuple[int, int], _Cell]:
    """Return the cells of a grid that is divided once less."""
    halved: dict[tuple[int, int], _Cell] = {}
    for (row, column), cell in cells.items():
        halved.setdefault((row // 2, column // 2), _Cell()).add(cell)
    return halved


def _shown(connection: Connection, newest_keys: list[int]) -> dict[int, tuple[str, str, int]]:
    """Return the hash, the place and the turn of the files with these keys."""
    photo_ids = map(FileKey.unpack_photo_id, newest_keys)
    statement = (
        select(SearchRow.newest_key, SearchRow.hash, File.turn, Place.id, Place.label)
        .join(File, File.id == SearchRow.file_id)
        .join(Photo, Photo.id == SearchRow.photo_id)
        .join(Place, Place.id == Photo.place_id)
        .where(SearchRow.photo_id.in_(photo_ids), unindexed(SearchRow.newest_key).in_(newest_keys))
    )
    return {
        newest_key: (content_hash, "" if place_id == UNKNOWN_PLACE else label, turn)
        for newest_key, content_hash, turn, place_id, label in connection.execute(statement)
    }


@dataclass(frozen=True, slots=True)
class CountedTown:
    """A town with photos."""

    country: str
    """ISO 3166 code of two lower-case letters."""
    name: str
    """Empty where photos of the country were taken outside of towns."""
    count: int


def find_towns(connection: Connection, query: PhotoQuery) -> list[CountedTown]:
    """Return at most 2,000 towns of the photos whose country is known, most photos first."""
    photos = find_photos(connection, query, rows_needed=ALL_ROWS)
    columns = SearchRow.country, SearchRow.state_key, SearchRow.city_key
    # The index of the order `place`, which has only listed rows, gives them in order; of other queries, every row would
    # be looked up through it.
    by_index = photos.covered
    in_order = columns if by_index else map(unindexed, columns)
    known = unindexed(SearchRow.country) != UNKNOWN_PLACE
    grouped = photos.select(SearchRow.country, SearchRow.city_key, photos.count.label("photos")).where(known)
    if by_index:
        grouped = grouped.where(SearchRow.listed)
    by_state = grouped.group_by(*in_order).subquery().c
    country, city, count = by_state.country, by_state.city_key, func.sum(by_state.photos)
    statement = select(country, city, cast(count, BigInteger)).group_by(country, city)
    rows = connection.execute(statement.order_by(count.desc(), country, city).limit(_MOST_TOWNS)).all()
    names = _names(connection, {row[0] for row in rows})
    return [CountedTown(code, names.get((code, key), ""), count) for code, key, count in rows]


def _names(connection: Connection, countries: set[str]) -> dict[tuple[str, str], str]:
    """Return the names of towns by country and folded name: only places contain the spelling."""
    written = select(Place.country, Place.city).where(Place.country.in_(countries)).distinct().order_by(Place.city)
    return {(code, fold(city)): city for code, city in connection.execute(written)}
