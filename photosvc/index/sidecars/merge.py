"""What the sidecars of a photo add to the metadata of its files, and which source wins.

XMP sidecars come before the files: editors write there what they do not write into originals. Of Google Takeout, the
texts come before those of the files, because they were written later, and all else after. ExifTool's JSON comes last.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

from photosvc.core.values.sources import AUTO, META, XMP
from photosvc.index.sidecars.names import candidates, key
from photosvc.index.sidecars.read import Kind
from photosvc.media.metadata import Metadata, Region, merge
from photosvc.media.xmp.regions import upright

_UNSET: Final = Metadata()
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class StoredSidecar:
    """A sidecar of one file."""

    name: str
    """Path relative to the root."""
    kind: Kind
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Sources:
    """The metadata of a photo, and what it were without XMP sidecars."""

    metadata: Metadata
    own: Metadata

    def source_of(self, *names: str) -> str:
        """`xmp` or `meta`: where the first of these fields that has a value comes from; empty when none has one."""
        for name in names:
            value = getattr(self.metadata, name)
            if value != getattr(_UNSET, name):
                return META if value == getattr(self.own, name) else XMP
        return AUTO


def ranked(file_name: str, sidecars: Iterable[StoredSidecar]) -> list[StoredSidecar]:
    """The sidecars of a file, the most specific first; of Takeout's only that one."""
    order = {name: rank for rank, name in enumerate(candidates(_base(file_name)))}
    found = sorted(sidecars, key=lambda one: (order.get(key(_base(one.name)), len(order)), one.name))
    takeout = next((one for one in found if one.kind is Kind.TAKEOUT), None)
    return [one for one in found if one.kind is not Kind.TAKEOUT or one is takeout]


def with_sidecars(own: Metadata, sidecars: Sequence[StoredSidecar]) -> Sources:
    """The metadata of a photo from that of its files and its sidecars, the most specific first."""
    xmp, takeout, exiftool, apple = (
        [one.metadata for one in sidecars if one.kind is kind]
        for kind in (Kind.XMP, Kind.TAKEOUT, Kind.EXIFTOOL, Kind.APPLE)
    )
    plain = own
    if takeout or exiftool or apple:
        plain = merge((own, *takeout, *exiftool, *apple), written=(*takeout, own, *exiftool, *apple))
    return Sources(merge((_without_known_time(merge(xmp), plain), plain)) if xmp else plain, plain)


def _without_known_time(xmp: Metadata, plain: Metadata) -> Metadata:
    """Editors copy the wall time of a file, often without its offset and the time of the satellites: those stay."""
    if xmp.taken_local is None or plain.taken_local is None or abs(xmp.taken_local - plain.taken_local) >= _SECOND:
        return xmp
    return replace(xmp, taken_local=None, taken_utc=None, utc_offset=None, date_parts=_UNSET.date_parts)


def marked(own: Sequence[Region], orientation: int, sidecars: Sequence[StoredSidecar]) -> Iterator[tuple[str, Region]]:
    """The source of each area of a file and the area: those of XMP sidecars if there are any, else the file's own.

    People whom Takeout names are added when no area names them.

    Args:
        own: areas in the file itself.
        orientation: Exif orientation of the file, 1 to 8; areas in sidecars are relative to the picture as stored.
        sidecars: those of the file, the most specific first.

    """
    edited = next((one.metadata.regions for one in sidecars if one.kind is Kind.XMP and one.metadata.regions), ())
    areas = [(XMP, upright(area, orientation)) for area in edited] or [(META, area) for area in own]
    yield from areas
    known = {area.name.casefold() for _, area in areas}
    for one in sidecars:
        if one.kind is Kind.TAKEOUT:
            yield from ((META, area) for area in one.metadata.regions if area.name.casefold() not in known)


def _base(name: str) -> str:
    return name.rpartition("/")[2]
