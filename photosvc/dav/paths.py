"""The resources of WebDAV as locks and properties name them: quoted paths without a slash at the end."""

from typing import Any, Final

from sqlalchemy import ColumnElement, and_, func, literal, or_
from sqlalchemy.orm import InstrumentedAttribute

#: Characters of a path that locks and properties are stored for: the longest index entry of PostgreSQL is 2,700 bytes.
LONGEST: Final = 2000


def key(url: str) -> str:
    """The form of `DavLock.root` and `DavProperty.path` of a quoted URL path."""
    return "/" + url.strip("/")


def ancestors(path: str) -> list[str]:
    """The folders that contain the resource and can be locked, the nearest first; `path` in the form of `key`."""
    found = []
    if len(path) > LONGEST:
        path = path[: LONGEST + 1]
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        found.append(path)
    return found


def below(column: InstrumentedAttribute[str], path: str) -> ColumnElement[bool]:
    """Whether the column names a resource inside the folder; `0` follows `/` in the order of characters."""
    folder = path.rstrip("/")
    return and_(column > folder + "/", column < folder + "0")


def within(column: InstrumentedAttribute[str], path: str) -> ColumnElement[bool]:
    """Whether the column names the resource or one inside it."""
    at: ColumnElement[bool] = column == path
    return or_(at, below(column, path))


def moved(column: InstrumentedAttribute[str], source: str, target: str) -> Any:  # noqa: ANN401 - a column expression
    """What the column becomes when `source` is renamed `target`."""
    return literal(target) + func.substr(column, len(source) + 1)
