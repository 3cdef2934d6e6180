"""Slots for large transfers: WebDAV clients send and fetch several files at once, and few of them try again."""

import time
from collections.abc import Callable
from typing import Final, TypeVar

from photosvc.web.transfers.busy import ServerBusyError, TooManyAtOnceError

Result = TypeVar("Result")

#: Seconds for which a request waits for a slot; it occupies a thread meanwhile.
PATIENCE: Final = 5.0
_PAUSE: Final = 0.05


def patiently(act: Callable[[], Result]) -> Result:
    """What `act` gives once there is a slot.

    Raises:
        PhotosvcError: there was none for `PATIENCE` seconds.

    """
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except (ServerBusyError, TooManyAtOnceError):
            if time.monotonic() > end:
                raise
        time.sleep(_PAUSE)
