"""Values written into XMP packets: they are read back, and what other programs wrote stays."""

import shutil
import subprocess
from dataclasses import replace
from datetime import datetime

import pytest

from photosvc.media.metadata import Metadata, Region, whole_picture
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_packet import NotXmpError, Packet
from photosvc.media.xmp_writer import properties_to_write

SIZE = 400, 300
CAPTURED = {"capture_output": True, "text": True}
TAKEN = datetime(2020, 1, 2, 3, 4, 5)  # noqa: DTZ001 - wall time
EVERYTHING = Metadata(
    title='A <b> & "c" ü 漢', description="x\ny", keywords=("b", "a/b", "Places", "Italy", "Places/Italy"), rating=4,
    favorite=True, archived=True, private=True, scan=True, panorama=True, zone="Europe/Zurich", taken_local=TAKEN,
    utc_offset=60, lat=-33.123456, lng=151.654321, altitude=-12, camera_make="Canon", camera_model="EOS R",
    camera_serial="123", lens_make="Sigma", lens_model="35mm", iso=200, focal_length=35, f_number=2.8,
    exposure="1/160", artist="A; B", copyright="(c)", license="https://example.org/by", notes="n\nm", subject="s",
    original_name="foo",
    regions=(
        Region("Ann", "face", 0.1, 0.2, 0.3, 0.4), Region("", "face", 0.5, 0.5, 0.1, 0.1),
        Region("Box", "", 0.3, 0.3, 0.123457, 0.2), whole_picture("Bob"),
    ),
)  # fmt: skip
DARKTABLE = b"""<?xml version="1.0" encoding="UTF-8"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="XMP Core 4.4.0-Exiv2">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about=""
    xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dt="http://darktable.sf.net/"
    xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:digi="http://www.digikam.org/ns/1.0/"
    xmp:Rating="1" digi:PickLabel="1" dt:xmp_version="5">
   <!-- by hand -->
   <dt:history><rdf:Seq><rdf:li dt:num="0" dt:params="00&#10;11"/></rdf:Seq></dt:history>
   <dc:subject><rdf:Bag><rdf:li>old</rdf:li></rdf:Bag></dc:subject>
   <dc:creator><rdf:Seq><rdf:li>me</rdf:li></rdf:Seq></dc:creator>
  </rdf:Description>
 </rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>
"""


def put(values, content=b""):
    packet = Packet(content)
    changed = packet.put(values, properties_to_write(values, SIZE))
    return packet.content() if changed else content


@pytest.mark.parametrize(
    "values",
    [
        EVERYTHING,
        Metadata(taken_local=TAKEN.replace(microsecond=120000), utc_offset=-210),
        Metadata(taken_local=datetime(1954, 1, 1), date_parts=1),  # noqa: DTZ001
        Metadata(taken_local=datetime(1954, 7, 1), date_parts=2),  # noqa: DTZ001
        Metadata(lat=0.000001, lng=-179.999999),
        Metadata(lat=90.0, lng=180.0, altitude=8848),
        Metadata(city="Firenze", state="Toscana", country="it"),
        Metadata(country="Italien"),
        Metadata(exposure="2.5", f_number=0.95, rating=-1),
        Metadata(title="-", keywords=("None", "x")),
    ],
)
def test_what_is_written_is_read_back(values):
    read = read_xmp_sidecar(put(values))
    assert set(read.keywords) == set(values.keywords)
    assert replace(read, keywords=(), country=read.country.lower()) == replace(
        values, keywords=(), country=values.country.lower()
    )


def test_a_second_writing_changes_nothing_and_a_third_without_values_leaves_nothing():
    first = put(EVERYTHING)
    assert put(EVERYTHING, first) == first
    packet = Packet(first)
    packet.take_away()
    assert packet.is_empty


