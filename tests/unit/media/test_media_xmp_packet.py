"""Values written into XMP packets: they are read back, and what other programs wrote stays."""

import shutil
import subprocess
from dataclasses import replace
from datetime import datetime

import pytest

from photosvc.media.metadata import Metadata, Region, whole_picture
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_packet import NotXmpError, Packet, written_by
from photosvc.media.xmp_tree import NAMESPACES
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


def put(values, content=b"", library="", entered=()):
    packet = Packet(content, library)
    changed = packet.put(values, properties_to_write(values, SIZE), entered)
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
        values, keywords=(), country=values.country.lower(), edited=True
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
    assert packet.changed_by_others(Metadata(rating=5), {}) == ["dc:title"]
    sea = Metadata(rating=5, title="Sea")
    assert packet.changed_by_others(sea, properties_to_write(sea, SIZE)) == []
    assert Packet(put(sea, written)).changed_by_others(Metadata(), {}) == []
    packet.take_away()
    read = read_xmp_sidecar(packet.content())
    assert (read.title, read.rating) == ("Sea", 0)


def described(inner):
    declared = "".join(f" xmlns:{prefix}='{uri}'" for prefix, uri in NAMESPACES.items() if prefix != "xml")
    rdf = f"<rdf:RDF><rdf:Description rdf:about=''>{inner}</rdf:Description></rdf:RDF>"
    return f"<x:xmpmeta{declared}>{rdf}</x:xmpmeta>".encode()


#: Values, and the form in which another program writes them.
FORMS = {
    Metadata(title="A"): "<dc:title><rdf:Alt><rdf:li xml:lang='de'>B</rdf:li><rdf:li xml:lang='x-default'>A</rdf:li>"
    "</rdf:Alt></dc:title>",
    Metadata(taken_local=TAKEN, utc_offset=60): "<exif:DateTimeOriginal>2020:01:02 03:04:05</exif:DateTimeOriginal>",
    Metadata(keywords=("Red", "lake")): "<xmp:Label>Red</xmp:Label><dc:subject><rdf:Bag><rdf:li>lake</rdf:li>"
    "<rdf:li>darktable|format|cr2</rdf:li></rdf:Bag></dc:subject>",
    Metadata(rating=-1): "<digiKam:PickLabel>1</digiKam:PickLabel><xmp:Rating>3</xmp:Rating>",
    Metadata(lat=47.5, lng=8.5, altitude=12): "<exif:GPSLatitude>47,30,0N</exif:GPSLatitude>"
    "<exif:GPSLongitude>8,30.0E</exif:GPSLongitude><exif:GPSAltitude>120/10</exif:GPSAltitude>",
    Metadata(regions=(Region("Ann", "face", 0.1, 0.2, 0.3, 0.4),)): "<MP:RegionInfo><rdf:Description><MPRI:Regions>"
    "<rdf:Bag><rdf:li><rdf:Description MPReg:Rectangle='0.1,0.2,0.3,0.4' MPReg:PersonDisplayName='Ann'/></rdf:li>"
    "</rdf:Bag></MPRI:Regions></rdf:Description></MP:RegionInfo>",
}


@pytest.mark.parametrize(("values", "inner"), FORMS.items())
def test_a_value_that_another_program_wrote_stays_in_its_form(values, inner):
    content = described(inner)
    assert put(values, content) == content
    assert put(replace(values, favorite=True), content).count(b"<svc:Written>") == 1


def test_times_of_satellites_and_altitudes_of_another_place_go():
    inner = "<exif:GPSTimeStamp>2020-01-02T02:04:05Z</exif:GPSTimeStamp><exif:GPSAltitude>500/1</exif:GPSAltitude>"
    same = put(Metadata(taken_local=TAKEN, utc_offset=60), described(inner))
    other = put(Metadata(taken_local=TAKEN.replace(year=2019), utc_offset=60, lat=1.0, lng=2.0), described(inner))
    assert (b"GPSTimeStamp" in same, b"GPSAltitude" in same, b"GPSTimeStamp" in other, b"GPSAltitude" in other) == (
        True, True, False, False,
    )  # fmt: skip


