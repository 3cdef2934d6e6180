"""Where the pictures of the map come from, and who is credited for them."""

import re
from dataclasses import dataclass
from typing import Final

from photosvc.settings import Settings

_ADDRESS: Final = re.compile(r"(?:^|\s)(https?://\S+)$")
_OUTLINE: Final = "Natural Earth"


@dataclass(frozen=True, slots=True)
class MapSource:
    """The pictures of a map."""

    tiles: str
    """The address of tiles, with {z}, {x} and {y}; empty: the outline alone."""
    origin: str
    """Scheme, host and port of the tiles; empty where they are this service's own, or none."""
    credit: str
    credit_link: str


def map_source(settings: Settings) -> MapSource:
    """What the settings say."""
    tiles, credit = settings.map_tiles, settings.map_attribution
    link = _ADDRESS.search(credit)
    text = credit[: link.start()].strip() if link else credit
    origin = "" if tiles.startswith("/") else "/".join(tiles.split("/", 3)[:3])
    if not tiles:
        return MapSource("", "", _OUTLINE, "")
    return MapSource(tiles, origin, text or (link[1] if link else ""), link[1] if link else "")
