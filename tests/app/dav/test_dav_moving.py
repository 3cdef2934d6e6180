"""Copying, moving and deleting files and folders over WebDAV."""

import os

from photosvc.index import requests
from photosvc.library.originals import Relocation
from photosvc.library.staging import Part, Staging
from photosvc.library.storage_errors import StorageFullError
from photosvc.models import Job
from photosvc.web.transactions import WritersBusyError
from tests.app.dav.dav_client import LOCKINFO, PATCH, DavClient
from tests.app.dav.folder import call, exists, on_disk, parts, put, read, root, store, to, trashed
from tests.app.index.indexing_requests import InlinePool
from tests.app.uploads.upload_client import picture
from tests.helpers.api_client import open_api
from tests.helpers.pictures import clouds, encoded, exif


def is_blue(dav, path):
    """Tell whether it has the property of `PATCH`."""
    return "blue" in call(dav, "PROPFIND", path, Depth="0").text


def test_a_destination_is_below_the_address_of_the_service_and_keeps_the_characters_of_the_name(dav):
    store(dav, "/a")
    for name in ("a%3Fb.jpg", "a;b.jpg", "a%3Bb.jpg", "a%23b.jpg", "a%25b.jpg", "%C3%A4.jpg", "a&b=c.jpg"):
        store(dav, "/source.jpg")
        assert to(dav, "COPY", "/source.jpg", "/" + name).status_code in {201, 204}, name
        assert call(dav, "GET", "/" + name).data == b"/source.jpg", name
        assert to(dav, "MOVE", "/source.jpg", "/" + name).status_code == 204, name
    assert read(dav, "/a") == b"/a"
    for host, status in {
        "http://localhost": 201, "http://LOCALHOST:80": 204, "https://localhost": 204, "http://localhost:8080": 204,
        "http://elsewhere": 502, "//elsewhere": 502, "ftp://localhost": 502,
    }.items():  # fmt: skip
        # The fourth one is where the service says that it is; behind a proxy that ends TLS, the scheme is another.
        answer = call(dav, "COPY", "/a", Destination=f"{host}/originals{dav.top}/b.jpg")
        assert answer.status_code == status, host


def test_a_file_is_moved_and_replaces_another_only_when_it_may(dav):
    store(dav, "/a.jpg", "/c.jpg")
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg").status_code == 201
    assert (exists(dav, "/a.jpg"), read(dav, "/b.jpg")) == (False, b"/a.jpg")
    for source, target, headers, status in (
        ("/c.jpg", "/b.jpg", {"Overwrite": "F"}, 412),
        ("/c.jpg", "/b.jpg", {"Overwrite": "maybe"}, 400),
        ("/c.jpg", "/b.jpg", {}, 204),
        ("/none.jpg", "/x.jpg", {}, 404),
        ("/b.jpg", "/none/x.jpg", {}, 409),
        ("/b.jpg", "/b.jpg", {}, 403),
    ):
        assert to(dav, "MOVE", source, target, **headers).status_code == status, (source, target, headers)
    assert (exists(dav, "/c.jpg"), read(dav, "/b.jpg")) == (False, b"/c.jpg")


def test_a_folder_is_moved_with_all_in_it_and_replaces_another_as_a_whole(dav):
    store(dav, "/one/one.jpg", "/two/two.jpg")
    assert to(dav, "MOVE", "/one", "/one/inner").status_code == 403
    assert to(dav, "MOVE", "/one", "/two/", Depth="0").status_code == 400
    assert to(dav, "MOVE", "/one/", "/two/").status_code == 204
    found = (exists(dav, "/one"), read(dav, "/two/one.jpg"), exists(dav, "/two/two.jpg"))
    assert found == (False, b"/one/one.jpg", False)
    assert "/two/two.jpg" in trashed(dav)
    assert to(dav, "MOVE", "/two/one.jpg", "").status_code == 403
    for method in ("DELETE", "MOVE", "COPY"):  # all originals
        assert dav.call(method, "/", headers={"Destination": "/originals/x"}).status_code == 403, method


