"""Every camera original, field by field, against what ExifTool reads of it; each difference has its reason here."""

import json
from datetime import datetime
from subprocess import run

import pytest
from sqlalchemy import select

from photosvc.index.extract import extract
from photosvc.media.metadata import make_name, model_name
from photosvc.models import Sidecar
from tests.app.index.test_record_fields import check_library
from tests.helpers.library import CAMERA_ORIGINALS, open_library

pytestmark = [
    pytest.mark.skipif(not CAMERA_ORIGINALS.is_dir(), reason="the folder of camera originals is absent"),
    pytest.mark.needs("exiftool"),
]

#: (file, field) -> why the two readers differ.
DIFFERENCES = {
    **dict.fromkeys(
        (
            ("Sony/SLT-A55/_DSC3755.JPG", "description"),
            ("misc/el_torcal_rocks.jpg", "description"),
            ("Olympus/C-3000/PA250001.JPG", "description"),
            ("Olympus/C-5050/PB180004.JPG", "description"),
            ("Olympus/D-450/Untitled/DCIM/100OLYMP/P3110007.JPG", "description"),
            ("Epson/PhotoPC 3100Z/100EPSON/EPSN0013.JPG", "description"),
        ),
        "the name of the maker or camera, which the camera writes into every picture",
    ),
    **dict.fromkeys(
        (
            ("HP/Photosmart 433/IM000960.JPG", "description"),
            ("HP/C200/DSC00003.JPG", "description"),
            ("HP/Photosmart 435/IM000289.JPG", "description"),
            ("HP/Photosmart M417/HPIM0008.JPG", "description"),
            ("GoPro/Hero7Black/GOPR8511.JPG", "description"),
            ("GoPro/Hero7Black/GOPR8513.GPR", "description"),
        ),
        "the name of the file, which the camera writes into every picture",
    ),
    ("Nikon/D90/DSC_0005.JPG", "lens"): "made of the focal lengths and apertures in the MakerNote",
    ("Nikon/D3100/DSC_0001.JPG", "lens"): "made of the focal lengths and apertures in the MakerNote",
    ("HP/Photosmart M417/HPIM0008.JPG", "lens"): "a number in place of a text",
    ("misc/2000.xmp", "date"): "ExifTool stops at the second byte order mark of its UTF-16",
}

#: Field -> tags of ExifTool from which its value comes; the first that is set counts.
TAGS = {
    "make": ("IFD0:Make", "ExifIFD:Make", "XMP-tiff:Make", "QuickTime:Make"),
    "model": ("IFD0:Model", "ExifIFD:Model", "XMP-tiff:Model", "QuickTime:Model"),
    "lens": ("ExifIFD:LensModel", "XMP-aux:Lens", "Canon:LensModel", "Olympus:LensModel", "Panasonic:LensType"),
    "iso": ("ExifIFD:ISO", "IFD0:ISO", "ExifIFD:RecommendedExposureIndex"),
    "aperture": ("ExifIFD:FNumber", "IFD0:FNumber", "ExifIFD:ApertureValue"),
    "exposure": ("ExifIFD:ExposureTime", "IFD0:ExposureTime"),
    "focal_length": ("ExifIFD:FocalLengthIn35mmFormat", "ExifIFD:FocalLength", "IFD0:FocalLength"),
    "lat": ("Composite:GPSLatitude",),
    "lng": ("Composite:GPSLongitude",),
    "altitude": ("Composite:GPSAltitude",),
    "orientation": ("IFD0:Orientation", "ExifIFD:Orientation", "XMP-tiff:Orientation"),
    "title": (
        "XMP-dc:Title", "XMP-photoshop:Headline", "IPTC:ObjectName", "IPTC:Headline", "IFD0:XPTitle", "PNG:Title",
    ),
    "description": ("XMP-dc:Description", "IPTC:Caption-Abstract", "IFD0:ImageDescription", "PNG:Description"),
    "artist": ("XMP-dc:Creator", "IPTC:By-line", "IFD0:Artist", "IFD0:XPAuthor", "PNG:Author"),
    "copyright": ("XMP-dc:Rights", "IPTC:CopyrightNotice", "IFD0:Copyright", "PNG:Copyright"),
}  # fmt: skip
#: Tags of a date, and of its fraction of a second.
DATES = (
    ("ExifIFD:DateTimeOriginal", "ExifIFD:SubSecTimeOriginal"), ("IFD0:DateTimeOriginal", ""),
    ("ExifIFD:CreateDate", "ExifIFD:SubSecTimeDigitized"), ("XMP-exif:DateTimeOriginal", ""),
    ("XMP-photoshop:DateCreated", ""), ("XMP-xmp:CreateDate", ""), ("PNG:CreationTime", ""),
    ("RIFF:DateTimeOriginal", ""),
)  # fmt: skip
KEYWORDS = ("XMP-dc:Subject", "IPTC:Keywords", "IFD0:XPKeywords")


