"""`svc export xmp`: what people entered, in sidecars from which another library has the same values."""

import json
import os
import re
import shutil
import subprocess

import pytest

from photosvc.exchange.sidecar_export import unfinished_name
from photosvc.media.metadata import Metadata, Region
from photosvc.media.xmp_packet import Packet
from photosvc.media.xmp_writer import properties_to_write
from tests.app.exchange.conftest import ENTERED
from tests.helpers.api_client import ApiClient
from tests.helpers.library import hashes, open_library
from tests.helpers.pictures import exif, jpeg

#: Values of a record that a new library draws or counts for itself.
OWN = {
    "ID",
    "UID",
    "FileUID",
    "CreatedAt",
    "UpdatedAt",
    "EditedAt",
    "CheckedAt",
    "DeletedAt",
    "Files",
    "InstanceID",
    "Quality",
    "CameraID",
    "LensID",
}
#: Sources: a value that a person set here comes from a sidecar there.
SOURCES = {"TitleSrc", "DescriptionSrc", "CaptionSrc", "TakenSrc", "PlaceSrc", "CameraSrc", "TypeSrc"}
#: File name -> what a person enters.
EDITS = ENTERED | {
    "winter.jpg": {"TakenAtLocal": "2019-01-02T10:30:00Z", "TimeZone": "Europe/London"},
    "model.jpg": {"CameraModel": "EOS R6", "TakenAtLocal": "2019-07-02T10:30:00Z", "TimeZone": "Etc/GMT-2"},
}


@pytest.fixture
def edited(api):
    for number, name in enumerate((*EDITS, "plain.jpg")):
        maker = (
            {0x010F: "Canon", 0x0110: "EOS R"} if name in {"plain.jpg", "model.jpg"} else {}
        )  # a camera without a lens
        api.library.put(name, jpeg(64 + number, 48, exif=exif(maker, {0x9003: "2020:05:06 07:08:09"})))
    api.library.index()
    for name, values in EDITS.items():
        api.library.call("PUT", f"/photos/{uid_of(api, name)}", json=values)
    return api


def uid_of(api, name):
    return next(record["UID"] for record in api.library.find(count=100) if record["FileName"] == name)


def comparable(library):
    found = library.find(count=100) + library.find(count=100, archived="true")
    records = {record["FileName"]: record for record in found}
    return {
        name: {key: value for key, value in record.items() if key not in OWN | SOURCES}
        for name, record in records.items()
    }


def export(api, *arguments):
    done = api.svc("export", "xmp", *arguments, "--json")
    *results, counts = map(json.loads, done.stdout.splitlines())
    return done.returncode, {result["name"]: result["outcome"] for result in results}, counts


def test_a_new_library_has_the_same_values_from_originals_and_exported_sidecars(edited, tmp_path):
    other = tmp_path / "other"
    code, results, counts = export(edited, "--into", str(other / "originals"))
    assert (code, set(results.values()), counts["written"]) == (0, {"written"}, len(EDITS))
    assert "plain.jpg.xmp" not in results
    before = comparable(edited.library)
    shutil.copytree(edited.library.originals, other / "originals", dirs_exist_ok=True)
    library = open_library(other)
    library.index()
    after = comparable(library)
    differing = {
        (name, key): (value, after[name].get(key))
        for name, record in before.items()
        for key, value in record.items()
        if after[name].get(key) != value and not (name == "country.jpg" and key.startswith("Place"))
    }
    assert differing == {}
    exported = sidecars_in(other / "originals")
    assert export(ApiClient(library), "--into", str(tmp_path / "again"))[0] == 0
    assert sidecars_in(tmp_path / "again") == exported
    assert export(ApiClient(library), "--beside", "--yes")[2]["unchanged"] == len(EDITS)
    library.close()


def sidecars_in(folder):
    return {path.name: path.read_text() for path in folder.rglob("*.xmp")}


