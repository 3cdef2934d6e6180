"""The dead properties of WebDAV in the database (RFC 4918 section 4), the same for all processes of the service."""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Final

from sqlalchemy import delete, func, insert, literal, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.dav.paths import LONGEST, moved, within
from photosvc.models import DavProperty
from photosvc.models.database.inserts import insert_into

#: Characters of the XML of one property.
LONGEST_VALUE: Final = 65_536
#: Bytes of its name with its namespace.
LONGEST_NAME: Final = 500
#: Properties of one resource.
MOST_ON_RESOURCE: Final = 200
#: Properties that one user wrote, and their characters.
MOST_OF_USER: Final = 50_000
MOST_CHARACTERS_OF_USER: Final = 8 * 1024 * 1024

_UNLOADED: Final = {"synchronize_session": False}


#: Path -> name -> the XML element, of the properties of several resources.
Found = dict[str, dict[str, str]]


class PropertyLimitError(PhotosvcError):
    """A property is too large, or there are too many."""

    status = HTTPStatus.INSUFFICIENT_STORAGE


def names(session: Session, path: str) -> list[str]:
    """The names of the properties of a resource."""
    return list(session.scalars(select(DavProperty.name).where(DavProperty.path == path).order_by(DavProperty.name)))


def find_all(session: Session, path: str, wanted: Sequence[str] | None, depth: str) -> Found:
    """The properties of a resource and what is in it.

    Args:
        session: to read with.
        path: in the form of `paths.key`.
        wanted: names; None for all.
        depth: `0`: the resource alone; `1`: and what is directly in it; `infinity`: and all inside it.

    """
    chosen = DavProperty.path == path if depth == "0" else within(DavProperty.path, path)
    if depth == "1":
        rest = func.substr(DavProperty.path, len(path.rstrip("/")) + 2)
        chosen &= func.replace(rest, "/", "") == rest
    if wanted is not None:
        chosen &= DavProperty.name.in_(wanted)
    query = select(DavProperty.path, DavProperty.name, DavProperty.value).where(chosen)
    found: Found = {}
    for one, name, value in session.execute(query.order_by(DavProperty.path, DavProperty.name)):
        found.setdefault(one, {})[name] = value
    return found


def check(session: Session, path: str, values: Mapping[str, str], user_uid: str) -> None:
    """Make sure that a user may store these values, by their names, for a resource.

    Raises:
        PropertyLimitError: they are over a limit.

    """
    if len(path) > LONGEST:
        msg = f"only paths of at most {LONGEST} characters can have properties"
        raise PropertyLimitError(msg)
    if any(len(name.encode()) > LONGEST_NAME for name in values):
        msg = f"the name of a property has at most {LONGEST_NAME} bytes"
        raise PropertyLimitError(msg)
    if any(len(value) > LONGEST_VALUE for value in values.values()):
        msg = f"a property has at most {LONGEST_VALUE} characters"
        raise PropertyLimitError(msg)
    kept = set(names(session, path)) - set(values)
    if len(kept) + len(values) > MOST_ON_RESOURCE:
        msg = f"a file or folder has at most {MOST_ON_RESOURCE} properties"
        raise PropertyLimitError(msg)
    if not _has_room(session, user_uid, len(values), sum(_size(*item) for item in values.items())):
        msg = "too many properties: remove some"
        raise PropertyLimitError(msg)


def write(session: Session, path: str, values: Mapping[str, str], user_uid: str) -> None:
    """Store properties of a resource; the caller has called `locks.serialize` and `check`."""
    for name, value in values.items():
        new = insert_into(DavProperty, session).values(
            path=path, name=name, value=value, size=_size(name, value), user_uid=user_uid
        )
        changed = {column: new.excluded[column] for column in ("value", "size", "user_uid")}
        session.execute(new.on_conflict_do_update(index_elements=["path", "name"], set_=changed))


def remove(session: Session, path: str, removed: Iterable[str]) -> None:
    """Delete properties of a resource by their names; those that it does not have are left out."""
    chosen = DavProperty.path == path, DavProperty.name.in_(list(removed))
    session.execute(delete(DavProperty).where(*chosen), execution_options=_UNLOADED)


def remove_all(session: Session, path: str) -> None:
    """Delete the properties of a resource and of all inside it: it was deleted."""
    session.execute(delete(DavProperty).where(within(DavProperty.path, path)), execution_options=_UNLOADED)


def copy(session: Session, source: str, target: str, user_uid: str, *, deep: bool) -> None:
    """Give the copy of a resource the properties of the original, with `deep` also all inside it.

    A server may leave them out (RFC 4918 section 9.8.2): they are when the user would get over a limit.
    """
    remove_all(session, target)
    chosen = within(DavProperty.path, source) if deep else DavProperty.path == source
    new_path = moved(DavProperty.path, source, target)
    chosen &= func.length(new_path) <= LONGEST
    count, size = session.execute(
        select(func.count(), func.coalesce(func.sum(DavProperty.size), 0)).where(chosen)
    ).one()
    if not count or not _has_room(session, user_uid, count, size):
        return
    columns = ("path", "name", "value", "size", "user_uid")
    rows = select(new_path, DavProperty.name, DavProperty.value, DavProperty.size, literal(user_uid)).where(chosen)
    session.execute(insert(DavProperty).from_select(columns, rows))


def move(session: Session, source: str, target: str) -> None:
    """Let properties follow a resource, and all inside it, to another name."""
    remove_all(session, target)
    new_path = moved(DavProperty.path, source, target)
    chosen = within(DavProperty.path, source)
    too_long = delete(DavProperty).where(chosen, func.length(new_path) > LONGEST)
    session.execute(too_long, execution_options=_UNLOADED)
    session.execute(update(DavProperty).where(chosen).values(path=new_path), execution_options=_UNLOADED)


def _has_room(session: Session, user_uid: str, count: int, size: int) -> bool:
    """Whether a user may store so many properties and characters more; those replaced count twice."""
    own = select(func.count(), func.coalesce(func.sum(DavProperty.size), 0)).where(DavProperty.user_uid == user_uid)
    held, characters = session.execute(own).one()
    return bool(held + count <= MOST_OF_USER and characters + size <= MOST_CHARACTERS_OF_USER)


def _size(name: str, value: str) -> int:
    return len(name) + len(value)
