"""The people and the keywords of a library, with the numbers of their photos."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from sqlalchemy import Connection, Select, Text, cast, func, select

from photosvc.core.ids import LABEL, computed_uid
from photosvc.models import Keyword, Marker, Photo, SearchRow, Subject, photo_keywords
from photosvc.models.library import subject_uid
from photosvc.models.statements import in_portions, unindexed
from photosvc.query.fold import fold
from photosvc.search.reading.compile import visible, visible_photos
from photosvc.search.reading.covers import hashes_of_covers, latest


@dataclass(frozen=True, slots=True)
class Person:
    """A person named by markers."""

    uid: str
    name: str
    photo_count: int
    names: frozenset[str] = field(default=frozenset())
    """All spellings of the name on markers."""
    favorite: bool = False
    hidden: bool = False
    """True if lists leave them out."""
    birth_date: date | None = None
    latest: str = ""
    """The packed sort keys of the latest photo; see `covers.latest`."""
    added: int = 0
    """Rises with the time of adding: the id of the first of the photos."""
    thumb: str = ""
    """The hash of the latest photo, if it was asked for."""


@dataclass(frozen=True, slots=True)
class Label:
    """A keyword."""

    id: int
    uid: str
    name: str
    photo_count: int
    favorite: bool = False
    thumb: str = ""
    """The hash of the latest photo, if it was asked for."""

    @property
    def added(self) -> int:
        """Return a number that rises with the time of adding."""
        return self.id


@dataclass(slots=True)
class MarkedPerson:
    """A person as marked on photos, under all spellings that differ only in case and accents."""

    ids: set[str] = field(default_factory=set)
    spellings: dict[str, int] = field(default_factory=dict)
    latest: str = ""

    @property
    def name(self) -> str:
        """Return the most frequent spelling."""
        return max(self.spellings, key=lambda name: (self.spellings[name], name))


def by_person(rows: Iterable[Any]) -> dict[str, MarkedPerson]:
    """Return the people by their folded names.

    Args:
        rows: for each spelling, the ids of its files or photos joined by commas, and the latest packed sort keys.
    """
    people: defaultdict[str, MarkedPerson] = defaultdict(MarkedPerson)
    for name, ids, newest in rows:
        person, marked = people[fold(name)], ids.split(",")
        person.ids.update(marked)
        person.spellings[name] = len(marked)
        person.latest = max(person.latest, newest)
    return people


def read_people(connection: Connection, *, sees_private: bool) -> list[Person]:
    """Return the people on photos that may be seen, by name; also the hidden ones.

    Spellings that differ only in case and accents are one person.
    """
    # One row for each spelling: reading one for each marker takes half as long again. The index of the names is not
    # used, because SQLite would look up each marker through it.
    photo_ids = func.aggregate_strings(cast(SearchRow.photo_id, Text), ",")
    query = select(Marker.name, photo_ids, latest()).join(SearchRow, SearchRow.file_id == Marker.file_id)
    query = query.where(unindexed(Marker.name) != "", visible(sees_private=sees_private, by_index=False))
    marked = by_person(connection.execute(query.group_by(unindexed(Marker.name))))
    favorite = (Subject.favorite if sees_private else Subject.favorite_open).label("favorite")
    stored = select(Subject.folded, Subject.uid, Subject.name, favorite, Subject.hidden, Subject.birth_date)
    chosen = {row.folded: row for row in connection.execute(stored)}
    listed = [
        Person(
            chosen[folded].uid if folded in chosen else subject_uid(folded),
            chosen[folded].name if folded in chosen else person.name,
            len(person.ids),
            frozenset(person.spellings),
            folded in chosen and chosen[folded].favorite,
            folded in chosen and chosen[folded].hidden,
            chosen[folded].birth_date if folded in chosen else None,
            person.latest,
            min(map(int, person.ids)),
        )
        for folded, person in marked.items()
    ]
    return sorted(listed, key=lambda person: (fold(person.name), person.uid))


def names_of_hidden(connection: Connection) -> frozenset[str]:
    """Return the names of the hidden people, without case and accents."""
    return frozenset(connection.scalars(select(Subject.folded).where(Subject.hidden)))


def areas_on_covers(connection: Connection, people: Sequence[Person]) -> dict[str, tuple[float, float, float, float]]:
    """Return the largest area of each person on their latest photo, as left, top, width and height, by their UIDs.

    Args:
        people: some hundreds at most, with the hashes of their latest photos.
    """
    shown = {(person.thumb, name): person.uid for person in people if person.thumb for name in person.names}
    query = select(SearchRow.hash, Marker.name, Marker.x, Marker.y, Marker.w, Marker.h)
    query = query.join(SearchRow, SearchRow.file_id == Marker.file_id)
    areas: dict[str, tuple[float, float, float, float]] = {}
    rows = connection.execute(query.where(SearchRow.hash.in_({thumb for thumb, _ in shown})))
    for content_hash, name, *area in sorted(rows, key=lambda row: row.w * row.h):
        if (uid := shown.get((content_hash, name))) is not None:
            areas[uid] = (area[0], area[1], area[2], area[3])
    return areas


def with_covers_of_labels(connection: Connection, labels: Sequence[Label], *, sees_private: bool) -> list[Label]:
    """Return the labels with the hashes of their latest photos; this reads all photos with these labels."""
    packed: dict[int, str] = {}
    for portion in in_portions([label.id for label in labels]):
        query = select(photo_keywords.c.keyword_id, latest())
        query = query.join(SearchRow, SearchRow.photo_id == photo_keywords.c.photo_id)
        query = query.where(photo_keywords.c.keyword_id.in_(portion), visible_photos(sees_private=sees_private))
        packed.update((row[0], row[1]) for row in connection.execute(query.group_by(photo_keywords.c.keyword_id)))
    hashes = hashes_of_covers(connection, packed.values(), sees_private=sees_private)
    return [replace(label, thumb=hashes.get(packed.get(label.id, ""), "")) for label in labels]


def read_labels(connection: Connection, *, sees_private: bool) -> list[Label]:
    """Return the keywords of photos that may be seen, by name."""
    counts = _keyword_counts(connection, sees_private=sees_private)
    favorite = (Keyword.favorite if sees_private else Keyword.favorite_open).label("favorite")
    rows = connection.execute(select(Keyword.id, Keyword.word, Keyword.folded, favorite))
    labels = [
        Label(row.id, computed_uid(LABEL, row.folded), row.word, counts[row.id], row.favorite)
        for row in rows
        if row.id in counts
    ]
    return sorted(labels, key=lambda label: (fold(label.name), label.id))


def _keyword_counts(connection: Connection, *, sees_private: bool) -> dict[int, int]:
    """Return the number of visible photos by the id of the keyword.

    The numbers of all photos are counted along an index. Those of the few photos that may not be seen are subtracted:
    looking up each keyword's photos among the visible ones takes ten times as long.
    """
    shown = select(SearchRow.photo_id).where(visible_photos(sees_private=sees_private))
    every = connection.scalar(select(func.count()).select_from(Photo)) or 0
    hidden = every - (connection.scalar(select(func.count()).select_from(shown.subquery())) or 0)
    if hidden * 2 > every:
        return _counts_among(connection, shown)
    counted = select(photo_keywords.c.keyword_id, func.count()).group_by(photo_keywords.c.keyword_id)
    counts = Counter({row[0]: row[1] for row in connection.execute(counted)})
    if hidden:
        counts.subtract(_counts_among(connection, select(Photo.id).where(Photo.id.not_in(shown))))
    return {keyword: count for keyword, count in counts.items() if count > 0}


def _counts_among(connection: Connection, photo_ids: Select[Any]) -> dict[int, int]:
    """Return the number of these photos by the id of the keyword."""
    keyword = unindexed(photo_keywords.c.keyword_id)  # the index of the keywords contains all photos
    query = select(keyword, func.count()).where(photo_keywords.c.photo_id.in_(photo_ids)).group_by(keyword)
    return {row[0]: row[1] for row in connection.execute(query)}
