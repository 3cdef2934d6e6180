"""Thumbnails that a worker makes while it reads a file for the index."""

from unittest.mock import Mock

import pytest
from PIL import Image

from photosvc.core.problems import Reason
from photosvc.index.extract import extract, extract_and_show
from photosvc.media.errors import DecodeError
from photosvc.media.formats import HEAD_SIZE, sniff
from photosvc.pictures import render
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.sizes import named_target
from tests.helpers.pictures import (
    avif_with_plain_alpha,
    clouds,
    dng,
    encoded,
    exif,
    jpeg,
    jxl,
    video,
)

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="600"><rect width="400" height="300"/></svg>'
SIZE = 320, 240


def cloudy(kind, mode="RGB", **options):
    return encoded(clouds(1, *SIZE).convert(mode), kind, **options)


def animated(kind):
    return cloudy(kind, save_all=True, append_images=[clouds(2, *SIZE)], duration=100)


def heif(**options):
    import pillow_heif

    pillow_heif.register_heif_opener()
    return cloudy("HEIF", quality=80, **options)


def turned(kind):
    block = Image.Exif()
    block[0x0112] = 6
    return cloudy(kind, exif=block.tobytes())


def with_preview():
    return encoded(clouds(1, *SIZE), "JPEG", exif=exif(thumbnail=encoded(clouds(1, 160, 120), "JPEG")))


#: File name -> its content, for pictures that are decoded once.
ONCE = {
    "turned.png": lambda: turned("PNG"),
    "transparent palette.png": lambda: cloudy("PNG", "P", transparency=3),
    "deep.png": lambda: cloudy("PNG", "I;16"),
    "animated.webp": lambda: animated("WEBP"),
    "plain.gif": lambda: cloudy("GIF"),
    "ink.tif": lambda: cloudy("TIFF", "CMYK"),
    "plain.heic": heif,
    "plain.jxl": lambda: jxl(clouds(1, *SIZE)),
    "developed.dng": None,
}
#: The same for pictures whose colours come from a smaller version, which costs less than a whole decode.
TWICE = {
    "plain.jpg": lambda: jpeg(*SIZE),
    "preview.jpg": with_preview,
    "thumbnail.heic": lambda: heif(thumbnails=[160]),
    "plain.jp2": lambda: cloudy("JPEG2000"),
    "old.avif": avif_with_plain_alpha,
    "drawn.svg": lambda: SVG,
    "preview.dng": None,
    "film.mp4": None,
}


def drawn(folder, name):
    """The file of this name, in a folder of its own."""
    path = folder / name
    match name:
        case "film.mp4":
            return video(path, codec="libx264")
        case "developed.dng":
            return dng(path, 1200, 900)
        case "preview.dng":
            return dng(path, 1200, 900, preview=encoded(clouds(1, 640, 480), "JPEG"))
    path.write_bytes((ONCE | TWICE)[name]())
    return path


def made_with(path, folder):
    """The extraction, and the thumbnails in the cache by their names."""
    extraction, made, refusal = extract_and_show(path, max_bytes=1 << 30, cache=PictureCache(folder, 1 << 30))
    assert refusal == ""
    found = folder.glob("pictures/?/?/?/*")
    thumbnails = {file.name.partition("_")[2]: file.read_bytes() for file in found}
    assert len(thumbnails) == made
    return extraction, thumbnails


@pytest.mark.parametrize("name", [*ONCE, *TWICE])
def test_the_index_finds_the_same_and_thumbnails_are_those_made_on_demand(tmp_path, monkeypatch, name):
    path, opened, open_shown = drawn(tmp_path, name), [], render.open_shown
    with monkeypatch.context() as patch:
        patch.setattr(render, "open_shown", lambda *args: opened.append(args) or open_shown(*args))
        extraction, thumbnails = made_with(path, tmp_path / "cache")
    # A file is opened again only where its colours cost less than a whole decode.
    assert len(opened) == (name in TWICE)
    assert extraction == extract(path)
    assert extraction.problem is None
    with path.open("rb") as file:
        row = sniff(file.read(HEAD_SIZE), path.name)
        targets = [named_target(file_name) for file_name in thumbnails]
        expected = render.render_original(file, row, (extraction.width, extraction.height), targets)
    assert len(expected) >= 3
    assert list(thumbnails.values()) == expected


def test_thumbnails_that_fail_leave_the_extraction_whole(tmp_path, monkeypatch):
    path = drawn(tmp_path, "turned.png")
    for error in (MemoryError(), ValueError("a decoder's"), DecodeError(Reason.UNDECODABLE)):
        monkeypatch.setattr(render, "render_thumbnails", Mock(side_effect=error))
        assert made_with(path, tmp_path / "cache") == (extract(path), {}), error