def test_entries_of_people_are_no_values_of_another_program_for_their_library(edited):
    library, uid = edited.library, uid_of(edited, "texts.jpg")
    file = library.call("GET", f"/photos/{uid}")["Files"][0]["UID"]
    area = {"Name": "Ann", "X": 0.1, "Y": 0.2, "W": 0.3, "H": 0.25, "Type": "face", "FileUID": file}
    marker = library.call("POST", "/markers", json=area)["UID"]
    export(edited, "--beside", "--yes")
    before = comparable(library)
    library.index()
    assert (comparable(library), len(library.call("GET", f"/photos/{uid}")["Files"][0]["Markers"])) == (before, 1)
    assert export(edited, "--beside", "--yes")[2]["unchanged"] == len(EDITS)
    library.call("PUT", f"/markers/{marker}", json={"Invalid": True})
    library.call("PUT", f"/photos/{uid}", json={"Title": None, "Favorite": False})
    photo = library.call("GET", f"/photos/{uid}")
    assert (photo["Title"], photo["TitleSrc"], photo["Files"][0]["Markers"]) == ("Texts / 2020", "", [])
    export(edited, "--beside", "--yes")
    sidecar = (library.originals / "texts.jpg.xmp").read_text()
    assert [name for name in ("dc:title", "mwg-rs:Regions", "favorite>", "Am See") if name in sidecar] == []
    assert "Zwei" in sidecar


def test_areas_of_another_program_stay_when_people_add_some(edited):
    library, uid = edited.library, uid_of(edited, "plain.jpg")
    bob = Metadata(regions=(Region("Bob", "face", 0.6, 0.6, 0.2, 0.2),))
    packet = Packet()
    packet.put(bob, properties_to_write(bob, (74, 48)))
    content = re.sub(rb"<svc:Written>.*</svc:Written>", b"", packet.content(), flags=re.DOTALL)
    library.put("plain.jpg.xmp", content)
    library.index()
    file = library.call("GET", f"/photos/{uid}")["Files"][0]["UID"]
    area = {"Name": "Ann", "X": 0.1, "Y": 0.2, "W": 0.3, "H": 0.25, "Type": "face", "FileUID": file}
    library.call("POST", "/markers", json=area)
    for outcome in ("changed", "unchanged"):
        assert export(edited, "plain", "--beside", "--yes")[1] == {"plain.jpg.xmp": outcome}
        library.index()
        markers = library.call("GET", f"/photos/{uid}")["Files"][0]["Markers"]
        assert sorted(one["Name"] for one in markers) == ["Ann", "Bob"]


def test_a_second_export_changes_nothing_and_removal_leaves_nothing(edited, tmp_path):
    folder = tmp_path / "out"
    export(edited, "--into", str(folder))
    first = hashes(folder)
    assert export(edited, "--into", str(folder))[2]["unchanged"] == len(EDITS)
    assert hashes(folder) == first
    assert export(edited, "--into", str(folder), "--remove")[2]["removed"] == len(EDITS)
    assert hashes(folder) == {}


def test_a_sidecar_of_another_program_is_merged_and_its_later_change_is_kept(edited):
    sidecar = edited.library.originals / "texts.jpg.xmp"
    sidecar.write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description xmlns:dt="http://darktable.sf.net/" dt:xmp_version="5" dt:history_end="2"/>'
        "</rdf:RDF></x:xmpmeta>"
    )
    sidecar.chmod(0o664)
    before = [line for line in structure_of(sidecar) if "[XMP-dt]" in line]
    assert export(edited, "texts", "--beside", "--yes")[1] == {"texts.jpg.xmp": "changed"}
    assert ("XMP-dc" in " ".join(structure_of(sidecar)), sidecar.stat().st_mode & 0o777) == (True, 0o664)
    assert [line for line in structure_of(sidecar) if "[XMP-dt]" in line] == before
    sidecar.write_text(sidecar.read_text().replace("Am See", "Am Meer"))
    code, results, _ = export(edited, "texts", "--beside", "--yes")
    assert (code, results, "Am Meer" in sidecar.read_text()) == (1, {"texts.jpg.xmp": "kept"}, True)
    assert export(edited, "texts", "--beside", "--yes", "--remove")[1] == {"texts.jpg.xmp": "changed"}
    assert [line for line in structure_of(sidecar) if "[XMP-dt]" in line] == before
    assert "Am Meer" in sidecar.read_text()


