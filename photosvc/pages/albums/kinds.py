"""The kinds of albums, as the pages name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from photosvc.pages.photos.tiles import month_label
from photosvc.search.reading.names.library_albums import FOLDER, MONTH, STATE
from photosvc.search.reading.overview.albums import ALBUM, AlbumRecord


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of albums."""

    type: str
    """As the API names it."""
    label: str
    orders: Mapping[str, str]
    """Orders of their list, as the API has them, with their labels; the first is the usual one."""
    example: str
    """What one could search for in their titles."""


_MOST: Final = {"count": "Most photos"}
KINDS: Final = {
    kind.type: kind
    for kind in (
        Kind(
            ALBUM,
            "Albums",
            {
                "name": "By title",
                "edited": "Last changed",
                "added": "Last made",
                "favorites": "Favorites first",
                **_MOST,
            },
            "Holidays",
        ),
        Kind(MONTH, "Months", {"newest": "Newest first", "oldest": "Oldest first", **_MOST}, "2023-05"),
        Kind(FOLDER, "Folders", {"path": "By path", "name": "By name", **_MOST}, "scans"),
        Kind(STATE, "Regions", {"place": "By country", "name": "By name", **_MOST}, "Bavaria"),
    )
}


def title_of(album: AlbumRecord) -> str:
    """What an album is called: a month as `May 2023`."""
    if album.type == MONTH:
        return month_label(album.year, album.month)
    return album.title or "Untitled"


def subtitle_of(album: AlbumRecord) -> str:
    """What tells it from others with the same title: the folder around a folder, the country of a region."""
    if album.type == FOLDER:
        return album.path.rpartition("/")[0]
    return album.country.upper() if album.type == STATE else ""
