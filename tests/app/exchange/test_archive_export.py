"""`svc export archive`: a folder with all that people entered, readable without photosvc."""

import json
import shutil
import subprocess

import pytest

from photosvc.core.locks import exclusive_lock
from photosvc.exchange.archive_export import ArchiveExport
from photosvc.web.service import current_service
from tests.helpers.library import hashes
from tests.helpers.pictures import jpeg

FILES = {
    "FORMAT.txt", "README.txt", "albums.json", "history.jsonl", "labels.json", "manifest-sha256.txt", "people.json",
    "photos.jsonl", "trash.json",
}  # fmt: skip


DARKTABLE = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    '<rdf:Description xmlns:dt="http://darktable.sf.net/" dt:xmp_version="5"/></rdf:RDF></x:xmpmeta>'
)


@pytest.fixture
def filled(api):
    library = api.library
    for number, name in enumerate(
        ("a/lake.jpg", "b/tree.jpg", "old.jpg", "%FFline\nbreak\\new.jpg", "写" * 82 + ".jpg")
    ):
        library.put(name, jpeg(60 + number))
    library.put("b/tree.jpg.xmp", DARKTABLE.encode())
    library.index()
    uids = {record["FileName"]: record["UID"] for record in library.find()}
    library.call("PUT", f"/photos/{uids['b/tree.jpg']}", json={"Title": "Baum", "Details": {"Keywords": "oak"}})
    album = library.call("POST", "/albums", json={"Title": "Trip", "Notes": "n"})
    photos = [uids["b/tree.jpg"], uids["a/lake.jpg"]]
    library.call("POST", f"/albums/{album['UID']}/photos", json={"photos": photos})
    library.call("PUT", f"/photos/{uids['a/lake.jpg']}", json={"Private": True})
    library.call("POST", "/batch/photos/delete", json={"photos": [uids["old.jpg"]]}, token=library.token(role="admin"))
    return api, uids, album["UID"]


def export(api, folder, *arguments):
    done = api.svc("export", "archive", str(folder), *arguments)
    return done.returncode, done.stdout, done.stderr


def test_an_archive_has_originals_sidecars_and_all_values_and_needs_no_program_of_ours(filled, tmp_path):
    api, uids, album = filled
    folder = tmp_path / "out"
    assert export(api, folder) == (0, "5 photos, 16 files, 0 missing\n", "")
    assert {path.name for path in folder.iterdir() if path.is_file()} == FILES
    photos = {one["UID"]: one for one in map(json.loads, (folder / "photos.jsonl").read_text().splitlines())}
    tree = photos[uids["b/tree.jpg"]]
    assert (tree["Title"], tree["TitleSrc"], tree["Keywords"]) == ("Baum", "manual", ["oak"])
    assert photos[uids["a/lake.jpg"]]["Private"] is True
    assert (folder / "originals" / tree["Files"][0]["Name"]).read_bytes() == jpeg(61)
    [listed] = json.loads((folder / "albums.json").read_text())
    assert (listed["Title"], listed["Notes"], [photo["UID"] for photo in listed["Photos"]]) == (
        "Trip", "n", [uids["b/tree.jpg"], uids["a/lake.jpg"]],
    )  # fmt: skip
    assert (folder / f"albums/{album}.m3u8").read_text().splitlines()[2:] == [
        "../originals/b/tree.jpg", "../originals/a/lake.jpg",
    ]  # fmt: skip
    sidecar = (folder / "originals/b/tree.jpg.xmp").read_text()
    assert ("Baum" in sidecar, "dt:xmp_version" in sidecar) == (True, True)
    [trashed] = json.loads((folder / "trash.json").read_text())
    assert (folder / "trash" / trashed["Deletion"] / "old.jpg").read_bytes() == jpeg(62)
    actions = [json.loads(line)["Action"] for line in (folder / "history.jsonl").read_text().splitlines()]
    assert actions == ["photos.update", "photos.update", "photos.delete"]
    checked = subprocess.run(["sha256sum", "--check", "--quiet", "manifest-sha256.txt"], cwd=folder, check=False)
    assert checked.returncode == 0
    text = b"".join(path.read_bytes() for path in folder.glob("*.*"))
    assert [secret for secret in api.library.tokens.values() if secret.encode() in text] == []


def test_a_second_export_writes_the_same_bytes_and_a_third_follows_the_library(filled, tmp_path):
    api, uids, _ = filled
    folder = tmp_path / "out"
    export(api, folder)
    first = {name: line.split()[0] for name, line in hashes(folder).items()}
    export(api, folder)
    assert {name: line.split()[0] for name, line in hashes(folder).items()} == first
    api.library.call("PUT", f"/photos/{uids['b/tree.jpg']}", json={"Title": "Eiche"})
    changed = DARKTABLE.replace('"5"', '"6"')  # since the last index run
    api.library.put("b/tree.jpg.xmp", changed.encode(), age=-1e8)
    assert export(api, folder)[0] == 0
    sidecar = (folder / "originals/b/tree.jpg.xmp").read_text()
    assert ("Eiche" in sidecar, 'dt:xmp_version="6"' in sidecar) == (True, True)
    assert export(api, folder, "--verify") == (0, "16 files, 0 damaged\n", "")


