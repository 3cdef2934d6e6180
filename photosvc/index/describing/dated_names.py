"""Dates in the names of files and folders, as cameras, phones and messengers write them."""

import re
from datetime import UTC, datetime
from typing import Final

from photosvc.core.clock import system_clock

#: A date, or a date and time to the second or millisecond; the separators within each are the same.
DATE_TIME: Final = re.compile(
    r"(?<!\d)((?:19|20)\d\d)([-_.:/]?)([01]\d)\2([0-3]\d)"
    r"(?:[-_.T /]{1,3}(?:at[ _])?([0-2]\d)([-_.:h]?)([0-5]\d)\6([0-5]\d)(?:[.,]?\d{3})?)?(?!\d)"
)
# Milliseconds since 1970, of 2001 and later: the whole name, or after the word that an app puts before them.
_EPOCH: Final = re.compile(r"(?:FB_IMG_|mmexport|IMG_|VID_)?(1\d{12})")


def date_in(name: str) -> datetime | None:
    """The date, or date and time, in a file name, folder or path, naive; None without one.

    A name of milliseconds since 1970 gives UTC.
    """
    for match in DATE_TIME.finditer(name):
        year, _, month, day, hour, _, minute, second = match.groups()
        try:
            return datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))  # noqa: DTZ001 - wall time
        except ValueError:
            continue
    counted = _EPOCH.fullmatch(name.partition(".")[0])
    moment = datetime.fromtimestamp(int(counted[1]) // 1000, UTC) if counted else None
    return moment.replace(tzinfo=None) if moment is not None and moment <= system_clock() else None
