"""All metadata that a picture file of any format contains; no pixel is decoded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from io import BytesIO
from typing import BinaryIO, Final

from photosvc.media import text
from photosvc.media.containers.gif import read_gif
from photosvc.media.containers.heif import read_heif, read_jp2, read_jxl
from photosvc.media.containers.jpeg import read_jpeg
from photosvc.media.containers.packets import Packets
from photosvc.media.containers.png import read_png
from photosvc.media.containers.psd import read_psd
from photosvc.media.containers.riff import read_webp
from photosvc.media.dates import WrittenDate, read_date
from photosvc.media.exif.reader import Exif, read_canon_exif, read_exif, read_exif_file
from photosvc.media.formats import Format
from photosvc.media.iptc import read_iptc
from photosvc.media.metadata import Metadata, merge, merge_file
from photosvc.media.text import clean, is_plausible
from photosvc.media.xmp.packet import Xmp, joined, read_xmp

_READERS: Final[Mapping[str, Callable[[BinaryIO], Packets]]] = {
    "jpg": read_jpeg,
    "png": read_png,
    "webp": read_webp,
    "gif": read_gif,
    "heic": read_heif,
    "avif": read_heif,
    "jp2": read_jp2,
    "jxl": read_jxl,
    "psd": read_psd,
}
#: Formats in which the orientation of an XMP packet counts when Exif has none; in others the container has its own.
_TURNED_BY_XMP: Final = frozenset(("jpg", "png", "webp", "gif"))


@dataclass(frozen=True, slots=True)
class Embedded:
    """The metadata in a picture file."""

    exif: Exif = Exif()
    """Its orientation is that of the XMP where only XMP has one."""
    xmp: Xmp = Xmp()
    other: Metadata = Metadata()
    """IPTC and texts of the container."""

    @property
    def metadata(self) -> Metadata:
        """The facts of all standards as one record."""
        return merge_file(self.exif.metadata, self.other, self.xmp.metadata)


def read_embedded(source: BinaryIO, row: Format) -> Embedded:
    """The metadata in a picture or camera raw; empty where there are none or where they are damaged."""
    packets = _READERS[row.name](source) if row.name in _READERS else Packets()
    if row.is_tiff:
        exif = _with_that_of_preview(read_exif_file(source))
    elif "cr3" in row.families:
        exif, packets = read_canon_exif(source), read_jp2(source)  # its XMP stands in the same box
    else:
        exif = read_exif(packets.exif)
    xmp = read_xmp(packets.xmp or exif.xmp)
    if packets.more_xmp:
        xmp = joined(xmp, read_xmp(packets.more_xmp))
    if xmp.orientation and not exif.says_orientation and row.name in _TURNED_BY_XMP:
        exif = replace(exif, orientation=xmp.orientation)
    return Embedded(exif, xmp, merge([read_iptc(packets.iptc or exif.iptc), _texts(packets)]))


def _with_that_of_preview(exif: Exif) -> Exif:
    """The Exif of a raw, completed by that of the JPEG in it."""
    if not exif.preview_head:
        return exif
    more = read_exif(read_jpeg(BytesIO(exif.preview_head)).exif)
    turned = exif if exif.says_orientation else more
    return replace(
        exif,
        metadata=merge([exif.metadata, more.metadata]),
        orientation=turned.orientation,
        says_orientation=turned.says_orientation,
    )


def _texts(packets: Packets) -> Metadata:
    """The text chunks of a PNG with the usual keywords (PNG third edition, section 11.3.3.1)."""
    texts = packets.texts
    if not texts and packets.changed_utc is None:
        return Metadata()
    taken = _creation_time(texts.get("Creation Time", ""))
    changed = packets.changed_utc if packets.changed_utc and is_plausible(packets.changed_utc) else None
    return Metadata(
        taken_local=taken.local,
        utc_offset=taken.offset,
        date_parts=taken.parts,
        modified_local=changed,
        modified_offset=None if changed is None else 0,
        title=clean(texts.get("Title", ""), text.TITLE),
        description=clean(texts.get("Description", ""), text.DESCRIPTION),
        artist=clean(texts.get("Author", "")),
        copyright=clean(texts.get("Copyright", "")),
        software=clean(texts.get("Software", "")),
        notes=clean(texts.get("Comment", ""), text.DESCRIPTION),
    )


def _creation_time(written: str) -> WrittenDate:
    """The date of a `Creation Time` text: as the PNG specification suggests (RFC 1123), or as Exif or XMP write it."""
    found = read_date(written[:64])
    if found.local is not None:
        return found
    from email.utils import parsedate_tz  # two dozen modules that only this needs

    parts = parsedate_tz(clean(written, 64))
    try:
        moment = datetime(*parts[:6]) if parts else None  # noqa: DTZ001 - wall time
    except ValueError:
        return WrittenDate()
    if parts is None or moment is None or not is_plausible(moment):
        return WrittenDate()
    seconds = parts[9]
    return WrittenDate(moment, seconds // 60 if seconds is not None and abs(seconds) <= 15 * 3600 else None)
