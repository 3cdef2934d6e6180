"""Lengths of time as people write them: a number with a unit."""

import re
from typing import Final

#: Seconds of each unit.
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_WRITTEN: Final = re.compile(r"([0-9]{1,6})([smhdwy])", re.ASCII)


def parse_duration(text: str) -> int | None:
    """Seconds of a text such as `90m`, `12h`, `30d`, `2w` or `1y` (365 days), of six digits at most; else None."""
    found = _WRITTEN.fullmatch(text)
    return int(found[1]) * _UNITS[found[2]] if found else None
