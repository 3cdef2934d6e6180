"""The values that sidecars add to the photo of their file.

XMP sidecars take precedence over the files: editors write there what they do not write into originals. After them comes
what a person entered in PhotoPrism. Of Google Takeout, the texts take precedence over those of the files, because they
were written later; its other values come after the files. ExifTool's JSON comes last. A time in UTC is shown in the
zone of the picture. Sidecars of pictures with equal content complete each other, in the order of the names of these
pictures; they give all their keywords.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, timedelta
from itertools import chain
from typing import Final

from photosvc.core.times import UTC_ZONE, shifted, to_local
from photosvc.core.vocabulary import AUTO, META, XMP
from photosvc.index.gazetteer import zone_at
from photosvc.index.sidecar_formats import SidecarKind
from photosvc.index.sidecar_names import candidates, key
from photosvc.media.metadata import DAY, Metadata, Region, merge
from photosvc.media.text import keywords
from photosvc.media.xmp_regions import upright

_UNSET: Final = Metadata()
_SECOND: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class StoredSidecar:
    """A sidecar of one file."""

    name: str
    """Path relative to the root."""
    kind: SidecarKind
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
    """Return the sidecars of a file and its duplicates in the order of the names of these, the most specific first.

    Each picture has at most one sidecar of Takeout. The first sidecar with keywords gets the keywords of all pictures.
    The file is archived only if each of its pictures that Takeout knows is archived.
    """
    pictures: dict[str, list[StoredSidecar]] = defaultdict(list)
    for sidecar in sidecars:
        pictures[sidecar.picture].append(sidecar)
    in_order = [sidecar for name in sorted(pictures) for sidecar in _ranked(name, pictures[name])]
    return _united(in_order) if len(pictures) > 1 else in_order


def _ranked(picture: str, sidecars: Iterable[StoredSidecar]) -> list[StoredSidecar]:
    order = {name: rank for rank, name in enumerate(candidates(_base(picture)))}
    in_order = sorted(sidecars, key=lambda sidecar: (order.get(key(_base(sidecar.name)), len(order)), sidecar.name))
    takeout = next((sidecar for sidecar in in_order if sidecar.kind is SidecarKind.TAKEOUT), None)
    return [sidecar for sidecar in in_order if sidecar.kind is not SidecarKind.TAKEOUT or sidecar is takeout]


def _united(sidecars: Sequence[StoredSidecar]) -> list[StoredSidecar]:
    """Return the sidecars of several pictures, each with the keywords and the archived flag of all of them."""
    words: dict[SidecarKind, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for sidecar in sidecars:
        if sidecar.metadata.keywords:
            words[sidecar.kind].setdefault(sidecar.picture, sidecar.metadata.keywords)
    archived = all(sidecar.metadata.archived for sidecar in sidecars if sidecar.kind is SidecarKind.TAKEOUT)
    united = {kind: keywords(chain.from_iterable(of_pictures.values())) for kind, of_pictures in words.items()}

    def with_shared(own: Metadata, kind: SidecarKind) -> Metadata:
        return replace(own, keywords=united.get(kind, ()) if own.keywords else (), archived=own.archived and archived)

    return [replace(sidecar, metadata=with_shared(sidecar.metadata, sidecar.kind)) for sidecar in sidecars]


def with_sidecars(own: Metadata, sidecars: Sequence[StoredSidecar], usual_zone: str = UTC_ZONE) -> Sources:
    """Return the metadata of a photo, merged from that of its files and its sidecars, the most specific first.

    Args:
        usual_zone: the zone of pictures without a zone and a position of their own.
    """
    kinds = SidecarKind.XMP, SidecarKind.PHOTOPRISM, SidecarKind.TAKEOUT, SidecarKind.EXIFTOOL, SidecarKind.APPLE
    xmp, photoprism, takeout, exiftool, apple = (
        [sidecar.metadata for sidecar in sidecars if sidecar.kind is kind] for kind in kinds
    )
    exiftool = [_in_local_time(metadata, own, usual_zone) for metadata in exiftool]
    plain = own
    if photoprism or takeout or exiftool or apple:
        last = *exiftool, *apple
        plain = merge((*photoprism, own, *takeout, *last), written=(*photoprism, *takeout, own, *last))
    if not xmp:
        return Sources(plain, plain)
    in_local_time = _in_local_time(merge(xmp), plain, usual_zone)
    return Sources(merge((_without_known_time(in_local_time, plain), plain)), plain)


def _in_local_time(sidecar: Metadata, plain: Metadata, usual_zone: str) -> Metadata:
    """Return the metadata with the wall time of the picture in place of a time in UTC."""
    local = sidecar.taken_local
    placed = sidecar if sidecar.lat is not None else plain
    if local is None or sidecar.zone or sidecar.utc_offset != 0 or sidecar.date_parts != DAY:
        return sidecar
    if plain.utc_offset is not None:
        own = shifted(local, timedelta(minutes=plain.utc_offset))
    elif placed.lat is not None and placed.lng is not None:
        own = to_local(local.replace(tzinfo=UTC), zone_at(placed.lat, placed.lng))
    elif usual_zone != UTC_ZONE:
        return replace(sidecar, taken_local=to_local(local.replace(tzinfo=UTC), usual_zone), utc_offset=None)
    else:
        return sidecar
    return replace(sidecar, taken_local=own, utc_offset=round((own - local) / timedelta(minutes=1)))


def _without_known_time(xmp: Metadata, plain: Metadata) -> Metadata:
    """Return the XMP metadata without its time if that repeats the time of the files.

    Editors copy the wall time of a file, often without its offset and the time of the satellites, which must stay.
    """
    if xmp.zone or xmp.taken_local is None or plain.taken_local is None:
        return xmp
    if abs(xmp.taken_local - plain.taken_local) >= _SECOND:
        return xmp
    return replace(xmp, taken_local=None, taken_utc=None, utc_offset=None, date_parts=_UNSET.date_parts)


def marked(own: Sequence[Region], orientation: int, sidecars: Sequence[StoredSidecar]) -> Iterator[tuple[str, Region]]:
    """Yield each area of a file with its source: the areas in XMP sidecars if there are any, else the file's own.

    The areas in ExifTool's JSON come last. People without an area, of whom those in XMP sidecars replace those of the
    file, are added when no area names them; so are those whom Takeout names.

    Args:
        own: areas in the file itself.
        orientation: Exif orientation of the file, 1 to 8; areas in sidecars are relative to the picture as stored.
        sidecars: the sidecars of the file, the most specific first.
    """
    sources = [
        *((XMP, areas) for areas in _regions(sidecars, SidecarKind.XMP, orientation)),
        (META, own),
        *((META, areas) for areas in _regions(sidecars, SidecarKind.EXIFTOOL, orientation)),
    ]
    boxes = ((src, [area for area in areas if not area.is_whole]) for src, areas in sources)
    src, areas = next((source for source in boxes if source[1]), (META, []))
    yield from ((src, area) for area in areas)
    src, stated = next((source for source in sources if source[1]), (META, ()))
    people = [(src, area) for area in stated if area.is_whole]
    people += [(META, area) for areas in _regions(sidecars, SidecarKind.TAKEOUT, orientation) for area in areas]
    known = {area.name.casefold() for area in areas}
    for src, area in people:
        if area.name.casefold() not in known:
            known.add(area.name.casefold())
            yield src, area


def _regions(sidecars: Sequence[StoredSidecar], kind: SidecarKind, orientation: int) -> Iterator[Sequence[Region]]:
    """Yield the regions of each sidecar of a kind, relative to the upright picture."""
    for sidecar in sidecars:
        if sidecar.kind is kind:
            yield [upright(area, orientation) for area in sidecar.metadata.regions]


def _base(name: str) -> str:
    return name.rpartition("/")[2]
