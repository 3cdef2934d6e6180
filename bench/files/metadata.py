"""Metadata of made files beside ExifTool: `python -m bench.files.metadata [COUNT] [FOLDER]`.

COUNT files, 400 unless told, of ten formats get random tags of Exif, XMP, IPTC and QuickTime by ExifTool; both readers
then read them, and the share of files that are equal is printed for each fact, with examples of the others. A FOLDER of
originals is compared in the same way. ExifTool lists tags; the first tag of those in `FACTS` that is set is its value.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms

from photosvc.index.extract import extract
from photosvc.media.metadata import make_name, model_name
from photosvc.media.text import to_utc
from tests.helpers.pictures import clouds, jxl, swapped_profile, video

COUNT, SHOWN = 400, 3
#: A satellite time further from the wall time belongs to another moment.
FURTHEST = timedelta(hours=15)
WORDS = (
    "lake", "Zürich", "été à la plage", "東京タワー", "Мария", "Αθήνα", "naïve café", "שלום", "snow & ice", "O'Hara",
    "a <b>", "New York City", "100 %", "Ærø", "ทะเล", "🌊 waves",
)  # fmt: skip
Draw = random.Random
Tags = Mapping[str, Any]
#: Fact -> tags of ExifTool from which its value comes, in the order of docs/indexing.md.
FACTS = {
    "make": ("IFD0:Make", "ExifIFD:Make", "Keys:Make", "XMP-tiff:Make"),
    "model": ("IFD0:Model", "ExifIFD:Model", "Keys:Model", "XMP-tiff:Model"),
    "lens": ("ExifIFD:LensModel", "XMP-exifEX:LensModel", "XMP-aux:Lens"),
    "iso": ("ExifIFD:ISO", "XMP-exif:ISO"),
    "aperture": ("ExifIFD:FNumber", "XMP-exif:FNumber"),
    "exposure": ("ExifIFD:ExposureTime", "XMP-exif:ExposureTime"),
    "focal length": ("ExifIFD:FocalLengthIn35mmFormat", "ExifIFD:FocalLength", "XMP-exif:FocalLength"),
    "title": (
        "XMP-dc:Title", "XMP-photoshop:Headline", "IPTC:ObjectName", "IPTC:Headline", "IFD0:XPTitle", "Keys:Title",
        "ItemList:Title", "UserData:Title",
    ),
    "description": (
        "XMP-dc:Description", "IPTC:Caption-Abstract", "IFD0:ImageDescription", "Keys:Description",
        "ItemList:Description", "Keys:Comment",
    ),
    "copyright": ("XMP-dc:Rights", "IPTC:CopyrightNotice", "IFD0:Copyright", "Keys:Copyright", "ItemList:Copyright"),
    "artist": (
        "XMP-dc:Creator", "IPTC:By-line", "IFD0:Artist", "IFD0:XPAuthor", "Keys:Author", "Keys:Artist",
        "ItemList:Artist", "UserData:Artist",
    ),
    "rating": ("XMP-xmp:Rating", "IFD0:Rating"),
    "profile": ("ICC_Profile:ProfileDescription", "ICC-header:ProfileDescription"),
}  # fmt: skip
DATES = (
    ("ExifIFD:DateTimeOriginal", "ExifIFD:SubSecTimeOriginal", "ExifIFD:OffsetTimeOriginal"),
    ("ExifIFD:CreateDate", "ExifIFD:SubSecTimeDigitized", "ExifIFD:OffsetTimeDigitized"),
    ("Keys:CreationDate", "", ""),
    ("XMP-exif:DateTimeOriginal", "", ""),
    ("XMP-photoshop:DateCreated", "", ""),
    ("XMP-xmp:CreateDate", "", ""),
    ("IPTC:DateCreated", "", ""),
    ("PNG:CreationTime", "", ""),
    ("RIFF:DateTimeOriginal", "", ""),
)
#: Codecs of videos that photosvc names by another word.
CODECS = {"mp4v": "mpeg4", "jpeg": "mjpeg", "mjpg": "mjpeg"}
KEYWORDS = ("XMP-dc:Subject", "IPTC:Keywords", "IFD0:XPKeywords", "Keys:Keywords")
PATHS = ("XMP-lr:HierarchicalSubject", "XMP-digiKam:TagsList")


def text(draw: Draw) -> str:
    return " ".join(draw.sample(WORDS, draw.randrange(1, 4)))


def moment(draw: Draw) -> str:
    when = datetime(1990, 1, 1) + timedelta(seconds=draw.randrange(36 * 365 * 86_400))  # noqa: DTZ001 - wall time
    return when.strftime("%Y:%m:%d %H:%M:%S")


def offset(draw: Draw) -> str:
    return draw.choice(("+00:00", "+02:00", "-03:30", "+05:45", "+13:00", "-11:00", "Z"))


def position(draw: Draw, group: str) -> list[tuple[str, str]]:
    lat, lng = draw.uniform(-89, 89), draw.uniform(-179, 179)
    tags = [(f"{group}:GPSLatitude", f"{lat:.6f}"), (f"{group}:GPSLongitude", f"{lng:.6f}")]
    high = draw.randrange(-400, 8000)
    tags += [(f"{group}:GPSAltitude", str(abs(high))), (f"{group}:GPSAltitudeRef", str(int(high < 0)))]
    if group == "GPS":
        tags += [("GPS:GPSLatitudeRef", "S" if lat < 0 else "N"), ("GPS:GPSLongitudeRef", "W" if lng < 0 else "E")]
        tags = [(name, value.lstrip("-") if name.endswith("tude") else value) for name, value in tags]
    return tags


def exif_tags(draw: Draw) -> list[tuple[str, str]]:
    makers = (("Canon", "Canon EOS R5"), ("NIKON CORPORATION", "NIKON Z 6"), ("SONY", "ILCE-7M4"), ("Acme", "Box 3"))
    make, model = draw.choice(makers)
    groups = [
        [("IFD0:Make", make), ("IFD0:Model", model)],
        [
            ("ExifIFD:DateTimeOriginal", moment(draw)),
            ("ExifIFD:SubSecTimeOriginal", draw.choice(("5", "05", "123", "000", "123456"))),
        ],
        [("ExifIFD:DateTimeOriginal", moment(draw)), ("ExifIFD:OffsetTimeOriginal", offset(draw))],
        [("ExifIFD:CreateDate", moment(draw)), ("ExifIFD:OffsetTimeDigitized", offset(draw))],
        [("ExifIFD:LensModel", draw.choice(("RF24-70mm F2.8 L IS USM", "50mm f/1.4", "E 16-50mm F3.5-5.6")))],
        [("ExifIFD:ExposureTime", draw.choice(("1/8000", "1/60", "0.3", "2.5", "30", "1/3")))],
        [("ExifIFD:FNumber", draw.choice(("1.4", "2.8", "5.6", "11", "0.95", "22")))],
        [("ExifIFD:ISO", draw.choice(("50", "100", "6400", "51200")))],
        [("ExifIFD:FocalLength", draw.choice(("4.2", "35", "200", "24.5")))],
        [("ExifIFD:FocalLengthIn35mmFormat", draw.choice(("24", "85", "1200")))],
        position(draw, "GPS"),
        [("IFD0:ImageDescription", text(draw))],
        [("IFD0:Artist", text(draw))],
        [("IFD0:Copyright", text(draw))],
        [("IFD0:XPTitle", text(draw))],
        [("IFD0:XPKeywords", ";".join(draw.sample(WORDS, 2)))],
        [("IFD0:Rating", str(draw.randrange(1, 6)))],
        [("IFD0:XPAuthor", text(draw)), ("IFD0:XPComment", text(draw))],
        [("ExifIFD:UserComment", text(draw))],
        [
            ("GPS:GPSDateStamp", moment(draw).split()[0]),
            ("GPS:GPSTimeStamp", moment(draw).split()[1]),
            ("ExifIFD:BodySerialNumber", "0042"),
        ],
        [("IFD0:Orientation", str(draw.randrange(1, 9)))],
    ]
    return chosen(draw, groups)


def xmp_tags(draw: Draw) -> list[tuple[str, str]]:
    groups = [
        [("XMP-exif:DateTimeOriginal", moment(draw) + draw.choice(("", ".5", offset(draw))))],
        [("XMP-photoshop:DateCreated", moment(draw) + draw.choice(("", offset(draw))))],
        [("XMP-xmp:CreateDate", moment(draw) + draw.choice(("", ".25", offset(draw))))],
        position(draw, "XMP-exif"),
        [("XMP-tiff:Make", "Acme"), ("XMP-tiff:Model", "Box 3")],
        [("XMP-aux:Lens", "18-55 mm"), ("XMP-exif:FNumber", "4"), ("XMP-exif:ExposureTime", "1/125")],
        [("XMP-exif:FocalLength", "35"), ("XMP-exif:ISO", "800")],
        [("XMP-dc:Title", text(draw)), ("XMP-dc:Title-de", text(draw))],
        [("XMP-dc:Description", text(draw))],
        [("XMP-dc:Rights", text(draw))],
        [("XMP-dc:Creator", one) for one in draw.sample(WORDS, draw.randrange(1, 4))],
        [("XMP-dc:Subject", one) for one in draw.sample(WORDS, draw.randrange(1, 6))],
        [("XMP-photoshop:Headline", text(draw))],
        [("XMP-lr:HierarchicalSubject", f"Places|{one}") for one in draw.sample(WORDS, 2)],
        [("XMP-digiKam:TagsList", f"Things/{one}") for one in draw.sample(WORDS, 2)],
        [("XMP-xmp:Rating", str(draw.choice((-1, 1, 3, 5))))],
    ]
    return chosen(draw, groups)


def iptc_tags(draw: Draw) -> list[tuple[str, str]]:
    date, time = moment(draw).split()
    groups = [
        [("IPTC:DateCreated", date), ("IPTC:TimeCreated", time + draw.choice(("+02:00", "-05:00", "+00:00")))],
        [("IPTC:ObjectName", text(draw))],
        [("IPTC:Caption-Abstract", text(draw))],
        [("IPTC:CopyrightNotice", text(draw))],
        [("IPTC:By-line", one) for one in draw.sample(WORDS, draw.randrange(1, 4))],
        [("IPTC:Keywords", one) for one in draw.sample(WORDS, draw.randrange(1, 6))],
    ]
    groups += [[("IPTC:Headline", text(draw))], [("IPTC:Writer-Editor", text(draw))]]
    return [("IPTC:CodedCharacterSet", "UTF8"), *chosen(draw, groups)]


def movie_tags(draw: Draw) -> list[tuple[str, str]]:
    groups = [
        [("Keys:CreationDate", moment(draw) + offset(draw).replace("Z", "+00:00"))],
        [("Keys:Make", "Apple"), ("Keys:Model", "iPhone 15")],
        [("Keys:Title", text(draw))],
        [("Keys:Description", text(draw))],
        [("Keys:Artist", text(draw))],
        [("Keys:Copyright", text(draw))],
        [("ItemList:Title", text(draw))],
        [("ItemList:Artist", text(draw))],
        [("ItemList:Description", text(draw))],
        [("Keys:Author", text(draw))],
        [("Keys:Comment", text(draw))],
        [("Keys:Keywords", ",".join(draw.sample(("sea", "mer", "Möwe", "東京"), 2)))],
        [("UserData:Title", text(draw)), ("UserData:Artist", text(draw))],
        [("QuickTime:CreateDate", moment(draw))],
        [("Keys:GPSCoordinates", f"{draw.uniform(-89, 89):.4f} {draw.uniform(-179, 179):.4f} {draw.randrange(900)}")],
    ]
    return chosen(draw, groups)


def chosen(draw: Draw, groups: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    share = draw.choice((0.2, 0.5, 0.9))
    return [tag for group in groups if draw.random() < share for tag in group]


Drawing = Callable[[Draw], list[tuple[str, str]]]
_STILL: tuple[Drawing, ...] = (exif_tags, xmp_tags)
#: Extension -> groups of tags that ExifTool writes into such files.
WRITTEN: dict[str, tuple[Drawing, ...]] = {
    "jpg": (*_STILL, iptc_tags), "tif": (*_STILL, iptc_tags), "png": _STILL, "webp": _STILL, "heic": _STILL,
    "avif": _STILL, "jxl": _STILL, "gif": (xmp_tags,), "mp4": (movie_tags, xmp_tags), "mov": (movie_tags, xmp_tags),
}  # fmt: skip


def make_files(folder: Path, count: int) -> None:
    """Write the files, by one process of ExifTool."""
    draw, orders = random.Random(1), []
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    kinds = ((b"", "mpeg4"), (srgb, "libx265"), (swapped_profile(), "mpeg4"))
    plain = {extension: [plain_file(extension, folder, *kind) for kind in kinds] for extension in WRITTEN}
    for number in range(count):
        extension = list(WRITTEN)[number % len(WRITTEN)]
        path = folder / f"{number}.{extension}"
        path.write_bytes(draw.choice(plain[extension]))
        orders += ["-q", "-n", "-m", "-overwrite_original", "-charset", "filename=utf8", "-codedcharacterset=utf8"]
        for group in draw.sample(WRITTEN[extension], draw.randrange(1, len(WRITTEN[extension]) + 1)):
            orders += [f"-{name}={value}" for name, value in group(draw)]
        orders += [str(path), "-execute"]
    (folder / "orders.txt").write_text("\n".join(orders), encoding="utf-8")
    subprocess.run(["exiftool", "-@", str(folder / "orders.txt")], check=False, capture_output=True)


def plain_file(extension: str, folder: Path, profile: bytes, codec: str) -> bytes:
    picture, path = clouds(1).resize((128, 64)), folder / f"plain.{extension}"
    if extension in ("mp4", "mov"):
        video(path, codec=codec)
    elif extension == "jxl":
        return jxl(picture, lossless=True, **({"icc": profile} if profile else {}))
    elif extension == "heic":
        import pillow_heif

        picture.info |= {"icc_profile": profile} if profile else {}
        pillow_heif.from_pillow(picture).save(path)
    else:
        picture.save(path, **({"icc_profile": profile} if profile and extension != "gif" else {}))
    content = path.read_bytes()
    path.unlink()
    return content


def by_exiftool(tags: Tags) -> dict[str, Any]:
    """Return the facts of one file."""
    found = {
        name: next((tags[tag] for tag in names if tags.get(tag) not in (None, "", 0)), "")
        for name, names in FACTS.items()
    }
    make = make_name(str(found["make"]))
    words = {
        word.strip()
        for tag in KEYWORDS
        for one in listed(tags.get(tag, []))
        for word in str(one).replace(",", ";").split(";")
    }
    words |= {str(one).split("|")[-1].split("/")[-1] for tag in PATHS for one in listed(tags.get(tag, []))}
    lat, lng, high = position_of(tags)
    size = (tags.get("File:ImageWidth", 0), tags.get("File:ImageHeight", 0))
    size = size if all(size) else tuple(int(side) for side in tags.get("Composite:ImageSize", "0 0").split())
    local, minutes = next(filter(lambda one: one[0], (date_of(tags, *names) for names in DATES)), (None, None))
    created, _ = date_of(tags, "QuickTime:CreateDate", "", "")
    clocks = (date_of(tags, name, "", "")[0] for name in ("Composite:GPSDateTime", "XMP-exif:GPSDateTime"))
    satellite = next(filter(None, clocks), None)
    if satellite and (local is None or abs(satellite - local) < FURTHEST):
        created = satellite
    elif local:
        created = None
    codec = tags.get("Track1:CompressorID") or tags.get("RIFF:VideoCodec", "")
    return {
        "time": local,
        "UTC": to_utc(local, minutes) if local and minutes is not None else created and created.replace(tzinfo=UTC),
        "position": None if lat is None else (lat, lng, round(high)),
        "size": sorted(size),
        "camera": (make, model_name(str(found["model"]), make, str(found["make"]))),
        "lens": spaced(found["lens"]),
        "exposure": (
            float(found["exposure"] or 0), float(found["aperture"] or 0), int(found["iso"] or 0),
            round(float(found["focal length"] or 0)),
        ),
        "keywords": words - {""},
        "title": spaced(found["title"]),
        "description": spaced(found["description"]),
        "artist": spaced(", ".join(map(str, listed(found["artist"])))),
        "copyright": spaced(found["copyright"]),
        "rating": int(found["rating"] or 0),
        "duration": round(float(tags.get("QuickTime:Duration") or tags.get("Composite:Duration") or 0), 1),
        "profile": found["profile"],
        "codec": CODECS.get(codec, codec),
    }  # fmt: skip


def position_of(tags: Tags) -> tuple[float | None, float, float]:
    """Return latitude, longitude and altitude, of Exif before those of videos and XMP."""
    if tags.get("GPS:GPSLatitude"):
        south, west, below = (tags.get(f"GPS:GPS{name}Ref") for name in ("Latitude", "Longitude", "Altitude"))
        lat, lng, high = (float(tags.get(f"GPS:GPS{name}") or 0) for name in ("Latitude", "Longitude", "Altitude"))
        return (-lat if south == "S" else lat), (-lng if west == "W" else lng), (-high if below == 1 else high)
    if written := tags.get("Keys:GPSCoordinates"):
        lat, lng, high = (*map(float, written.split()), 0.0)[:3]
        return lat, lng, high
    if "XMP-exif:GPSLatitude" in tags:
        high = float(tags.get("XMP-exif:GPSAltitude") or 0) * (-1 if tags.get("XMP-exif:GPSAltitudeRef") == 1 else 1)
        return float(tags["XMP-exif:GPSLatitude"]), float(tags["XMP-exif:GPSLongitude"]), high
    return None, 0.0, 0.0


def date_of(tags: Tags, name: str, fraction: str, zone: str) -> tuple[datetime | None, int | None]:
    """Return wall time and offset in minutes."""
    written = str(tags.get(name, ""))
    if name == "IPTC:DateCreated" and written:
        written += " " + str(tags.get("IPTC:TimeCreated", "00:00:00"))
    digits = written[20:].rstrip("Z").split("+")[0].split("-")[0] if written[19:20] == "." else ""
    digits = digits or str(tags.get(fraction, ""))
    signed = str(tags.get(zone, "")) or written[19:].lstrip(".0123456789")
    try:
        local = datetime.strptime(written[:19], "%Y:%m:%d %H:%M:%S")  # noqa: DTZ007 - wall time
    except ValueError:
        return None, None
    minutes = 0 if signed == "Z" else None
    if len(signed) == 6:
        minutes = (int(signed[1:3]) * 60 + int(signed[4:])) * (-1 if signed[0] == "-" else 1)
    return local.replace(microsecond=int(digits[:6].ljust(6, "0"))) if digits.isdigit() else local, minutes


def by_photosvc(path: Path) -> dict[str, Any]:
    """Return the same facts of one file."""
    file = extract(path)
    found = file.metadata
    above, _, below = found.exposure.partition("/")
    utc = found.taken_utc
    if found.taken_local and found.utc_offset is not None:
        utc = to_utc(found.taken_local, found.utc_offset)
    return {
        "time": found.taken_local,
        "UTC": utc,
        "position": None if found.lat is None else (found.lat, found.lng, found.altitude),
        "size": sorted((file.width, file.height)),
        "camera": (found.camera_make, found.camera_model),
        "lens": found.lens_model,
        "exposure": (float(above or 0) / float(below or 1), found.f_number, found.iso, found.focal_length),
        "keywords": set(found.keywords),
        "title": found.title,
        "description": spaced(found.description),
        "artist": found.artist,
        "copyright": spaced(found.copyright),
        "rating": found.rating,
        "duration": round(file.duration_ns / 1e9, 1) if file.media_type == "video" else 0,
        "profile": file.color_profile,
        "codec": file.codec if file.media_type == "video" else "",
    }


def listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else [value]


def spaced(value: object) -> str:
    return " ".join(str(value).split())


def are_same(fact: str, ours: Any, theirs: Any) -> bool:  # noqa: ANN401 - the types differ by fact
    if fact == "exposure":
        return abs(ours[0] - theirs[0]) <= theirs[0] * 0.05 and all(
            abs(a - b) < 0.05 for a, b in zip(ours[1:], theirs[1:], strict=True)
        )
    if fact == "position" and ours and theirs:
        return (
            all(abs(a - b) <= 2e-6 for a, b in zip(ours[:2], theirs[:2], strict=True)) and abs(ours[2] - theirs[2]) <= 1
        )
    return bool(ours == theirs)


def compare(folder: Path) -> None:
    dump = subprocess.run(["exiftool", "-r", "-json", "-G1", "-n", "-q", str(folder)], capture_output=True, check=False)
    equal, all_of, examples = Counter[str](), Counter[str](), defaultdict(list)
    for tags in json.loads(dump.stdout):
        path = Path(tags["SourceFile"])
        ours, theirs = by_photosvc(path), by_exiftool(tags)
        for fact in ours:
            if not ours[fact] and not theirs[fact]:
                continue
            if fact == "profile" and path.suffix == ".jxl":  # ExifTool does not decode it
                continue
            all_of[fact] += 1
            same = are_same(fact, ours[fact], theirs[fact])
            equal[fact] += same
            if not same:
                examples[fact].append(f"{path.name}: {ours[fact]!r} by photosvc, {theirs[fact]!r} by ExifTool")
    for fact, count in all_of.items():
        print(f"{fact:12} {equal[fact]:5} of {count:5} equal, {100 * equal[fact] / count:5.1f} %")
        for example in examples[fact][:SHOWN]:
            print("    ", example)


def main(count: int, folders: Sequence[Path]) -> None:
    Image.init()
    with tempfile.TemporaryDirectory() as made:
        make_files(Path(made), count)
        (Path(made) / "orders.txt").unlink()
        for folder in (Path(made), *folders):
            print(f"{folder if folder in folders else 'made files'}:")
            compare(folder)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else COUNT, [*map(Path, sys.argv[2:])])
