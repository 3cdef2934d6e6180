"""Rows of locks."""

from datetime import datetime, timedelta
from uuid import uuid4

from photosvc.models import DavLock


def new_lock(
    now: datetime, root: str, *, exclusive: bool = True, deep: bool = False, user: str = "uada", seconds: int = 600
) -> DavLock:
    """A lock that is not stored."""
    return DavLock(
        token=f"opaquelocktoken:{uuid4()}",
        root=root,
        user_uid=user,
        exclusive=exclusive,
        deep=deep,
        owner="",
        seconds=seconds,
        expires_at=now + timedelta(seconds=seconds),
    )