def test_originals_of_former_exports_stay_and_other_additional_files_are_found(filled, tmp_path):
    api, uids, album = filled
    folder = tmp_path / "out"
    export(api, folder)
    api.library.call("DELETE", f"/albums/{album}")
    moved = {"photos": [uids["a/lake.jpg"]]}
    api.library.call("POST", "/batch/photos/delete", json=moved, token=api.library.token(role="admin"))
    assert export(api, folder)[:2] == (0, "5 photos, 16 files, 0 missing\n")
    assert ((folder / "originals/a/lake.jpg").exists(), list((folder / "albums").iterdir())) == (True, [])
    assert export(api, folder, "--verify") == (0, "16 files, 0 damaged\n", "")
    (folder / "originals/\x1b.jpg").touch()
    (folder / "link").symlink_to("/etc")
    manifest = folder / "manifest-sha256.txt"
    manifest.write_bytes(manifest.read_bytes().replace(b"  people.json\n", b"  ../people.json\n"))
    code, counts, sentences = export(api, folder, "--verify")
    assert (code, counts) == (1, "19 files, 4 damaged\n")
    assert sentences.splitlines() == [
        "../people.json: No such file in the library.",
        "link: it is not listed: no export wrote it",
        "people.json: it is not listed: no export wrote it",
        "originals/%FF%1B.jpg: it is not listed: no export wrote it",
    ]


def test_damage_is_found_and_a_missing_original_is_named(filled, tmp_path):
    api, *_ = filled
    folder = tmp_path / "out"
    (api.library.originals / "a/lake.jpg").unlink()
    assert export(api, folder) == (
        1,
        "5 photos, 15 files, 1 missing\n",
        "missing originals/a/lake.jpg: it is gone, or changed since it was indexed\n",
    )
    (folder / "originals/b/tree.jpg").write_bytes(b"x")
    assert export(api, folder, "--verify") == (
        1, "15 files, 1 damaged\n", "originals/b/tree.jpg: it is damaged: its content is another one\n",
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["link", "none"])
def test_originals_are_linked_or_left_out(filled, tmp_path, mode):
    api, *_ = filled
    folder = tmp_path / "out"
    assert export(api, folder, "--originals", mode)[0] == 0
    stored = folder / "originals/b/tree.jpg"
    assert stored.exists() == (mode == "link")
    assert mode == "none" or stored.samefile(api.library.originals / "b/tree.jpg")
    assert "Baum" in (folder / "originals/b/tree.jpg.xmp").read_text()


def test_a_query_limits_the_archive(filled, tmp_path):
    api, uids, _ = filled
    for name, words in (("写" * 82 + ".jpg", "Ann"), ("b/tree.jpg", "Bob")):
        uid = uids[name]
        file = api.library.call("GET", f"/photos/{uid}")["Files"][0]["UID"]
        area = {"Name": words, "X": 0.1, "Y": 0.2, "W": 0.3, "H": 0.2, "Type": "face", "FileUID": file}
        person = api.library.call("POST", "/markers", json=area)["SubjUID"]
        api.library.call("POST", f"/subjects/{person}/like")
    assert export(api, tmp_path / "out", "Baum", "--originals", "none")[1].startswith("1 photos")
    assert [one["Name"] for one in json.loads((tmp_path / "out/people.json").read_text())] == ["Bob"]
    [record] = (tmp_path / "out/photos.jsonl").read_text().splitlines()
    assert json.loads(record)["UID"] == uids["b/tree.jpg"]
    assert len((tmp_path / "out/history.jsonl").read_text().splitlines()) == 2


def test_a_folder_with_something_else_or_among_the_originals_is_refused(filled, tmp_path):
    api, *_ = filled
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    code, _, error = export(api, tmp_path / "mine")
    assert (code, "name a new or empty folder" in error) == (1, True)
    for own in (
        api.library.originals / "out",
        api.library.originals,
        api.library.instance,
        api.library.instance.parent,
    ):
        assert export(api, own)[0] == 2, own
    with exclusive_lock(api.library.instance / "export.lock", ""):
        assert export(api, tmp_path / "out")[::2] == (1, "Error: another export is running; wait until it has ended\n")
    assert export(api, tmp_path / "none", "--verify")[0] == 3
    shutil.rmtree(tmp_path / "mine")


def test_an_interrupted_export_is_continued(filled, tmp_path):
    api, *_ = filled
    folder = tmp_path / "out"
    with api.library.app.app_context():
        interrupted = ArchiveExport(current_service().engine(), api.library.originals, folder)
        steps = interrupted.run([1, 2, 3, 4, 5], whole=True)
        next(steps)
        steps.close()
    assert not (folder / "manifest-sha256.txt").exists()
    assert export(api, folder) == (0, "5 photos, 16 files, 0 missing\n", "")
