"""Files whose offsets no file system can reach: such a file is damaged, its disk is not."""

import struct
from itertools import product

import pytest

from photosvc.index.extract import extract
from tests.unit.media.containers import bigtiff, box

#: The longest file of ext4 is 2**44 bytes; 2**63 does not fit the number that the system takes.
FAR = [1 << 33, 1 << 44, (1 << 61) + 8, (1 << 63) - 8, 1 << 63, (1 << 64) - 8]


def bigtiff_with_far(field: str, offset: int) -> bytes:
    """A BigTIFF whose first directory, a value or the pixels stand at this offset."""
    data = bytearray(bigtiff())
    if field == "directory":
        struct.pack_into("<Q", data, 8, offset)
        return bytes(data)
    start = struct.unpack_from("<Q", data, 8)[0]
    count = struct.unpack_from("<Q", data, start)[0]
    if field == "following":
        struct.pack_into("<Q", data, start + 8 + 20 * count, offset)
        return bytes(data)
    tag = {"make": 0x0131, "pixels": 0x0111, "exif": 0x010E}[field]
    for at in range(start + 8, start + 8 + 20 * count, 20):
        if struct.unpack_from("<H", data, at)[0] == 0x0111:
            if field == "exif":
                struct.pack_into("<HHQQ", data, at, 0x8769, 16, 1, offset)
            elif field == "make":
                struct.pack_into("<HHQQ", data, at, 0x010F, 2, 99, offset)
            else:
                struct.pack_into("<HHQQ", data, at, tag, 16, 1, offset)
    return bytes(data)


def heic_with_far_item(offset: int) -> bytes:
    """A HEIC whose Exif item stands at this offset, in a location box with offsets of eight bytes."""
    entry = box(b"infe", b"\2\0\0\0" + struct.pack(">HH", 1, 0) + b"Exif\0")
    items = box(b"iinf", bytes(4) + struct.pack(">H", 1) + entry)
    place = box(b"iloc", bytes(4) + b"\x88\0" + struct.pack(">HHHHQQ", 1, 1, 0, 1, offset, 64))
    return box(b"ftyp", b"heic\0\0\0\0heic") + box(b"meta", bytes(4), items, place)


def asf_with_far_objects(size: int) -> bytes:
    """An ASF whose objects are so long that each begins beyond the end of any file."""
    head = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c") + bytes(14)
    return head + bytes(16) + struct.pack("<Q", size) + bytes(64)


def check_damaged(path, content, *, readable=False, case):
    path.write_bytes(content)
    problem = extract(path).problem
    assert readable if problem is None else not problem.reason.may_pass, (path.name, *case)


@pytest.mark.parametrize("extension", ["tif", "dng", "nef"])
def test_a_bigtiff_with_an_impossible_offset_is_a_damaged_file(tmp_path, extension):
    for field, offset in product(("directory", "following", "make", "exif", "pixels"), FAR):
        path, content = tmp_path / f"{field}-{offset}.{extension}", bigtiff_with_far(field, offset)
        check_damaged(path, content, readable=field in {"following", "make"}, case=(field, offset))


def test_a_heic_with_an_impossible_offset_is_a_damaged_file(tmp_path):
    for offset in FAR:
        check_damaged(tmp_path / f"{offset}.heic", heic_with_far_item(offset), case=(offset,))


def test_a_wmv_with_impossible_sizes_is_a_damaged_file(tmp_path):
    for size in ((1 << 40) - 8, 1 << 62, (1 << 64) - 8):
        check_damaged(tmp_path / f"{size}.wmv", asf_with_far_objects(size), case=(size,))
