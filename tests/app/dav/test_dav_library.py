"""The library follows what WebDAV clients do with the originals."""

import hashlib

import pytest

from photosvc.index import requests
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.originals import Relocation
from photosvc.models import Album, AlbumPhoto, File, Job, Photo, RejectedFile
from tests.app.dav.dav_client import LOCKINFO, DavClient
from tests.app.index.indexing_requests import InlinePool
from tests.app.uploads.upload_client import changed
from tests.helpers.api_client import open_api
from tests.helpers.pictures import clouds, dng, encoded, exif, jpeg


@pytest.fixture(scope="module")
def dav(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api, pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.index.run.WorkerPool", InlinePool)
        library = api.library
        for number, name in enumerate(
            ("trip/a.jpg", "trip/deep/b.jpg", "trip/pair.jpg", "file.jpg", "edited.jpg",
             "over.jpg", "under.jpg", "typed.jpg", "hidden.jpg", "Case/x.jpg", "case/y.jpg", "fail.jpg",
             "first/copy.jpg", "removed/r.jpg", "many/1.jpg", "many/2.jpg",
             "back/one.jpg", "back/deep/two.jpg", "wish/w.jpg", "target/t.jpg")
        ):  # fmt: skip
            library.put(name, jpeg(64 + number, 48))
        library.put("trip/a.jpg.xmp", XMP)
        library.put("second/copy.jpg", (library.originals / "first/copy.jpg").read_bytes())
        dng(library.put("trip/pair.dng", b""))
        library.index()
        dav = DavClient(api)
        dav.ann = api.app_password("ann")
        yield dav


XMP = b"""<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">A title
</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"""


def records(dav):
    """The records of the search by the name of the file."""
    return {record["FileName"]: record for record in dav.api.library.find()}


def uids(found, *names):
    return [found[name]["UID"] for name in names]


def to(dav, method, path, target, **headers):
    return dav.call(method, path, headers={"Destination": f"/originals{target}", **headers}).status_code


def waiting(dav):
    """The folders that wait to be indexed; forgets them."""
    with dav.api.library.session() as session:
        folders = {one.folder for one in requests.waiting(session)}
        session.query(Job).delete()
    return folders


def edit(dav, uid):
    """A title by a person, and a place in an album."""
    library, ann = dav.api.library, dav.ann
    library.call("PUT", f"/photos/{uid}", token=ann, json={"Title": "Mine"})
    album = library.call("POST", "/albums", token=ann, json={"Title": f"Of {uid}"})["UID"]
    library.call("POST", f"/albums/{album}/photos", token=ann, json={"photos": [uid]})


def in_albums(dav, uid):
    with dav.api.library.session() as session:
        query = session.query(Album.title).join(AlbumPhoto).join(Photo, Photo.id == AlbumPhoto.photo_id)
        return [title for (title,) in query.filter(Photo.uid == uid)]


def in_trash(dav, name):
    return list((dav.api.library.originals / TRASH_FOLDER).glob(f"*/{name}"))


def indexed_again(dav):
    """Index everything; what the library shows must stay the same."""
    before = {name: record["UID"] for name, record in records(dav).items()}
    dav.api.library.index()
    assert {name: record["UID"] for name, record in records(dav).items()} == before


def test_a_stored_file_is_a_wish_for_its_folder_and_wakes_the_indexer_unless_it_is_junk(dav, monkeypatch):
    woken = []
    monkeypatch.setattr("photosvc.dav.blueprint.wake_indexer", woken.append)
    waiting(dav)
    for name in ("/._new.jpg", "/.DS_Store", "/wish/desktop.ini", "/wish/Thumbs.db", "/wish/.goutputstream-X"):
        for method, status in {"PUT": 201, "GET": 200, "LOCK": 200, "DELETE": 423}.items():
            answer = dav.call(method, name, {"PUT": b"x", "LOCK": LOCKINFO}.get(method))
            assert (answer.status_code, waiting(dav), woken) == (status, set(), []), (method, name)
    moved, copied = ({"Destination": f"/originals/{name}"} for name in (".ppignore", "wish/copied.jpg"))
    for number, (method, path, headers, folders) in enumerate((
        ("PUT", "/wish/new.jpg", {}, {"wish"}),
        ("DELETE", "/wish/new.jpg", {}, {"wish"}),
        ("PUT", "/wish/.nomedia", {}, {"wish"}),
        ("MOVE", "/wish/.nomedia", moved, {"wish", ""}),
        ("DELETE", "/.ppignore", {}, {""}),
        ("COPY", "/wish/w.jpg", copied, {"wish"}),
        ("DELETE", "/wish/copied.jpg", {}, {"wish"}),
    )):  # fmt: skip
        answer = dav.call(method, path, b"x" if method == "PUT" else None, headers=headers)
        assert (answer.status_code, waiting(dav)) == (204 if method == "DELETE" else 201, folders), (method, path)
        assert len(woken) == number + 1, (method, path)


def test_a_moved_file_keeps_its_photo_at_once_and_after_an_index_run(dav):
    before = records(dav)["file.jpg"]
    edit(dav, before["UID"])
    assert to(dav, "MOVE", "/file.jpg", "/target/other name.jpg") == 201
    found = records(dav)
    assert "file.jpg" not in found
    after = found["target/other name.jpg"]
    assert (after["UID"], after["FileUID"], after["Title"]) == (before["UID"], before["FileUID"], "Mine")
    assert (after["Path"], after["Name"]) == ("target", "other name")
    assert in_albums(dav, after["UID"]) == [f"Of {after['UID']}"]
    assert waiting(dav) >= {"target"}
    indexed_again(dav)


def test_a_moved_folder_takes_its_photos_stacks_and_sidecars_along(dav):
    before = records(dav)
    assert before["trip/pair.jpg"]["UID"] == before["trip/pair.dng"]["UID"]
    assert before["trip/a.jpg"]["Title"] == "A title"
    assert to(dav, "MOVE", "/trip", "/travel") == 201
    assert to(dav, "MOVE", "/case", "/lower") == 201  # and not Case
    after, names = records(dav), ("a.jpg", "deep/b.jpg", "pair.jpg", "pair.dng")
    moved = uids(after, *(f"travel/{name}" for name in names), "lower/y.jpg", "Case/x.jpg")
    assert moved == uids(before, *(f"trip/{name}" for name in names), "case/y.jpg", "Case/x.jpg")
    assert not [name for name in after if name.startswith("trip/")]
    indexed_again(dav)
    assert [found["travel/a.jpg"]["Title"] for found in (after, records(dav))] == ["A title"] * 2


def test_a_folder_with_too_many_files_is_followed_by_the_index(dav, monkeypatch):
    before = records(dav)
    monkeypatch.setattr("photosvc.library.originals.MOST_FILES", 1)
    waiting(dav)
    assert to(dav, "MOVE", "/many", "/more") == 201
    assert waiting(dav) == {"many", "more"}
    dav.api.library.index()
    assert set(uids(records(dav), "more/1.jpg", "more/2.jpg")) == set(uids(before, "many/1.jpg", "many/2.jpg"))


def test_a_deleted_file_is_found_no_more_and_returns_with_what_people_set(dav):
    before = records(dav)["edited.jpg"]
    edit(dav, before["UID"])
    content = (dav.api.library.originals / "edited.jpg").read_bytes()
    assert dav.call("DELETE", "/edited.jpg").status_code == 204
    assert "edited.jpg" not in records(dav)
    dav.api.library.index()
    assert "edited.jpg" not in records(dav)
    assert dav.call("PUT", "/returned.jpg", content).status_code == 201
    dav.api.library.index()
    after = records(dav)["returned.jpg"]
    assert (after["UID"], after["Title"]) == (before["UID"], "Mine")
    assert in_albums(dav, after["UID"]) == [f"Of {after['UID']}"]


def test_photos_of_a_deleted_folder_are_restored_at_once_and_the_history_says_who_deleted_them(dav):
    before = records(dav)
    names = ("back/one.jpg", "back/deep/two.jpg")
    edit(dav, before[names[0]]["UID"])
    assert dav.call("DELETE", "/back").status_code == 204
    assert not {*names} & records(dav).keys()
    assert len(in_trash(dav, "back/one.jpg")) == 1
    indexed_again(dav)
    for which in (names[0], before[names[1]]["UID"]):
        assert dav.api.svc("trash", "restore", which).returncode == 0
    after = records(dav)
    assert uids(after, *names) == uids(before, *names)
    assert after[names[0]]["Title"] == "Mine"
    history = dav.api.call("GET", f"/photos/{before[names[0]]['UID']}/history", dav.ann).json
    assert [change["Action"] for change in history] == ["photos.undelete", "photos.delete", "photos.update"]
    assert (history[1]["ActorName"], history[1]["Before"]) == ("alice", {"Files": [names[0]]})
    indexed_again(dav)


def test_a_copy_takes_the_place_of_a_deleted_file(dav):
    before = records(dav)
    kept, copied = sorted({"first/copy.jpg", "second/copy.jpg"}, key=lambda name: name not in before)
    waiting(dav)
    assert dav.call("DELETE", f"/{kept}").status_code == 204
    assert waiting(dav) == {"first", "second"}
    dav.api.library.index(subfolder=copied.partition("/")[0])
    assert records(dav)[copied]["UID"] == before[kept]["UID"]


def test_a_file_that_replaces_another_keeps_its_photo(dav):
    before = records(dav)
    assert to(dav, "MOVE", "/over.jpg", "/under.jpg") == 204
    after = records(dav)
    assert after["under.jpg"]["UID"] == before["over.jpg"]["UID"]
    assert before["under.jpg"]["UID"] not in {record["UID"] for record in after.values()}
    assert len(in_trash(dav, "under.jpg")) == 1
    indexed_again(dav)


def test_a_file_that_an_app_saves_under_another_name_first_stays_the_same_photo_and_a_new_one_is_found(dav):
    first, edited = (encoded(clouds(seed), "JPEG", exif=exif({}, {0x9003: "2024:01:01 10:00:01"})) for seed in (1, 2))
    dav.api.library.put("safe.jpg", first)
    dav.api.library.index()
    before = records(dav)["safe.jpg"]
    edit(dav, before["UID"])
    for name, data, status in (("safe.jpg", edited, 204), ("new.jpg", jpeg(500, 48), 201)):
        assert dav.call("PUT", f"/{name}.tacitpart", data).status_code == 201
        dav.api.library.index()
        assert f"{name}.tacitpart" not in records(dav)
        assert to(dav, "MOVE", f"/{name}.tacitpart", f"/{name}") == status
    dav.api.library.index()
    after = records(dav)
    found = {name: after["safe.jpg"][name] for name in ("UID", "Title", "Hash")}
    assert found == {"UID": before["UID"], "Title": "Mine", "Hash": hashlib.sha1(edited).hexdigest()}
    assert (len(in_trash(dav, "safe.jpg")), after["new.jpg"]["Width"]) == (1, 500)


def test_a_file_that_is_no_picture_by_its_new_name_or_hidden_is_found_no_more_until_it_is_back(dav):
    before, names = records(dav), {"typed.jpg": "typed.jpg.bak", "hidden.jpg": ".hidden.jpg"}
    for name, other in names.items():
        assert to(dav, "MOVE", f"/{name}", f"/{other}") == 201
    assert not {*names, *names.values()} & records(dav).keys()
    dav.api.library.index()
    for name, other in names.items():
        assert to(dav, "MOVE", f"/{other}", f"/{name}") == 201
    dav.api.library.index()
    assert uids(records(dav), *names) == uids(before, *names)


def test_what_a_person_removed_from_the_library_stays_out_of_it_when_it_moves(dav):
    photo = records(dav)["removed/r.jpg"]
    with changed(dav.api, delete_originals=False):
        dav.api.library.call("POST", "/batch/photos/delete", token=dav.ann, json={"photos": [photo["UID"]]})
    for source, target in (("/removed", "/away"), ("/away/r.jpg", "/away/s.jpg")):
        assert to(dav, "MOVE", source, target) == 201
        dav.api.library.index()
    assert not [name for name in records(dav) if name.startswith(("removed", "away"))]
    with dav.api.library.session() as session:
        assert session.query(RejectedFile.reason).filter_by(name="away/s.jpg").scalar() == "removed"


def test_a_move_that_fails_changes_neither_disk_nor_library(dav, monkeypatch):
    before = records(dav)["fail.jpg"]
    monkeypatch.setattr(Relocation, "changed", lambda *_arguments, **_options: 1 / 0)
    assert to(dav, "MOVE", "/fail.jpg", "/failed.jpg") == 500
    assert dav.call("DELETE", "/fail.jpg").status_code == 500
    monkeypatch.undo()
    assert records(dav)["fail.jpg"] == before
    assert dav.call("GET", "/fail.jpg").status_code == 200
    assert in_trash(dav, "fail.jpg") == []
    with dav.api.library.session() as session:
        assert session.query(File).filter_by(name="fail.jpg", missing=False).count() == 1


def test_a_move_to_a_name_whose_file_the_disk_lost_keeps_both_photos(dav):
    library = dav.api.library
    ways = [(inner, is_indexed) for inner in ("", "/lost.jpg") for is_indexed in (True, False)]
    for number in range(len(ways)):
        library.put(f"here{number}/lost.jpg", jpeg(410 + number, 48))
        library.put(f"there{number}/lost.jpg", jpeg(410 + number, 56))
    library.index()
    before = records(dav)
    for number in range(len(ways)):
        for folder in ("here", "there"):
            edit(dav, before[f"{folder}{number}/lost.jpg"]["UID"])
    for will_be_indexed in (True, False):
        for number, (inner, is_indexed) in enumerate(ways):
            if is_indexed == will_be_indexed:
                # By no program of ours, and under a name that is no picture's.
                (library.originals / f"there{number}/lost.jpg").rename(library.originals / f"away{number}")
                if not inner:
                    (library.originals / f"there{number}").rmdir()
        if will_be_indexed:
            library.index()
    for number, (inner, _) in enumerate(ways):
        assert to(dav, "MOVE", f"/here{number}{inner}", f"/there{number}{inner}") == 201
        (library.originals / f"away{number}").rename(library.originals / f"back{number}.jpg")
    moved = records(dav)
    library.index()
    after = records(dav)
    for number, way in enumerate(ways):
        kept, lost = (before[f"{folder}{number}/lost.jpg"]["UID"] for folder in ("here", "there"))
        assert moved[f"there{number}/lost.jpg"]["UID"] == kept, way
        assert [after[f"{name}.jpg"]["UID"] for name in (f"back{number}", f"there{number}/lost")] == [lost, kept], way
        assert in_albums(dav, lost) == [f"Of {lost}"], way
    indexed_again(dav)


def test_a_file_replaced_by_one_of_its_size_and_time_is_read_again(dav):
    library, content, paths = dav.api.library, jpeg(430, 40), {}
    for method in ("PUT", "COPY", "MOVE"):
        paths[method] = library.put(f"same {method}.jpg", content + b"1" + method.encode())
    library.index()
    before = records(dav)
    for method, path in paths.items():
        old, new, status = before[path.name], content + b"2" + method.encode(), path.stat()
        edit(dav, old["UID"])
        if method == "PUT":
            same = {"X-OC-Mtime": str(int(status.st_mtime))}
            assert dav.call("PUT", f"/{path.name}", new, headers=same).status_code == 204
        else:
            library.put(f"source {method}.jpg", new)
            assert to(dav, method, f"/source {method}.jpg", f"/{path.name}") == 204
        assert path.read_bytes() == new, method
        assert (path.stat().st_mtime, path.stat().st_size) == (status.st_mtime, status.st_size), method
        assert dav.api.call("GET", f"/dl/{old['Hash']}", dav.ann).status_code == 410, method
    library.index()
    after = records(dav)
    for path in paths.values():
        found = [after[path.name][name] for name in ("UID", "Title", "Hash")]
        assert found == [before[path.name]["UID"], "Mine", hashlib.sha1(path.read_bytes()).hexdigest()], path.name
