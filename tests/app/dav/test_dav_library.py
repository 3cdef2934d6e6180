"""The library follows what WebDAV clients do with the originals."""

import hashlib

import pytest

from photosvc.index import requested
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.relocation import Relocation
from photosvc.models import Album, AlbumPhoto, File, Job, Photo, RejectedFile
from tests.helpers.api_client import open_api
from tests.helpers.clients.upload_client import changed
from tests.helpers.dav_client import DavClient
from tests.helpers.factories.indexing_requests import InlinePool
from tests.helpers.pictures import clouds, dng, encoded, exif, jpeg


@pytest.fixture(scope="module")
def dav(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api, pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.index.run.WorkerPool", InlinePool)
        library = api.library
        for number, name in enumerate(
            ("trip/a.jpg", "trip/deep/b.jpg", "trip/pair.jpg", "file.jpg", "gone.jpg", "folder/gone.jpg", "edited.jpg",
             "over.jpg", "under.jpg", "typed.jpg", "hidden.jpg", "Case/x.jpg", "case/y.jpg", "fail.jpg",
             "first/copy.jpg", "removed/r.jpg", "many/1.jpg", "many/2.jpg",
             "back/one.jpg", "back/deep/two.jpg")
        ):  # fmt: skip
            library.put(name, jpeg(64 + number, 48))
        library.put("trip/a.jpg.xmp", XMP)
        library.put("second/copy.jpg", (library.originals / "first/copy.jpg").read_bytes())
        dng(library.put("trip/pair.dng", b""))
        library.index()
        yield DavClient(api)


XMP = b"""<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title><rdf:Alt><rdf:li xml:lang="x-default">A title
</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>"""


def records(dav):
    """The records of the search by the name of the file."""
    return {record["FileName"]: record for record in dav.api.library.find()}


def to(dav, method, path, target, **headers):
    return dav.call(method, path, headers={"Destination": f"/originals{target}", **headers}).status_code


def waiting(dav):
    """The folders that wait to be indexed; forgets them."""
    with dav.api.library.session() as session:
        folders = {one.folder for one in requested.waiting(session)}
        session.query(Job).delete()
    return folders


def edit(dav, uid):
    """A title by a person, and a place in an album."""
    ann = dav.api.session_of("ann")
    assert dav.api.call("PUT", f"/photos/{uid}", ann, json={"Title": "Mine"}).status_code == 200
    album = dav.api.call("POST", "/albums", ann, json={"Title": f"Of {uid}"}).json["UID"]
    assert dav.api.call("POST", f"/albums/{album}/photos", ann, json={"photos": [uid]}).status_code == 200


def in_albums(dav, uid):
    with dav.api.library.session() as session:
        query = session.query(Album.title).join(AlbumPhoto).join(Photo, Photo.id == AlbumPhoto.photo_id)
        return [title for (title,) in query.filter(Photo.uid == uid)]


def indexed_again(dav):
    """Index everything; what the library shows must stay the same."""
    before = {name: record["UID"] for name, record in records(dav).items()}
    dav.api.library.index()
    assert {name: record["UID"] for name, record in records(dav).items()} == before


@pytest.mark.slow
def test_a_stored_file_is_a_wish_for_its_folder_unless_it_is_junk(dav):
    waiting(dav)
    assert dav.call("PUT", "/trip/new.jpg", b"x").status_code == 201
    assert waiting(dav) == {"trip"}
    for name in ("/._new.jpg", "/.DS_Store", "/trip/desktop.ini", "/trip/Thumbs.db"):
        assert dav.call("PUT", name, b"x").status_code == 201
        assert dav.call("DELETE", name).status_code == 204
    assert waiting(dav) == set()
    assert dav.call("DELETE", "/trip/new.jpg").status_code == 204
    assert waiting(dav) == {"trip"}
    assert dav.call("PUT", "/trip/.nomedia", b"").status_code == 201
    assert waiting(dav) == {"trip"}
    assert to(dav, "MOVE", "/trip/.nomedia", "/.ppignore") == 201
    assert waiting(dav) == {"trip", ""}
    assert dav.call("DELETE", "/.ppignore").status_code == 204
    assert waiting(dav) == {""}
    assert to(dav, "COPY", "/file.jpg", "/trip/copied.jpg") == 201
    assert waiting(dav) == {"trip"}
    assert dav.call("DELETE", "/trip/copied.jpg").status_code == 204


@pytest.mark.slow
def test_a_moved_file_keeps_its_photo_at_once_and_after_an_index_run(dav):
    before = records(dav)["file.jpg"]
    edit(dav, before["UID"])
    assert to(dav, "MOVE", "/file.jpg", "/trip/other name.jpg") == 201
    found = records(dav)
    assert "file.jpg" not in found
    after = found["trip/other name.jpg"]
    assert (after["UID"], after["FileUID"], after["Title"]) == (before["UID"], before["FileUID"], "Mine")
    assert (after["Path"], after["Name"]) == ("trip", "other name")
    assert in_albums(dav, after["UID"]) == [f"Of {after['UID']}"]
    assert waiting(dav) >= {"trip"}
    indexed_again(dav)


@pytest.mark.slow
def test_a_moved_folder_takes_its_photos_stacks_and_sidecars_along(dav):
    before = records(dav)
    assert before["trip/pair.jpg"]["UID"] == before["trip/pair.dng"]["UID"]
    assert before["trip/a.jpg"]["Title"] == "A title"
    assert to(dav, "MOVE", "/trip", "/travel") == 201
    after = records(dav)
    for name in ("a.jpg", "deep/b.jpg", "pair.jpg", "pair.dng"):
        assert after[f"travel/{name}"]["UID"] == before[f"trip/{name}"]["UID"]
    assert after["travel/a.jpg"]["Title"] == "A title"
    assert not [name for name in after if name.startswith("trip/")]
    indexed_again(dav)
    assert records(dav)["travel/a.jpg"]["Title"] == "A title"


def test_the_case_of_a_folder_counts(dav):
    before = records(dav)
    assert to(dav, "MOVE", "/case", "/lower") == 201
    after = records(dav)
    assert after["lower/y.jpg"]["UID"] == before["case/y.jpg"]["UID"]
    assert after["Case/x.jpg"]["UID"] == before["Case/x.jpg"]["UID"]


@pytest.mark.slow
def test_a_folder_with_too_many_files_is_followed_by_the_index(dav, monkeypatch):
    before = records(dav)
    monkeypatch.setattr("photosvc.library.relocation.MOST_FILES", 1)
    waiting(dav)
    assert to(dav, "MOVE", "/many", "/more") == 201
    assert waiting(dav) == {"many", "more"}
    dav.api.library.index()
    after = records(dav)
    assert {after[f"more/{number}.jpg"]["UID"] for number in (1, 2)} == {
        before[f"many/{number}.jpg"]["UID"] for number in (1, 2)
    }


@pytest.mark.slow
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


@pytest.mark.slow
def test_another_picture_under_the_name_of_a_deleted_one_is_another_photo(dav):
    before = records(dav)["gone.jpg"]
    edit(dav, before["UID"])
    assert dav.call("DELETE", "/gone.jpg").status_code == 204
    assert dav.call("PUT", "/gone.jpg", jpeg(200, 48)).status_code == 201
    dav.api.library.index()
    after = records(dav)["gone.jpg"]
    assert after["UID"] != before["UID"]
    assert after["Title"] != "Mine"


@pytest.mark.slow
def test_photos_of_a_deleted_folder_are_found_no_more(dav):
    assert dav.call("DELETE", "/folder").status_code == 204
    assert "folder/gone.jpg" not in records(dav)
    kept = list((dav.api.library.originals / TRASH_FOLDER).glob("*/folder/gone.jpg"))
    assert len(kept) == 1
    indexed_again(dav)


@pytest.mark.slow
def test_what_webdav_deleted_is_restored_at_once_and_the_history_says_who_did_it(dav):
    before = records(dav)
    edit(dav, before["back/one.jpg"]["UID"])
    assert dav.call("DELETE", "/back").status_code == 204
    assert dav.api.svc("trash", "restore", "back/one.jpg").returncode == 0
    assert dav.api.svc("trash", "restore", before["back/deep/two.jpg"]["UID"]).returncode == 0
    after = records(dav)
    assert after["back/one.jpg"]["Title"] == "Mine"
    assert {name: after[name]["UID"] for name in after if name.startswith("back/")} == {
        name: before[name]["UID"] for name in ("back/one.jpg", "back/deep/two.jpg")
    }
    history = dav.api.call("GET", f"/photos/{before['back/one.jpg']['UID']}/history", dav.api.session_of("ann")).json
    assert [change["Action"] for change in history] == ["photos.undelete", "photos.delete", "photos.update"]
    assert (history[1]["ActorName"], history[1]["Before"]) == ("alice", {"Files": ["back/one.jpg"]})
    indexed_again(dav)


@pytest.mark.slow
def test_a_copy_takes_the_place_of_a_deleted_file(dav):
    before = records(dav)
    kept, copied = sorted({"first/copy.jpg", "second/copy.jpg"}, key=lambda name: name not in before)
    waiting(dav)
    assert dav.call("DELETE", f"/{kept}").status_code == 204
    assert waiting(dav) == {"first", "second"}
    dav.api.library.index(subfolder=copied.partition("/")[0])
    assert records(dav)[copied]["UID"] == before[kept]["UID"]


@pytest.mark.slow
def test_a_file_that_replaces_another_keeps_its_photo(dav):
    before = records(dav)
    assert to(dav, "MOVE", "/over.jpg", "/under.jpg") == 204
    after = records(dav)
    assert after["under.jpg"]["UID"] == before["over.jpg"]["UID"]
    assert before["under.jpg"]["UID"] not in {record["UID"] for record in after.values()}
    assert len(list((dav.api.library.originals / TRASH_FOLDER).glob("*/under.jpg"))) == 1
    indexed_again(dav)


@pytest.mark.slow
def test_a_file_that_an_app_saves_under_another_name_first_stays_the_same_photo(dav):
    first, edited = (encoded(clouds(seed), "JPEG", exif=exif({}, {0x9003: "2024:01:01 10:00:01"})) for seed in (1, 2))
    dav.api.library.put("safe.jpg", first)
    dav.api.library.index()
    before = records(dav)["safe.jpg"]
    edit(dav, before["UID"])
    assert dav.call("PUT", "/safe.jpg.tacitpart", edited).status_code == 201
    dav.api.library.index()
    assert to(dav, "MOVE", "/safe.jpg.tacitpart", "/safe.jpg") == 204
    dav.api.library.index()
    after = records(dav)["safe.jpg"]
    assert (after["UID"], after["Title"], after["Hash"]) == (before["UID"], "Mine", hashlib.sha1(edited).hexdigest())
    assert len(list((dav.api.library.originals / TRASH_FOLDER).glob("*/safe.jpg"))) == 1


@pytest.mark.slow
def test_a_part_file_is_indexed_under_the_name_that_it_gets(dav):
    assert dav.call("PUT", "/part.jpg.tacitpart", jpeg(500, 48)).status_code == 201
    dav.api.library.index()
    assert "part.jpg.tacitpart" not in records(dav)
    assert to(dav, "MOVE", "/part.jpg.tacitpart", "/part.jpg") == 201
    dav.api.library.index()
    assert records(dav)["part.jpg"]["Width"] == 500


@pytest.mark.slow
def test_a_file_that_is_no_picture_by_its_new_name_or_hidden_is_found_no_more_until_it_is_back(dav):
    before = records(dav)
    assert to(dav, "MOVE", "/typed.jpg", "/typed.jpg.bak") == 201
    assert to(dav, "MOVE", "/hidden.jpg", "/.hidden.jpg") == 201
    assert not {"typed.jpg", "typed.jpg.bak", "hidden.jpg", ".hidden.jpg"} & records(dav).keys()
    dav.api.library.index()
    assert to(dav, "MOVE", "/typed.jpg.bak", "/typed.jpg") == 201
    assert to(dav, "MOVE", "/.hidden.jpg", "/hidden.jpg") == 201
    dav.api.library.index()
    after = records(dav)
    assert [after[name]["UID"] for name in ("typed.jpg", "hidden.jpg")] == [
        before[name]["UID"] for name in ("typed.jpg", "hidden.jpg")
    ]


@pytest.mark.slow
def test_what_a_person_removed_from_the_library_stays_out_of_it_when_it_moves(dav):
    photo = records(dav)["removed/r.jpg"]
    ann = dav.api.session_of("ann")
    with changed(dav.api, delete_originals=False):
        answer = dav.api.call("POST", "/batch/photos/delete", ann, json={"photos": [photo["UID"]]})
    assert answer.status_code == 200
    for source, target in (("/removed", "/away"), ("/away/r.jpg", "/away/s.jpg")):
        assert to(dav, "MOVE", source, target) == 201
        dav.api.library.index()
    assert not [name for name in records(dav) if name.startswith(("removed", "away"))]
    with dav.api.library.session() as session:
        assert session.query(RejectedFile.reason).filter_by(name="away/s.jpg").scalar() == "removed"


@pytest.mark.slow
def test_a_move_that_fails_changes_neither_disk_nor_library(dav, monkeypatch):
    before = records(dav)["fail.jpg"]
    monkeypatch.setattr(Relocation, "changed", lambda *_arguments, **_options: 1 / 0)
    assert to(dav, "MOVE", "/fail.jpg", "/failed.jpg") == 500
    assert dav.call("DELETE", "/fail.jpg").status_code == 500
    monkeypatch.undo()
    assert records(dav)["fail.jpg"] == before
    assert dav.call("GET", "/fail.jpg").status_code == 200
    assert not list((dav.api.library.originals / TRASH_FOLDER).glob("*/fail.jpg"))
    with dav.api.library.session() as session:
        assert session.query(File).filter_by(name="fail.jpg", missing=False).count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("is_indexed", [True, False])
@pytest.mark.parametrize("inner", ["", "/lost.jpg"], ids=["folder", "file"])
def test_a_move_to_a_name_whose_file_the_disk_lost_keeps_both_photos(dav, inner, is_indexed):
    library, number = dav.api.library, 410 + 2 * is_indexed + bool(inner)
    library.put(f"here{number}/lost.jpg", jpeg(number, 48))
    library.put(f"there{number}/lost.jpg", jpeg(number, 56))
    library.index()
    before = records(dav)
    kept, lost = (before[f"{folder}{number}/lost.jpg"] for folder in ("here", "there"))
    edit(dav, kept["UID"])
    edit(dav, lost["UID"])
    (library.originals / f"there{number}/lost.jpg").rename(library.originals / f"away{number}")  # no file of ours
    if not inner:
        (library.originals / f"there{number}").rmdir()
    if is_indexed:
        library.index()
    assert to(dav, "MOVE", f"/here{number}{inner}", f"/there{number}{inner}") == 201
    assert records(dav)[f"there{number}/lost.jpg"]["UID"] == kept["UID"]
    (library.originals / f"away{number}").rename(library.originals / f"back{number}.jpg")
    library.index()
    after = records(dav)
    assert (after[f"back{number}.jpg"]["UID"], after[f"there{number}/lost.jpg"]["UID"]) == (lost["UID"], kept["UID"])
    assert in_albums(dav, lost["UID"]) == [f"Of {lost['UID']}"]
    indexed_again(dav)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["PUT", "COPY", "MOVE"])
def test_a_file_replaced_by_one_of_its_size_and_time_is_read_again(dav, method):
    library, name, content = dav.api.library, f"same {method}.jpg", jpeg(430, 40 + ord(method[0]) % 32)
    path = library.put(name, content + b"1" + method.encode())
    library.index()
    before, time = records(dav)[name], int(path.stat().st_mtime)
    edit(dav, before["UID"])
    new = content + b"2" + method.encode()
    if method == "PUT":
        assert dav.call("PUT", f"/{name}", new, headers={"X-OC-Mtime": str(time)}).status_code == 204
    else:
        library.put(f"source {method}.jpg", new)
        assert to(dav, method, f"/source {method}.jpg", f"/{name}") == 204
    assert (path.read_bytes(), path.stat().st_mtime, path.stat().st_size) == (new, time, len(content) + 1 + len(method))
    assert dav.api.call("GET", f"/dl/{before['Hash']}", dav.api.session_of("ann")).status_code == 410
    library.index()
    after = records(dav)[name]
    assert after["Hash"] == hashlib.sha1(new).hexdigest()
    assert (after["UID"], after["Title"]) == (before["UID"], "Mine")
