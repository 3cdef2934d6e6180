import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.formats import FORMATS, by_extension, is_sidecar, may_have_pixels, sniff, split_name
from tests.helpers.examples import examples
from tests.helpers.pictures import encoded, quarters


def ftyp(major: bytes, *compatible: bytes) -> bytes:
    body = b"ftyp" + major + b"\0\0\0\0" + b"".join(compatible)
    return struct.pack(">I", len(body) + 4) + body


def box(kind: bytes) -> bytes:
    return struct.pack(">I4s", 16, kind) + b"\0" * 8


CONTENT = {
    "jpg": encoded(quarters(), "JPEG"), "png": encoded(quarters(), "PNG"), "webp": encoded(quarters(), "WEBP"),
    "gif": encoded(quarters(), "GIF"), "tiff": encoded(quarters(), "TIFF"), "bmp": encoded(quarters(), "BMP"),
    "avif": encoded(quarters(), "AVIF"),
}  # fmt: skip


def test_a_name_has_folder_base_and_extension():
    for name, parts in (
        ("a/b/c.JPG", ("a/b", "c", "jpg")), ("c.tar.gz", ("", "c.tar", "gz")), ("c", ("", "c", "")),
        ("a.b/c", ("a.b", "c", "")), (".hidden", ("", ".hidden", "")), ("a/.jpg", ("a", ".jpg", "")),
        ("", ("", "", "")),
    ):  # fmt: skip
        assert split_name(name) == parts, name


def test_a_picture_is_identified_by_its_content_unless_its_extension_is_foreign():
    for name, content in CONTENT.items():
        for file_name in ("a.jpg", "a.PNG", "a.heic", "a.mp4", "IMG 0001"):
            assert sniff(content[:512], file_name).name == name, file_name
        for file_name in ("a.exe", "a.2019", "a.doc"):
            assert sniff(content[:512], file_name) is None, (name, file_name)
    assert sniff(b"Dear diary", "README") is None


@pytest.mark.parametrize(
    ("head", "file_name", "name", "media_type"),
    [
        (b"II*\0\x08\0\0\0", "a.dng", "dng", "raw"), (b"II*\0\x08\0\0\0", "a.NEF", "raw", "raw"),
        (b"MM\0*\0\0\0\x08", "a.gpr", "raw", "raw"), (b"II*\0\x08\0\0\0", "a.tif", "tiff", "image"),
        (b"II*\0\x08\0\0\0", "a.jpg", "tiff", "image"), (b"IIU\0\x18\0\0\0", "a.rw2", "raw", "raw"),
        (b"IIRO\x08\0\0\0", "a.orf", "raw", "raw"), (b"FUJIFILMCCD-RAW 0201\0", "a.raf", "raw", "raw"),
        (ftyp(b"crx ", b"isom"), "a.cr3", "raw", "raw"), (ftyp(b"heic", b"mif1"), "a.heic", "heic", "image"),
        (ftyp(b"mif1", b"miaf", b"heic"), "a.heif", "heic", "image"),
        (ftyp(b"mif1", b"miaf", b"avif"), "a.heic", "avif", "image"),
        (ftyp(b"isom", b"mp41"), "a.mp4", "mp4", "video"), (ftyp(b"qt  "), "a.MOV", "mov", "video"),
        (ftyp(b"3gp4"), "a.3gp", "3gp", "video"), (b"\0\0\0\x08wide\0\0\0\0mdat", "a.mov", "mov", "video"),
        (b"RIFF\0\0\0\0AVI LIST", "a.avi", "avi", "video"), (b"\x1aE\xdf\xa3", "a.webm", "webm", "video"),
        (b"G\x40\0\x10".ljust(188, b"\xff") * 5, "a.mts", "mts", "video"),
        (b"\0\0\0\0G\x1f\xff\x30".ljust(192, b"\xff") * 5, "a.m2ts", "mts", "video"),
    ],
)  # fmt: skip
def test_the_content_names_the_family_and_the_extension_its_member(head, file_name, name, media_type):
    row = sniff(head, file_name)
    assert row is not None
    assert (row.name, row.media_type) == (name, media_type)


@pytest.mark.parametrize(
    "content",
    [
        b"", b"hello", b"BM is how this text begins, and goes on", b"RIFF\0\0\0\0WAVE",
        (b"G".ljust(188, b"o") * 2).ljust(2000, b"."), b"G".ljust(188, b"o") * 4,
        b"G".ljust(187, b"1") + b"\n" + b"G".ljust(188, b"2") * 9, b"GATTACA\r\n" * 3000, b"G" * 4000, b"....G" * 4000,
        "Größe\n".encode() * 2000, "Grün\n".encode("utf-16-le") * 2000, "G".encode("utf-16-be") * 4000,
        b"The free world\tof text", b"We skip this", b"Too wide\x0c\x1b[0m", b"One moov, one mdat", b"OggS and FLV",
        b"IIRO, IIRS and MMOR", b"FOVb", b"FUJIFILMCCD-RAW is a word", b"......HEAPCCDR", b"GIF89a, a format",
        b"My ftypes: heic, mp4", b"RIFF, a word, AVI ,", b"RIFFrafaWEBP",
    ],
)  # fmt: skip
def test_a_text_or_sound_is_no_picture_or_video_by_its_name(content):
    for name in ("a.jpg", "a.ts", "a.m2ts", "a.mov", "a.raf", "a.x3f", "a.orf", "a.crw", "a.ogv", "README"):
        assert sniff(content, name) is None, name


def test_sidecars_are_identified_by_name_alone():
    assert is_sidecar("a.XMP")
    assert is_sidecar("IMG_1.jpg.json")
    assert not is_sidecar("a.jpg")
    row = sniff(b"anything", "a.aae")
    assert row is not None
    assert row.media_type == "sidecar"


def test_undecodable_names_are_ordinary():
    assert by_extension("caf\udce9.JPG") == by_extension("a.jpg")


def test_the_table_names_each_extension_once_and_each_extra_correctly():
    listed = [extension for row in FORMATS for extension in row.extensions]
    assert len(listed) == len(set(listed))
    assert {row.extra for row in FORMATS} == {"", "heic", "jxl", "raw", "video", "vips"}
    assert sum(len(row.extensions) for row in FORMATS if row.media_type == "raw") == 37


def test_only_files_of_known_extensions_or_none_may_have_pixels():
    names = ("a.JPG", "a", "a.xmp", "a.doc", "DCIM/a.b/IMG_1", "a.insp", "a.dv")
    assert [name for name in names if may_have_pixels(name)] == ["a.JPG", "a", "DCIM/a.b/IMG_1", "a.insp", "a.dv"]


def test_an_image_sequence_without_a_still_is_a_video():
    for brand in (b"msf1", b"hevc"):
        plain = sniff(ftyp(brand) + box(b"moov"), "a.heics")
        with_still = sniff(ftyp(brand, b"heic") + box(b"meta"), "a.heics")
        assert (plain.media_type, with_still.media_type) == ("video", "image")


@examples(200)
@given(st.binary(max_size=64), st.sampled_from(sorted(extension for row in FORMATS for extension in row.extensions)))
def test_any_bytes_and_name_get_an_answer(head, extension):
    row = sniff(head, f"a.{extension}")
    assert row is None or row in FORMATS
