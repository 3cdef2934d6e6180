"""The journal: who changed which photo when, the values before and after, and taking a change back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.auth.principal import Principal
from photosvc.library.values import dump
from photosvc.models import Photo, PhotoChange


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


def record(
    session: Session,
    photo: Photo,
    action: str,
    actor: Actor,
    now: datetime,
    change: tuple[Mapping[str, Any], Mapping[str, Any]],
    *,
    undoes: int | None = None,
) -> None:
    """Add a change to the journal: the values that differ, before and after."""
    before, after = change
    session.add(
        PhotoChange(
            photo_id=photo.id,
            action=action,
            undoes=undoes,
            actor_uid=actor.uid,
            actor_name=actor.name,
            before=dump(before),
            after=dump(after),
            created_at=now,
        )
    )


def changes_of(session: Session, photo_id: int, *, count: int, before: int | None = None) -> list[PhotoChange]:
    """The last changes of a photo, the newest first.

    Args:
        session: for reading.
        photo_id: the photo.
        count: changes at most.
        before: only changes with a lower id.

    """
    query = select(PhotoChange).where(PhotoChange.photo_id == photo_id)
    if before is not None:
        query = query.where(PhotoChange.id < before)
    return list(session.scalars(query.order_by(PhotoChange.id.desc()).limit(count)))


def values_of(text: str) -> dict[str, Any]:
    """Values as the journal stores them."""
    values: dict[str, Any] = orjson.loads(text)
    return values
