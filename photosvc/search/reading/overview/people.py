"""The people and the keywords of a library, with the numbers of their photos."""

from collections import defaultdict
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from photosvc.core.ids import LABEL, computed_uid
from photosvc.models import Keyword, Marker, SearchRow, Subject, photo_keywords
from photosvc.models.content.people import subject_uid
from photosvc.query.fold import fold
from photosvc.search.reading.conditions.visible import visible


@dataclass(frozen=True, slots=True)
class Person:
    """A person whose name markers have."""

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
    """The people on photos that may be seen, by name. Spellings that differ in case and accents are one person."""
    query = select(Marker.name, SearchRow.photo_id).join(SearchRow, SearchRow.file_id == Marker.file_id)
    query = query.where(Marker.name != "", visible(sees_private=sees_private, by_index=False))
    photos: defaultdict[str, set[int]] = defaultdict(set)
    names: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, photo_id in connection.execute(query):
        folded = fold(name)
        photos[folded].add(photo_id)
        names[folded][name] = names[folded].get(name, 0) + 1
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
    """The keywords of photos that may be seen, by name."""
    # Apart from the keywords: SQLite would look for each keyword in each photo.
    shown = select(SearchRow.photo_id).where(visible(sees_private=sees_private))
    query = select(photo_keywords.c.keyword_id, func.count()).where(photo_keywords.c.photo_id.in_(shown))
    counts = {row[0]: row[1] for row in connection.execute(query.group_by(photo_keywords.c.keyword_id))}
    rows = connection.execute(select(Keyword.id, Keyword.word, Keyword.folded, Keyword.favorite))
    found = [
        Label(row.id, computed_uid(LABEL, row.folded), row.word, counts[row.id], row.favorite)
        for row in rows
        if row.id in counts
    ]
    return sorted(found, key=lambda label: (fold(label.name), label.id))
