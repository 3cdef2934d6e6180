"""The values that sidecars add to the photo of their file.

XMP sidecars take precedence over the files: editors write there what they do not write into originals. Of Google
Takeout, the texts take precedence over those of the files, because they were written later; its other values come after
the files. ExifTool's JSON comes last. A time in UTC is shown in the zone of the picture. Sidecars of pictures with
equal content complete each other, in the order of the names of these pictures; they give all their keywords.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from typing import Final

from photosvc.core.times import UTC_ZONE, shifted, to_local
from photosvc.core.vocabulary import AUTO, META, XMP
from photosvc.index.gazetteer import zone_at
from photosvc.index.sidecar_formats import Kind
from photosvc.index.sidecar_names import candidates, key
from photosvc.media.metadata import DAY, Metadata, Region, merge
from photosvc.media.text import keywords
from photosvc.media.xmp import upright

_UNSET: Final = Metadata()
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class StoredSidecar:
    """A sidecar of one file."""

    name: str
    """Path relative to the root."""
    kind: Kind
    metadata: Metadata
    picture: str = ""
    """Path of the picture or video that it accompanies: the file, or a duplicate of it."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The metadata of a photo, with and without its XMP sidecars."""

    metadata: Metadata
    own: Metadata

    def source_of(self, *names: str) -> str:
        """Return the source of the first of these fields that has a value, `xmp` or `meta`; empty when none has."""
        for name in names:
            value = getattr(self.metadata, name)
            if value != getattr(_UNSET, name):
                return META if value == getattr(self.own, name) else XMP
        return AUTO


def ranked(sidecars: Iterable[StoredSidecar]) -> list[StoredSidecar]:
    """Return the sidecars of a file and its duplicates by the names of these, the most specific first.

    Of those from Takeout, each picture has one. The first sidecar with keywords has those of all pictures. The file is
    archived only if each of its pictures that Takeout knows is.
    """
    pictures: dict[str, list[StoredSidecar]] = defaultdict(list)
    for one in sidecars:
        pictures[one.picture].append(one)
    found = [one for name in sorted(pictures) for one in _ranked(name, pictures[name])]
    return _united(found) if len(pictures) > 1 else found


def _ranked(picture: str, sidecars: Iterable[StoredSidecar]) -> list[StoredSidecar]:
    order = {name: rank for rank, name in enumerate(candidates(_base(picture)))}
    found = sorted(sidecars, key=lambda one: (order.get(key(_base(one.name)), len(order)), one.name))
    takeout = next((one for one in found if one.kind is Kind.TAKEOUT), None)
    return [one for one in found if one.kind is not Kind.TAKEOUT or one is takeout]


def _united(sidecars: Sequence[StoredSidecar]) -> list[StoredSidecar]:
    """Return the sidecars of several pictures, with the values that are not simply those of the first."""
    words: dict[Kind, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for one in sidecars:
        if one.metadata.keywords:
            words[one.kind].setdefault(one.picture, one.metadata.keywords)
    archived = all(one.metadata.archived for one in sidecars if one.kind is Kind.TAKEOUT)
    united = {kind: keywords(word for some in found.values() for word in some) for kind, found in words.items()}

    def with_shared(own: Metadata, kind: Kind) -> Metadata:
        return replace(own, keywords=united.get(kind, ()) if own.keywords else (), archived=own.archived and archived)

    return [replace(one, metadata=with_shared(one.metadata, one.kind)) for one in sidecars]


def with_sidecars(own: Metadata, sidecars: Sequence[StoredSidecar], usual_zone: str = UTC_ZONE) -> Sources:
    """Return the metadata of a photo, merged from that of its files and its sidecars, the most specific first.

    Args:
        usual_zone: the zone of pictures that tell neither a zone nor a position.
    """
    xmp, takeout, exiftool, apple = (
        [one.metadata for one in sidecars if one.kind is kind]
        for kind in (Kind.XMP, Kind.TAKEOUT, Kind.EXIFTOOL, Kind.APPLE)
    )
    exiftool = [_in_local_time(one, own, usual_zone) for one in exiftool]
    plain = own
    if takeout or exiftool or apple:
        plain = merge((own, *takeout, *exiftool, *apple), written=(*takeout, own, *exiftool, *apple))
    if not xmp:
        return Sources(plain, plain)
    return Sources(merge((_without_known_time(_in_local_time(merge(xmp), plain, usual_zone), plain), plain)), plain)


def _in_local_time(sidecar: Metadata, plain: Metadata, usual_zone: str) -> Metadata:
    """Return the metadata with a time that is written in UTC as the wall time of the picture."""
    local, placed = sidecar.taken_local, next((one for one in (sidecar, plain) if one.lat is not None), None)
    if local is None or sidecar.utc_offset != 0 or sidecar.date_parts != DAY:
        return sidecar
    if plain.utc_offset is not None:
        own = shifted(local, timedelta(minutes=plain.utc_offset))
    elif placed is not None and placed.lat is not None and placed.lng is not None:
        own = to_local(local.replace(tzinfo=UTC), zone_at(placed.lat, placed.lng))
    elif usual_zone != UTC_ZONE:
        return replace(sidecar, taken_local=to_local(local.replace(tzinfo=UTC), usual_zone), utc_offset=None)
    else:
        return sidecar
    return replace(sidecar, taken_local=own, utc_offset=round((own - local) / timedelta(minutes=1)))


def _without_known_time(xmp: Metadata, plain: Metadata) -> Metadata:
    """Return the XMP metadata without a time that repeats that of the files.

    Editors copy the wall time of a file, often without its offset and the time of the satellites: those stay.
    """
    if xmp.taken_local is None or plain.taken_local is None or abs(xmp.taken_local - plain.taken_local) >= _SECOND:
        return xmp
    return replace(xmp, taken_local=None, taken_utc=None, utc_offset=None, date_parts=_UNSET.date_parts)


def marked(own: Sequence[Region], orientation: int, sidecars: Sequence[StoredSidecar]) -> Iterator[tuple[str, Region]]:
    """Yield each area of a file with its source: the areas in XMP sidecars if there are any, else the file's own.

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
            known.update(area.name.casefold() for area in one.metadata.regions)


def _base(name: str) -> str:
    return name.rpartition("/")[2]