def test_locks_stay_behind_and_properties_follow_a_move(dav):
    store(dav, "/a.jpg")
    assert call(dav, "PROPPATCH", "/a.jpg", PATCH).status_code == 207
    token = call(dav, "LOCK", "/a.jpg", LOCKINFO).headers["Lock-Token"]
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg").status_code == 423
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg", If=f"({token})").status_code == 201
    assert [put(dav, name).status_code for name in ("/a.jpg", "/b.jpg")] == [201, 204]
    assert [is_blue(dav, name) for name in ("/a.jpg", "/b.jpg")] == [False, True]


def test_a_file_and_a_folder_are_copied_with_their_properties(dav):
    store(dav, "/one/inner/a.jpg", "/b.jpg")
    os.utime(on_disk(dav, "/one/inner/a.jpg"), (1_000_000_000, 1_000_000_000))
    call(dav, "PROPPATCH", "/one/inner/a.jpg", PATCH)
    assert to(dav, "COPY", "/one", "/two").status_code == 201
    assert read(dav, "/two/inner/a.jpg") == read(dav, "/one/inner/a.jpg") == b"/one/inner/a.jpg"
    assert (on_disk(dav, "/two/inner/a.jpg").stat().st_mtime, is_blue(dav, "/two/inner/a.jpg")) == (10**9, True)
    assert to(dav, "COPY", "/one", "/three", Depth="0").status_code == 201
    assert not any(on_disk(dav, "/three").iterdir())
    assert to(dav, "COPY", "/one", "/four", Depth="1").status_code == 400
    assert to(dav, "COPY", "/b.jpg", "/one/inner/a.jpg", Overwrite="F").status_code == 412
    for target in ("/one/inner/a.jpg", "/one"):
        assert to(dav, "COPY", "/b.jpg", target).status_code == 204
        assert read(dav, target) == read(dav, "/b.jpg") == b"/b.jpg"
    assert parts(dav) == []


def test_deleted_files_lie_in_the_trash(dav):
    store(dav, "/one/a.jpg", "/b.jpg")
    assert call(dav, "DELETE", "/one", Depth="0").status_code == 400
    assert [call(dav, "DELETE", path).status_code for path in ("/b.jpg", "/one", "/one")] == [204, 204, 404]
    assert not exists(dav, "/one")
    assert [name for name in trashed(dav) if name.endswith(".jpg")] == ["/b.jpg", "/one/a.jpg"]


def test_a_replaced_file_lies_in_the_trash_before_the_library_knows_it(dav):
    for method in ("PUT", "COPY", "MOVE"):
        old, name = f"old {method}".encode(), f"/{method}.jpg"
        store(dav, name, data=old)
        store(dav, "/source.jpg", data=b"new")
        answer = put(dav, name, b"new") if method == "PUT" else to(dav, method, "/source.jpg", name)
        assert (answer.status_code, read(dav, name), name in trashed(dav)) == (204, b"new", True), method
        assert call(dav, "DELETE", name).status_code == 204, method
        listed = dav.api.call("GET", f"/trash?q={method}.jpg", dav.api.session_of("ann")).json
        (item,) = (one["Item"] for one in listed if one["Size"] == len(old))
        assert dav.api.svc("trash", "restore", item).returncode == 0, method
        assert read(dav, name) == old, method


def test_a_copy_is_made_of_and_over_the_files_that_its_conditions_were_checked_on(dav, monkeypatch):
    store(dav, "/one/a.jpg")
    flush = Part.flush
    for source, headers, changed, status in (
        ("/a.jpg", {"Overwrite": "F"}, "/b.jpg", 412),
        ("/a.jpg", {"If_Match": ""}, "/a.jpg", 412),
        ("/a.jpg", {}, "/a.jpg", 409),
        ("/one", {"Overwrite": "F"}, "/b.jpg/a.jpg", 412),
    ):
        call(dav, "DELETE", "/b.jpg")
        tag = put(dav, "/a.jpg", b"first").headers["ETag"]

        def others_write(part, changed=changed):
            monkeypatch.setattr(Part, "flush", flush)
            assert put(dav, changed, b"second").status_code in {201, 204}
            flush(part)

        monkeypatch.setattr(Part, "flush", others_write)
        answer = to(dav, "COPY", source, "/b.jpg", **{name: value or tag for name, value in headers.items()})
        assert (answer.status_code, read(dav, changed)) == (status, b"second"), (source, changed)
        assert exists(dav, "/b.jpg") == changed.startswith("/b.jpg"), (source, changed)


