"""Parsers of the settings of the map."""

import re
from typing import Final

from photosvc.settings.values import plain_text

_LONGEST: Final = 500
#: What stands for the number of a tile; `{r}`, which may be left out, for twice the pixels.
_FIELDS: Final = ("{z}", "{x}", "{y}")
#: Letters of hosts that may stand in a `Content-Security-Policy` as they are.
_TILES: Final = re.compile(
    r"(https?://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?)?/(?!/)[A-Za-z0-9._~!$&()*+=:@%/?{}-]*", re.ASCII
)


def map_tiles(value: object) -> str:
    """The address of the tiles of a map, each of its fields in it once, on a host or on that of the service."""
    if isinstance(value, str) and not value.strip():
        return ""
    text = plain_text(value)
    rest = text.replace("{r}", "", 1)
    for name in _FIELDS:
        rest = rest.replace(name, "0", 1)
    if len(text) > _LONGEST:
        msg = f"expected at most {_LONGEST} characters"
        raise ValueError(msg)
    if not all(name in text for name in _FIELDS) or "{" in rest or "}" in rest or not _TILES.fullmatch(text):
        msg = "expected an address such as https://tiles.example.org/{z}/{x}/{y}.png"
        raise ValueError(msg)
    return text


def map_attribution(value: object) -> str:
    """Whom the map is credited to; empty if it is credited to no one."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.strip().isprintable():
        msg = f"expected a line of at most {_LONGEST} characters"
        raise ValueError(msg)
    return value.strip()
