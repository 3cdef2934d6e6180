"""A library with pictures of every kind, for the tests that only look at it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from PIL import Image

from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.pictures import dng, encoded, exif, heic, jpeg, quarters, swapped_profile, video

ORIENTATIONS = range(1, 9)
RED = (250, 20, 20)


def fill(pictures: PictureClient, folder: Path) -> None:
    """Put and index the originals."""
    library = pictures.library
    library.put("photo.jpg", encoded(quarters(1600, 1200), "JPEG", quality=95))
    library.put("small.png", encoded(quarters(60, 40), "PNG"))
    for number in ORIENTATIONS:
        library.put(f"turned-{number}.jpg", jpeg(320, 240, exif=exif({0x0112: number})))
    library.put("profile.jpg", encoded(Image.new("RGB", (64, 64), RED), "JPEG", icc_profile=swapped_profile()))
    library.put("alpha.png", encoded(alpha(), "PNG"))
    library.put("deep.png", encoded(Image.frombytes("I;16", (40, 40), b"\x00\x80" * 1599 + b"\xff\xff"), "PNG"))
    library.put("print.jpg", encoded(Image.new("CMYK", (64, 64), (0, 255, 255, 0)), "JPEG", quality=95))
    library.put("moving.gif", encoded(Image.new("RGB", (40, 40), "red"), "GIF", save_all=True, append_images=[blue()]))
    library.put("phone.heic", heic(320, 240))
    library.put("raw.dng", dng(folder / "raw.dng", 640, 480).read_bytes())
    preview = encoded(quarters(640, 480), "JPEG", quality=95)
    library.put("turned.dng", dng(folder / "a.dng", 1280, 960, preview=preview, orientation=6).read_bytes())
    library.put("rough.dng", dng(folder / "b.dng", 2000, 1500, preview=preview).read_bytes())
    library.put("clip.mp4", video(folder / "clip.mp4").read_bytes())
    library.put("beside.xmp", b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>")
    library.put("half.jpg", jpeg(640, 480)[:4000])
    for width, name in enumerate(("private", "hidden", "archived", "missing"), start=70):
        library.put(f"{name}.jpg", jpeg(width, 48))
    library.index()
    pictures.change("private.jpg", private=True)
    pictures.change("hidden.jpg", quality=-1)
    pictures.change("archived.jpg", archived_at=datetime(2024, 1, 1, tzinfo=UTC))
    (library.originals / "missing.jpg").unlink()
    library.index()


def alpha() -> Image.Image:
    picture = Image.new("RGBA", (100, 100), (255, 0, 0, 0))
    picture.paste((0, 0, 255, 128), (50, 0, 100, 100))
    return picture


def blue() -> Image.Image:
    return Image.new("RGB", (40, 40), "blue")


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory):
    """Pictures of every kind."""
    folder = tmp_path_factory.mktemp("pictures")
    with open_api(folder) as api:
        pictures = PictureClient(api)
        fill(pictures, folder)
        yield pictures


@pytest.fixture(scope="module")
def new_pictures(tmp_path_factory: pytest.TempPathFactory):
    """An empty library, for the tests of one file that change it."""
    with open_api(tmp_path_factory.mktemp("new")) as api:
        yield PictureClient(api)