def test_a_file_that_another_program_writes_to_is_not_copied_half(dav, monkeypatch):
    store(dav, "/one/a.jpg")
    os.utime(on_disk(dav, "/one/a.jpg"), (1_000_000_000, 1_000_000_000))
    for before in ("write", "flush"):
        act = getattr(Part, before)

        def others_write(part, *data, act=act):
            with on_disk(dav, "/one/a.jpg").open("ab") as file:
                file.write(b" and second")
            return act(part, *data)

        with monkeypatch.context() as patch:
            patch.setattr(Part, before, others_write)
            assert to(dav, "COPY", "/one", "/two").status_code == 409, before
        assert not exists(dav, "/two/a.jpg"), before


def test_a_new_picture_under_a_used_name_is_a_new_photo_as_after_an_index(dav, monkeypatch):
    monkeypatch.setattr("photosvc.index.run.WorkerPool", InlinePool)
    library, ways = dav.api.library, ("PUT", "DELETE", "MOVE")

    def pictures(year):
        blob = exif({}, {0x9003: f"{year}:01:01 10:00:01"})
        return zip(ways, (encoded(clouds(year + seed), "JPEG", exif=blob) for seed in range(3)), strict=True)

    def index():
        """The UID and title of each photo in the folder of the test."""
        library.index()
        found = library.find(path=f"{dav.top[1:]}*")
        return {one["FileName"].removeprefix(dav.top[1:]): (one["UID"], one["Title"]) for one in found}

    for way, data in pictures(2020):
        put(dav, f"/{way}.jpg", data)
    before = {name: uid for name, (uid, _) in index().items()}
    for name, uid in before.items():
        library.call("PUT", f"/photos/{uid}", json={"Title": f"Funeral {name}", "TitleSrc": "manual"})
    call(dav, "DELETE", "/DELETE.jpg")
    for way, data in pictures(2024):
        put(dav, "/new.jpg" if way == "MOVE" else f"/{way}.jpg", data)
    to(dav, "MOVE", "/new.jpg", "/MOVE.jpg")
    after = {name: (uid in before.values(), title) for name, (uid, title) in index().items()}
    assert after == {f"/{way}.jpg": (False, f"{way} / 2024") for way in ways}
    for way, data in pictures(2020):
        put(dav, f"/back {way}.jpg", data)
    back = {name: photo for name, photo in index().items() if "back" in name}
    assert back == {f"/back {name[1:]}": (uid, f"Funeral {name}") for name, uid in before.items()}


def test_a_folder_that_is_copied_in_part_is_indexed_and_has_its_properties(dav, monkeypatch):
    woken, receive = [], Staging.receive
    store(dav, "/one/a.jpg", "/one/b.jpg")
    for name in "ab":
        call(dav, "PROPPATCH", f"/one/{name}.jpg", PATCH)
    with dav.api.library.session() as session:
        session.query(Job).delete()

    def full(staging, **options):
        if exists(dav, "/two") and any(on_disk(dav, "/two").iterdir()):
            raise StorageFullError
        return receive(staging, **options)

    monkeypatch.setattr(Staging, "receive", full)
    monkeypatch.setattr("photosvc.dav.blueprint.wake_indexer", woken.append)
    assert to(dav, "COPY", "/one", "/two").status_code == 507
    (copied,) = on_disk(dav, "/two").iterdir()
    assert is_blue(dav, f"/two/{copied.name}")
    with dav.api.library.session() as session:
        assert [one.folder for one in requests.waiting(session)] == [f"{dav.top}/two".strip("/")]
    assert len(woken) == 1


