import errno
import random
import struct
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from photosvc.core.problems import Problem, Reason
from photosvc.media import errors as extras
from photosvc.media.decode import open_picture, scaled
from photosvc.media.errors import DecodeError, MissingExtraError, PictureTooLargeError
from photosvc.media.picture import Picture, open_shown, read_picture
from tests.helpers.examples import examples
from tests.helpers.pictures import CORNERS, dng, encoded, exif, heic, jpeg, png_bomb, png_header, quarters
from tests.unit.media.containers import row

SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def read_preview(source, kind_row, longest):
    with open_shown(source, kind_row, longest) as (picture, orientation):
        return scaled(picture, longest, orientation)


def corners(picture: Image.Image) -> list[int]:
    """The number of the quarter that each corner shows, row by row."""
    width, height = picture.size
    shown = [picture.convert("RGB").getpixel((x, y)) for y in (2, height - 3) for x in (2, width - 3)]
    return [
        min(range(4), key=lambda n: sum(abs(a - b) for a, b in zip(CORNERS[n], colour, strict=True)))
        for colour in shown
    ]


def resident() -> int:
    """Peak resident bytes of this process since the mark was last cleared."""
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def test_core_formats_are_decoded_and_scaled():
    for kind in ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF"):
        with open_picture(BytesIO(encoded(quarters(400, 300), kind)), extension_row(kind)) as picture:
            small = scaled(picture, 100)
        assert (small.size, corners(small)) == ((100, 75), [0, 1, 2, 3]), kind


def extension_row(kind):
    return row({"JPEG": "jpg", "TIFF": "tif"}.get(kind, kind.lower()))


# Where the quarters of the stored picture must be found once it is upright (TIFF 6.0, Orientation).
UPRIGHT = {
    1: [0, 1, 2, 3], 2: [1, 0, 3, 2], 3: [3, 2, 1, 0], 4: [2, 3, 0, 1],
    5: [0, 2, 1, 3], 6: [2, 0, 3, 1], 7: [3, 1, 2, 0], 8: [1, 3, 0, 2],
}  # fmt: skip


def test_pictures_are_shown_upright_once():
    for kind in ("JPEG", "TIFF", "PNG"):
        for orientation, expected in UPRIGHT.items():
            block = Image.Exif()
            block[0x0112] = orientation
            data = encoded(quarters(80, 60), kind, exif=block.tobytes())
            shown = read_preview(BytesIO(data), extension_row(kind), 720)
            picture = read_picture(BytesIO(data), extension_row(kind))
            size = (60, 80) if orientation >= 5 else (80, 60)
            assert shown.size == (picture.width, picture.height) == size, (kind, orientation)
            assert (picture.orientation, corners(shown)) == (orientation, expected), (kind, orientation)


def test_every_mode_becomes_displayable():
    line = struct.pack("<H", 20_000) * 20 + struct.pack("<H", 60_000) * 20
    deep = Image.frombytes("I;16", (40, 40), line * 40)
    for mode in ("1", "L", "LA", "P", "RGBA", "CMYK", "I;16", "F"):
        small = scaled(deep if mode == "I;16" else quarters(40, 40).convert(mode), 20)
        assert (small.mode in ("RGB", "RGBA"), small.size) == (True, (20, 20)), mode
    small = scaled(deep, 40)
    assert (small.getpixel((5, 20)), small.getpixel((35, 20))) == ((77, 77, 77), (233, 233, 233))


def test_a_tiny_file_of_many_megapixels_is_refused_without_memory():
    data = png_bomb()
    assert len(data) < 20_000
    reset_peak()
    before = resident()
    picture = read_picture(BytesIO(data), row("png"))
    assert picture.problem.sentence == "the picture has 144 megapixels and unpacks to 1023 times its size"
    assert (picture.width, picture.height, picture.colors) == (12_000, 12_000, None)
    with pytest.raises(PictureTooLargeError, match=r"90 megapixels and unpacks to 10\d\d times its size"):
        read_preview(BytesIO(png_bomb(10_000, 9_000)), row("png"), 720)
    picture = read_picture(BytesIO(png_header(30_000, 30_000)), row("png"))  # warnings are errors
    needs = "the picture takes 3600 MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves"
    assert (picture.problem.sentence, picture.width, picture.height) == (needs, 30_000, 30_000)
    assert resident() - before < 100_000_000


