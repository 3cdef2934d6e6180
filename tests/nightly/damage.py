"""Damaged variants of files: cut, with flipped bytes, or behind the header of another format."""

import random
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.helpers.pictures import dng, encoded, exif, heic, iptc, jpeg, quarters, video, xmp
from tests.unit.media.containers import bigtiff, gif_with_xmp, photoshop_resource, png_after_pixels, psd, raw_profile
from tests.unit.media.video.videos import google_photo, samsung_photo

#: Bytes that are exchanged between two files of different formats: both headers.
_HEADER = 64


def samples(folder: Path) -> dict[str, bytes]:
    """A small file of each format, with all the metadata that it can contain, by name; made in `folder`."""
    where = {1: "N", 2: [(43, 1), (28, 1), (0, 1)], 3: "E", 4: [(11, 1), (53, 1), (0, 1)]}
    block = exif({0x010F: "Canon", 0x0112: 6, 0x010E: "words"}, {0x9003: "2020:01:02 03:04:05"}, where)
    packet = xmp("<dc:title><rdf:Alt><rdf:li>Title</rdf:li></rdf:Alt></dc:title>", 'xmp:Rating="4"')
    records = iptc([(5, b"Title"), (55, b"20200131"), (25, b"sea")])
    picture = quarters(160, 120)
    thumbnail = encoded(quarters(160, 120), "JPEG")
    film = video(folder / "film.mp4", codec="libx264", tags={"title": "Film"}).read_bytes()
    found = {
        "a.jpg": jpeg(160, 120, exif=block, xmp=packet, iptc=records),
        "thumbnail.jpg": jpeg(640, 480, exif=exif({0x010F: "Canon"}, thumbnail=thumbnail)),
        "a.png": png_after_pixels((b"eXIf", block[6:]), raw_profile("iptc", photoshop_resource(0x0404, records))),
        "a.webp": encoded(picture, "WEBP", exif=block, xmp=packet),
        "frames.webp": encoded(picture, "WEBP", save_all=True, append_images=[quarters(160, 120).rotate(180)]),
        "a.gif": gif_with_xmp(packet),
        "a.tif": encoded(picture, "TIFF", compression="tiff_lzw", tiffinfo={700: packet, 0x83BB: records}),
        "big.tif": bigtiff(),
        "a.bmp": encoded(picture, "BMP"),
        "a.avif": encoded(picture, "AVIF", exif=block, xmp=packet),
        "a.heic": heic(160, 120, exif=block, xmp=packet),
        "a.jp2": encoded(picture, "JPEG2000"),
        "a.psd": psd(photoshop_resource(0x0422, block[6:]) + photoshop_resource(0x0404, records)),
        "a.dng": dng(folder / "raw.dng").read_bytes(),
        "a.mp4": film,
        "google.jpg": google_photo(film),
        "samsung.jpg": samsung_photo(film),
        "a.xmp": packet,
    }
    for name in ("film.mov", "film.avi", "film.mkv", "film.mts", "film.wmv"):
        codec = {"film.avi": "mjpeg", "film.mts": "libx264", "film.wmv": "msmpeg4v3"}.get(name, "mpeg4")
        found[name] = video(folder / name, codec=codec, tags={"title": "Film"}).read_bytes()
    return found


def variants(files: Mapping[str, bytes], *, cuts: int, flips: int, seed: int = 1) -> Iterator[tuple[str, bytes]]:
    """Name and content of each damaged file.

    Args:
        files: whole files by name.
        cuts: each file ends at each of so many equal parts of its length.
        flips: variants of each file with some bytes changed, most of them near its beginning.
        seed: of the changes.

    """
    drawn = random.Random(seed)
    names = list(files)
    for number, (name, content) in enumerate(files.items()):
        for part in range(1, cuts):
            yield f"cut-{part}-{name}", content[: len(content) * part // cuts]
        for turn in range(flips):
            damaged = bytearray(content)
            for _ in range(1 + drawn.randrange(8)):
                furthest = min(len(damaged), drawn.choice((64, 512, len(damaged))))
                damaged[drawn.randrange(furthest)] = drawn.choice((0, 1, 0x7F, 0x80, 0xFF, drawn.randrange(256)))
            yield f"flipped-{turn}-{name}", bytes(damaged)
        other = files[names[(number + 1) % len(names)]]
        yield f"swapped-{name}", other[:_HEADER] + content[_HEADER:]
        yield f"behind-{name}", other[:_HEADER] + content
