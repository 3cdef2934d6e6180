"""Exif and XMP as cameras and photographers write them."""

from datetime import datetime
from xml.sax.saxutils import escape

from PIL import ExifTags, Image

from tools.samples.catalog import Sample


def exif(sample: Sample, size: tuple[int, int]) -> bytes:
    """Return the Exif block: camera, exposure, wall time with its offset, position."""
    block = Image.Exif()
    block[ExifTags.Base.Make] = sample.camera[0]
    block[ExifTags.Base.Model] = sample.camera[1]
    block[ExifTags.Base.Orientation] = sample.orientation
    block[ExifTags.Base.DateTime] = f"{sample.taken:%Y:%m:%d %H:%M:%S}"
    block[ExifTags.Base.Software] = "photosvc samples"
    block[ExifTags.Base.Artist] = "photosvc"
    block.get_ifd(ExifTags.IFD.Exif).update(
        {
            ExifTags.Base.DateTimeOriginal: f"{sample.taken:%Y:%m:%d %H:%M:%S}",
            ExifTags.Base.OffsetTimeOriginal: _offset(sample.taken),
            ExifTags.Base.ExposureTime: sample.exposure,
            ExifTags.Base.FNumber: sample.f_number,
            ExifTags.Base.ISOSpeedRatings: sample.iso,
            ExifTags.Base.FocalLength: float(sample.focal_length),
            ExifTags.Base.FocalLengthIn35mmFilm: sample.focal_length,
            ExifTags.Base.LensModel: sample.lens,
            ExifTags.Base.ExifImageWidth: size[0],
            ExifTags.Base.ExifImageHeight: size[1],
        }
    )
    block.get_ifd(ExifTags.IFD.GPSInfo).update(
        {
            ExifTags.GPS.GPSLatitudeRef: "N" if sample.lat >= 0 else "S",
            ExifTags.GPS.GPSLatitude: _sexagesimal(sample.lat),
            ExifTags.GPS.GPSLongitudeRef: "E" if sample.lng >= 0 else "W",
            ExifTags.GPS.GPSLongitude: _sexagesimal(sample.lng),
            ExifTags.GPS.GPSAltitudeRef: b"\0" if sample.altitude >= 0 else b"\1",
            ExifTags.GPS.GPSAltitude: float(abs(sample.altitude)),
        }
    )
    return block.tobytes()


def _offset(taken: datetime) -> str:
    text = f"{taken:%z}"
    return f"{text[:3]}:{text[3:]}"


def _sexagesimal(degrees: float) -> tuple[float, float, float]:
    """Degrees, minutes and seconds to a hundredth."""
    hundredths = round(abs(degrees) * 360_000)
    return float(hundredths // 360_000), float(hundredths // 6000 % 60), hundredths % 6000 / 100


def xmp(sample: Sample) -> bytes:
    """Return the XMP packet: title, description, keywords, rating (Dublin Core and the XMP basic schema)."""
    words = "".join(f"<rdf:li>{escape(word)}</rdf:li>" for word in sample.keywords)
    return f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmp:Rating="{sample.rating}">
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">{escape(sample.title)}</rdf:li></rdf:Alt></dc:title>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">{escape(sample.description)}</rdf:li></rdf:Alt></dc:description>
<dc:subject><rdf:Bag>{words}</rdf:Bag></dc:subject>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>""".encode()
