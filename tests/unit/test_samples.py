import re

import PIL
import pytest
from PIL import ExifTags, Image, ImageChops, ImageOps

from photosvc.samples import ORIGINALS
from tools.samples.catalog import SAMPLES
from tools.samples.draw import save

each = pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
few = pytest.mark.parametrize("sample", [SAMPLES[7], SAMPLES[-1]], ids=lambda sample: sample.path)


def test_the_folder_holds_the_samples_and_nothing_else():
    files = {path.relative_to(ORIGINALS).as_posix(): path for path in ORIGINALS.rglob("*") if path.is_file()}
    assert set(files) == {sample.path for sample in SAMPLES}
    assert sum(path.stat().st_size for path in files.values()) < 2_000_000


@few
def test_drawing_again_gives_the_same_picture(sample, tmp_path):
    again = save(sample, tmp_path)
    shipped = ORIGINALS / sample.path
    with Image.open(again) as one, Image.open(shipped) as other:
        assert one.getexif().tobytes() == other.getexif().tobytes()
        difference = ImageChops.difference(one.convert("L"), other.convert("L"))
        assert max(value for value, count in enumerate(difference.histogram()) if count) <= 24
    first = save(sample, tmp_path / "first")
    assert first.read_bytes() == again.read_bytes()
    if PIL.__version__ == "13.0.0":
        assert again.read_bytes() == shipped.read_bytes()


@each
def test_cameras_times_and_places_can_be_read(sample):
    with Image.open(ORIGINALS / sample.path) as image:
        assert ImageOps.exif_transpose(image).size == sample.size
        block = image.getexif()
        exif, gps = block.get_ifd(ExifTags.IFD.Exif), block.get_ifd(ExifTags.IFD.GPSInfo)
    assert (block[ExifTags.Base.Make], block[ExifTags.Base.Model]) == sample.camera
    assert block[ExifTags.Base.Orientation] == sample.orientation
    assert exif[ExifTags.Base.DateTimeOriginal] == f"{sample.taken:%Y:%m:%d %H:%M:%S}"
    assert re.fullmatch(r"[+-]\d\d:00", exif[ExifTags.Base.OffsetTimeOriginal])
    assert exif[ExifTags.Base.LensModel] == sample.lens
    assert exif[ExifTags.Base.ISOSpeedRatings] == sample.iso
    assert float(exif[ExifTags.Base.ExposureTime]) == pytest.approx(sample.exposure, rel=1e-3)
    assert degrees(gps[ExifTags.GPS.GPSLatitude], gps[ExifTags.GPS.GPSLatitudeRef]) == pytest.approx(
        sample.lat, abs=5e-6
    )
    assert degrees(gps[ExifTags.GPS.GPSLongitude], gps[ExifTags.GPS.GPSLongitudeRef]) == pytest.approx(
        sample.lng, abs=5e-6
    )


def degrees(parts, reference):
    value = sum(float(part) / 60**index for index, part in enumerate(parts))
    return -value if reference in "SW" else value


@each
def test_titles_keywords_and_stars_can_be_read(sample):
    with Image.open(ORIGINALS / sample.path) as image:
        image.load()
        packet = image.info["xmp"]
    text = packet.decode() if isinstance(packet, bytes) else packet
    assert f">{sample.title}<" in text
    assert f">{sample.description}<" in text
    assert re.findall(r"<rdf:li>([^<]*)</rdf:li>", text) == list(sample.keywords)
    assert f'xmp:Rating="{sample.rating}"' in text


def test_the_samples_have_something_for_every_filter():
    assert len({sample.taken.year for sample in SAMPLES}) == 10
    assert len({sample.camera for sample in SAMPLES}) == 6
    assert {sample.lat < 0 for sample in SAMPLES} == {sample.lng < 0 for sample in SAMPLES} == {True, False}
    assert {sample.orientation for sample in SAMPLES} == {1, 6}
    widths = [width / height for width, height in (sample.size for sample in SAMPLES)]
    assert min(widths) < 1
    assert max(widths) > 1.9
    stems = [sample.path.rpartition(".")[0] for sample in SAMPLES]
    assert len(stems) - len(set(stems)) == 1
    with Image.open(ORIGINALS / "2016/river-skyline.jpg") as image:
        red, green, blue = image.convert("RGB").split()
        assert ImageChops.difference(red, blue).getextrema() == (0, 0)
        assert ImageChops.difference(red, green).getextrema() == (0, 0)
