"""GET /dl/<hash> and /photos/<uid>/dl: exact bytes, ranges, names, and only the file that the library knows."""

import os
import shutil
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from photosvc.web.current import current_service
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


@pytest.mark.slow
def test_an_original_is_sent_byte_for_byte(original):
    content_hash, data, get = original
    answer = get()
    assert answer.status_code == 200
    assert answer.data == data
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


@pytest.mark.slow
def test_the_primary_file_of_a_photo_is_sent(pictures, original):
    token = pictures.tokens()[1]
    answer = pictures.api.call("GET", f"/photos/{pictures.photo_uid('photo.jpg')}/dl?t={token}", buffered=True)
    assert answer.data == original[1]
    assert answer.headers["ETag"] == f'"{original[0]}"'


@pytest.mark.parametrize("uid", ["ptaaaaaaaaaaaaaa", "x", "..%2f..", "ft00000000000000", "%00", "x" * 3000])
def test_an_unknown_photo_is_not_found(pictures, uid):
    answer = pictures.api.call("GET", f"/photos/{uid}/dl?t={pictures.tokens()[1]}")
    assert answer.status_code == 404


def test_head_has_the_headers_of_get_and_no_body(original):
    got, head = original[2](), original[2]("HEAD")
    assert (head.status_code, head.data) == (200, b"")
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-99", 0, 100),
        ("bytes=100-", 100, None),
        ("bytes=-100", -100, None),
        ("bytes=-99999999", 0, None),  # a suffix longer than the file
        ("bytes=10-99999999", 10, None),
    ],
)
def test_a_range_is_answered_206_with_those_bytes(original, asked, start, stop):
    _, data, get = original
    answer = get(Range=asked)
    expected = data[start:stop]
    first = start if start >= 0 else len(data) + start
    assert (answer.status_code, answer.data) == (206, expected)
    assert answer.headers["Content-Range"] == f"bytes {first}-{first + len(expected) - 1}/{len(data)}"
    assert answer.headers["Content-Length"] == str(len(expected))


@pytest.mark.parametrize("asked", ["bytes=99999999-", "bytes=-0", "bytes=99999998-99999999"])
def test_a_range_beyond_the_file_is_answered_416_with_its_size(original, asked):
    _, data, get = original
    answer = get(Range=asked)
    assert (answer.status_code, answer.data) == (416, b"")
    assert answer.headers["Content-Range"] == f"bytes */{len(data)}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Range": "items=0-1"},
        {"Range": "bytes=a-b"},
        {"Range": "bytes=5-2"},
        {"Range": "bytes=50-59,0-9"},
        {"Range": "bytes=0-1", "If-Range": 'W/"{tag}"'},
        {"Range": "bytes=0-1", "If-Range": '"other"'},
        {"Range": "bytes=0-1", "If-Range": "Sun, 01 Mar 2026 11:00:01 GMT"},
        {"Range": "bytes=0-1", "If-Range": "Sun, 01 Mar 2026 10:59:59 GMT"},
    ],
)
def test_a_range_that_is_malformed_or_whose_condition_fails_is_ignored(original, headers):
    content_hash, data, get = original
    answer = get(**{name: value.replace("{tag}", content_hash) for name, value in headers.items()})
    assert (answer.status_code, len(answer.data)) == (200, len(data))


@pytest.mark.parametrize("condition", ['"{tag}"', "Sun, 01 Mar 2026 11:00:00 GMT"])
def test_a_range_whose_condition_holds_is_answered(original, condition):
    content_hash, data, get = original
    answer = get(Range="bytes=0-1", If_Range=condition.replace("{tag}", content_hash))
    assert (answer.status_code, answer.data) == (206, data[:2])


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If-None-Match": '"{tag}"', "Range": "bytes=0-1"}, 304),
        ({"If-None-Match": '"{tag}"', "Range": "bytes=99999999-"}, 304),
        ({"If-Modified-Since": "Sun, 01 Mar 2026 11:00:00 GMT"}, 304),
        ({"If-Unmodified-Since": "Sun, 01 Mar 2026 10:59:59 GMT"}, 412),
        ({"If-Match": '"other"'}, 412),
    ],
)
def test_preconditions_come_before_ranges_and_are_answered_without_a_body(original, headers, status):
    content_hash, _, get = original
    answer = get(**{name: value.replace("{tag}", content_hash) for name, value in headers.items()})
    assert (answer.status_code, answer.data) == (status, b"")
    assert answer.headers["ETag"] == f'"{content_hash}"'


def test_head_ignores_ranges(original):
    answer = original[2]("HEAD", Range="bytes=0-1")
    assert (answer.status_code, answer.headers["Content-Length"]) == (200, str(len(original[1])))


