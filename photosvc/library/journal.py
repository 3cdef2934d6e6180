"""The journal: the actor and the time of each change of a photo, and the values before and after, to take it back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import LargeBinary, bindparam, cast, delete, func, literal, or_, select, update
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.library.values import Difference, dump, wire_name
from photosvc.models import JournalSize, PhotoChange
from photosvc.models.plain import insert_of
from photosvc.models.statements import Prepared, insert_into, prepare_statement, run_many

#: Most changes of one photo that are kept: programs that keep changing one photo fill no disk.
MOST_OF_PHOTO: Final = 1000
#: Most bytes of the values in the changes of one actor, and `_ENTRY` for each change; beyond that, the oldest ones are
#: deleted, a tenth at a time.
MOST_BYTES: Final = 64 << 20
_ENTRY: Final = 100
#: Photos of one statement.
_PORTION: Final = 500
_TOO_MANY: Final = (
    select(PhotoChange.photo_uid)
    .where(PhotoChange.photo_uid.in_(bindparam("photo_uids", expanding=True)))
    .group_by(PhotoChange.photo_uid)
    .having(func.count() > bindparam("most"))
)
#: Text in the values of a change that made a photo private, or ended that; no text of a person contains it.
_PRIVATE: Final = '"private":true'


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or program that makes a change."""

    uid: str
    name: str

    @staticmethod
    def of(principal: Principal) -> "Actor":
        """Return the user, else the client, else the credential of a principal."""
        uid = principal.user_uid or principal.client_uid or principal.credential_uid
        return Actor(uid, principal.user_name or principal.credential_name)


@dataclass(slots=True)
class Change:
    """The form of a change in the journal."""

    action: str
    actor: Actor
    undoes: int | None = None
    """The number of the change that it takes back."""


def record(session: Session, change: Change, now: datetime, differences: Mapping[str, Difference]) -> None:
    """Add a change of photos, by their UIDs, to the journal: the values that differ, before and after."""
    shared: dict[str, object] = {
        "action": change.action,
        "actor_uid": change.actor.uid,
        "actor_name": change.actor.name,
    }
    shared |= {"undoes": change.undoes, "created_at": now}
    entries = [
        {"photo_uid": photo_uid, "before": dump(before), "after": dump(after), **shared}
        for photo_uid, (before, after) in differences.items()
    ]
    run_many(session.connection(), insert_of(PhotoChange), entries)
    _forget_oldest(session, list(differences))
    _count_bytes(session, change.actor.uid, sum(map(_size, entries)))


def _size(entry: Mapping[str, Any]) -> int:
    return len(entry["before"].encode()) + len(entry["after"].encode()) + _ENTRY


def _count_bytes(session: Session, actor_uid: str, size: int) -> None:
    """Count further bytes of an actor's changes, and delete the oldest ones beyond `MOST_BYTES`."""
    if not size:
        return
    row = insert_into(JournalSize, session).values(actor_uid=actor_uid, size=size)
    total = JournalSize.size + row.excluded.size
    counted = row.on_conflict_do_update(index_elements=["actor_uid"], set_={"size": total}).returning(JournalSize.size)
    if (session.connection().execute(counted).scalar() or 0) > MOST_BYTES:
        _forget_oldest_of(session, actor_uid)


def _forget_oldest_of(session: Session, actor_uid: str) -> None:
    """Delete an actor's oldest changes, until nine tenths of `MOST_BYTES` are left, and count the rest again.

    Fewer may be there than were counted, because changes are also deleted with their photos.
    """
    connection, own = session.connection(), PhotoChange.actor_uid == actor_uid
    is_sqlite = connection.dialect.name == "sqlite"
    sizes = (
        func.length(cast(column, LargeBinary)) if is_sqlite else func.octet_length(column)
        for column in (PhotoChange.before, PhotoChange.after)
    )
    newest = select(PhotoChange.id, sum(sizes, literal(_ENTRY))).where(own).order_by(PhotoChange.id.desc())
    total, last = 0, None
    with connection.execute(newest.execution_options(yield_per=_PORTION)) as rows:
        for number, size in rows:
            if total + size > MOST_BYTES * 9 // 10:
                last = number
                break
            total += size
    if last is not None:
        gone = delete(PhotoChange).where(own, PhotoChange.id <= last)
        session.execute(gone, execution_options={"synchronize_session": False})
    counted = update(JournalSize).where(JournalSize.actor_uid == actor_uid).values(size=total)
    session.execute(counted, execution_options={"synchronize_session": False})


