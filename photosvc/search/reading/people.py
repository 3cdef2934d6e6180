"""The people and the keywords of a library, with the numbers of their photos."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, Text, cast, exists, func, select

from photosvc.core.ids import LABEL, computed_uid
from photosvc.models import Keyword, Marker, Photo, SearchRow, Subject, photo_keywords
from photosvc.models.library import subject_uid
from photosvc.models.statements import unindexed
from photosvc.query.fold import fold
from photosvc.search.reading.compile import visible


@dataclass(frozen=True, slots=True)
class Person:
    """A person named by markers."""

    uid: str
    name: str
    photo_count: int
    names: frozenset[str] = field(default=frozenset())
    """All spellings of the name on markers."""
    favorite: bool = False


@dataclass(frozen=True, slots=True)
class Label:
    """A keyword."""

    id: int
    uid: str
    name: str
    photo_count: int
    favorite: bool = False


def people(connection: Connection, sees_private: bool) -> list[Person]:
    """Return the people on photos that may be seen, by name.

    Spellings that differ only in case and accents are one person.
    """
    # One row for each spelling: reading one for each marker takes half as long again. The index of the names is not
    # used, because SQLite would look up each marker through it.
    photo_ids = func.aggregate_strings(cast(SearchRow.photo_id, Text), ",")
    query = select(Marker.name, photo_ids).join(SearchRow, SearchRow.file_id == Marker.file_id)
    query = query.where(unindexed(Marker.name) != "", visible(sees_private=sees_private, by_index=False))
    photos: defaultdict[str, set[str]] = defaultdict(set)
    names: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, text in connection.execute(query.group_by(unindexed(Marker.name))):
        folded, marked = fold(name), text.split(",")
        photos[folded].update(marked)
        names[folded][name] = len(marked)
    stored = select(Subject.folded, Subject.uid, Subject.name, Subject.favorite)
    chosen = {row.folded: row for row in connection.execute(stored)}
    found = [
        Person(
            chosen[folded].uid if folded in chosen else subject_uid(folded),
            chosen[folded].name if folded in chosen else max(spellings, key=lambda name: (spellings[name], name)),
            len(photos[folded]),
            frozenset(spellings),
            folded in chosen and chosen[folded].favorite,
        )
        for folded, spellings in names.items()
    ]
    return sorted(found, key=lambda person: (fold(person.name), person.uid))


def labels(connection: Connection, sees_private: bool) -> list[Label]:
    """Return the keywords of photos that may be seen, by name."""
    counts = _keyword_counts(connection, sees_private)
    rows = connection.execute(select(Keyword.id, Keyword.word, Keyword.folded, Keyword.favorite))
    found = [
        Label(row.id, computed_uid(LABEL, row.folded), row.word, counts[row.id], row.favorite)
        for row in rows
        if row.id in counts
    ]
    return sorted(found, key=lambda label: (fold(label.name), label.id))


def _keyword_counts(connection: Connection, sees_private: bool) -> dict[int, int]:
    """Return the number of visible photos by the id of the keyword.

    The numbers of all photos are counted along an index. Those of the few photos that may not be seen are subtracted:
    looking up each keyword's photos among the visible ones takes ten times as long.
    """
    seen = visible(sees_private=sees_private, by_index=False)
    every = connection.scalar(select(func.count()).select_from(Photo)) or 0
    hidden = every - (connection.scalar(select(func.count()).where(SearchRow.is_first, seen)) or 0)
    if hidden * 2 > every:
        return _counts_among(connection, select(SearchRow.photo_id).where(SearchRow.is_first, seen))
    counted = select(photo_keywords.c.keyword_id, func.count()).group_by(photo_keywords.c.keyword_id)
    counts = Counter({row[0]: row[1] for row in connection.execute(counted)})
    if hidden:
        rest = select(Photo.id).where(~exists().where(SearchRow.photo_id == Photo.id, seen))
        counts.subtract(_counts_among(connection, rest))
    return {keyword: count for keyword, count in counts.items() if count > 0}


def _counts_among(connection: Connection, photo_ids: Select[Any]) -> dict[int, int]:
    """Return the number of these photos by the id of the keyword."""
    keyword = unindexed(photo_keywords.c.keyword_id)  # the index of the keywords contains all photos
    query = select(keyword, func.count()).where(photo_keywords.c.photo_id.in_(photo_ids)).group_by(keyword)
    return {row[0]: row[1] for row in connection.execute(query)}