def as_list(value):
    return value if isinstance(value, list) else [value]


def by_exiftool(tags):
    """The fields of one file."""
    found = {
        name: next((tags[tag] for tag in names if tags.get(tag) not in (None, "", 0)), None)
        for name, names in TAGS.items()
    }
    texts = {
        name: " ".join(str(found[name] or "").split())
        for name in ("lens", "title", "description", "artist", "copyright")
    }
    size = (tags.get("File:ImageWidth", 0), tags.get("File:ImageHeight", 0))
    size = size if all(size) else tuple(int(side) for side in tags.get("Composite:ImageSize", "0 0").split())
    make = make_name(str(found["make"] or ""))
    words = {word.strip() for tag in KEYWORDS for value in as_list(tags.get(tag, [])) for word in str(value).split(";")}
    return {
        "date": next(filter(None, (date_of(tags, *names) for names in DATES)), None),
        "make": make,
        "model": model_name(str(found["model"] or ""), make, str(found["make"] or "")),
        "iso": int(str(found["iso"] or 0).split()[0]),
        "aperture": round(float(found["aperture"] or 0), 2),
        "exposure": float(found["exposure"] or 0),
        "focal_length": round(float(found["focal_length"] or 0)),
        "position": (found["lat"], found["lng"]) if found["lat"] else None,
        "altitude": round(float(found["altitude"] or 0)),
        "orientation": found["orientation"] or 1,
        "size": tuple(sorted(size)),
        "keywords": words - {""},
        **texts,
    }


def date_of(tags, name, fraction):
    written, _, digits = str(tags.get(name, "")).partition(".")
    try:
        moment = datetime.strptime(written[:19], "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007 - wall time
    except ValueError:
        return None
    digits = digits or str(tags.get(fraction, ""))
    return moment.replace(microsecond=int(digits[:6].ljust(6, "0"))) if digits.isdigit() else moment


def by_us(path):
    """The same fields of one file."""
    found = extract(path)
    metadata = found.metadata
    top, _, bottom = metadata.exposure.partition("/")
    return {
        "date": metadata.taken_local,
        "make": metadata.camera_make,
        "model": metadata.camera_model,
        "lens": metadata.lens_model,
        "iso": metadata.iso,
        "aperture": metadata.f_number,
        "exposure": float(top or 0) / float(bottom or 1),
        "focal_length": metadata.focal_length,
        "position": None if metadata.lat is None else (metadata.lat, metadata.lng),
        "altitude": metadata.altitude,
        "orientation": found.orientation,
        "size": tuple(sorted((found.width, found.height))),
        "title": metadata.title,
        "description": metadata.description,
        "keywords": set(metadata.keywords),
        "artist": metadata.artist,
        "copyright": metadata.copyright,
    }


def are_same(field, ours, theirs):
    if field == "exposure":  # shown as photographers write it: 1/60 for 0.0166
        return abs(ours - theirs) <= theirs * 0.05
    if field == "position" and ours and theirs:  # kept with six decimals, a tenth of a metre
        return all(abs(one - other) <= 1e-6 for one, other in zip(ours, theirs, strict=True))
    return bool(ours == theirs)


def test_every_original_agrees_with_an_independent_reader():
    dump = run(["exiftool", "-r", "-json", "-G1", "-n", "-q", str(CAMERA_ORIGINALS)], capture_output=True, check=False)
    rows = {row["SourceFile"]: row for row in json.loads(dump.stdout)}
    assert len(rows) >= 80
    differences = {}
    for name, tags in rows.items():
        path = CAMERA_ORIGINALS / name
        ours, theirs = by_us(path), by_exiftool(tags)
        for field in ours:
            if not are_same(field, ours[field], theirs[field]):
                differences[path.relative_to(CAMERA_ORIGINALS).as_posix(), field] = (ours[field], theirs[field])
    assert {key: found for key, found in differences.items() if key not in DIFFERENCES} == {}
    assert set(DIFFERENCES) - set(differences) == set()


def test_originals_of_forty_cameras_have_the_fields_of_the_spec(tmp_path):
    library = open_library(tmp_path, settings={"PHOTOSVC_ORIGINALS": CAMERA_ORIGINALS})
    summary = library.index(workers=2)
    assert ({name.rpartition(".")[2] for name, _ in summary.failed}, summary.missing) == ({"GPR"}, 0)  # LibRaw's limit
    with library.session() as session:
        sidecars = session.scalars(select(Sidecar.name)).all()
    assert sidecars == ["misc/2000.xmp"]
    pictures = summary.indexed - len(sidecars)
    assert check_library(library) == pictures + len(summary.failed) > 50
    assert len(library.find(count=1000)) == pictures
    again = library.index()
    assert (again.indexed, again.updated, again.unchanged) == (0, 0, summary.indexed)
    library.close()
