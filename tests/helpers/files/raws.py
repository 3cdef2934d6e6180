"""Camera raws in the containers of Minolta, Sigma and Canon, without sensor data, made here byte by byte."""

import struct
from collections.abc import Mapping

from tests.helpers.pictures import exif

#: 3 February 2021, 04:05:06, on the clock of the camera.
SECONDS = 1_612_325_106


def mrw(preview: bytes = b"") -> bytes:
    """A Minolta raw; the first byte of its preview is overwritten, as cameras do."""
    image = {0x010F: "KONICA MINOLTA", 0x0110: "DYNAX 5D", 0x0112: 8}
    camera = {0x9003: "2021:02:03 04:05:06", 0x8827: 200, 0x829D: [(28, 10)]}
    plain = exif(image, {**camera, 0x927C: bytes(30)})[6:]
    note = struct.pack(">HHHIIHHIII", 2, 0x0088, 4, 1, len(plain), 0x0089, 4, 1, len(preview), 0)
    tiff = exif(image, {**camera, 0x927C: note})[6:] + (b"\0" + preview[1:] if preview else b"")
    sizes = b"27730001" + struct.pack(">HHHH", 2016, 3008, 2000, 3008) + bytes(8)
    blocks = b"".join(
        name + struct.pack(">I", len(body)) + body
        for name, body in ((b"\0PRD", sizes), (b"\0TTW", tiff), (b"\0WBG", bytes(12)))
    )
    return b"\0MRM" + struct.pack(">I", len(blocks)) + blocks + bytes(64)


def x3f(properties: Mapping[str, str], preview: bytes = b"", *, rotation: int = 0) -> bytes:
    """A Sigma raw of its properties and a JPEG."""
    head = b"FOVb" + struct.pack("<HH", 2, 2) + bytes(16) + struct.pack("<IIII", 0, 2268, 1512, rotation)
    texts, places = "", []
    for pair in properties.items():
        places.append(tuple(len(texts) + (len(pair[0]) + 1) * number for number in (0, 1)))
        texts += pair[0] + "\0" + pair[1] + "\0"
    body = b"SECp" + struct.pack("<IIIII", 0x20000, len(places), 0, 0, len(texts))
    body += b"".join(struct.pack("<II", *place) for place in places) + texts.encode("utf-16-le")
    sections = [(b"PROP", body)]
    if preview:
        sections.append((b"IMAG", b"SECi" + struct.pack("<IIIIII", 0x20000, 2, 0x12, 320, 240, 0) + preview))
    data, table = head, b""
    for name, content in sections:
        table += struct.pack("<II4s", len(data), len(content), name)
        data += content + bytes(-len(content) % 4)
    return data + b"SECd" + struct.pack("<II", 0x20000, len(sections)) + table + struct.pack("<I", len(data))


def crw(preview: bytes = b"", *, rotation: int = 0) -> bytes:
    """A Canon raw of the time before CR2: heaps of records."""
    properties = _heap(
        [
            (0x080A, b"Canon\0Canon EOS 300D DIGITAL\0"),
            (0x180B, struct.pack("<I", 660_123_456)),
            (0x180E, struct.pack("<IiI", SECONDS, 0, 0)),
            (0x1810, struct.pack("<IIfiIII", 3072, 2048, 1.0, rotation, 8, 24, 1)),
            (0x1818, struct.pack("<fff", 0.0, 7.0, 4.0)),
            (0x501C, struct.pack("<II", 100, 0)),
        ]
    )
    heap = _heap([(0x300A, properties), (0x2007, preview)] if preview else [(0x300A, properties)])
    return b"II" + struct.pack("<I", 26) + b"HEAPCCDR" + struct.pack("<I", 0x10002) + bytes(8) + heap


def _heap(records: list[tuple[int, bytes]]) -> bytes:
    body, table = b"", struct.pack("<H", len(records))
    for tag, value in records:
        if tag & 0x4000:  # the value stands in the table
            table += struct.pack("<H8s", tag, value)
        else:
            table += struct.pack("<HII", tag, len(value), len(body))
            body += value
    return body + table + struct.pack("<I", len(body))