def test_a_truncated_jpeg_keeps_its_metadata_and_has_a_reason():
    block = exif({0x010F: "Canon", 0x0110: "Canon EOS R"}, thumbnail=jpeg(160, 120))
    whole = jpeg(1600, 1200, exif=block)
    picture = read_picture(BytesIO(whole[: len(whole) * 2 // 3]), row("jpg"))
    assert picture.problem.sentence == "the picture is truncated"
    assert (picture.width, picture.height, picture.metadata.camera_model, picture.colors) == (1600, 1200, "EOS R", None)
    assert read_picture(BytesIO(whole), row("jpg")).problem is None


def test_colours_come_from_the_preview_only_when_it_has_the_picture_s_shape():
    red, small = (encoded(Image.new("RGB", size, (255, 0, 0)), "JPEG") for size in ((160, 120), (80, 60)))
    for size, preview, is_used in (((640, 480), red, True), ((640, 400), red, False), ((640, 480), small, False)):
        data = jpeg(*size, exif=exif({0x010F: "x"}, thumbnail=preview))
        colors = read_picture(BytesIO(data), row("jpg")).colors.colors
        assert (colors == "EEEEEEEEE") is is_used, (size, len(preview))


def test_the_name_of_a_colour_profile_is_read_and_a_huge_or_broken_one_does_no_harm():
    broken = b"\0" * 36 + b"acsp" + b"\0" * 88 + struct.pack(">I", 0xFFFFFFFF) + b"desc" + b"\xff" * 4_000_000
    for profile, name in ((broken, ""), (SRGB, "sRGB built-in")):
        picture = read_picture(BytesIO(encoded(quarters(), "JPEG", icc_profile=profile)), row("jpg"))
        assert (picture.problem, picture.color_profile) == (None, name)


@examples(200, everyday=50)
@given(st.lists(st.tuples(st.integers(0, 400), st.binary(min_size=1, max_size=4)), min_size=1, max_size=6))
def test_a_damaged_colour_profile_does_no_harm(changes):
    profile = bytearray(SRGB)
    for place, value in changes:
        profile[place : place + len(value)] = value
    picture = read_picture(BytesIO(encoded(quarters(), "JPEG", icc_profile=bytes(profile))), row("jpg"))
    assert picture.problem is None
    assert picture.colors is not None
    assert len(picture.color_profile) <= 64


def test_animations_are_counted():
    frames = [quarters(), quarters().rotate(90), quarters().rotate(180)]
    for kind in ("GIF", "WEBP", "PNG"):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:])
        assert read_picture(BytesIO(data), row(kind.lower())).frames == 3
    assert read_picture(BytesIO(encoded(quarters(), "GIF")), row("gif")).frames == 0


def test_a_gif_with_a_broken_tail_shows_its_first_frames():
    drawn = random.Random(1)
    frames = [Image.frombytes("L", (80, 60), drawn.randbytes(4800)).convert("P") for _ in range(5)]
    whole = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
    found = [read_picture(BytesIO(whole[: len(whole) * part // 50]), row("gif")) for part in range(11, 51)]
    assert {one.problem for one in found} == {None}
    counted = [one.frames for one in found]
    assert counted == sorted(counted)
    assert set(counted) == {0, 2, 3, 4, 5}


def test_a_heic_is_upright_and_keeps_its_exif():
    block = exif({0x010F: "Apple", 0x0110: "iPhone", 0x0112: 6})
    data = heic(160, 120, exif=block)
    picture = read_picture(BytesIO(data), row("heic"))
    assert (picture.problem, picture.width, picture.height, picture.orientation) == (None, 120, 160, 6)
    assert picture.metadata.camera_model == "iPhone"
    assert corners(read_preview(BytesIO(data), row("heic"), 720)) == UPRIGHT[6]
    cut = data + struct.pack(">I4s", 1000, b"mdat")
    assert read_picture(BytesIO(cut), row("heic")).problem.sentence == "the picture is truncated"
    assert read_picture(BytesIO(data[:-40]), row("heic")).problem.sentence == "the picture's header cannot be read"


def test_a_dng_is_developed_when_it_has_no_preview(tmp_path):
    with dng(tmp_path / "a.dng", 640, 480).open("rb") as source:
        picture = read_picture(source, row("dng"))
        shown = read_preview(source, row("dng"), 100)
    assert (picture.problem, picture.width, picture.height) == (None, 640, 480)
    assert (picture.metadata.camera_make, picture.metadata.camera_model) == ("Leica", "M10")
    assert max(shown.size) == 100


def test_a_missing_extra_is_a_clear_reason(monkeypatch, tmp_path):
    for extra, module, extension in (("heic", "pillow_heif", "heic"), ("raw", "rawpy", "dng")):
        data = heic() if extra == "heic" else dng(tmp_path / "a.dng").read_bytes()
        extras.register_heic.cache_clear()
        monkeypatch.setitem(sys.modules, module, None)
        reason = f"needs the extra \"{extra}\": pip install 'photosvc[{extra}]'"
        assert read_picture(BytesIO(data), row(extension)).problem.sentence == reason
        with pytest.raises(MissingExtraError) as caught:
            read_preview(BytesIO(data), row(extension), 720)
        assert caught.value.message == reason


def test_a_mistake_of_ours_is_not_damage_of_the_file(monkeypatch):
    """Errors as our own code and wrong calls of libraries raise them, at each step of reading."""

    def no_such_argument(*_):
        return quarters().resize((1, 1), no_such_argument=1)

    def no_such_key(*_):
        return Problem.from_columns("no such reason", "")

    for step in ("completed", "read_colors", "hash_picture", "_small", "_shape"):
        for mistake, error in ((no_such_argument, TypeError), (no_such_key, KeyError)):
            with monkeypatch.context() as patch:
                patch.setattr(f"photosvc.media.picture.{step}", mistake)
                with pytest.raises(error):
                    read_picture(BytesIO(jpeg()), row("jpg"))
    monkeypatch.setitem(Image.OPEN, "JPEG", (lambda source: source, None))  # a reader that takes other arguments
    with pytest.raises(TypeError):
        read_picture(BytesIO(jpeg()), row("jpg"))


def test_a_disk_that_fails_while_a_picture_is_decoded_is_no_damage_of_the_file(monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("photosvc.media.picture.scaled", fail)
    found = read_picture(BytesIO(jpeg()), row("jpg"))
    assert (found.problem, found.width) == (Problem.of(Reason.UNREADABLE, "EIO"), 64)


@examples(150, everyday=60)
@given(st.sampled_from(["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"]), st.data())
def test_any_damage_ends_as_a_picture_or_a_reason(kind, data):
    whole = bytearray(encoded(quarters(32, 24), kind))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = BytesIO(whole[: data.draw(st.integers(1, len(whole)))])
    kind_row = row({"JPEG": "jpg", "TIFF": "tif"}.get(kind, kind.lower()))
    picture = read_picture(cut, kind_row)
    assert isinstance(picture, Picture)
    assert (picture.colors is None) == (picture.problem is not None)
    with suppress(DecodeError):
        assert max(read_preview(cut, kind_row, 100).size) <= 100
