"""Which large pictures are decoded: those that fit into the memory of the worker, whatever the size of their file."""

import resource
import struct
from io import BytesIO

import pytest
from PIL import Image

from photosvc.core.process import address_space, available_memory
from photosvc.media.decode import open_picture, scaled
from photosvc.media.picture import read_picture
from tests.helpers.pictures import encoded, exif, heic, jpeg, png_header, quarters
from tests.unit.media.containers import row

NEEDS = "the picture takes {} MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves"


def read(data, extension):
    return read_picture(BytesIO(data), row(extension))


@pytest.fixture
def worker(monkeypatch):
    """A function that sets the memory in MB that a worker has left."""

    def limit(megabytes):
        monkeypatch.setattr("photosvc.media.cost.available_memory", lambda: megabytes * 1_000_000 + (32 << 20))

    return limit


def resized(data, kind, width, height):
    """The same file, its header promising other sizes."""
    data = bytearray(data)
    if kind == "jpg":
        place = next(data.index(mark) for mark in (b"\xff\xc0", b"\xff\xc2") if mark in data)
        data[place + 5 : place + 9] = struct.pack(">HH", height, width)
    else:  # the first `ispe` box of a HEIC or AVIF
        place = data.index(b"ispe") + 8
        data[place : place + 8] = struct.pack(">II", width, height)
    return bytes(data)


def plain(width, height):
    """A scene with hardly any detail."""
    ramp = Image.linear_gradient("L").resize((width, height))
    return Image.merge("RGB", (ramp, ramp.rotate(180), ramp))


def test_a_plain_scene_in_a_small_file_is_no_bomb():
    for kind, extension, options in (
        ("AVIF", "avif", {"quality": 30, "speed": 10}),
        ("WEBP", "webp", {"quality": 30, "method": 0}),
        ("JPEG", "jpg", {"quality": 30, "progressive": True}),
    ):
        data = encoded(plain(1200, 900), kind, **options)
        assert 200 * len(data) < 1200 * 900 * 4, kind
        picture = read(data, extension)
        assert (picture.problem, picture.width, picture.height) == (None, 1200, 900)
        assert picture.colors is not None


def test_a_sequential_jpeg_of_200_megapixels_needs_no_memory(worker):
    data = resized(jpeg(64, 48), "jpg", 16_320, 12_240)
    for megabytes in (20, 800):
        worker(megabytes)
        with open_picture(BytesIO(data), row("jpg"), longest=240) as picture:
            assert picture.size == (16_320, 12_240), megabytes


def test_a_progressive_jpeg_needs_memory_for_its_coefficients(worker):
    for subsampling, needed in (("4:2:0", 611), ("4:4:4", 1211), ("4:2:2", 811)):
        options = {"progressive": True, "subsampling": subsampling, "exif": exif({0x010F: "Canon", 0x0110: "EOS R5"})}
        data = resized(encoded(quarters(), "JPEG", **options), "jpg", 16_320, 12_240)
        worker(needed - 1)
        picture = read(data, "jpg")
        assert picture.problem.sentence == NEEDS.format(needed), subsampling
        assert (picture.width, picture.height, picture.metadata.camera_model) == (16_320, 12_240, "EOS R5")


def test_a_heic_of_200_megapixels_keeps_its_metadata(worker):
    block = exif({0x010F: "samsung", 0x0110: "SM-S928B"}, {0x9003: "2024:05:06 07:08:09"})
    data = resized(heic(64, 64, exif=block), "heic", 16_320, 12_240)
    worker(512)
    picture = read(data, "heic")
    assert picture.problem.sentence == NEEDS.format(1598)
    assert (picture.width, picture.height, picture.metadata.camera_model) == (16_320, 12_240, "SM-S928B")
    assert str(picture.metadata.taken_local) == "2024-05-06 07:08:09"


def test_a_webp_is_refused_before_its_reader_takes_memory(worker):
    more = {"save_all": True, "append_images": [quarters(1000, 600).rotate(180)]}
    for options in ({"quality": 50}, {"lossless": True}, {"quality": 50, **more}):
        data = encoded(quarters(1000, 600), "WEBP", exif=exif({0x010F: "Canon", 0x0110: "EOS R5"}), **options)
        worker(10)
        picture = read(data, "webp")
        assert picture.problem.sentence == NEEDS.format(10), options
        assert (picture.width, picture.height, picture.metadata.camera_model) == (1000, 600, "EOS R5")
        worker(11)
        assert read(data, "webp").problem is None, options


def test_a_large_png_is_refused_by_the_memory_it_needs(worker):
    data = png_header(5000, 4000) + b"\0" * 1_000_000
    worker(79)
    assert read(data, "png").problem.sentence == NEEDS.format(80)
    worker(81)
    assert read(data, "png").problem.sentence == "the picture is damaged"


def test_a_small_picture_needs_little_memory(worker):
    worker(-31)
    assert read(jpeg(64, 48), "jpg").problem is None
    assert read(encoded(quarters(), "WEBP"), "webp").problem is None
    worker(-33)
    assert read(jpeg(64, 48), "jpg").problem.sentence == NEEDS.format(1)


def test_a_process_without_a_limit_has_the_memory_of_the_default_setting():
    assert resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY
    assert available_memory() == 2 << 30
    assert address_space() > 10_000_000


def test_jpeg_2000_is_decoded_at_a_resolution_of_the_file(worker):
    data = encoded(quarters(800, 600), "JPEG2000")
    with open_picture(BytesIO(data), row("jp2"), longest=100) as picture:
        assert scaled(picture, 100).size == picture.size == (100, 75)
    single = encoded(quarters(800, 600), "JPEG2000", num_resolutions=1)
    worker(8)
    assert read(data, "jp2").problem is None
    assert read(single, "jp2").problem.sentence == NEEDS.format(9)