HOSTILE = 'a\r\nSet-Cookie: a=b"; filename="x.exe\x00\u202egpj\\..\\<b>\'%22'


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("At the lake", "20260301-110000-At the lake.jpg"),
        ("Über Öl 日本", "20260301-110000-Über Öl 日本.jpg"),
        ("../../etc/passwd", "20260301-110000-.._.._etc_passwd.jpg"),
        (HOSTILE, "20260301-110000-a__Set-Cookie_ a=b_; filename=_x.exe__gpj_..__b_'%22.jpg"),
        ("x" * 1000, "20260301-110000-" + "x" * 180 + ".jpg"),
        ("日" * 1000, "20260301-110000-" + "日" * 60 + ".jpg"),
        ("", "20260301-110000-photo.jpg"),
    ],
)
def test_the_name_to_save_under_is_safe_for_every_title(pictures, original, title, name):
    pictures.change("photo.jpg", title=title)
    header = original[2]().headers["Content-Disposition"]
    assert header.isascii()
    assert header.isprintable()
    kind, plain, *extended = header.split("; ") if ";" not in name else (None, None)
    if kind is not None:
        assert kind == "attachment"
        assert plain == f'filename="{"".join(c if c.isascii() and c != "%" else "_" for c in name)}"'
    full = header.partition("filename*=UTF-8''")[2]
    assert (unquote(full) or header.partition('filename="')[2].rstrip('"')) == name
    assert bool(full) == (not name.isascii() or "%" in name)
    assert not extended or len(extended) == 1


@pytest.mark.parametrize(("kind", "name"), [("file", "photo.jpg"), ("original", "photo.jpg"), ("nonsense", None)])
def test_the_kind_of_name_can_be_chosen(pictures, original, kind, name):
    pictures.change("photo.jpg", title="")
    answer = pictures.download(original[0], query=f"&name={kind}")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name or "20260301-110000-photo.jpg"}"'


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
    replaced_by_link,
    folder_replaced_by_link,
    longer,
    other_time,
    vanished,
    replaced_by_folder,
    replaced_by_pipe,
]


@pytest.fixture(scope="module")
def changed(new_pictures):
    """A library with a folder and a picture for each change."""
    for number, change in enumerate(CHANGES):
        new_pictures.library.put(f"{change.__name__}/a.png", encoded(quarters(60 + number, 40), "PNG"))
    new_pictures.library.index()
    return new_pictures


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_not_as_the_library_knows_it_is_neither_sent_nor_shown(changed, tmp_path, change):
    name = f"{change.__name__}/a.png"
    content_hash = changed.hash_of(name)
    change(changed.library.originals / name, tmp_path)
    for answer in (changed.download(content_hash), changed.thumbnail(content_hash)):
        assert check_error(answer, 410)["error"] == DUE


@pytest.mark.slow
def test_a_cached_thumbnail_outlives_its_original(changed):
    content_hash = changed.put("kept.png", encoded(quarters(90, 40), "PNG"))
    assert changed.thumbnail(content_hash, "tile_50").status_code == 200
    (changed.library.originals / "kept.png").unlink()
    assert changed.thumbnail(content_hash, "tile_50").status_code == 200


@pytest.mark.parametrize("name", [b"caf\xe9.png", b"a b%41+?#.png", "日本.png".encode(), b"line\nbreak.png"])
def test_files_of_any_name_are_sent_and_shown(changed, name):
    data = encoded(quarters(100 + len(name), 40 + name[0] % 9), "PNG")
    changed.library.put(name, data)
    changed.library.index()
    record = next(record for record in changed.library.find(count=100) if record["Width"] == 100 + len(name))
    assert changed.download(record["Hash"]).data == data
    assert changed.thumbnail(record["Hash"], "tile_50").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "encoded_name"),
    [(b"x/\xe9t\xe9 1.png", "x/%E9t%E9%201.png"), (b"a\nb%.png", "a%0Ab%25.png"), (b"plain.png", "plain.png")],
)
@pytest.mark.parametrize("header", ["X-Accel-Redirect", "X-Sendfile"])
def test_the_server_in_front_gets_the_path_percent_encoded(changed, monkeypatch, name, encoded_name, header):
    changed.library.put(name, encoded(quarters(200 + len(name), 40), "PNG"))
    changed.library.index()
    record = next(record for record in changed.library.find(count=100) if record["Width"] == 200 + len(name))
    with changed.library.app.app_context():
        service = current_service()
    monkeypatch.setattr(service, "settings", replace(service.settings, sendfile_header=header))
    accel = header == "X-Accel-Redirect"
    original = changed.download(record["Hash"])
    folder = "/photosvc-files/originals" if accel else quote(str(changed.library.originals))
    assert (original.status_code, original.data) == (200, b"")
    assert original.headers[header] == f"{folder}/{encoded_name}"
    assert original.headers["Content-Type"] == "image/png"
    thumbnail = changed.thumbnail(record["Hash"], "tile_50")
    folder = "/photosvc-files/cache" if accel else quote(str(changed.library.instance / "cache"))
    content_hash = record["Hash"]
    place = f"pictures/{content_hash[0]}/{content_hash[1]}/{content_hash[2]}/{content_hash}_tile_50.jpg"
    assert thumbnail.headers[header] == f"{folder}/{place}"


def test_what_is_sent_is_of_a_type_that_the_openapi_document_names(pictures):
    described = pictures.library.app.test_client().get("/api/v1/openapi.json").json["paths"]
    content_hash, tokens = pictures.hash_of("photo.jpg"), pictures.tokens()
    for path, answer in [
        ("/dl/{content_hash}", pictures.download(content_hash, tokens[1])),
        ("/t/{content_hash}/{token}/{size}", pictures.thumbnail("photo.jpg", "tile_224", Accept="image/webp")),
    ]:
        (named,) = described[path]["get"]["responses"]["200"]["content"]
        assert fnmatch(answer.mimetype, named), (path, named)
