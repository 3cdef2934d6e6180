"""Photos that a batch changes: selected by UIDs, or by a query with the number that it must find."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, select

from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.models import SearchRow
from photosvc.search.reading.conditions.visible import EVERY_SWITCH, visible
from photosvc.search.reading.lookup import matching_ids
from photosvc.search.reading.request import parse_request

_PORTION: Final = 500


def selected_photos(connection: Connection, given: Mapping[str, Any], *, most: int, sees_private: bool) -> list[int]:
    """The ids of the photos that `photos`, or `q` with `expected`, selects; what may not be seen is left out.

    Raises:
        InvalidValueError: nothing or too much is selected, or `expected` is missing.
        InvalidQueryError: the query is not valid.
        ConflictError: the query finds another number of photos than `expected`.

    """
    uids, query = list(dict.fromkeys(given["photos"] or ())), (given["q"] or "").strip()
    if not (uids or query):
        msg = "No items selected"
        raise InvalidValueError(msg, field="photos")
    if uids and query:
        msg = "select photos either by UIDs or by a query"
        raise InvalidValueError(msg, field="q")
    too_many = InvalidValueError(f"more than {most:,} photos are selected", field="photos" if uids else "q")
    if len(uids) > most:
        raise too_many
    if uids:
        if not all(is_uid(uid, PHOTO) for uid in uids):
            msg = "an item of photos is not a photo UID"
            raise InvalidValueError(msg, field="photos")
        return _ids(connection, SearchRow.photo_uid, uids, sees_private=sees_private)
    if given["expected"] is None:
        msg = "say how many photos the query must find"
        raise InvalidValueError(msg, field="expected")
    request = parse_request({"q": query, "order": "oldest", "merged": "true", "count": "100000"})
    files = matching_ids(connection, request, sees_private=sees_private)
    found = _ids(connection, SearchRow.file_id, files, sees_private=sees_private)
    if len(found) != given["expected"]:
        msg = f"the query finds {len(found)} photos, not {given['expected']}"
        raise ConflictError(msg, field="expected")
    if len(found) > most:
        raise too_many
    return found


def _ids(connection: Connection, column: Any, values: Any, *, sees_private: bool) -> list[int]:  # noqa: ANN401
    found: dict[int, None] = {}
    for start in range(0, len(values), _PORTION):
        query = select(SearchRow.photo_id).where(column.in_(values[start : start + _PORTION]))
        seen = query.where(visible(sees_private=sees_private, opened=EVERY_SWITCH))
        found |= dict.fromkeys(connection.scalars(seen))
    return sorted(found)
