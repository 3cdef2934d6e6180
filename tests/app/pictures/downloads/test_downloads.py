"""GET /dl/<hash> and /photos/<uid>/dl: exact bytes, ranges, names, and only the file that the library knows."""

import os
import shutil
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from photosvc.web.service import current_service
from tests.helpers.api_client import check_error
from tests.helpers.pictures import encoded, quarters

DUE = "The file has changed since it was indexed; an index run is due."


@pytest.fixture(scope="module")
def original(pictures):
    """A hash, the bytes behind it, and a function that downloads it."""
    content_hash = pictures.hash_of("photo.jpg")
    token = pictures.tokens()[1]
    data = (pictures.library.originals / "photo.jpg").read_bytes()

    def get(method="GET", **headers):
        return pictures.download(content_hash, token, method=method, **headers)

    return content_hash, data, get


def test_an_original_is_sent_byte_for_byte(pictures, original):
    content_hash, data, get = original
    pictures.change("photo.jpg", title="Photo")
    answer = get()
    assert (answer.status_code, answer.data) == (200, data)
    assert dict(answer.headers) == {
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": 'attachment; filename="20260301-110000-Photo.jpg"',
        "Content-Length": str(len(data)),
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Type": "image/jpeg",
        "ETag": f'"{content_hash}"',
        "Last-Modified": "Sun, 01 Mar 2026 11:00:00 GMT",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    head = get("HEAD", Range="bytes=0-1")  # it ignores ranges
    assert (head.status_code, head.data, dict(head.headers)) == (200, b"", dict(answer.headers))
    path = f"/photos/{pictures.photo_uid('photo.jpg')}/dl?t={pictures.tokens()[1]}"
    primary = pictures.api.call("GET", path, buffered=True)
    assert (primary.data, dict(primary.headers)) == (data, dict(answer.headers))


def test_an_unknown_photo_is_not_found(pictures):
    token = pictures.tokens()[1]
    for uid in ("ptaaaaaaaaaaaaaa", "x", "..%2f..", "ft00000000000000", "%00", "x" * 3000):
        assert pictures.api.call("GET", f"/photos/{uid}/dl?t={token}").status_code == 404, uid


def test_a_range_is_answered_with_its_bytes_or_the_size_of_the_file(original):
    _, data, get = original
    for ranges, start, stop in (
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, None),
        ("bytes=-100", len(data) - 100, None),
        ("bytes=-99999999", 0, None),  # a suffix longer than the file
        ("bytes=10-99999999", 10, None),
    ):
        answer, expected = get(Range=ranges), data[start:stop]
        assert (answer.status_code, answer.data) == (206, expected), ranges
        assert answer.headers["Content-Range"] == f"bytes {start}-{start + len(expected) - 1}/{len(data)}"
        assert answer.headers["Content-Length"] == str(len(expected))
    for ranges in ("bytes=99999999-", "bytes=-0", "bytes=99999998-99999999"):
        answer = get(Range=ranges)
        found = (answer.status_code, answer.data, answer.headers["Content-Range"])
        assert found == (416, b"", f"bytes */{len(data)}"), ranges


def test_ranges_are_ignored_if_malformed_and_follow_their_conditions(original):
    content_hash, data, get = original
    tag, date, later = f'"{content_hash}"', "Sun, 01 Mar 2026 11:00:00 GMT", "Sun, 01 Mar 2026 11:00:01 GMT"
    earlier, first = "Sun, 01 Mar 2026 10:59:59 GMT", {"Range": "bytes=0-1"}
    for headers, status, sent in (
        *(({"Range": ranges}, 200, data) for ranges in ("items=0-1", "bytes=a-b", "bytes=5-2", "bytes=50-59,0-9")),
        *(({**first, "If-Range": one}, 200, data) for one in (f"W/{tag}", '"other"', later, earlier)),
        *(({**first, "If-Range": one}, 206, data[:2]) for one in (tag, date)),
        ({"If-None-Match": tag, **first}, 304, b""),
        ({"If-None-Match": tag, "Range": "bytes=99999999-"}, 304, b""),
        ({"If-Modified-Since": date}, 304, b""),
        ({"If-Unmodified-Since": earlier}, 412, b""),
        ({"If-Match": '"other"'}, 412, b""),
    ):
        answer = get(**headers)
        assert (answer.status_code, answer.headers["ETag"]) == (status, tag), headers
        assert answer.data == sent, headers


HOSTILE = 'a\r\nSet-Cookie: a=b"; filename="x.exe\x00\u202egpj\\..\\<b>\'%22'


def test_the_name_to_save_under_is_safe_for_every_title_and_can_be_chosen(pictures, original):
    start = "20260301-110000-"
    for title, name in (
        ("At the lake", "At the lake.jpg"),
        ("Über Öl 日本", "Über Öl 日本.jpg"),
        ("../../etc/passwd", ".._.._etc_passwd.jpg"),
        (HOSTILE, "a__Set-Cookie_ a=b_; filename=_x.exe__gpj_..__b_'%22.jpg"),
        ("x" * 1000, "x" * 180 + ".jpg"),
        ("日" * 1000, "日" * 60 + ".jpg"),
        ("", "photo.jpg"),
    ):
        pictures.change("photo.jpg", title=title)
        header = original[2]().headers["Content-Disposition"]
        assert header.isascii(), title
        assert header.isprintable(), title
        plain = "".join(c if c.isascii() and c not in "%;=" else "_" for c in start + name)
        assert header.startswith(f'attachment; filename="{plain}"'), title
        full = header.partition("; filename*=UTF-8''")[2]
        assert unquote(full) == (start + name if not name.isascii() or "%" in name else ""), title
    for kind, name in (("file", "photo.jpg"), ("original", "photo.jpg"), ("nonsense", f"{start}photo.jpg")):
        header = pictures.download(original[0], query=f"&name={kind}").headers["Content-Disposition"]
        assert header == f'attachment; filename="{name}"'