def test_what_is_locked_by_another_stays(dav):
    store(dav, "/one/a.jpg", "/b.jpg")
    call(dav, "LOCK", "/one/a.jpg", LOCKINFO)
    for method, path, target in (
        ("PUT", "/one/a.jpg", ""), ("DELETE", "/one/a.jpg", ""), ("DELETE", "/one", ""), ("MOVE", "/one", "/two"),
        ("MOVE", "/b.jpg", "/one/a.jpg"), ("COPY", "/b.jpg", "/one/a.jpg"), ("COPY", "/b.jpg", "/one"),
    ):  # fmt: skip
        answer = call(dav, method, path, b"", client=dav.ann, Destination=f"/originals{dav.top}{target}")
        assert (answer.status_code, f">/originals{dav.top}/one/a.jpg<" in answer.text) == (423, True), (method, path)
    assert (read(dav, "/one/a.jpg"), read(dav, "/b.jpg")) == (b"/one/a.jpg", b"/b.jpg")
    on_disk(dav, "/one/a.jpg").unlink()  # by another program: the lock stays
    for method in ("PUT", "MKCOL"):
        assert call(dav, method, "/one/a.jpg", client=dav.ann).status_code == 423, method


def test_copies_and_files_of_one_content_count_in_the_quota_each(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_UPLOAD_QUOTA": "1"}) as api:
        dav, ann = DavClient(api), DavClient(api, "ann")

        def to(method, source, target, client=dav):
            return client.call(method, source, headers={"Destination": f"/originals{target}"}).status_code

        assert [dav.call("PUT", f"/{number}.jpg", b"1" * 300_000).status_code for number in range(2)] == [201, 201]
        assert [to("COPY", "/0.jpg", f"/{number}.jpg") for number in (2, 3)] == [201, 507]
        dav.call("MKCOL", "/folder")
        assert to("MOVE", "/2.jpg", "/folder/2.jpg") == 201
        assert to("COPY", "/folder", "/folder2") == 507
        assert not (api.library.originals / "folder2").exists()
        assert dav.call("PUT", "/3.jpg", b"1" * 300_000).status_code == 507
        assert to("COPY", "/0.jpg", "/ann.jpg", ann) == 201


def test_too_large_a_folder_is_not_copied(dav, monkeypatch):
    monkeypatch.setattr("photosvc.dav.move_copy.MOST", 3)
    store(dav, "/small/a.jpg", "/small/b.jpg")
    assert to(dav, "COPY", "/small", "/copy").status_code == 201
    store(dav, "/small/c.jpg")
    assert (to(dav, "COPY", "/small", "/other").status_code, exists(dav, "/other")) == (403, False)
    assert to(dav, "COPY", "/small", "/other", Depth="0").status_code == 201


def test_what_is_answered_503_leaves_the_folder_as_it_was(dav, monkeypatch):
    def files():
        return {path: path.read_bytes() for path in root(dav).rglob("*") if path.is_file()}

    def fails(*_, **__):
        raise WritersBusyError

    store(dav, "/known.jpg", data=picture(3))
    dav.api.library.index()
    store(dav, "/old.txt", "/source.txt", "/one/one.txt", "/two/two.txt")
    before, names = files(), ("/new.txt", "/old.txt", "/known.jpg")
    monkeypatch.setattr(Relocation, "changed", fails)
    for method in ("PUT", "COPY", "MOVE"):
        for name in names:
            answer = put(dav, name, b"new") if method == "PUT" else to(dav, method, "/source.txt", name)
            assert (answer.status_code, files()) == (503, before), (method, name)
        if method != "PUT":
            assert (to(dav, method, "/one", "/two").status_code, files()) == (503, before), method
    monkeypatch.undo()
    for name in names:
        assert put(dav, name, b"new").status_code in {201, 204}, name
        assert read(dav, name) == b"new", name
    assert parts(dav) == []
