"""Selected files that wait to be downloaded as an archive, in the database, so that any worker can send them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from sqlalchemy import Connection, delete, or_, select
from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.core.ids import BASE36, random_text
from photosvc.models import ZipSelection
from photosvc.models.database.transactions import MOST_SWEPT

#: How long a selection waits; as long as a download token lasts.
LIFETIME: Final = timedelta(hours=1)
#: Selections of one credential that wait; the oldest are removed first.
MOST_WAITING: Final = 10

_NAME: Final = re.compile(r"photos-[0-9]{8}-[0-9]{6}-[0-9a-z]{12}\.zip")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A selection as it was stored."""

    title: str
    file_ids: Sequence[int]


def store(session: Session, now: datetime, credential_id: int, waiting: Waiting) -> str:
    """Store a selection and delete expired ones; gives its name, which is safe in an address."""
    newest = select(ZipSelection.id).where(ZipSelection.credential_id == credential_id)
    newest = newest.order_by(ZipSelection.id.desc()).limit(MOST_WAITING - 1)
    over = (ZipSelection.credential_id == credential_id) & ZipSelection.id.not_in(newest.scalar_subquery())
    session.execute(delete(ZipSelection).where(or_(ZipSelection.expires_at <= now, over)))
    name = f"photos-{now:%Y%m%d-%H%M%S}-{random_text(12, BASE36)}.zip"
    session.add(
        ZipSelection(
            name=name,
            credential_id=credential_id,
            title=waiting.title,
            file_ids=orjson.dumps(waiting.file_ids).decode(),
            expires_at=now + LIFETIME,
        )
    )
    session.flush()
    return name


def sweep(session: Session, now: datetime) -> int:
    """Delete expired selections, at most `MOST_SWEPT`; gives how many."""
    over = select(ZipSelection.id).where(ZipSelection.expires_at <= now).limit(MOST_SWEPT)
    return len(session.scalars(delete(ZipSelection).where(ZipSelection.id.in_(over)).returning(ZipSelection.id)).all())


def find(connection: Connection, now: datetime, credential_id: int, name: str) -> Waiting:
    """The selection that was stored under this name with this credential.

    Raises:
        NotFoundError: there is none, it has expired, or it belongs to another credential.

    """
    query = select(ZipSelection.title, ZipSelection.file_ids).where(
        ZipSelection.name == name, ZipSelection.credential_id == credential_id, ZipSelection.expires_at > now
    )
    # PostgreSQL refuses texts with NUL, so only what has the form of a name is looked up.
    row = connection.execute(query).first() if _NAME.fullmatch(name) else None
    if row is None:
        msg = "there is no such archive, or its hour is over: select the files again"
        raise NotFoundError(msg, field="name")
    return Waiting(row.title, orjson.loads(row.file_ids))
