"""Storing files and making folders over WebDAV."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

from photosvc.library.staging import Part
from tests.app.dav.dav_client import LOCKINFO, WRITING, DavClient
from tests.app.dav.folder import call, exists, on_disk, parts, put, read, root, to, trashed
from tests.app.uploads.upload_client import picture, unmounted
from tests.helpers.api_client import open_api


def test_nothing_is_stored_while_the_disk_of_the_originals_is_away(dav):
    assert put(dav, "/a.jpg", picture(1)).status_code == 201
    dav.api.library.index()
    with unmounted(dav.api.library):
        answer = dav.call("PUT", "/b.jpg", picture(2))
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "30")
    assert dav.call("PUT", "/b.jpg", picture(2)).status_code == 201


def test_a_file_is_stored_and_replaced_and_its_tag_is_that_of_a_get(dav, monkeypatch):
    seen, write = [], Part.write
    monkeypatch.setattr(Part, "write", lambda part, data: (seen.append(exists(dav, "/a.jpg")), write(part, data))[1])
    made = put(dav, "/a.jpg", b"one", X_OC_Mtime="1000000000")
    assert seen == [False], "it exists before its last byte"
    assert (made.status_code, read(dav, "/a.jpg"), made.headers["X-OC-Mtime"]) == (201, b"one", "accepted")
    assert on_disk(dav, "/a.jpg").stat().st_mtime == 1_000_000_000
    assert call(dav, "GET", "/a.jpg").headers["ETag"] == made.headers["ETag"]
    for given in ("-1", "1.5", "now", "9" * 30, "99999999999", "\u0661"):  # no file can have these
        assert put(dav, "/b.jpg", X_OC_Mtime=given.encode().decode("latin-1")).status_code == 400, given
        assert not exists(dav, "/b.jpg"), given
    replaced = put(dav, "/a.jpg", b"two")
    assert (replaced.status_code, read(dav, "/a.jpg")) == (204, b"two")
    assert replaced.headers["ETag"] != made.headers["ETag"]
    assert parts(dav) == []


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

    monkeypatch.setattr("photosvc.library.staging.os.write", full)
    for name in ("/a.jpg", "/new.jpg"):
        assert put(dav, name, b"more").status_code == 507
    monkeypatch.undo()
    assert read(dav, "/a.jpg") == b"whole"
    assert not exists(dav, "/new.jpg")


def test_of_several_that_create_one_file_or_folder_one_wins_and_no_content_is_mixed(dav):
    contents = [bytes([65 + number]) * 60_000 for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda data: put(dav, "/a.jpg", data, If_None_Match="*").status_code, contents))
        assert sorted(answers) == [201, 412, 412, 412, 412, 412]
        assert read(dav, "/a.jpg") in contents
        answers = list(pool.map(lambda data: put(dav, "/b.jpg", data).status_code, contents))
        assert set(answers) <= {201, 204}
        assert read(dav, "/b.jpg") in contents
        answers = list(pool.map(lambda _: call(dav, "MKCOL", "/new").status_code, range(6)))
        assert sorted(answers) == [201, 405, 405, 405, 405, 405]
    for path, body, status in (("/none/new", None, 409), ("/body", b"<x/>", 415), ("/a.jpg", None, 405)):
        assert call(dav, "MKCOL", path, body).status_code == status, path
    assert dav.call("MKCOL", "/").status_code == 400


def test_conditions_decide_before_the_file_is_replaced(dav):
    tag = put(dav, "/a.jpg", b"one").headers["ETag"]
    for name, headers in (
        ("/none.jpg", {"If_Match": tag}), ("/none.jpg", {"If_Match": "*"}), ("/a.jpg", {"If_Match": '"other"'}),
        ("/a.jpg", {"If_None_Match": "*"}), ("/a.jpg", {"If_None_Match": tag}),
        ("/a.jpg", {"If_Unmodified_Since": "Mon, 01 Jan 2001 00:00:00 GMT"}),
    ):  # fmt: skip
        assert put(dav, name, **headers).status_code == 412, (name, headers)
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
            answer = call(dav, method, path, b"data" if method == "PUT" else None)
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
        assert call(dav, "MKCOL", path).status_code == status
        assert call(dav, "DELETE", path).status_code == 404
        assert to(dav, "MOVE", path, "/x").status_code == 404
        assert to(dav, "COPY", "/source.jpg", path).status_code == 409
        for overwrite in ("F", "T"):
            assert to(dav, "MOVE", "/source.jpg", path, Overwrite=overwrite).status_code == 409
    call(dav, "MKCOL", "/folder")
    for path in ("/link.jpg", "/linked"):
        assert to(dav, "MOVE", "/folder", path).status_code == 409
    assert (exists(dav, "/source.jpg"), exists(dav, "/folder")) == (True, True)
    assert (folder / "linked").is_symlink()
    assert call(dav, "LOCK", "/linked/new.jpg", LOCKINFO).status_code == 409
    assert [path.name for path in tmp_path.iterdir()] == ["out.jpg"]
    assert ((tmp_path / "out.jpg").read_bytes(), (folder / "link.jpg").is_symlink()) == (b"outside", True)


def test_junk_and_what_is_empty_does_not_fill_the_trash(dav):
    call(dav, "MKCOL", "/empty")
    for name in ("/._a.jpg", "/.DS_Store", "/desktop.ini", "/Thumbs.db"):
        assert [put(dav, name, data).status_code for data in (b"other", b"junk")] == [201, 204], name
        assert call(dav, "GET", name).data == b"junk", name
        assert call(dav, "DELETE", name).status_code == 204, name
    for _ in range(2):
        put(dav, "/zero.jpg", b"")
    assert [call(dav, "DELETE", path).status_code for path in ("/zero.jpg", "/empty")] == [204, 204]
    assert trashed(dav) == []


def test_a_lock_on_a_new_name_makes_an_empty_file_and_a_refused_one_none(dav):
    assert call(dav, "LOCK", "/new.jpg", LOCKINFO).status_code == 201
    assert read(dav, "/new.jpg") == b""
    assert "Lock-Token" not in call(dav, "LOCK", "/", LOCKINFO).headers  # a file in it is locked
    call(dav, "MKCOL", "/locked")
    token = call(dav, "LOCK", "/locked", LOCKINFO).headers["Lock-Token"]
    for client in (dav, dav.ann):
        for headers in ({}, {"If": f"<http://localhost/originals{dav.top}/locked> ({token})"}):
            answer = call(dav, "LOCK", "/locked/x.jpg", LOCKINFO, client=client, **headers)
            assert (answer.status_code, exists(dav, "/locked/x.jpg")) == (423, False), headers
    assert (call(dav, "LOCK", "/bad.jpg", b"<x/>").status_code, exists(dav, "/bad.jpg")) == (400, False)


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


def test_nothing_is_written_where_the_originals_are_read_only(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_READONLY": "true"}) as api:
        api.library.put("a.jpg", b"a")
        dav = DavClient(api)
        for method in WRITING:
            answer = dav.call(method, "/a.jpg", headers={"Destination": "/originals/b.jpg"})
            assert (answer.status_code, "read-only" in answer.json["error"]) == (403, True), method
        assert dav.call("GET", "/a.jpg").data == b"a"
        assert [path.name for path in api.library.originals.iterdir()] == ["a.jpg"]