def test_properties_of_others_stay_with_their_prefixes_but_for_what_contradicts():
    content = put(Metadata(rating=5, keywords=("new",), artist="me"), DARKTABLE).decode()
    read = read_xmp_sidecar(content.encode())
    assert (read.rating, read.keywords, read.artist) == (5, ("new",), "me")
    for kept in ('dt:params="00&#10;11"', "<!-- by hand -->", 'dt:xmp_version="5"', '<?xpacket end="w"?>', "x:xmptk"):
        assert kept in content
    assert "PickLabel" not in content  # it rejects the picture, which has five stars
    packet = Packet(content.encode())
    packet.take_away()
    assert not packet.is_empty
    assert read_xmp_sidecar(packet.content()).artist == "me"  # it was there before
    assert b"photosvc" not in packet.content()


def test_changes_of_other_programs_are_noticed_and_stay():
    written = put(Metadata(rating=5, title="Lake")).replace(b">Lake<", b">Sea<")
    packet = Packet(written)
    assert packet.changed_by_others() == ["dc:title"]
    packet.take_away()
    read = read_xmp_sidecar(packet.content())
    assert (read.title, read.rating) == ("Sea", 0)


def test_regions_that_mark_no_person_stay_beside_those_of_people():
    focus = put(Metadata(regions=(Region("", "face", 0.1, 0.1, 0.1, 0.1),))).replace(b">Face<", b">Focus<")
    focus = focus[: focus.index(b"<svc:Written>")] + focus[focus.index(b"</svc:Written>") + 14 :]
    content = put(Metadata(regions=(Region("Ann", "face", 0.5, 0.5, 0.2, 0.2),)), focus)
    assert (content.count(b">Focus<"), content.count(b">Face<")) == (1, 1)
    packet = Packet(content)
    packet.take_away()
    assert (packet.content().count(b">Focus<"), packet.content().count(b">Face<")) == (1, 0)
    without_people = put(Metadata(title="Lake"), content)
    assert (without_people.count(b">Focus<"), without_people.count(b">Face<")) == (1, 0)


def test_line_breaks_and_instructions_stay_as_they_were():
    values = Metadata(description="a\r\nb")
    assert Packet(put(values)).changed_by_others() == []
    content = put(Metadata(rating=5), DARKTABLE.replace(b"<!-- by hand -->", b"<?keep me?><dt:note>a&#xD;b</dt:note>"))
    assert (b"<?keep me?>" in content, b"a&#13;b" in content) == (True, True)


@pytest.mark.parametrize(
    "content",
    [
        b"no xml", b"<a/>", b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", DARKTABLE[:400], b"\xff" + DARKTABLE,
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + DARKTABLE[39:], b"<a>" * 70 + b"</a>" * 70, b" " * (1 << 24) + DARKTABLE,
    ],
)  # fmt: skip
def test_a_packet_that_cannot_be_changed_is_refused(content):
    with pytest.raises(NotXmpError):
        Packet(content)


def test_a_packet_in_utf_16_becomes_one_in_utf_8():
    content = DARKTABLE.decode().replace("UTF-8", "UTF-16").encode("utf-16")
    assert read_xmp_sidecar(put(Metadata(rating=5), content)).rating == 5


def test_exiftool_and_exiv2_accept_what_is_written(tmp_path):
    path = tmp_path / "a.xmp"
    path.write_bytes(put(EVERYTHING))
    done = subprocess.run(["exiftool", "-validate", "-warning", "-a", "-s3", path], check=False, **CAPTURED)
    assert (done.returncode, done.stdout) == (0, "OK\n")
    listing = ["exiftool", "-s3", "-XMP-mwg-rs:RegionName", "-XMP-MP:RegionRectangle", "-XMP-dc:Title", path]
    shown = subprocess.run(listing, check=False, **CAPTURED).stdout
    assert shown == 'Ann, Box\n0.1, 0.2, 0.3, 0.4\nA <b> & "c" ü 漢\n'
    if program := shutil.which("exiv2"):
        done = subprocess.run([program, "-px", path], check=False, **CAPTURED)
        assert (done.returncode, done.stderr) == (0, "")
