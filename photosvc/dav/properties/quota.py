"""The quota properties of folders (RFC 4331): what is stored, and what may still be."""

import os
from collections.abc import Collection
from typing import Final

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from photosvc.dav.properties.xml_body import DAV
from photosvc.library.trash.names import TRASH_FOLDER
from photosvc.library.uploads.waiting import bytes_left
from photosvc.models import File
from photosvc.settings import Settings

AVAILABLE: Final = f"{DAV}quota-available-bytes"
USED: Final = f"{DAV}quota-used-bytes"


def quota_properties(session: Session, settings: Settings, user_id: int, asked: Collection[str]) -> dict[str, str]:
    """Those of the two properties that are asked for, the same for all folders; never part of `allprop`.

    Used is the size of the library with its trash; available is the space on the disk, or less where the account has a
    quota.
    """
    found: dict[str, str] = {}
    if USED in asked:
        stored = or_(File.missing.is_(False), File.name.startswith(f"{TRASH_FOLDER}/", autoescape=True))
        used = session.scalar(select(func.coalesce(func.sum(File.size), 0)).where(stored))
        found[USED] = str(used)
    if AVAILABLE in asked:
        disk = os.statvfs(settings.originals)
        left = bytes_left(session, settings, user_id)
        free = disk.f_bavail * disk.f_frsize
        found[AVAILABLE] = str(free if left is None else max(0, min(free, left)))
    return found
