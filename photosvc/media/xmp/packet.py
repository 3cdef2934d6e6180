"""Metadata of XMP packets and sidecars, as people and editors write it (ISO 16684-1, XMP part 2)."""

from dataclasses import dataclass

from photosvc.media.metadata import text
from photosvc.media.metadata.cameras import lens_name, make_name, model_name
from photosvc.media.metadata.record import Metadata
from photosvc.media.metadata.text import clean
from photosvc.media.xmp import fields
from photosvc.media.xmp.fields import first
from photosvc.media.xmp.regions import read_regions
from photosvc.media.xmp.tree import Properties, parse_packet, properties


@dataclass(frozen=True, slots=True)
class Xmp:
    """The XMP of one picture."""

    metadata: Metadata = Metadata()
    """Its regions are relative to the picture as stored."""
    projection: str = ""
    """Projection of a panorama in lower case, such as `equirectangular`; empty for an ordinary picture."""


def read_xmp(packet: bytes) -> Xmp:
    """The XMP of a packet; empty when it is malformed, too large, or declares entities."""
    root = parse_packet(packet)
    if root is None:
        return Xmp()
    found = properties(root)
    taken, offset = fields.taken(found)
    position = fields.position(found)
    written_make = first(found, "tiff:Make")
    make = make_name(written_make)
    metadata = Metadata(
        taken_local=taken,
        taken_utc=fields.gps_moment(found),
        utc_offset=offset,
        camera_make=make,
        camera_model=model_name(first(found, "tiff:Model"), make, written_make),
        camera_serial=clean(first(found, "exifEX:BodySerialNumber", "aux:SerialNumber")),
        lens_make=make_name(first(found, "exifEX:LensMake")),
        lens_model=lens_name(first(found, "exifEX:LensModel", "aux:Lens")),
        lat=position[0] if position else None,
        lng=position[1] if position else None,
        altitude=fields.altitude(found),
        title=clean(first(found, "dc:title", "photoshop:Headline"), text.TITLE),
        description=clean(first(found, "dc:description"), text.DESCRIPTION),
        keywords=_keywords(found),
        subject=clean(", ".join(found.get("Iptc4xmpExt:PersonInImage", ())[:16])),
        artist=clean(", ".join(found.get("dc:creator", ())[:16])),
        copyright=clean(first(found, "dc:rights")),
        license=clean(first(found, "cc:license", "xmpRights:WebStatement")),
        notes=clean(first(found, "exif:UserComment"), text.DESCRIPTION),
        software=clean(first(found, "xmp:CreatorTool", "tiff:Software")),
        rating=fields.rating(found),
        document_id=clean(first(found, "xmpMM:OriginalDocumentID", "xmpMM:DocumentID")),
        instance_id=clean(first(found, "xmpMM:InstanceID")),
        original_name=clean(first(found, "xmpMM:PreservedFileName", "crs:RawFileName")),
        regions=read_regions(root),
    )
    return Xmp(metadata, clean(first(found, "GPano:ProjectionType"), 32).lower())


def read_sidecar(content: bytes) -> Metadata:
    """The metadata of an `.xmp` file; empty when it cannot be read."""
    return read_xmp(content).metadata


def _keywords(found: Properties) -> tuple[str, ...]:
    words = found.get("dc:subject", ())
    # Writers that do not know bags write all keywords as one, separated by commas.
    plain = text.keywords(words, split=len(words) == 1)
    return text.keywords((*plain, *fields.subject(found.get("lr:hierarchicalSubject", ()))))
