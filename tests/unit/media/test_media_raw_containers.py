"""Raws with a container of their own: what they say without LibRaw, and their preview."""

import random
import struct
import sys
import time
from io import BytesIO
from subprocess import run

import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.media.exif import Exif
from photosvc.media.formats import sniff
from photosvc.media.picture import open_shown, read_picture
from photosvc.media.raw import container_previews, read_container
from tests.helpers.files.raws import SECONDS, crw, mrw, x3f
from tests.helpers.pictures import exif, jpeg, raf

PREVIEW = jpeg(320, 240)
PROPERTIES = {
    "CAMMANUF": "SIGMA", "CAMMODEL": "SIGMA SD10", "CAMSERIAL": "1003456", "TIME": str(SECONDS), "ISO": "400",
    "EXPTIME": "8000", "APERTURE": "5.6", "FLENGTH": "24", "FLEQ35MM": "41",
}  # fmt: skip
FILES = {"mrw": mrw(PREVIEW), "x3f": x3f(PROPERTIES, PREVIEW), "crw": crw(PREVIEW)}
#: Make, model, serial number, sensitivity, aperture, exposure and size as stored.
FACTS = {
    "mrw": ("KONICA MINOLTA", "DYNAX 5D", "", 200, 2.8, "", (3008, 2000)),
    "x3f": ("SIGMA", "SD10", "1003456", 400, 5.6, "1/125", (2268, 1512)),
    "crw": ("Canon", "EOS 300D DIGITAL", "660123456", 100, 4.0, "1/128", (3072, 2048)),
}


def read(data, extension, **options):
    return read_picture(BytesIO(data), sniff(data[:512], f"a.{extension}"), **options)


@pytest.mark.parametrize("extension", FILES)
@pytest.mark.parametrize("decode", [True, False])
def test_a_raw_gives_date_camera_and_size_without_its_decoder(monkeypatch, extension, decode):
    monkeypatch.setitem(sys.modules, "rawpy", None)
    found = read(FILES[extension], extension, decode=decode)
    said = found.metadata
    make, model, serial, iso, f_number, exposure, size = FACTS[extension]
    assert str(said.taken_local) == "2021-02-03 04:05:06"
    assert (said.camera_make, said.camera_model, said.camera_serial) == (make, model, serial)
    assert (said.iso, said.f_number, said.exposure) == (iso, f_number, exposure)
    assert (found.width, found.height) == (size[::-1] if extension == "mrw" else size)
    assert (found.problem, found.colors is None) == (None, not decode)


@pytest.mark.parametrize("extension", FILES)
def test_a_raw_is_shown_by_its_preview(extension):
    with open_shown(BytesIO(FILES[extension]), sniff(FILES[extension][:512], f"a.{extension}"), 100) as (picture, turn):
        assert (picture.size, turn) == ((320, 240), 8 if extension == "mrw" else 1)


@pytest.mark.parametrize("extension", FILES)
def test_a_raw_without_a_preview_is_found_by_its_date(extension, monkeypatch):
    monkeypatch.setitem(sys.modules, "rawpy", None)
    data = {"mrw": mrw(), "x3f": x3f(PROPERTIES), "crw": crw()}[extension]
    found = read(data, extension)
    assert (str(found.metadata.taken_local), found.problem) == (
        "2021-02-03 04:05:06",
        Problem.of(Reason.MISSING_EXTRA, "raw"),
    )


@pytest.mark.parametrize("extension", ["raf", "x3f"])
def test_the_preview_completes_the_metadata(extension, monkeypatch):
    monkeypatch.setitem(sys.modules, "rawpy", None)
    preview = jpeg(320, 240, exif=exif({0x010F: "Other", 0x0112: 6}, {0xA434: "18-50mm"}))
    data = raf(preview) if extension == "raf" else x3f(PROPERTIES, preview)
    found = read(data, extension, decode=False)
    assert (found.metadata.lens_model, found.orientation) == ("18-50mm", 6)
    assert found.metadata.camera_make == ("Other" if extension == "raf" else "SIGMA")


@pytest.mark.parametrize(("degrees", "orientation"), [(0, 1), (90, 6), (180, 3), (270, 8), (45, 1)])
def test_a_raw_is_turned_as_its_container_says(degrees, orientation):
    assert read_container(BytesIO(x3f(PROPERTIES, rotation=degrees))).orientation == orientation
    assert read_container(BytesIO(crw(rotation=degrees))).orientation == orientation


@pytest.mark.parametrize("name", ["TIME", "ISO", "EXPTIME", "APERTURE", "FLENGTH", "FLEQ35MM"])
@pytest.mark.parametrize("written", ["", "-1", "x", "9" * 40, "1e9", "nan", "²"])
def test_properties_that_are_no_numbers_are_ignored(name, written):
    found = read_container(BytesIO(x3f({**PROPERTIES, name: written})))
    assert found.metadata.camera_model == "SD10"


@pytest.mark.needs("exiftool")
@pytest.mark.parametrize("extension", FILES)
def test_exiftool_reads_the_same(tmp_path, extension):
    path = tmp_path / f"a.{extension}"
    path.write_bytes(FILES[extension])
    tags = ("-DateTimeOriginal", "-Make", "-Model", "-ISO", "-FNumber")
    out = run(["exiftool", "-s3", "-f", *tags, path], capture_output=True, text=True, check=True).stdout.splitlines()
    assert out[0] == "2021:02:03 04:05:06"
    assert FACTS[extension][1] in out[2]


def test_damage_ends_as_metadata_within_a_second():
    drawn = random.Random(5)
    began = time.process_time()
    for _ in range(400):
        data = bytearray(drawn.choice(list(FILES.values())))
        for _ in range(drawn.randrange(8)):
            data[drawn.randrange(16, len(data))] = drawn.choice((0, 1, 0x80, 0xFF, drawn.randrange(256)))
        data = data[: drawn.randrange(16, len(data) + 1)]
        found = read_container(BytesIO(data))
        assert found is None or isinstance(found, Exif)
        list(container_previews(BytesIO(data)))
    assert time.process_time() - began < 10


def test_heaps_that_contain_themselves_end():
    inner = struct.pack("<H", 512) + struct.pack("<HII", 0x300A, 6000, 0) * 512
    heap = inner.ljust(6000, b"\0") + struct.pack("<I", 0)
    data = b"II" + struct.pack("<I", 26) + b"HEAPCCDR" + bytes(12) + heap
    began = time.process_time()
    assert read_container(BytesIO(data)) is not None
    assert time.process_time() - began < 1
