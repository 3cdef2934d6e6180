"""The state of the library: its number, entity tags made from it, and values that are kept until it changes.

Entity tags (RFC 9110 section 8.8.3) are made from the state number, so that they change with the library. It changes
with private photos too, so it makes no tags for callers who do not see these: they get tags of whole bodies.
"""

import hashlib
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.engine import Dialect

from photosvc.models import OPEN_STATE, PROJECTION_VERSION, STATE, LibraryState
from photosvc.models.statements import Prepared, prepare_statement

if TYPE_CHECKING:
    from photosvc.search.reading.request import SearchRequest

Value = TypeVar("Value")


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(state: int, request: "SearchRequest", *, sees_private: bool) -> str | None:
    """Return the entity tag of a page in this state of the library; None if its seed was drawn at random.

    None also for callers who do not see private photos, as for `state_tag`.
    """
    return _tag(state, request, today=request.today) if request.repeats and sees_private else None


def library_state(connection: Connection, *, sees_private: bool = True) -> int:
    """Return the state number of the library, a random number that differs after each change.

    For callers who do not see private photos, it stays the same after changes of these.
    """
    name = STATE if sees_private else OPEN_STATE
    ((state,),) = _state(connection.dialect).run(connection, {"name": name}) or [(0,)]
    return int(state)


def state_tag(connection: Connection, *made_of: object, sees_private: bool, today: date) -> str | None:
    """Return the entity tag of an answer made from the library's state, the day and `made_of`.

    Pass requests and queries whole, so that the tag contains all their fields, also those that are added one day.

    None for callers who do not see private photos: `web.responses` tags their answers by the body.
    """
    return _tag(library_state(connection), *made_of, today=today) if sees_private else None


def _tag(state: int, *made_of: object, today: date) -> str:
    # The filter of a smart album may say `last week`.
    text = repr((state, today.toordinal(), PROJECTION_VERSION, *made_of))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Kept(Generic[Value]):
    """A cached value of the library, one for callers who see private photos and one for others."""

    def __init__(self, read: Callable[[Connection, bool], Value]) -> None:
        self._read = read
        self._kept: dict[bool, tuple[int, Value]] = {}

    def read(self, connection: Connection, *, sees_private: bool) -> Value:
        """Return the value for the present state of the library."""
        state = library_state(connection)
        kept = self._kept.get(sees_private)
        if kept is None or kept[0] != state or not state:  # without a state number, no change is noticed
            self._kept[sees_private] = kept = (state, self._read(connection, sees_private))
        return kept[1]
