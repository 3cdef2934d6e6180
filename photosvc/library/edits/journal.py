"""The journal: who changed which photo when, the values before and after, and taking a change back."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, delete, func, or_, select
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import Session

from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.library.edits.values import Difference, dump, wire_name
from photosvc.models import PhotoChange
from photosvc.models.database.plain import insert_of
from photosvc.models.database.prepared import Prepared, prepare_statement, run_many

#: Changes of one photo that are kept: programs that change one for ever fill no disk.
MOST_OF_PHOTO: Final = 1000
#: Photos of one statement.
_PORTION: Final = 500
_TOO_MANY: Final = (
    select(PhotoChange.photo_uid)
    .where(PhotoChange.photo_uid.in_(bindparam("photo_uids", expanding=True)))
    .group_by(PhotoChange.photo_uid)
    .having(func.count() > bindparam("most"))
)
#: What the values of a change contain that made a photo private, or ended that; no text of a person contains it.
_PRIVATE: Final = '"private":true'


@dataclass(frozen=True, slots=True)
class Actor:
    """Who makes a change."""

    uid: str
    name: str

    @staticmethod
    def of(principal: Principal) -> "Actor":
        """The user, else the client, else the credential of a principal."""
        uid = principal.user_uid or principal.client_uid or principal.credential_uid
        return Actor(uid, principal.user_name or principal.credential_name)


@dataclass(slots=True)
class Change:
    """How a change is written into the journal."""

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
    """The number of changes of one photo; compiled once, because every edit asks."""
    query = select(func.count()).where(PhotoChange.photo_uid == bindparam("photo_uid"))
    return prepare_statement(query, dialect)


def changes_of(
    session: Session, photo_uid: str, *, count: int, before: int | None = None, sees_private: bool = True
) -> list[PhotoChange]:
    """The last changes of a photo, the newest first.

    Args:
        session: for reading.
        photo_uid: the photo.
        count: changes at most.
        before: only changes with a lower id.
        sees_private: whether to give what changed while the photo was private, too.

    """
    query = select(PhotoChange).where(PhotoChange.photo_uid == photo_uid)
    if not sees_private:
        query = query.where(PhotoChange.id > _last_private(session, photo_uid))
    if before is not None:
        query = query.where(PhotoChange.id < before)
    return list(session.scalars(query.order_by(PhotoChange.id.desc()).limit(count)))


def _last_private(session: Session, photo_uid: str) -> int:
    """The number of the change that ended the last time in which the photo was private; 0: it never was."""
    written = or_(*(column.contains(_PRIVATE, autoescape=True) for column in (PhotoChange.before, PhotoChange.after)))
    last = select(func.max(PhotoChange.id)).where(PhotoChange.photo_uid == photo_uid, written)
    return session.scalar(last) or 0


def find_change(session: Session, photo_uid: str, number: str, *, sees_private: bool = True) -> PhotoChange:
    """The change of a photo with this number; the arguments are those of `changes_of`.

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
    """The number of the first change of an edit that was written now; None: it changed none of these photos."""
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
    """The changes of these photos, some hundreds at most, that were written with `first`."""
    query = select(PhotoChange).where(
        PhotoChange.photo_uid.in_(photo_uids),
        PhotoChange.id >= first.id,
        PhotoChange.created_at == first.created_at,
        PhotoChange.actor_uid == first.actor_uid,
        PhotoChange.action == first.action,
    )
    return {change.photo_uid: change for change in session.scalars(query.order_by(PhotoChange.id.desc()))}


def find_own(session: Session, number: int, actor: Actor) -> PhotoChange:
    """The change with this number, if it is one of this actor.

    Raises:
        NotFoundError: there is none.

    """
    change = session.get(PhotoChange, number)
    if change is None or change.actor_uid != actor.uid:
        msg = "you made no such change"
        raise NotFoundError(msg, field="change")
    return change


def shown(text: str) -> dict[str, Any]:
    """Values that the journal stores, by their names on the wire."""
    return {wire_name(name): value for name, value in values_of(text).items()}


def values_of(text: str) -> dict[str, Any]:
    """Values as the journal stores them."""
    values: dict[str, Any] = orjson.loads(text)
    return values