def structure_of(path):
    shown = subprocess.run(["exiftool", "-struct", "-G1", "-XMP:all", path], capture_output=True, text=True, check=True)
    return shown.stdout.splitlines()


def test_people_and_areas_are_exported_as_they_lie_on_the_turned_picture(edited, tmp_path):
    other = tmp_path / "other"
    edited.library.put("turned.jpg", jpeg(200, 100, exif=exif({0x0112: 6})))
    edited.library.index()
    uid = uid_of(edited, "turned.jpg")
    file = edited.library.call("GET", f"/photos/{uid}")["Files"][0]
    marker = {"Name": "Ann", "X": 0.1, "Y": 0.2, "W": 0.3, "H": 0.25, "Type": "face", "FileUID": file["UID"]}
    edited.library.call("POST", "/markers", json=marker)
    export(edited, "turned", "--into", str(other / "originals"))
    shutil.copytree(edited.library.originals, other / "originals", dirs_exist_ok=True)
    library = open_library(other)
    library.index()
    [record] = library.find(q="person:Ann")
    [found] = library.call("GET", f"/photos/{record['UID']}")["Files"][0]["Markers"]
    assert (record["FileName"], [round(found[side], 4) for side in "XYWH"]) == ("turned.jpg", [0.1, 0.2, 0.3, 0.25])
    library.close()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give either --into FOLDER or --beside"),
        (("--into", "x", "--beside"), "give either --into FOLDER or --beside"),
        (("--beside",), "there is no terminal to confirm on; pass --yes"),
        (("iso:many", "--into", "/tmp/never-made"), "iso"),
    ],
)
def test_a_wrong_use_is_one_sentence_and_exit_code_2(edited, arguments, sentence):
    before = hashes(edited.library.originals)
    done = edited.svc("export", "xmp", *arguments)
    assert (done.returncode, done.stdout, sentence in done.stderr) == (2, "", True)
    assert hashes(edited.library.originals) == before


def test_no_link_is_followed_and_a_file_that_is_no_sidecar_is_reported(edited, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "secret").write_text("secret")
    (folder / "texts.jpg.xmp").symlink_to(tmp_path / "secret")
    (folder / "times.jpg.xmp").write_text("no XMP")
    (folder / "details").symlink_to(tmp_path)
    code, results, _ = export(edited, "--into", str(folder))
    failed = {name for name, outcome in results.items() if outcome == "failed"}
    sentences = edited.svc("export", "xmp", "--into", str(folder)).stderr.splitlines()
    assert {sentence.partition(": ")[2] for sentence in sentences} == {
        "a link, which is not followed, or a file in place of a folder is in its path",
        "the present sidecar is no XMP that can be changed",
    }
    assert (code, failed) == (1, {"texts.jpg.xmp", "times.jpg.xmp", "details/d.jpg.xmp"})
    assert ((tmp_path / "secret").read_text(), (tmp_path / "d.jpg.xmp").exists()) == ("secret", False)


def test_the_owner_stays_and_a_file_for_reading_alone_too(edited, monkeypatch):
    sidecar = edited.library.originals / "texts.jpg.xmp"
    sidecar.write_bytes(Packet().content())
    if os.geteuid() == 0:
        os.chown(sidecar, 4711, 4712)
    owner = sidecar.stat().st_uid, sidecar.stat().st_gid
    monkeypatch.setattr(os, "access", lambda *_, **__: False)  # root may write every file
    code, results, _ = export(edited, "texts", "--beside", "--yes")
    assert (code, results, "Am See" in sidecar.read_text()) == (1, {"texts.jpg.xmp": "failed"}, False)
    monkeypatch.undo()
    assert export(edited, "texts", "--beside", "--yes")[1] == {"texts.jpg.xmp": "changed"}
    assert ((sidecar.stat().st_uid, sidecar.stat().st_gid), "Am See" in sidecar.read_text()) == (owner, True)


