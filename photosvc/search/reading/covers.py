"""Covers: the latest photo of each group of photos, found by the statement that counts the group.

The latest photo is the first one in the order `newest`. Its sort keys are packed into one text, so that an aggregate
finds the row without sorting the group.
"""

from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Text, cast, func, select

from photosvc.core.words import in_portions
from photosvc.models import SearchRow, photo_keywords
from photosvc.search.reading.compile import visible

#: Added to both sort keys, so that each has 19 digits: times of the years 1 to 9999, and keys below 2^62.
_OFFSET: Final = 10**18
_DIGITS: Final = 19


def latest(taken_at: ColumnElement[int] | Any, newest_key: ColumnElement[int] | Any) -> ColumnElement[str]:  # noqa: ANN401
    """Return the aggregate that packs the sort keys of the latest of a group of rows; packed texts compare alike."""
    return func.max(_digits(taken_at) + _digits(newest_key))


def _digits(key: Any) -> ColumnElement[str]:  # noqa: ANN401
    return cast(key + _OFFSET, Text)


def hashes_of_covers(connection: Connection, packed: Iterable[str], *, sees_private: bool) -> dict[str, str]:
    """Return the hash of the file with each of these packed sort keys."""
    keys = {int(text[_DIGITS:]) - _OFFSET: text for text in packed if text}
    found: dict[str, str] = {}
    for portion in in_portions(list(keys)):
        query = select(SearchRow.newest_key, SearchRow.hash)
        query = query.where(visible(sees_private=sees_private), SearchRow.newest_key.in_(portion))
        found.update((keys[key], content_hash) for key, content_hash in connection.execute(query))
    return found


def covers_of_labels(connection: Connection, label_ids: Iterable[int], *, sees_private: bool) -> dict[int, str]:
    """Return the hash of the latest photo by the id of the keyword."""
    packed: dict[int, str] = {}
    for portion in in_portions(list(label_ids)):
        query = select(photo_keywords.c.keyword_id, latest(SearchRow.taken_at, SearchRow.newest_key))
        query = query.join(SearchRow, SearchRow.photo_id == photo_keywords.c.photo_id)
        query = query.where(photo_keywords.c.keyword_id.in_(portion), SearchRow.is_first)
        query = query.where(visible(sees_private=sees_private, by_index=False))
        packed.update((row[0], row[1]) for row in connection.execute(query.group_by(photo_keywords.c.keyword_id)))
    hashes = hashes_of_covers(connection, packed.values(), sees_private=sees_private)
    return {label: hashes[text] for label, text in packed.items() if text in hashes}
