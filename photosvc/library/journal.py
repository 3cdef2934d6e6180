"""The journal: each change of a photo with its actor, its time, and the values before and after it."""

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import orjson
from sqlalchemy import bindparam, delete, func, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.library.edits import Difference, wire_name
from photosvc.models import PhotoChange
from photosvc.models.statements import UNLOADED, in_portions, insert_of, run_many

#: Most changes of one photo that are stored, so that a program cannot fill the disk by changing it.
MOST_OF_PHOTO: Final = 100
_TOO_MANY: Final = (
    select(PhotoChange.photo_uid)
    .where(PhotoChange.photo_uid.in_(bindparam("photo_uids", expanding=True)))
    .group_by(PhotoChange.photo_uid)
    .having(func.count() > bindparam("most"))
)
#: Text in the values of a change from or to a private photo; JSON escapes the quotes in texts of people.
_PRIVATE: Final = '"private":true'


@dataclass(frozen=True, slots=True)
class Author:
    """The person or program that makes a change."""

    uid: str
    name: str

    @staticmethod
    def of(principal: Principal) -> "Author":
        """Return the user, else the client, else the credential of a principal."""
        uid = principal.user_uid or principal.client_uid or principal.credential_uid
        return Author(uid, principal.user_name or principal.credential_name)


@dataclass(slots=True)
class Change:
    """A change of one photo or of many, as the journal has it."""

    action: str
    actor: Author
    undoes: int | None = None
    """The number of the change that it undoes."""
    batch: int = field(default_factory=lambda: secrets.randbits(62))
    """A number that all of its entries in the journal have."""


def record(session: Session, change: Change, now: datetime, differences: Mapping[str, Difference]) -> None:
    """Add a change to the journal.

    Args:
        differences: UID of a photo -> its values that differ, before and after.
    """
    shared: dict[str, Any] = {"actor_uid": change.actor.uid, "actor_name": change.actor.name}
    shared |= {"action": change.action, "undoes": change.undoes, "batch": change.batch, "created_at": now}
    entries = [
        {"photo_uid": photo_uid, "before": stored_text(before), "after": stored_text(after), **shared}
        for photo_uid, (before, after) in differences.items()
    ]
    run_many(session.connection(), insert_of(PhotoChange), entries)
    _forget_oldest(session, list(differences))


def _forget_oldest(session: Session, photo_uids: Sequence[str]) -> None:
    """Delete the oldest changes of photos that have more than `MOST_OF_PHOTO`."""
    connection = session.connection()
    for portion in in_portions(photo_uids):
        values = {"photo_uids": list(portion), "most": MOST_OF_PHOTO}
        for uid in connection.scalars(_TOO_MANY, values).all():
            of_photo = PhotoChange.photo_uid == uid
            last = select(PhotoChange.id).where(of_photo).order_by(PhotoChange.id.desc()).offset(MOST_OF_PHOTO).limit(1)
            oldest = delete(PhotoChange).where(of_photo, PhotoChange.id <= session.scalar(last))
            session.execute(oldest, execution_options=UNLOADED)


def changes_of(
    session: Session, photo_uid: str, *, count: int, before: int | None = None, sees_private: bool = True
) -> list[PhotoChange]:
    """Return the last changes of a photo, the newest first.

    Args:
        before: return only changes with a lower id.
        sees_private: if false, leave out the changes up to the last one from or to a private photo.
    """
    query = select(PhotoChange).where(PhotoChange.photo_uid == photo_uid)
    if not sees_private:
        query = query.where(PhotoChange.id > _last_private(session, photo_uid))
    if before is not None:
        query = query.where(PhotoChange.id < before)
    return list(session.scalars(query.order_by(PhotoChange.id.desc()).limit(count)))


def _last_private(session: Session, photo_uid: str) -> int:
    """Return the number of the last change from or to a private photo; 0 if there is none."""
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
        raise NotFoundError("the photo has no such change", field="n")
    return change


def first_of_batch(session: Session, photo_uids: Sequence[str], change: Change) -> int | None:
    """Return the number of the first entry of a change of these photos; None: it changed none of them."""
    first = select(func.min(PhotoChange.id)).where(PhotoChange.batch == change.batch)
    numbers = (session.scalar(first.where(PhotoChange.photo_uid.in_(portion))) for portion in in_portions(photo_uids))
    return min((number for number in numbers if number), default=None)


def entries_of_batch(session: Session, photo_uids: Sequence[str], batch: int) -> dict[str, list[PhotoChange]]:
    """Return the entries of a change by the UIDs of these photos, some hundreds at most; the last ones come first."""
    query = select(PhotoChange).where(PhotoChange.photo_uid.in_(photo_uids), PhotoChange.batch == batch)
    entries: dict[str, list[PhotoChange]] = {}
    for entry in session.scalars(query.order_by(PhotoChange.id.desc())):
        entries.setdefault(entry.photo_uid, []).append(entry)
    return entries


def find_own(session: Session, number: int, actor: Author) -> PhotoChange:
    """Return the change with this number.

    Raises:
        NotFoundError: the actor made no such change.
    """
    change = session.get(PhotoChange, number)
    if change is None or change.actor_uid != actor.uid:
        raise NotFoundError("you made no such change", field="change")
    return change


def wire_values(text: str) -> dict[str, Any]:
    """Return values that the journal stores, by their names on the wire."""
    return {wire_name(name): value for name, value in values_of(text).items()}


def values_of(text: str) -> dict[str, Any]:
    """Return values from the text that the journal stores."""
    values: dict[str, Any] = orjson.loads(text)
    return values


def stored_text(values: Mapping[str, Any]) -> str:
    """Return the text that the journal stores for values."""
    return orjson.dumps(values).decode()