def test_what_lies_under_the_name_of_an_unfinished_file_is_replaced_and_bad_sidecars_without_need_are_left(edited):
    folder = edited.library.originals
    os.mkfifo(folder / unfinished_name("texts.jpg.xmp"))
    (folder / unfinished_name("times.jpg.xmp")).symlink_to(folder / "plain.jpg")
    edited.library.put("plain.jpg.xmp", b"no XMP")
    edited.library.put(f"{'z' * 248}.jpg", jpeg(99))
    edited.library.index()
    before = (folder / "plain.jpg").read_bytes()
    code, results, _ = export(edited, "--beside", "--yes")
    assert (code, set(results.values()), len(results)) == (0, {"written"}, len(EDITS))
    assert list(folder.glob(".*unfinished")) == []
    assert (folder / "plain.jpg").read_bytes() == before


def test_values_of_the_short_sidecar_name_are_not_repeated_beside_it(edited):
    edited.library.put("plain.xmp", Packet().content().replace(b'about=""/>', b'about="" xmp:Rating="2"/>').replace(
        b"<x:xmpmeta", b'<x:xmpmeta xmlns:xmp="http://ns.adobe.com/xap/1.0/"'))  # fmt: skip
    edited.library.index()
    assert export(edited, "plain", "--beside", "--yes")[1] == {}
    assert export(edited, "plain", "--into", str(edited.library.instance.parent / "out"))[1] == {
        "plain.jpg.xmp": "written"
    }


def names_of(library, **parameters):
    return {record["FileName"] for record in library.find(count=100, token=library.token(role="admin"), **parameters)}


def test_searches_facets_people_and_albums_of_a_new_library_are_equal(every_value, tmp_path):
    old, other = every_value.library, tmp_path / "other"
    shutil.copytree(old.originals, other / "originals", ignore=shutil.ignore_patterns(".photosvc"))
    assert every_value.svc("export", "xmp", "--into", str(other / "originals")).returncode == 0
    new = open_library(other)
    new.index()
    queries = [
        "archived:true", "private:true", "favorite:true", "scan:true", "panorama:true", "people:ada", "people:robert",
        "people:dora", "keywords:berg", "camera:agfa", "lens:apotar", "country:ch", "country:is", "year:1954",
        "year:2019", "month:7", "title:see", "description:zeilen", "rating:3",
        "iso:400", "f:5.6", "mm:85", "faces:1", "geo:true", "city:bern", "type:image", "swans",
    ]  # fmt: skip
    differing = {
        query: (names_of(old, q=query), names_of(new, q=query))
        for query in queries
        if names_of(old, q=query) != names_of(new, q=query)
    }
    assert differing == {}
    there, here = answers(new), answers(old)
    differing = {name: there[name] ^ here[name] for name in here if there[name] != here[name]}
    assert differing.pop("albums") <= {  # XMP has no word for stacks by hand
        (title, count) for title in ("s", "unknown", "2020-05", "2022-01") for count in (1, 2, 3, 10, 11)
    }
    assert differing == {"person": {("Cleo", 1)}, "people": {("Cleo", 1)}}  # nor for hidden people
    quality = {record["FileName"]: record["Quality"] for record in old.find(count=100)}
    same = {record["FileName"] for record in new.find(count=100) if record["Quality"] == quality[record["FileName"]]}
    assert quality.keys() - same <= {"s/off.jpg", "s/lake.jpg", "s/lake-edited.jpg", "plain.jpg"}
    new.close()


def answers(library):
    """Facets, people and the albums that follow from the library, without what each library draws for itself."""
    call, admin = library.call, library.token(role="admin")
    by = "year,month,country,rating,camera,lens,color,type,person"
    facets = call("GET", f"/photos/facets?by={by}", token=admin)
    people = call("GET", "/subjects?count=100&hidden=yes", token=admin)
    albums = [call("GET", f"/albums?count=100&type={kind}", token=admin) for kind in ("month", "folder", "state")]
    return {
        **{name: {(value["label"], value["count"]) for value in values} for name, values in facets.items()},
        "people": {(person["Name"], person["PhotoCount"]) for person in people},
        "albums": {(album["Title"], album["PhotoCount"]) for some in albums for album in some},
    }
