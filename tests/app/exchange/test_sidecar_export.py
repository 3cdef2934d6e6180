"""`svc export xmp`: what people entered, in sidecars from which another library has the same values."""

import json
import shutil
import subprocess

import pytest

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
EDITS = {
    "texts.jpg": {"Title": "Am See", "Description": "Zwei\nZeilen <&> \U0001f600", "Favorite": True},
    "times.jpg": {"TakenAtLocal": "2019-07-02T10:30:00Z", "TimeZone": "America/New_York"},
    "winter.jpg": {"TakenAtLocal": "2019-01-02T10:30:00Z", "TimeZone": "Europe/London"},
    "year.jpg": {"TakenAtLocal": "1954-01-01T00:00:00Z", "Month": -1, "Day": -1},
    "place.jpg": {"Lat": 46.9471, "Lng": 7.4442, "Altitude": 540},
    "country.jpg": {"Country": "is"},
    "camera.jpg": {"CameraMake": "Agfa", "CameraModel": "Box", "LensMake": "Agfa", "LensModel": "Apotar"},
    "exposure.jpg": {"Iso": 400, "FNumber": 5.6, "FocalLength": 85, "Exposure": "1/250"},
    "details/d.jpg": {
        "Details": {
            "Keywords": "lake, Berg", "Subject": "swans", "Artist": "Ann", "Copyright": "(c) Ann",
            "License": "CC BY", "Notes": "n\nm",
        },
        "Rating": 3,
    },
    "flags.jpg": {"Scan": True, "Panorama": True, "Private": True},
}  # fmt: skip


@pytest.fixture
def edited(api):
    for number, name in enumerate((*EDITS, "plain.jpg")):
        maker = {0x010F: "Canon", 0x0110: "EOS R"} if name == "plain.jpg" else {}  # a camera without a lens
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
    library.close()


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
    assert (code, failed) == (1, {"texts.jpg.xmp", "times.jpg.xmp", "details/d.jpg.xmp"})
    assert ((tmp_path / "secret").read_text(), (tmp_path / "d.jpg.xmp").exists()) == ("secret", False)
