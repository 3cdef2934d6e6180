"""The named numbers of the library: its state, its changes, and the versions of what was derived from its files."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import BigInteger, Connection, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from photosvc.models.base import Base, Text
from photosvc.models.statements import insert_into

#: Name of the number of committed changes of the library.
CHANGES = "changes"
#: Name of a random number that is drawn with each change: cached values stay valid as long as it is unchanged. A
#: counter would reach the same numbers by other changes after a backup was restored.
STATE = "state"
#: Name of the same for changes of all that is not private: others must not notice a change of a private photo.
OPEN_STATE = "open_state"
#: Name of the projection version by which the search rows were written.
PROJECTION = "projection"
#: Increment it whenever the projection would give other rows for the same library; older rows are stale.
PROJECTION_VERSION = 10
#: Name of the number that stands for the rules by which files were stacked; see `index.restack`.
STACKING = "stacking"
#: Name of a number: 1 if places are estimated, 0 if not; see `index.estimates`.
ESTIMATES = "estimates"
#: The named number of the last backup, in seconds since 1970.
BACKED_UP: Final = "backed_up_at"


class LibraryState(Base, table="library"):
    """A named number of the library."""

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)


def named_number(session: Session | Connection, name: str) -> int | None:
    """Return a named number of the library; None before it is first set."""
    number: int | None = session.scalar(select(LibraryState.value).where(LibraryState.name == name))
    return number


def set_named_numbers(session: Session, numbers: Mapping[str, int]) -> None:
    """Set named numbers of the library, in the session's write transaction."""
    row = insert_into(LibraryState, session)
    row = row.on_conflict_do_update(index_elements=["name"], set_={"value": row.excluded.value})
    session.connection().execute(row, [{"name": name, "value": value} for name, value in numbers.items()])
