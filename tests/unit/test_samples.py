import re

import pytest
from PIL import ExifTags, Image, ImageChops, ImageOps

from photosvc.samples import ORIGINALS

NAMES = sorted(path.relative_to(ORIGINALS).as_posix() for path in ORIGINALS.rglob("*") if path.is_file())


def read(name):
    """The Exif blocks of a sample, and its XMP packet."""
    with Image.open(ORIGINALS / name) as image:
        image.load()
        block = image.getexif()
        packet = image.info["xmp"]
        exif, gps = block.get_ifd(ExifTags.IFD.Exif), block.get_ifd(ExifTags.IFD.GPSInfo)
    return block, exif, gps, packet.decode() if isinstance(packet, bytes) else packet


def test_the_folder_holds_a_dozen_pictures_of_less_than_two_megabytes():
    assert [name.rpartition(".")[2] for name in NAMES] == ["jpg"] * 13 + ["png"]
    assert sum((ORIGINALS / name).stat().st_size for name in NAMES) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_has_camera_time_place_title_and_keywords(name):
    block, exif, gps, packet = read(name)
    assert block[ExifTags.Base.Make]
    assert block[ExifTags.Base.Model]
    assert re.fullmatch(r"20\d\d:\d\d:\d\d \d\d:\d\d:\d\d", exif[ExifTags.Base.DateTimeOriginal])
    assert re.fullmatch(r"[+-]\d\d:00", exif[ExifTags.Base.OffsetTimeOriginal])
    assert exif[ExifTags.Base.LensModel]
    assert exif[ExifTags.Base.ISOSpeedRatings] >= 20
    assert 0 < exif[ExifTags.Base.ExposureTime] < 60
    assert len(gps[ExifTags.GPS.GPSLatitude]) == len(gps[ExifTags.GPS.GPSLongitude]) == 3
    assert re.search(r"<dc:title>.*<rdf:li[^>]*>[^<]+<", packet, re.DOTALL)
    assert len(re.findall(r"<rdf:li>([^<]+)</rdf:li>", packet)) >= 2


def test_the_samples_have_something_for_every_filter():
    found = [read(name) for name in NAMES]
    assert len({exif[ExifTags.Base.DateTimeOriginal][:4] for _, exif, _, _ in found}) == 10
    assert len({(block[ExifTags.Base.Make], block[ExifTags.Base.Model]) for block, _, _, _ in found}) == 6
    assert {gps[ExifTags.GPS.GPSLatitudeRef] for _, _, gps, _ in found} == {"N", "S"}
    assert {gps[ExifTags.GPS.GPSLongitudeRef] for _, _, gps, _ in found} == {"E", "W"}
    assert {block[ExifTags.Base.Orientation] for block, _, _, _ in found} == {1, 6}
    shapes = []
    for name in NAMES:
        with Image.open(ORIGINALS / name) as image:
            width, height = ImageOps.exif_transpose(image).size
            shapes.append(width / height)
    assert min(shapes) < 1
    assert max(shapes) > 1.9
    with Image.open(ORIGINALS / "2016/river-skyline.jpg") as image:
        red, green, blue = image.convert("RGB").split()
        assert ImageChops.difference(red, blue).getextrema() == (0, 0)
        assert ImageChops.difference(red, green).getextrema() == (0, 0)