def replaced_by_link(path: Path, outside: Path) -> None:
    shutil.copy2(path, outside / "same.png")
    path.unlink()
    path.symlink_to(outside / "same.png")


def folder_replaced_by_link(path: Path, outside: Path) -> None:
    shutil.copytree(path.parent, outside / "copy")
    shutil.rmtree(path.parent)
    path.parent.symlink_to(outside / "copy")


def longer(path: Path, _: Path) -> None:
    status = path.stat()
    path.write_bytes(path.read_bytes() + b"x")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def other_time(path: Path, _: Path) -> None:
    os.utime(path, (1, 1))


def vanished(path: Path, _: Path) -> None:
    path.unlink()


def replaced_by_folder(path: Path, _: Path) -> None:
    path.unlink()
    path.mkdir()


def replaced_by_pipe(path: Path, _: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES = [
    replaced_by_link, folder_replaced_by_link, longer, other_time, vanished, replaced_by_folder, replaced_by_pipe,
]  # fmt: skip


def test_a_file_that_changed_since_the_index_run_is_neither_sent_nor_shown(new_pictures, tmp_path):
    for number, change in enumerate(CHANGES):
        new_pictures.library.put(f"{change.__name__}/a.png", encoded(quarters(60 + number, 40), "PNG"))
    new_pictures.library.index()
    for change in CHANGES:
        name = f"{change.__name__}/a.png"
        content_hash = new_pictures.hash_of(name)
        change(new_pictures.library.originals / name, tmp_path)
        for answer in (new_pictures.download(content_hash), new_pictures.thumbnail(content_hash)):
            assert check_error(answer, 410)["error"] == DUE, change


def test_a_cached_thumbnail_outlives_its_original(new_pictures):
    content_hash = new_pictures.put("kept.png", encoded(quarters(90, 40), "PNG"))
    assert new_pictures.thumbnail(content_hash, "tile_50").status_code == 200
    (new_pictures.library.originals / "kept.png").unlink()
    assert new_pictures.thumbnail(content_hash, "tile_50").status_code == 200


def test_files_of_any_name_are_sent_and_the_server_in_front_gets_their_path_encoded(new_pictures, monkeypatch):
    library, names = new_pictures.library, {
        b"x/\xe9t\xe9 1.png": "x/%E9t%E9%201.png",
        b"a b%41+?#.png": "a%20b%2541%2B%3F%23.png",
        "日本.png".encode(): "%E6%97%A5%E6%9C%AC.png",
        b"a\nb%.png": "a%0Ab%25.png",
    }  # fmt: skip
    data = [encoded(quarters(100 + number, 40), "PNG") for number in range(len(names))]
    for name, content in zip(names, data, strict=True):
        library.put(name, content)
    library.index()
    hashes = {record["Width"]: record["Hash"] for record in library.find(count=100)}
    with library.app.app_context():
        service = current_service()
    for number, encoded_name in enumerate(names.values()):
        content_hash = hashes[100 + number]
        assert new_pictures.download(content_hash).data == data[number], encoded_name
        assert new_pictures.thumbnail(content_hash, "tile_50").status_code == 200, encoded_name
        place = f"pictures/{content_hash[0]}/{content_hash[1]}/{content_hash[2]}/{content_hash}_tile_50.jpg"
        for header, originals, cache in (
            ("X-Accel-Redirect", "/photosvc-files/originals", "/photosvc-files/cache"),
            ("X-Sendfile", quote(str(library.originals)), quote(str(library.instance / "cache"))),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(service, "settings", replace(service.settings, sendfile_header=header))
                original = new_pictures.download(content_hash)
                thumbnail = new_pictures.thumbnail(content_hash, "tile_50")
            assert (original.status_code, original.data, original.headers["Content-Type"]) == (200, b"", "image/png")
            assert original.headers[header] == f"{originals}/{encoded_name}"
            assert thumbnail.headers[header] == f"{cache}/{place}"


def test_answers_have_a_type_of_the_openapi_document(pictures):
    described = pictures.library.app.test_client().get("/api/v1/openapi.json").json["paths"]
    content_hash, tokens = pictures.hash_of("photo.jpg"), pictures.tokens()
    for path, answer in [
        ("/dl/{content_hash}", pictures.download(content_hash, tokens[1])),
        ("/t/{content_hash}/{token}/{size}", pictures.thumbnail("photo.jpg", "tile_224", Accept="image/webp")),
    ]:
        named, _ = described[path]["get"]["responses"]["200"]["content"]
        assert fnmatch(answer.mimetype, named), (path, named)
