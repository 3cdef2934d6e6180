"""The state of the library: its number, entity tags made from it, and values that are kept until it changes.

Entity tags (RFC 9110 section 8.8.3) are made from the state number, so that they change with the library.
"""

import hashlib
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, TypeVar

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.engine import Dialect

from photosvc.models import PROJECTION_VERSION, STATE, LibraryState
from photosvc.models.statements import Prepared, prepare_statement

if TYPE_CHECKING:
    from photosvc.search.reading.request import SearchRequest

Value = TypeVar("Value")


@lru_cache(maxsize=8)
def _state(dialect: Dialect) -> Prepared:
    return prepare_statement(select(LibraryState.value).where(LibraryState.name == bindparam("name")), dialect)


def page_tag(state: int, request: "SearchRequest", *, sees_private: bool) -> str | None:
    """Return the entity tag of a page in this state of the library; None if its seed was drawn at random."""
    if not request.repeats:
        return None
    return _tag(state, request, sees_private=sees_private, today=request.today)


def content_tag(*made_of: object) -> str:
    """Return the entity tag of an answer to a visitor or guest, made from its content.

    The state of the library would tell when people change photos that are not shared.
    """
    return hashlib.blake2b(repr(made_of).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def library_state(connection: Connection) -> int:
    """Return the state number of the library, a random number that differs after each change."""
    ((state,),) = _state(connection.dialect).run(connection, {"name": STATE}) or [(0,)]
    return int(state)


def state_tag(connection: Connection, *made_of: object, sees_private: bool, today: date) -> str:
    """Return the entity tag of an answer made from the library's state, the right to private photos, day and `made_of`.

    Pass requests and queries whole, so that the tag contains all their fields, also those that are added one day.
    """
    return _tag(library_state(connection), *made_of, sees_private=sees_private, today=today)


def _tag(state: int, *made_of: object, sees_private: bool, today: date) -> str:
    # The filter of a smart album may say `last week`.
    return content_tag(state, today.toordinal(), PROJECTION_VERSION, sees_private, *made_of)


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
