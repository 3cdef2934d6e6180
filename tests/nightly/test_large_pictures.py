"""Large pictures of many formats are decoded within the default memory."""

import pytest

from tests.helpers.pictures import encoded, quarters
from tests.unit.media.pixels.test_media_large_pictures import read


@pytest.mark.parametrize(
    ("kind", "extension", "size", "mode", "options"),
    [
        ("TIFF", "tif", (11_656, 8_750), "RGB", {"compression": "tiff_lzw"}),
        ("JPEG", "jpg", (11_656, 8_750), "RGB", {"progressive": True, "quality": 60}),
        ("JPEG", "jpg", (16_320, 12_240), "RGB", {"quality": 60}),
        ("TIFF", "tif", (10_000, 13_900), "1", {"compression": "group4"}),
        ("AVIF", "avif", (6000, 4000), "RGB", {"quality": 30, "speed": 10}),
        ("WEBP", "webp", (6000, 4000), "RGB", {"quality": 30, "method": 0}),
    ],
    ids=["102 MP TIFF", "102 MP progressive JPEG", "200 MP JPEG", "139 MP fax", "24 MP AVIF", "24 MP WebP"],
)
def test_a_large_picture_is_shown(kind, extension, size, mode, options):
    picture = quarters(*size)
    data = encoded(picture.convert(mode) if mode != "RGB" else picture, kind, **options)
    found = read(data, extension)
    assert (found.problem, found.width, found.height) == (None, *size)
    assert found.colors is not None