def _forget_oldest(session: Session, photo_uids: Sequence[str]) -> None:
    """Delete the oldest changes of photos that have more than `MOST_OF_PHOTO`."""
    connection = session.connection()
    for start in range(0, len(photo_uids), _PORTION):
        some = list(photo_uids[start : start + _PORTION])
        if len(some) == 1:
            row = _prepared(connection.dialect).run(connection, {"photo_uid": some[0]})[0]
            too_many = some if row[0] > MOST_OF_PHOTO else []
        else:
            values = {"photo_uids": some, "most": MOST_OF_PHOTO}
            too_many = [row[0] for row in connection.execute(_TOO_MANY, values)]
        for uid in too_many:
            own = PhotoChange.photo_uid == uid
            last = select(PhotoChange.id).where(own).order_by(PhotoChange.id.desc()).offset(MOST_OF_PHOTO).limit(1)
            gone = delete(PhotoChange).where(own, PhotoChange.id <= session.scalar(last))
            session.execute(gone, execution_options={"synchronize_session": False})


@lru_cache(maxsize=2)
def _prepared(dialect: Dialect) -> Prepared:
    """Return the query for the number of changes of one photo; it is compiled once, because every edit asks."""
    query = select(func.count()).where(PhotoChange.photo_uid == bindparam("photo_uid"))
    return prepare_statement(query, dialect)


def changes_of(
    session: Session, photo_uid: str, *, count: int, before: int | None = None, sees_private: bool = True
) -> list[PhotoChange]:
    """Return the last changes of a photo, the newest first.

    Args:
        count: changes at most.
        before: only changes with a lower id.
        sees_private: false leaves out the changes up to the last one from or to a private photo.
    """
    query = select(PhotoChange).where(PhotoChange.photo_uid == photo_uid)
    if not sees_private:
        query = query.where(PhotoChange.id > _last_private(session, photo_uid))
    if before is not None:
        query = query.where(PhotoChange.id < before)
    return list(session.scalars(query.order_by(PhotoChange.id.desc()).limit(count)))


def _last_private(session: Session, photo_uid: str) -> int:
    """Return the number of the change that ended the last time in which the photo was private; 0: it never was."""
    written = or_(*(column.contains(_PRIVATE, autoescape=True) for column in (PhotoChange.before, PhotoChange.after)))
    last = select(func.max(PhotoChange.id)).where(PhotoChange.photo_uid == photo_uid, written)
    return session.scalar(last) or 0


def find_change(session: Session, photo_uid: str, number: str, *, sees_private: bool = True) -> PhotoChange:
    """Return the change of a photo with this number; the arguments are those of `changes_of`.

    Raises:
        NotFoundError: there is none.
    """
    valid = re.fullmatch(r"[0-9]{1,18}", number, re.ASCII)
    change = session.get(PhotoChange, int(number)) if valid else None
    is_seen = sees_private or (change is not None and change.id > _last_private(session, photo_uid))
    if change is None or change.photo_uid != photo_uid or not is_seen:
        msg = "the photo has no such change"
        raise NotFoundError(msg, field="n")
    return change


def first_of_batch(session: Session, photo_uids: Sequence[str], change: Change, now: datetime) -> int | None:
    """Return the number of the first change of an edit that was written now; None: it changed none of these photos."""
    found = [
        session.scalar(
            select(func.min(PhotoChange.id)).where(
                PhotoChange.photo_uid.in_(photo_uids[start : start + _PORTION]),
                PhotoChange.created_at == now,
                PhotoChange.actor_uid == change.actor.uid,
                PhotoChange.action == change.action,
            )
        )
        for start in range(0, len(photo_uids), _PORTION)
    ]
    return min((number for number in found if number), default=None)


def changes_of_batch(session: Session, photo_uids: Sequence[str], first: PhotoChange) -> dict[str, PhotoChange]:
    """Return the changes of these photos, some hundreds at most, that were written with `first`."""
    query = select(PhotoChange).where(
        PhotoChange.photo_uid.in_(photo_uids),
        PhotoChange.id >= first.id,
        PhotoChange.created_at == first.created_at,
        PhotoChange.actor_uid == first.actor_uid,
        PhotoChange.action == first.action,
    )
    return {change.photo_uid: change for change in session.scalars(query.order_by(PhotoChange.id.desc()))}


def find_own(session: Session, number: int, actor: Actor) -> PhotoChange:
    """Return the change with this number, if it is one of this actor.

    Raises:
        NotFoundError: there is none.
    """
    change = session.get(PhotoChange, number)
    if change is None or change.actor_uid != actor.uid:
        msg = "you made no such change"
        raise NotFoundError(msg, field="change")
    return change


def shown(text: str) -> dict[str, Any]:
    """Return values that the journal stores, by their names on the wire."""
    return {wire_name(name): value for name, value in values_of(text).items()}


def values_of(text: str) -> dict[str, Any]:
    """Return values from the text that the journal stores."""
    values: dict[str, Any] = orjson.loads(text)
    return values
