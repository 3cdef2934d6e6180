"""How much memory this process may still use."""

import resource
from pathlib import Path
from typing import Final

#: For a process without a limit: the default of the setting `index_memory`.
_UNLIMITED: Final = 2 << 30


def address_space() -> int:
    """Bytes that this process has mapped."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):  # not Linux: picture decoders with their libraries map less than this
        return 1 << 30
    return pages * resource.getpagesize()


def available_memory() -> int:
    """Bytes that this process can still map before it reaches its limit, as workers have one."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return _UNLIMITED if limit == resource.RLIM_INFINITY else max(0, limit - address_space())
