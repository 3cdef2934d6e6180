"""Storing, copying, moving and deleting files over WebDAV."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest

from photosvc.index import requested
from photosvc.index.scan import TRASH_FOLDER
from photosvc.library.relocation import Relocation
from photosvc.library.staging import Staging
from photosvc.library.staging_part import Part, StorageFullError
from photosvc.models import Job
from photosvc.web.transactions import WritersBusyError
from tests.helpers.api_client import open_api
from tests.helpers.clients.upload_client import picture, unmounted
from tests.helpers.dav_client import LOCKINFO, PATCH, WRITING, DavClient
from tests.helpers.factories.indexing_requests import InlinePool
from tests.helpers.pictures import clouds, encoded, exif


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        yield DavClient(api)


@pytest.fixture
def dav(shared, request):
    """The client, with a folder of its own for each test; its name is `dav.top`."""
    shared.top = "/" + request.node.name.partition("[")[0]
    assert shared.call("MKCOL", shared.top).status_code in {201, 405}
    return shared


def root(dav):
    return dav.api.library.originals


def read(dav, path):
    return (root(dav) / (dav.top + path).strip("/")).read_bytes()


def put(dav, path, data=b"data", **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return dav.call("PUT", dav.top + path, data, headers=headers)


def to(dav, method, path, target, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return dav.call(method, dav.top + path, headers={"Destination": f"/originals{dav.top}{target}", **headers})


def exists(dav, path):
    return (root(dav) / (dav.top + path).strip("/")).exists()


def trashed(dav):
    """What is in the trash, by its former path in the folder of the test."""
    found = (path.relative_to(root(dav) / TRASH_FOLDER) for path in (root(dav) / TRASH_FOLDER).rglob("*"))
    names = ("/" + str(path).partition("/")[2] for path in found)
    return sorted(name.removeprefix(dav.top) for name in names if name.startswith(dav.top + "/"))


def parts(dav):
    return list((root(dav) / ".photosvc").glob("*.part"))


def test_nothing_is_stored_while_the_disk_of_the_originals_is_away(dav):
    assert put(dav, "/a.jpg", picture(1)).status_code == 201
    dav.api.library.index()
    with unmounted(dav.api.library):
        answer = dav.call("PUT", "/b.jpg", picture(2))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert dav.call("PUT", "/b.jpg", picture(2)).status_code == 201


def test_a_file_is_stored_and_replaced_and_its_tag_is_that_of_a_get(dav):
    made = put(dav, "/a.jpg", b"one")
    assert (made.status_code, read(dav, "/a.jpg")) == (201, b"one")
    assert dav.call("GET", dav.top + "/a.jpg").headers["ETag"] == made.headers["ETag"]
    replaced = put(dav, "/a.jpg", b"two")
    assert (replaced.status_code, read(dav, "/a.jpg")) == (204, b"two")
    assert replaced.headers["ETag"] != made.headers["ETag"]
    assert parts(dav) == []


def test_the_time_that_a_client_asks_for_is_kept_and_is_in_the_tag(dav):
    answer = put(dav, "/a.jpg", b"one", X_OC_Mtime="1000000000")
    assert answer.headers["X-OC-Mtime"] == "accepted"
    assert (root(dav) / dav.top[1:] / "a.jpg").stat().st_mtime == 1_000_000_000
    assert dav.call("HEAD", dav.top + "/a.jpg").headers["ETag"] == answer.headers["ETag"]
    for given in ("-1", "1.5", "now", "9" * 30, "99999999999", "\u0661"):  # no file can have these
        assert put(dav, "/b.jpg", X_OC_Mtime=given.encode().decode("latin-1")).status_code == 400, given
        assert not exists(dav, "/b.jpg"), given


def test_a_body_that_ends_too_early_or_is_not_the_whole_file_leaves_the_old_one(dav):
    put(dav, "/a.jpg", b"whole")
    partial = [
        ({"input_stream": BytesIO(b"ha"), "environ_overrides": {"CONTENT_LENGTH": "9"}}, 400),
        ({"data": b"data", "headers": {"Content-Range": "bytes 0-3/4"}}, 400),
        ({"data": b"data", "headers": {"Content-Encoding": "gzip"}}, 415),
    ]
    for name in ("/a.jpg", "/new.jpg"):
        for options, status in partial:
            assert dav.call("PUT", dav.top + name, **options).status_code == status, options
    assert (read(dav, "/a.jpg"), exists(dav, "/new.jpg"), parts(dav)) == (b"whole", False, [])
    assert put(dav, "/a.jpg", b"data", Content_Encoding="identity").status_code == 204


def test_a_body_in_chunks_has_the_length_that_the_client_expects(dav):
    chunked = {"environ_overrides": {"wsgi.input_terminated": True}, "content_length": None}
    for length, status in (("4", 201), ("5", 400), ("x", 400)):
        answer = dav.call(
            "PUT", f"{dav.top}/{length}.jpg", input_stream=BytesIO(b"four"),
            headers={"X-Expected-Entity-Length": length, "Transfer-Encoding": "chunked"}, **chunked,
        )  # fmt: skip
        assert answer.status_code == status, length
        assert exists(dav, f"/{length}.jpg") == (status == 201)


def test_a_full_disk_is_507_and_leaves_the_old_file(dav, monkeypatch):
    put(dav, "/a.jpg", b"whole")

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("photosvc.library.staging_part.os.write", full)
    for name in ("/a.jpg", "/new.jpg"):
        assert put(dav, name, b"more").status_code == 507
    monkeypatch.undo()
    assert read(dav, "/a.jpg") == b"whole"
    assert not exists(dav, "/new.jpg")


def test_the_file_does_not_exist_before_its_last_byte(dav, monkeypatch):
    seen = []
    write = Part.write
    monkeypatch.setattr(Part, "write", lambda part, data: (seen.append(exists(dav, "/a.jpg")), write(part, data))[1])
    assert put(dav, "/a.jpg").status_code == 201
    assert seen == [False]


def test_of_several_that_create_one_file_or_folder_one_wins_and_no_content_is_mixed(dav):
    contents = [bytes([65 + number]) * 60_000 for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda data: put(dav, "/a.jpg", data, If_None_Match="*").status_code, contents))
        assert sorted(answers) == [201, 412, 412, 412, 412, 412]
        assert read(dav, "/a.jpg") in contents
        answers = list(pool.map(lambda data: put(dav, "/b.jpg", data).status_code, contents))
        assert set(answers) <= {201, 204}
        assert read(dav, "/b.jpg") in contents
        answers = list(pool.map(lambda _: dav.call("MKCOL", dav.top + "/new").status_code, range(6)))
        assert sorted(answers) == [201, 405, 405, 405, 405, 405]


def test_a_folder_is_made_where_nothing_is_and_its_folder_exists(dav):
    put(dav, "/a.jpg")
    for path, body, status in (("/none/new", None, 409), ("/body", b"<x/>", 415), ("/a.jpg", None, 405)):
        assert dav.call("MKCOL", dav.top + path, body).status_code == status, path
    assert dav.call("MKCOL", "/").status_code == 400


def test_conditions_decide_before_the_file_is_replaced(dav):
    tag = put(dav, "/a.jpg", b"one").headers["ETag"]
    assert put(dav, "/none.jpg", If_Match=tag).status_code == 412
    assert put(dav, "/none.jpg", If_Match="*").status_code == 412
    assert put(dav, "/a.jpg", If_Match='"other"').status_code == 412
    assert put(dav, "/a.jpg", If_None_Match="*").status_code == 412
    assert put(dav, "/a.jpg", If_None_Match=tag).status_code == 412
    assert put(dav, "/a.jpg", If_Unmodified_Since="Mon, 01 Jan 2001 00:00:00 GMT").status_code == 412
    assert (read(dav, "/a.jpg"), exists(dav, "/none.jpg")) == (b"one", False)
    assert put(dav, "/a.jpg", b"two", If_Match=tag).status_code == 204


def test_the_header_if_holds_for_the_resource_that_it_names(dav):
    address = f"http://localhost/originals{dav.top}/a.jpg"
    for value, status in (
        ("([{tag}])", 204),
        ('(["other"])', 412),
        (f'<{address}> (["other"])', 412),
        (f'<{address}> (Not ["x"])', 204),
        (f"<{address.partition('localhost')[2]}> (Not <urn:x>)", 204),
        ('<http://elsewhere/a.jpg> (["other"])', 412),
        ("(<opaquelocktoken:none>)", 412),
        ("garbage", 400),
    ):
        tag = put(dav, "/a.jpg", b"one").headers["ETag"]
        assert put(dav, "/a.jpg", b"one", If=value.format(tag=tag)).status_code == status, value


def test_a_checksum_is_compared(dav):
    right = hashlib.sha1(b"data").hexdigest()
    wrong = hashlib.sha1(b"other").hexdigest()
    md5 = base64.b64encode(hashlib.md5(b"data").digest()).decode()
    assert put(dav, "/wrong.jpg", OC_Checksum=f"SHA1:{wrong}").status_code == 400
    assert not exists(dav, "/wrong.jpg")
    for number, given in enumerate([f"SHA1:{right}", f"sha1:{right.upper()}", f"MD5:{md5}", "CRC99:1", "x", ":"]):
        assert put(dav, f"/{number}.jpg", OC_Checksum=given).status_code == 201, given


def test_names_that_no_file_can_have_are_refused(dav):
    put(dav, "/source.jpg")
    before = sorted(root(dav).rglob("*"))
    for path, status in (
        ("/none/a.jpg", 409), ("/", 405), ("/" + "n" * 256, 400), ("/" + "n/" * 120 + "x", 400), ("/a%00b", 400),
        ("/a%0ab", 404), ("/%25FF2E%252E", 400), ("/a%C2%85b", 400), ("/../out.jpg", 400), ("/..%2fout.jpg", 400),
        ("/.photosvc/x", 400), ("/.photosvc", 400),
    ):  # fmt: skip
        for method in ("PUT", "MKCOL"):
            answer = dav.call(method, dav.top + path, b"data" if method == "PUT" else None)
            assert answer.status_code == status, (method, path)
        for method in ("COPY", "MOVE"):
            answer = to(dav, method, "/source.jpg", path)
            assert answer.status_code == {404: 400, 405: 403}.get(status, status), (method, path)
    for path in ("/caf\xe9.jpg", "/\xff", "/a\x00b", "/\xed\xa0\x80"):  # not UTF-8
        for method in ("GET", "PUT", "PROPFIND", "DELETE", "MKCOL"):
            answer = dav.call(method, "/x", environ_overrides={"PATH_INFO": f"/originals{dav.top}{path}"})
            assert answer.status_code == 400, (method, path)
    assert sorted(root(dav).rglob("*")) == before


def test_links_are_neither_written_through_nor_replaced(dav, tmp_path):
    (tmp_path / "out.jpg").write_bytes(b"outside")
    folder = root(dav) / dav.top[1:]
    (folder / "link.jpg").symlink_to(tmp_path / "out.jpg")
    (folder / "linked").symlink_to(tmp_path)
    put(dav, "/source.jpg")
    for path in ("/link.jpg", "/linked", "/linked/new.jpg"):
        status = 409 if path == "/linked/new.jpg" else 405
        assert put(dav, path).status_code == status, path
        assert dav.call("MKCOL", dav.top + path).status_code == status
        assert dav.call("DELETE", dav.top + path).status_code == 404
        assert to(dav, "MOVE", path, "/x").status_code == 404
        assert to(dav, "COPY", "/source.jpg", path).status_code == 409
        for overwrite in ("F", "T"):
            assert to(dav, "MOVE", "/source.jpg", path, Overwrite=overwrite).status_code == 409
    dav.call("MKCOL", dav.top + "/folder")
    for path in ("/link.jpg", "/linked"):
        assert to(dav, "MOVE", "/folder", path).status_code == 409
    assert (exists(dav, "/source.jpg"), exists(dav, "/folder")) == (True, True)
    assert (folder / "linked").is_symlink()
    assert dav.call("LOCK", dav.top + "/linked/new.jpg", LOCKINFO).status_code == 409
    assert [path.name for path in tmp_path.iterdir()] == ["out.jpg"]
    assert ((tmp_path / "out.jpg").read_bytes(), (folder / "link.jpg").is_symlink()) == (b"outside", True)


def test_a_destination_is_below_the_address_of_the_service_and_keeps_the_characters_of_the_name(dav):
    put(dav, "/a", b"old")
    for name in ("a%3Fb.jpg", "a;b.jpg", "a%3Bb.jpg", "a%23b.jpg", "a%25b.jpg", "%C3%A4.jpg", "a&b=c.jpg"):
        put(dav, "/source.jpg", b"new")
        assert to(dav, "COPY", "/source.jpg", "/" + name).status_code in {201, 204}, name
        assert dav.call("GET", f"{dav.top}/{name}").data == b"new", name
        assert to(dav, "MOVE", "/source.jpg", "/" + name).status_code == 204, name
    assert read(dav, "/a") == b"old"
    for host, status in {
        "http://localhost": 201, "http://LOCALHOST:80": 204, "https://localhost": 204, "http://localhost:8080": 204,
        "http://elsewhere": 502, "//elsewhere": 502, "ftp://localhost": 502,
    }.items():  # fmt: skip
        # The fourth one is where the service says that it is; behind a proxy that ends TLS, the scheme is another.
        given = {"Destination": f"{host}/originals{dav.top}/b.jpg"}
        assert dav.call("COPY", dav.top + "/a", headers=given).status_code == status, host


def test_a_file_is_moved_and_replaces_another_only_when_it_may(dav):
    put(dav, "/a.jpg", b"one")
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg").status_code == 201
    assert (exists(dav, "/a.jpg"), read(dav, "/b.jpg")) == (False, b"one")
    put(dav, "/c.jpg", b"two")
    assert to(dav, "MOVE", "/c.jpg", "/b.jpg", Overwrite="F").status_code == 412
    assert to(dav, "MOVE", "/c.jpg", "/b.jpg", Overwrite="maybe").status_code == 400
    assert to(dav, "MOVE", "/c.jpg", "/b.jpg").status_code == 204
    assert (exists(dav, "/c.jpg"), read(dav, "/b.jpg")) == (False, b"two")
    assert to(dav, "MOVE", "/none.jpg", "/x.jpg").status_code == 404
    assert to(dav, "MOVE", "/b.jpg", "/none/x.jpg").status_code == 409
    assert to(dav, "MOVE", "/b.jpg", "/b.jpg").status_code == 403


def test_a_folder_is_moved_with_all_in_it_and_replaces_another_as_a_whole(dav):
    for folder in ("/one", "/two"):
        dav.call("MKCOL", dav.top + folder)
        put(dav, f"{folder}{folder}.jpg", folder.encode())
    assert to(dav, "MOVE", "/one", "/one/inner").status_code == 403
    assert to(dav, "MOVE", "/one", "/two/", Depth="0").status_code == 400
    assert to(dav, "MOVE", "/one/", "/two/").status_code == 204
    assert (exists(dav, "/one"), read(dav, "/two/one.jpg"), exists(dav, "/two/two.jpg")) == (False, b"/one", False)
    assert "/two/two.jpg" in trashed(dav)
    assert to(dav, "MOVE", "/two/one.jpg", "").status_code == 403
    for method in ("DELETE", "MOVE", "COPY"):  # all originals
        assert dav.call(method, "/", headers={"Destination": "/originals/x"}).status_code == 403, method


def test_locks_stay_behind_and_properties_follow_a_move(dav):
    put(dav, "/a.jpg")
    assert dav.call("PROPPATCH", dav.top + "/a.jpg", PATCH).status_code == 207
    token = dav.call("LOCK", dav.top + "/a.jpg", LOCKINFO).headers["Lock-Token"]
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg").status_code == 423
    assert to(dav, "MOVE", "/a.jpg", "/b.jpg", If=f"({token})").status_code == 201
    assert put(dav, "/a.jpg").status_code == 201
    assert put(dav, "/b.jpg").status_code == 204
    found = dav.call("PROPFIND", dav.top + "/b.jpg", headers={"Depth": "0"}).text
    assert "blue" in found
    assert "blue" not in dav.call("PROPFIND", dav.top + "/a.jpg", headers={"Depth": "0"}).text


def test_a_file_and_a_folder_are_copied_with_their_properties(dav):
    dav.call("MKCOL", dav.top + "/one")
    dav.call("MKCOL", dav.top + "/one/inner")
    put(dav, "/one/inner/a.jpg", b"a", X_OC_Mtime="1000000000")
    dav.call("PROPPATCH", dav.top + "/one/inner/a.jpg", PATCH)
    assert to(dav, "COPY", "/one", "/two").status_code == 201
    assert read(dav, "/two/inner/a.jpg") == read(dav, "/one/inner/a.jpg") == b"a"
    assert (root(dav) / dav.top[1:] / "two/inner/a.jpg").stat().st_mtime == 1_000_000_000
    assert "blue" in dav.call("PROPFIND", dav.top + "/two/inner/a.jpg", headers={"Depth": "0"}).text
    assert to(dav, "COPY", "/one", "/three", Depth="0").status_code == 201
    assert not any((root(dav) / dav.top[1:] / "three").iterdir())
    assert to(dav, "COPY", "/one", "/four", Depth="1").status_code == 400
    put(dav, "/b.jpg", b"b")
    assert to(dav, "COPY", "/b.jpg", "/one/inner/a.jpg", Overwrite="F").status_code == 412
    assert to(dav, "COPY", "/b.jpg", "/one/inner/a.jpg").status_code == 204
    assert read(dav, "/one/inner/a.jpg") == read(dav, "/b.jpg") == b"b"
    assert to(dav, "COPY", "/b.jpg", "/one").status_code == 204
    assert read(dav, "/one") == b"b"
    assert parts(dav) == []


def test_deleted_files_lie_in_the_trash(dav):
    dav.call("MKCOL", dav.top + "/one")
    put(dav, "/one/a.jpg", b"a")
    put(dav, "/b.jpg", b"b")
    assert dav.call("DELETE", dav.top + "/b.jpg").status_code == 204
    assert dav.call("DELETE", dav.top + "/one", headers={"Depth": "0"}).status_code == 400
    assert dav.call("DELETE", dav.top + "/one").status_code == 204
    assert dav.call("DELETE", dav.top + "/one").status_code == 404
    assert not exists(dav, "/one")
    assert [name for name in trashed(dav) if name.endswith(".jpg")] == ["/b.jpg", "/one/a.jpg"]


def test_a_replaced_file_lies_in_the_trash_before_the_library_knows_it(dav):
    for method in ("PUT", "COPY", "MOVE"):
        old, name = f"old {method}".encode(), f"/{method}.jpg"
        put(dav, name, old)
        put(dav, "/source.jpg", b"new")
        answer = put(dav, name, b"new") if method == "PUT" else to(dav, method, "/source.jpg", name)
        assert (answer.status_code, read(dav, name), name in trashed(dav)) == (204, b"new", True), method
        assert dav.call("DELETE", dav.top + name).status_code == 204, method
        listed = dav.api.call("GET", f"/trash?q={method}.jpg", dav.api.session_of("ann")).json
        (item,) = (one["Item"] for one in listed if one["Size"] == len(old))
        assert dav.api.svc("trash", "restore", item).returncode == 0, method
        assert read(dav, name) == old, method


def test_a_copy_is_made_of_and_over_the_files_that_its_conditions_were_checked_on(dav, monkeypatch):
    dav.call("MKCOL", dav.top + "/one")
    put(dav, "/one/a.jpg", b"first")
    flush = Part.flush
    for source, headers, changed, status in (
        ("/a.jpg", {"Overwrite": "F"}, "/b.jpg", 412),
        ("/a.jpg", {"If_Match": ""}, "/a.jpg", 412),
        ("/a.jpg", {}, "/a.jpg", 409),
        ("/one", {"Overwrite": "F"}, "/b.jpg/a.jpg", 412),
    ):
        dav.call("DELETE", dav.top + "/b.jpg")
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
    dav.call("MKCOL", dav.top + "/one")
    put(dav, "/one/a.jpg", b"first", X_OC_Mtime="1000000000")
    for before in ("write", "flush"):
        act = getattr(Part, before)

        def others_write(part, *data, act=act):
            with (root(dav) / dav.top[1:] / "one/a.jpg").open("ab") as file:
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
        return [encoded(clouds(year + seed), "JPEG", exif=blob) for seed in range(3)]

    def found():
        return {record["FileName"].removeprefix(dav.top[1:]): record for record in library.find(path=f"{dav.top[1:]}*")}

    before, later = pictures(2020), pictures(2024)
    for way, data in zip(ways, before, strict=True):
        put(dav, f"/{way}.jpg", data)
    library.index()
    uids = {name: record["UID"] for name, record in found().items()}
    for name, uid in uids.items():
        library.call("PUT", f"/photos/{uid}", json={"Title": f"Funeral {name}", "TitleSrc": "manual"})
    dav.call("DELETE", dav.top + "/DELETE.jpg")
    for way, data in zip(ways, later, strict=True):
        put(dav, "/new.jpg" if way == "MOVE" else f"/{way}.jpg", data)
    to(dav, "MOVE", "/new.jpg", "/MOVE.jpg")
    library.index()
    assert {name: (one["UID"] in uids.values(), one["Title"]) for name, one in found().items()} == {
        f"/{way}.jpg": (False, f"{way} / 2024") for way in ways
    }
    for way, data in zip(ways, before, strict=True):
        put(dav, f"/back {way}.jpg", data)
    library.index()
    assert {name: (one["UID"], one["Title"]) for name, one in found().items() if "back" in name} == {
        f"/back {name[1:]}": (uid, f"Funeral {name}") for name, uid in uids.items()
    }


def test_a_folder_that_is_copied_in_part_is_indexed_and_has_its_properties(dav, monkeypatch):
    woken, receive = [], Staging.receive
    dav.call("MKCOL", dav.top + "/one")
    for name in "ab":
        put(dav, f"/one/{name}.jpg", name.encode())
        dav.call("PROPPATCH", f"{dav.top}/one/{name}.jpg", PATCH)
    with dav.api.library.session() as session:
        session.query(Job).delete()

    def full(staging, **options):
        if exists(dav, "/two") and any((root(dav) / dav.top[1:] / "two").iterdir()):
            raise StorageFullError
        return receive(staging, **options)

    monkeypatch.setattr(Staging, "receive", full)
    monkeypatch.setattr("photosvc.dav.server.wake_indexer", woken.append)
    assert to(dav, "COPY", "/one", "/two").status_code == 507
    (copied,) = (root(dav) / dav.top[1:] / "two").iterdir()
    assert "blue" in dav.call("PROPFIND", f"{dav.top}/two/{copied.name}", headers={"Depth": "0"}).text
    with dav.api.library.session() as session:
        assert [one.folder for one in requested.waiting(session)] == [f"{dav.top}/two".strip("/")]
    assert len(woken) == 1


def test_junk_and_what_is_empty_does_not_fill_the_trash(dav):
    dav.call("MKCOL", dav.top + "/empty")
    for name in ("/._a.jpg", "/.DS_Store", "/desktop.ini", "/Thumbs.db"):
        assert put(dav, name, b"other").status_code == 201
        assert put(dav, name, b"junk").status_code == 204
        assert dav.call("GET", dav.top + name).data == b"junk"
        assert dav.call("DELETE", dav.top + name).status_code == 204
    for _ in range(2):
        put(dav, "/zero.jpg", b"")
    assert dav.call("DELETE", dav.top + "/zero.jpg").status_code == 204
    assert dav.call("DELETE", dav.top + "/empty").status_code == 204
    assert trashed(dav) == []


def test_a_lock_on_a_new_name_makes_an_empty_file_and_a_refused_one_none(dav):
    assert dav.call("LOCK", dav.top + "/new.jpg", LOCKINFO).status_code == 201
    assert read(dav, "/new.jpg") == b""
    other = DavClient(dav.api, "ann")
    token = dav.call("LOCK", dav.top + "/", LOCKINFO).headers.get("Lock-Token")
    assert token is None  # a file in it is locked
    dav.call("MKCOL", dav.top + "/locked")
    token = dav.call("LOCK", dav.top + "/locked", LOCKINFO).headers["Lock-Token"]
    for client in (dav, other):
        for headers in ({}, {"If": f"<http://localhost/originals{dav.top}/locked> ({token})"}):
            assert client.call("LOCK", dav.top + "/locked/x.jpg", LOCKINFO, headers=headers).status_code == 423
            assert not exists(dav, "/locked/x.jpg")
    assert dav.call("LOCK", dav.top + "/bad.jpg", b"<x/>").status_code == 400
    assert not exists(dav, "/bad.jpg")


def test_what_is_locked_by_another_stays(dav):
    dav.call("MKCOL", dav.top + "/one")
    put(dav, "/one/a.jpg", b"a")
    put(dav, "/b.jpg", b"b")
    dav.call("LOCK", dav.top + "/one/a.jpg", LOCKINFO)
    top, other = dav.top, DavClient(dav.api, "ann")
    other.top = top
    assert put(other, "/one/a.jpg").status_code == 423
    assert other.call("DELETE", top + "/one/a.jpg").status_code == 423
    refused = other.call("DELETE", top + "/one")
    assert refused.status_code == 423
    assert f">/originals{top}/one/a.jpg<" in refused.text
    assert to(other, "MOVE", "/one", "/two").status_code == 423
    assert to(other, "MOVE", "/b.jpg", "/one/a.jpg").status_code == 423
    assert to(other, "COPY", "/b.jpg", "/one/a.jpg").status_code == 423
    assert to(other, "COPY", "/b.jpg", "/one").status_code == 423
    assert (read(dav, "/one/a.jpg"), read(dav, "/b.jpg")) == (b"a", b"b")
    (root(dav) / top[1:] / "one/a.jpg").unlink()  # by another program: the lock stays
    assert put(other, "/one/a.jpg").status_code == 423
    assert other.call("MKCOL", top + "/one/a.jpg").status_code == 423


def test_stored_files_count_in_the_quota_of_the_account_until_the_trash_is_emptied(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_UPLOAD_QUOTA": "1"}) as api:
        dav = DavClient(api)
        asked = b'<propfind xmlns="DAV:"><prop><quota-available-bytes/><quota-used-bytes/></prop></propfind>'
        listed = {"headers": {"Depth": "1"}}
        assert ">1048576<" in dav.call("PROPFIND", "/", asked, **listed).text
        assert "quota" not in dav.call("PROPFIND", "/", **listed).text
        statuses = [dav.call("PUT", f"/{number}.jpg", bytes([number]) * 600_000).status_code for number in (1, 2)]
        assert statuses == [201, 507]
        found = dav.call("PROPFIND", "/", asked, **listed).text
        assert ">448576<" in found
        assert found.count("404") == 1  # a file has no quota
        chunked = {"environ_overrides": {"wsgi.input_terminated": True}, "headers": {"Transfer-Encoding": "chunked"}}
        assert dav.call("PUT", "/2.jpg", input_stream=BytesIO(b"2" * 600_000), **chunked).status_code == 507
        assert dav.call("GET", "/2.jpg").status_code == 404
        assert DavClient(api, "ann").call("PUT", "/3.jpg", b"3" * 600_000).status_code == 201
        moved = {"Destination": "/originals/moved.jpg"}
        assert dav.call("MOVE", "/1.jpg", headers=moved).status_code == 201
        assert dav.call("PUT", "/2.jpg", b"2" * 600_000).status_code == 507
        assert dav.call("PUT", "/moved.jpg", b"2" * 300_000).status_code == 204
        assert dav.call("PUT", "/2.jpg", b"2" * 140_000).status_code == 201
        assert dav.call("PUT", "/2.jpg", b"2" * 600_000).status_code == 507
        assert dav.call("DELETE", "/2.jpg").status_code == 204
        assert dav.call("PUT", "/2.jpg", b"2" * 140_000).status_code == 507
        assert api.svc("trash", "empty", "--yes").returncode == 0
        assert dav.call("PUT", "/2.jpg", b"2" * 600_000).status_code == 201


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
    monkeypatch.setattr("photosvc.dav.copying.MOST", 3)
    dav.call("MKCOL", dav.top + "/small")
    for name in ("a", "b"):
        put(dav, f"/small/{name}.jpg")
    assert to(dav, "COPY", "/small", "/copy").status_code == 201
    put(dav, "/small/c.jpg")
    refused = to(dav, "COPY", "/small", "/other")
    assert (refused.status_code, exists(dav, "/other")) == (403, False)
    assert to(dav, "COPY", "/small", "/other", Depth="0").status_code == 201


def test_nothing_is_written_where_the_originals_are_read_only(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_READONLY": "true"}) as api:
        api.library.put("a.jpg", b"a")
        dav = DavClient(api)
        for method in WRITING:
            answer = dav.call(method, "/a.jpg", headers={"Destination": "/originals/b.jpg"})
            assert (answer.status_code, "read-only" in answer.json["error"]) == (403, True), method
        assert dav.call("GET", "/a.jpg").data == b"a"
        assert [path.name for path in api.library.originals.iterdir()] == ["a.jpg"]


def test_what_is_answered_503_leaves_the_folder_as_it_was(dav, monkeypatch):
    def files():
        return {path: path.read_bytes() for path in root(dav).rglob("*") if path.is_file()}

    def fails(*_, **__):
        raise WritersBusyError

    put(dav, "/old.txt", b"old")
    put(dav, "/known.jpg", picture(3))
    dav.api.library.index()
    for folder in ("/one", "/two"):
        dav.call("MKCOL", dav.top + folder)
        put(dav, f"{folder}{folder}.txt", folder.encode())
    put(dav, "/source.txt", b"unknown")
    before = files()
    monkeypatch.setattr(Relocation, "changed", fails)
    names = ("/new.txt", "/old.txt", "/known.jpg")
    for method in ("PUT", "COPY", "MOVE"):
        for name in names:
            answer = put(dav, name, b"new") if method == "PUT" else to(dav, method, "/source.txt", name)
            assert (answer.status_code, files()) == (503, before), (method, name)
    for method in ("COPY", "MOVE"):
        assert (to(dav, method, "/one", "/two").status_code, files()) == (503, before), method
    monkeypatch.undo()
    for name in names:
        assert put(dav, name, b"new").status_code in {201, 204}, name
        assert read(dav, name) == b"new", name
    assert parts(dav) == []
