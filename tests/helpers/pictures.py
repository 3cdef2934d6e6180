"""Small files for the tests to read: pictures with metadata, raws, videos, bombs and broken ones, all drawn here."""

import random
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, ImageCms

#: A quarter each: red and green above, blue and white below.
CORNERS = ((220, 30, 30), (30, 160, 60), (40, 70, 180), (250, 250, 250))


def quarters(width: int = 64, height: int = 48) -> Image.Image:
    """A picture whose corners tell which way it stands."""
    picture = Image.new("RGB", (width, height))
    for number, colour in enumerate(CORNERS):
        left, top = (number % 2) * width // 2, (number // 2) * height // 2
        picture.paste(colour, (left, top, left + width // 2, top + height // 2))
    return picture


def clouds(seed: int, width: int = 320, height: int = 240) -> Image.Image:
    """A picture of soft spots; each seed gives another one."""
    draw = random.Random(seed)
    spots = Image.frombytes("RGB", (6, 5), bytes(draw.randrange(256) for _ in range(90)))
    return spots.resize((width, height), Image.Resampling.BICUBIC)


def encoded(picture: Image.Image, kind: str, **options: Any) -> bytes:
    """The bytes of a picture in one of Pillow's formats."""
    out = BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()


def jpeg(width: int = 64, height: int = 48, *, exif: bytes = b"", xmp: bytes = b"", iptc: bytes = b"") -> bytes:
    """A JPEG of four quarters with metadata."""
    options: dict[str, Any] = {"quality": 90}
    if exif:
        options["exif"] = exif
    if xmp:
        options["xmp"] = xmp
    data = encoded(quarters(width, height), "JPEG", **options)
    return data[:2] + _photoshop(iptc) + data[2:] if iptc else data


def _photoshop(iptc: bytes) -> bytes:
    body = b"Photoshop 3.0\0" + b"8BIM\x04\x04\0\0" + struct.pack(">I", len(iptc)) + iptc + b"\0" * (len(iptc) % 2)
    return b"\xff\xed" + struct.pack(">H", len(body) + 2) + body


def iptc(records: Sequence[tuple[int, bytes]], *, utf8: bool = True) -> bytes:
    """IPTC records of the application record, after the mark of their character set."""
    head = b"\x1c\x01\x5a\0\x03\x1b%G" if utf8 else b""
    return head + b"".join(b"\x1c\x02" + struct.pack(">BH", number, len(value)) + value for number, value in records)


def exif(
    image: Mapping[int, Any] | None = None,
    camera: Mapping[int, Any] | None = None,
    gps: Mapping[int, Any] | None = None,
    *,
    thumbnail: bytes = b"",
) -> bytes:
    """An Exif blob, big endian, with these tags in its main, Exif and GPS directories.

    A value is text, a number, fractions as (numerator, denominator) pairs in a list, or raw as (type, count, bytes).
    """
    out = bytearray(b"MM\0*\0\0\0\x08")
    main = dict(image or {})
    directories: list[tuple[int, Mapping[int, Any]]] = [(0x8769, camera or {}), (0x8825, gps or {})]
    for pointer, tags in directories:
        if tags:
            main[pointer] = 0
    place = 8
    sizes = {}
    blocks = [main, *(tags for _, tags in directories)]
    for pointer, tags in zip((0, 0x8769, 0x8825), blocks, strict=True):
        sizes[pointer] = place
        if tags:
            place += len(_block(tags, place, 0))
    for pointer in (0x8769, 0x8825):
        if pointer in main:
            main[pointer] = sizes[pointer]
    following = place if thumbnail else 0
    out += _block(main, 8, following)
    for pointer, tags in directories:
        if tags:
            out += _block(tags, sizes[pointer], 0)
    if thumbnail:
        at = place + 2 + 24 + 4
        out += _block({0x0201: at, 0x0202: len(thumbnail)}, place, 0) + thumbnail
    return b"Exif\0\0" + bytes(out)


def rational(numerator: int, denominator: int) -> tuple[int, int, bytes]:
    """An unsigned fraction as a value of `exif`."""
    return 5, 1, struct.pack(">II", numerator, denominator)


def apple_note(*, content_id: str = "", burst_id: str = "") -> bytes:
    """A MakerNote of an iPhone with these identifiers, as a value of the Exif tag 0x927C."""
    tags = {tag: text for tag, text in ((0x000B, burst_id), (0x0011, content_id)) if text}
    return b"Apple iOS\0\0\x01MM" + _block(tags, 14, 0)


def _block(tags: Mapping[int, Any], place: int, following: int) -> bytes:
    entries, data = b"", b""
    start = place + 2 + 12 * len(tags) + 4
    for tag, value in sorted(tags.items()):
        kind, count, raw = _typed(value)
        if len(raw) <= 4:
            field = raw.ljust(4, b"\0")
        else:
            field = struct.pack(">I", start + len(data))
            data += raw + b"\0" * (len(raw) % 2)
        entries += struct.pack(">HHI", tag, kind, count) + field
    return struct.pack(">H", len(tags)) + entries + struct.pack(">I", following) + data


def _typed(value: Any) -> tuple[int, int, bytes]:
    match value:
        case str():
            raw = value.encode() + b"\0"
            return 2, len(raw), raw
        case bytes():
            return 7, len(value), value
        case int():
            return (
                (3, 1, struct.pack(">H", value)) if value < 1 << 16 and value >= 0 else (4, 1, struct.pack(">I", value))
            )
        case list():
            return 5, len(value), b"".join(struct.pack(">II", *pair) for pair in value)
        case (kind, count, raw):
            return kind, count, raw
    raise TypeError(value)


def xmp(properties: str = "", attributes: str = "") -> bytes:
    """An XMP packet around these property elements and attributes of its description."""
    return f"""<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
 xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
 xmlns:GPano="http://ns.google.com/photos/1.0/panorama/" xmlns:cc="http://creativecommons.org/ns#"
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
 xmlns:MP="http://ns.microsoft.com/photo/1.2/" xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
 xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#" {attributes}>{properties}</rdf:Description>
</rdf:RDF></x:xmpmeta><?xpacket end="w"?>""".encode()


def titled(title: str) -> bytes:
    """An XMP packet with this title."""
    return xmp(f"<dc:title><rdf:Alt><rdf:li>{title}</rdf:li></rdf:Alt></dc:title>")


def showing(*names: str, keywords: Iterable[str] = ()) -> bytes:
    """An XMP packet with keywords and a marked face for each name."""
    faces = "".join(
        f'<rdf:li rdf:parseType="Resource"><mwg-rs:Name>{name}</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>'
        f'<mwg-rs:Area stArea:x="0.{number}" stArea:y="0.4" stArea:w="0.1" stArea:h="0.2" stArea:unit="normalized"/>'
        "</rdf:li>"
        for number, name in enumerate(names, 2)
    )
    words = "".join(f"<rdf:li>{word}</rdf:li>" for word in keywords)
    return xmp(
        f'<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>{faces}</rdf:Bag>'
        f"</mwg-rs:RegionList></mwg-rs:Regions><dc:subject><rdf:Bag>{words}</rdf:Bag></dc:subject>"
    )


def swapped_profile() -> bytes:
    """A profile whose red and green are exchanged, so that no conversion and a conversion differ for certain."""
    profile = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    entries = {bytes(profile[at : at + 4]): at for at in range(132, 132 + 12 * profile[131], 12)}
    red, green = entries[b"rXYZ"], entries[b"gXYZ"]
    profile[red + 4 : red + 12], profile[green + 4 : green + 12] = (
        profile[green + 4 : green + 12],
        profile[red + 4 : red + 12],
    )
    described = entries[b"desc"]
    at = int.from_bytes(profile[described + 4 : described + 8], "big")
    length = int.from_bytes(profile[described + 8 : described + 12], "big")
    profile[at : at + length] = bytes(profile[at : at + length]).replace(b"s\0R\0G\0B", b"o\0d\0d\0!")
    return bytes(profile)


def heic(width: int = 64, height: int = 48, **options: Any) -> bytes:
    """A tiny HEIC."""
    import pillow_heif

    pillow_heif.register_heif_opener()
    return encoded(quarters(width, height), "HEIF", quality=80, **options)


def dng(path: Path, width: int = 64, height: int = 48, *, preview: bytes = b"", orientation: int = 1) -> Path:
    """A Bayer DNG: a plain grey sensor, and the JPEG `preview` if there is one."""
    import numpy as np
    import tifffile

    fixed = [(0x828D, 3, 2, (2, 2)), (0x828E, 1, 4, bytes((0, 1, 1, 2)))]
    described = [
        (0xC612, 1, 4, bytes((1, 4, 0, 0))),
        (0xC614, 2, 0, "photosvc test"),
        (0x010F, 2, 0, "Leica Camera AG"),
        (0x0110, 2, 0, "LEICA M10"),
        (0x0112, 3, 1, orientation),
        (0xC61D, 3, 1, 16383),
        (0xC621, 10, 9, (1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1)),
        (0xC628, 5, 3, (1, 1, 1, 1, 1, 1)),
        (0xC65A, 3, 1, 21),
    ]
    sensor = np.full((height, width), 8000, dtype=np.uint16)
    tags = [(*tag, True) for tag in fixed + described]
    with tifffile.TiffWriter(path) as writer:
        writer.write(sensor, photometric=32803, subfiletype=0, extratags=tags, metadata=None)
        if preview:  # written as one row of bytes, because tifffile cannot write JPEG without another package
            writer.write(np.frombuffer(preview, np.uint8)[None], photometric=1, subfiletype=1, metadata=None)
    if preview:
        columns, rows = Image.open(BytesIO(preview)).size
        with tifffile.TiffFile(path, mode="r+") as written:
            page = written.pages[1]
            for tag, value in ((256, columns), (257, rows), (259, 7), (262, 6), (277, 3), (278, rows)):
                page.tags[tag].overwrite(value)
    return path


def raw_with_preview(
    make: str, model: str, preview: bytes, *, mark: bytes = b"", block: Mapping[int, Any] | None = None
) -> bytes:
    """A raw by its TIFF directories alone: camera, date, size and a JPEG preview, but no sensor data.

    Args:
        make: camera.
        model: camera.
        preview: JPEG.
        mark: what stands in place of the first four bytes of a TIFF.
        block: further tags of the main directory.

    """
    main = {0x0100: 6000, 0x0101: 4000, 0x010F: make, 0x0110: model, **(block or {})}
    data = bytearray(exif(main, {0x9003: "2021:02:03 04:05:06"}, thumbnail=preview)[6:])
    data[: len(mark)] = mark
    return bytes(data)


def raf(preview: bytes) -> bytes:
    """A Fuji raw of a header and a preview alone."""
    head = b"FUJIFILMCCD-RAW 0201FF383501X-T3".ljust(84, b"\0") + struct.pack(">II", 160, len(preview))
    return head.ljust(160, b"\0") + preview


def video(path: Path, *, codec: str = "mpeg4", tags: Mapping[str, str] | None = None, frames: int = 12) -> Path:
    """Half a second of four quarters, 64x48, 24 frames a second; the container by the extension."""
    import av

    options = {"movflags": "use_metadata_tags"} if path.suffix == ".mov" else {}
    with av.open(str(path), "w", options=options) as container:
        container.metadata.update(tags or {})
        stream = container.add_stream(codec, rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuvj420p" if codec == "mjpeg" else "yuv420p"
        if codec == "dvvideo":  # it knows only the sizes of television
            stream.width, stream.height, stream.rate = 720, 576, 25
        for _ in range(frames):
            container.mux(stream.encode(av.VideoFrame.from_image(quarters())))
        container.mux(stream.encode())
    return path


def png_bomb(width: int = 12_000, height: int = 12_000) -> bytes:
    """A one-bit PNG that is tiny as a file and large as a picture."""
    packer = zlib.compressobj(9)
    row = b"\0" * (1 + (width + 7) // 8)
    data = b"".join(packer.compress(row * 100) for _ in range(height // 100)) + packer.flush()
    return png_header(width, height, depth=1, colour=0) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def png_header(width: int, height: int, *, depth: int = 8, colour: int = 2) -> bytes:
    """The beginning of a PNG: signature, header, and a first data chunk without data."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def jxl(picture: Image.Image, **options: Any) -> bytes:
    """A JPEG XL; `exif` and `xmp` go into boxes of their own."""
    import numpy as np
    import pylibjxl

    return bytes(pylibjxl.encode(np.asarray(picture), effort=1, **options))


def tiff(
    values: Sequence[float],
    *,
    bits: int,
    samples: int = 1,
    kind: int = 1,
    order: str = ">",
    big: bool = False,
    planes: bool = False,
    colours: int | None = None,
    packing: int = 1,
    tiles: bool = False,
    more: Sequence[tuple[int, list[int]]] = (),
) -> bytes:
    """A TIFF of two columns: samples of `bits`, `kind` 1 for integers and 3 for floating point.

    `planes`: the values of each sample lie together; `colours` is the photometric interpretation; `packing` is 5 for
    LZW and 8 for Deflate, others pack nothing; `tiles`: in place of strips; `more`: further tags.
    """
    across = 2 if planes else 2 * samples
    rows = [values[at : at + across] for at in range(0, len(values), across)]
    height = len(values) // samples // 2
    strips = samples if planes else 1
    if tiles:  # of 16 pixels, filled up
        rows = [[*row, *[0] * (7 * across)] for row in rows]
    packed = [_samples(row, bits, kind, order) for row in rows]
    parts = [
        {5: _lzw, 8: zlib.compress}.get(packing, bytes)(
            b"".join(packed[at : at + height]) + bytes(len(packed[0]) * (16 - height) * tiles)
        )
        for at in range(0, strips * height, height)
    ]
    data = b"".join(parts)
    colours = (2 if samples >= 3 else 1) if colours is None else colours
    long = "Q" if big else "I"
    at = 16 if big else 8
    places = [at + sum(map(len, parts[:number])) for number in range(strips)]
    tags: list[tuple[int, list[int]]] = [
        (256, [2]), (257, [height]), (258, [bits] * samples), (259, [packing]), (262, [colours]),
        (324 if tiles else 273, places), (277, [samples]),
        *([(322, [16]), (323, [16])] if tiles else [(278, [height])]),
        (325 if tiles else 279, [len(part) for part in parts]), (284, [1 + planes]), (339, [kind] * samples), *more,
    ]  # fmt: skip
    place, blocks, entries = at + len(data), b"", b""
    for tag, numbers in sorted(tags):
        raw = struct.pack(f"{order}{len(numbers)}H", *numbers)
        room = 8 if big else 4
        if len(raw) > room:
            blocks, raw = blocks + raw, struct.pack(order + long, place + len(blocks))
        entries += struct.pack(f"{order}HH{long}", tag, 3, len(numbers)) + raw.ljust(room, b"\0")
    directory = struct.pack(order + ("Q" if big else "H"), len(tags)) + entries + b"\0" * 8
    head = (b"MM" if order == ">" else b"II") + (
        struct.pack(order + "HHHQ", 43, 8, 0, place + len(blocks))
        if big
        else struct.pack(order + "HI", 42, place + len(blocks))
    )
    return head + data + blocks + directory


def _samples(row: Sequence[Any], bits: int, kind: int, order: str) -> bytes:
    if code := {(8, 1): "B", (16, 1): "H", (32, 1): "I", (16, 3): "e", (32, 3): "f"}.get((bits, kind)):
        return struct.pack(f"{order}{len(row)}{code}", *row)
    if bits % 8 == 0:
        return b"".join(value.to_bytes(bits // 8, "big" if order == ">" else "little") for value in row)
    return _whole_bytes("".join(f"{value:0{bits}b}" for value in row))


def _whole_bytes(digits: str) -> bytes:
    digits += "0" * (-len(digits) % 8)
    return int(digits, 2).to_bytes(len(digits) // 8)


def _lzw(data: bytes) -> bytes:
    """Each byte as a code of nine bits, after a code that clears the table in time."""
    parts = ("".join(f"{code:09b}" for code in (256, *data[at : at + 200])) for at in range(0, len(data), 200))
    return _whole_bytes("".join(parts) + f"{257:09b}")


def avif_with_plain_alpha() -> bytes:
    """An AVIF as old encoders wrote them: red, half transparent, the alpha item without its own size (`ispe`)."""
    data = bytearray(encoded(Image.new("RGBA", (64, 48), (200, 30, 30, 128)), "AVIF"))
    names, at = [], data.index(b"ipco") + 4
    end = at - 8 + int.from_bytes(data[at - 8 : at - 4], "big")
    while at < end:
        names.append(bytes(data[at + 4 : at + 8]))
        at += int.from_bytes(data[at : at + 4], "big")
    first = data.index(b"ipma") + 12
    second = first + 3 + data[first + 2]
    count = data[second + 2]
    for place in range(second + 3, second + 3 + count):
        if names[(data[place] & 0x7F) - 1] == b"ispe":
            data[place] = data[place + 1]
    return bytes(data)