def test_what_another_library_wrote_is_that_of_another_program():
    content = put(Metadata(title="A", rating=3), library="1", entered={"title"})
    assert written_by(content) == ("1", Metadata(rating=3))
    assert put(Metadata(title="A"), content, "2") == content
    changed = put(Metadata(title="B"), content, "2", {"title"})
    library, others = written_by(changed)
    assert (library, others.title, others.rating, read_xmp_sidecar(changed).title) == ("2", "", 3, "B")


@pytest.mark.parametrize("name", ["none:x", "dc:", "dc:title\x9b", "x", "rdf:RDF", "xml:lang"])
def test_names_in_the_list_of_written_properties_do_no_harm(name):
    packet = Packet(put(Metadata(title="A")).replace(b"<rdf:li>dc:title ", f"<rdf:li>{name} ".encode()))
    assert packet.changed_by_others(Metadata(), {}) == []
    packet.take_away()
    assert read_xmp_sidecar(packet.content()).title == "A"


def test_properties_in_several_blocks_are_one_packet():
    content = described("<dc:title>A</dc:title>").replace(
        b"</rdf:RDF>", b"</rdf:RDF><rdf:RDF><rdf:Description xmp:Rating='1'/></rdf:RDF>"
    )
    assert (read_xmp_sidecar(content).rating, put(Metadata(title="A", rating=1), content)) == (1, content)
    changed = put(Metadata(title="A", rating=2), content)
    assert (read_xmp_sidecar(changed).rating, changed.count(b"Rating")) == (2, 3)


#: The form in which Adobe's library writes structures.
COMPACT = b"""<mwg-rs:Regions><rdf:Description>
 <mwg-rs:AppliedToDimensions stDim:h="300" stDim:w="400" stDim:unit="pixel"/>
 <mwg-rs:RegionList><rdf:Bag><rdf:li><rdf:Description mwg-rs:Type="Face" mwg-rs:Name="Ann"><mwg-rs:Area stArea:x="0.25"
 stArea:y="0.4" stArea:w="0.3" stArea:h="0.4" stArea:unit="normalized"/></rdf:Description></rdf:li></rdf:Bag>
 </mwg-rs:RegionList></rdf:Description></mwg-rs:Regions>"""


def test_other_programs_may_write_the_same_values_in_another_form(tmp_path):
    values = replace(EVERYTHING, regions=EVERYTHING.regions[:1])
    content = put(values)
    begin, end = content.index(b"<mwg-rs:Regions"), content.index(b"</mwg-rs:Regions>") + 17
    compact = content[:begin] + COMPACT + content[end:]
    path = tmp_path / "a.xmp"
    path.write_bytes(content)
    subprocess.run(["exiftool", "-q", "-overwrite_original", "-XMP-dc:Source=x", path], check=True, **CAPTURED)
    for form in (compact, path.read_bytes()):
        assert read_xmp_sidecar(form) == replace(read_xmp_sidecar(content), software=read_xmp_sidecar(form).software)
        assert Packet(form).changed_by_others(Metadata(), {}) == []
        assert put(values, form) == form


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
    assert Packet(put(values)).changed_by_others(values, {}) == []
    content = put(Metadata(rating=5), DARKTABLE.replace(b"<!-- by hand -->", b"<?keep me?><dt:note>a&#xD;b</dt:note>"))
    assert (b"<?keep me?>" in content, b"a&#13;b" in content) == (True, True)


@pytest.mark.parametrize(
    "content",
    [
        b"no xml", b"<a/>", b"<x:xmpmeta xmlns:x='adobe:ns:meta/'/>", DARKTABLE[:400], b"\xff" + DARKTABLE,
        b"<!DOCTYPE a [<!ENTITY b 'c'>]>" + DARKTABLE[39:], b"<a>" * 70 + b"</a>" * 70, b" " * (1 << 24) + DARKTABLE,
        DARKTABLE.replace(b"</rdf:Description>", b"</rdf:Description>" + b"<rdf:Description/>" * 1000),
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
