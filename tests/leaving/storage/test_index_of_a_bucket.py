"""Index runs over originals in a bucket: by its list, with few bytes, and nothing lost when the store fails."""

import errno
import os
from io import BytesIO

import pytest
from PIL import Image

from photosvc.storage.bucket import BucketError, BucketRefusedError, NoBucketError
from photosvc.web.current import current_service
from tests.helpers.library import counts, reasons
from tests.helpers.pictures import clouds, encoded, jpeg
from tests.leaving.storage.conftest import BUCKET, PREFIX

pytestmark = pytest.mark.slow


def photograph(seed: int = 1, *, preview: bool = True) -> bytes:
    """A JPEG of 12 megapixels and over 2 MB, as a camera writes it: with Exif, and a preview in it."""
    draw = Image.effect_noise((1000, 750), 60).resize((4000, 3000), Image.Resampling.NEAREST).convert("RGB")
    picture = Image.blend(draw, clouds(seed, 4000, 3000), 0.3)
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0132] = "Canon", "Canon EOS R6", "2024:05:01 12:30:00"
    head = exif.tobytes()
    if preview:
        small = encoded(picture.resize((160, 120)), "JPEG", quality=80)
        head = _with_preview(small)
    return encoded(picture, "JPEG", quality=92, exif=head)


def _with_preview(small: bytes) -> bytes:
    """Exif with make, model, time and an embedded preview."""
    texts = [(0x010F, b"Canon\0"), (0x0110, b"Canon EOS R6\0"), (0x0132, b"2024:05:01 12:30:00\0")]
    first = 8
    data_at = first + 2 + 12 * len(texts) + 4
    entries, data = b"", b""
    for tag, value in texts:
        entries += tag.to_bytes(2) + (2).to_bytes(2) + len(value).to_bytes(4) + (data_at + len(data)).to_bytes(4)
        data += value + b"\0" * (len(value) % 2)
    second = data_at + len(data)
    preview_at = second + 2 + 12 * 2 + 4
    numbers = [(0x0201, preview_at), (0x0202, len(small))]
    ifd1 = b"".join(tag.to_bytes(2) + (4).to_bytes(2) + (1).to_bytes(4) + value.to_bytes(4) for tag, value in numbers)
    head = b"MM\0*" + first.to_bytes(4) + len(texts).to_bytes(2) + entries + second.to_bytes(4) + data
    return b"Exif\0\0" + head + (2).to_bytes(2) + ifd1 + bytes(4) + small


def test_a_bucket_is_indexed_by_its_list(library, store):
    store.put("2024/lake.jpg", jpeg())
    store.put("2024/lake.jpg.txt", b"a note")
    store.put("hill.jpg", jpeg(80, 60))
    with_client = store.client()
    with_client.put_object(Bucket=BUCKET, Key="elsewhere.jpg", Body=jpeg(90, 60))
    with_client.close()
    assert counts(library.index()) == (2, 0, 0, 0, 1, 0)
    assert library.names() == ["2024/lake.jpg", "hill.jpg"]
    assert [one["Width"] for one in library.find(q="name:hill")] == [80]
    sent = len(store.sent)
    assert counts(library.index()) == (0, 0, 2, 0, 1, 0)
    assert len(store.sent) == sent, "unchanged objects are not read"


def test_a_camera_jpeg_of_12_megapixels_takes_256_kib_at_most(library, store):
    data = photograph()
    assert len(data) > 2 << 20
    store.put("a.jpg", data)
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)
    assert store.bytes_sent <= 256 << 10
    (found,) = library.find()
    assert (found["CameraModel"], found["TakenAtLocal"]) == ("EOS R6", "2024-05-01T12:30:00Z")
    assert (found["Width"], found["Height"]) == (4000, 3000)
    assert found["Color"] > 0, "the colours are those of the preview"


def test_a_picture_without_a_preview_is_read_once(library, store):
    data = photograph(preview=False)
    store.put("a.jpg", data)
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)
    assert len(data) <= store.bytes_sent <= len(data) + (512 << 10)


def test_changed_gone_and_moved_objects_are_found(library, store):
    for number in range(3):
        store.put(f"{number}.jpg", jpeg(60 + number, 48))
    library.index()
    uids = {one["FileName"]: one["UID"] for one in library.find()}
    store.put("0.jpg", jpeg(99, 48))
    store.delete("1.jpg", "2.jpg")
    store.put("new/2.jpg", jpeg(62, 48))
    assert counts(library.index()) == (0, 2, 0, 1, 0, 0)
    now = {one["FileName"]: one for one in library.find()}
    assert sorted(now) == ["0.jpg", "new/2.jpg"]
    assert now["0.jpg"]["Width"] == 99
    assert (now["0.jpg"]["UID"], now["new/2.jpg"]["UID"]) == (uids["0.jpg"], uids["2.jpg"])


def test_a_version_of_the_same_size_within_one_second_is_a_change(library, store, monkeypatch):
    first, second = (encoded(clouds(seed, 64, 48), "BMP") for seed in (1, 2))
    assert len(first) == len(second)
    store.put("a.bmp", first)
    library.index()
    store.put("a.bmp", second)
    assert counts(library.index())[:3] == (0, 1, 0)


def test_lists_have_any_number_of_pages(library, store):
    for number in range(2300):
        store.put_raw(f"{number % 7}/{number:05}.txt")
    store.put("z.jpg", jpeg())
    run = library.index()
    assert (run.indexed, len(run.skipped)) == (1, 2300)
    assert store.lists == 3


def test_new_objects_are_not_asked_for_one_by_one(library, store):
    asked = []
    store.fault = lambda environ: asked.append(environ["REQUEST_METHOD"])
    for folder in ("a", "b/c", "new"):
        for number in range(3):
            store.put_raw(f"{folder}/{number}.txt")
        store.put_raw(f"{folder.partition('/')[0]}.txt")
        library.index()
    assert (asked.count("HEAD"), store.lists) == (0, 3)
    assert len([path for path in library.instance.rglob("*.txt") if path.is_file()]) == 12


def test_a_list_that_fails_on_its_second_page_loses_nothing(library, store):
    for number in range(1100):
        store.put_raw(f"{number:05}.txt")
    for name in ("a.jpg", "b.jpg"):
        store.put(name, jpeg(60 + ord(name[0]), 48))
    library.index()
    before = placeholders(library)
    store.delete("a.jpg")
    store.fault = lambda environ: (
        ("403 Forbidden", [], b"<Error><Code>AccessDenied</Code></Error>")
        if "continuation-token" in environ["QUERY_STRING"]
        else None
    )
    with pytest.raises(BucketRefusedError):
        library.index()
    assert placeholders(library) == before
    assert library.names() == ["a.jpg", "b.jpg"]


def placeholders(library):
    with library.app.app_context():
        root = current_service().settings.originals
    return sorted(os.fsencode(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def refuse(code: str, status: str = "403 Forbidden"):
    body = f"<Error><Code>{code}</Code></Error>".encode()
    return lambda environ: (status, [], body if environ["REQUEST_METHOD"] == "GET" else b"")


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        (
            refuse("InvalidAccessKeyId"), BucketRefusedError,
            "The store refuses to list s3://photos/family with the given credentials.",
        ),
        (
            refuse("SignatureDoesNotMatch"), BucketRefusedError,
            "The store refuses to list s3://photos/family with the given credentials.",
        ),
        (refuse("NoSuchBucket", "404 Not Found"), NoBucketError, "There is no bucket 'photos' at {}."),
        (
            refuse("AuthorizationHeaderMalformed", "400 Bad Request"), BucketRefusedError,
            "The store has s3://photos/family in another region: set AWS_DEFAULT_REGION.",
        ),
        (
            refuse("SlowDown", "503 Slow Down"), BucketError,
            "The store of s3://photos/family answers with an error (SlowDown).",
        ),
        (
            lambda _: ("200 OK", [], b"<html>a page"), BucketError,
            "The store of s3://photos/family answers with an error (500).",
        ),
    ],
)  # fmt: skip
def test_a_store_that_refuses_its_list_loses_nothing(library, store, fault, error, sentence):
    store.put("a.jpg", jpeg())
    library.index()
    store.fault = fault
    with pytest.raises(error) as raised:
        library.index()
    assert raised.value.message == sentence.format(store.address)
    assert raised.value.status == 503
    assert library.names() == ["a.jpg"]
    store.fault = lambda _: None
    assert counts(library.index()) == (0, 0, 1, 0, 0, 0)


def test_a_prefix_without_objects_loses_nothing(library, store):
    store.put("a.jpg", jpeg())
    library.index()
    store.delete("a.jpg")
    run = library.index()
    assert (run.missing, run.kept) == (0, 1)
    assert library.names() == ["a.jpg"]


def test_a_store_that_goes_away_ends_the_run_and_loses_nothing(library, store):
    for number in range(4):
        store.put(f"{number}.jpg", jpeg(60 + number, 48))
    library.index()
    for number in range(4):
        store.put(f"{number}.jpg", jpeg(70 + number, 48))
    listed = []

    def fault(environ):
        if "list-type=2" in environ["QUERY_STRING"] and not listed:
            listed.append(environ)
            return None
        return "500 Internal Server Error", [], b""

    store.fault = fault
    with pytest.raises(BucketError):
        library.index()
    assert [one["Width"] for one in library.find(order="name")] == [60, 61, 62, 63]
    store.fault = lambda _: None
    assert counts(library.index()) == (0, 4, 0, 0, 0, 0)


def test_an_object_that_changes_after_the_list_is_read_by_the_next_run(library, store):
    store.put("a.jpg", jpeg())
    changed = []

    def fault(environ):
        if "X-Amz-Signature" in environ["QUERY_STRING"] and not changed:
            changed.append(environ)
            store.put_raw("a.jpg", jpeg(99, 48))

    store.fault = fault
    assert reasons(library.index().failed) == [("a.jpg", "The file changed while it was read.")]
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda headers, body: (headers, body[:-1]), errno.EREMOTEIO),
        (lambda headers, body: ([one for one in headers if one[0].lower() != "etag"], body), errno.EREMOTEIO),
        (lambda headers, body: ([one for one in headers if one[0].lower() != "last-modified"], body), errno.EREMOTEIO),
        (
            lambda headers, body: ([*(one for one in headers if one[0].lower() != "etag"), ("ETag", "x" * 3000)], body),
            errno.EREMOTEIO,
        ),
    ],
)
def test_an_object_with_a_broken_answer_is_unreadable_for_now(library, store, change, reason):
    store.put("a.jpg", jpeg())

    def sent(headers, body):
        headers, body = change(headers, body)
        return [
            *(one for one in headers if one[0].lower() != "content-length"),
            ("Content-Length", str(len(body))),
        ], body

    store.change = sent
    assert reasons(library.index().failed) == [("a.jpg", f"the file cannot be read: {os.strerror(reason).lower()}")]
    store.change = None
    assert counts(library.index())[:2] in {(1, 0), (0, 1)}


def test_hostile_keys_are_paths_of_no_other_folder(library, store, tmp_path):
    keys = ["..", "../up.jpg", "a/../../up.jpg", "a/./b.jpg", "/etc/x.jpg", "a//b.jpg", f"{'n' * 256}.jpg"]
    good = {
        "c\x01d.jpg": "%FFc%01d.jpg", "ü/ñ.jpg": "ü/ñ.jpg", "%2e%2e/f.jpg": "%2e%2e/f.jpg",
        "%FFg.jpg": "%FF%25FFg.jpg", "a b+c&d?e#f.jpg": "a b+c&d?e#f.jpg",
        "deep/" * 190 + "long.jpg": None,
    }  # fmt: skip
    for number, key in enumerate([*keys, *good, "folder/", ".hidden/x.jpg"]):
        store.put_raw(key, jpeg(60 + number, 48))
    run = library.index()
    assert sorted(library.names()) == sorted(filter(None, good.values()))
    assert {name for name, problem in run.skipped if problem.reason == "unusable_key"} == set(keys)
    assert not list(tmp_path.glob("up*"))
    assert run.failed == []
    assert counts(library.index())[2:4] == (5, 0)


def test_a_key_of_1024_bytes_is_indexed(library, store):
    name = "/".join(["d" * 200] * 4)
    name += "/" + "n" * (1024 - len(f"{PREFIX}/") - len(name) - 5) + ".jpg"
    assert len(f"{PREFIX}/{name}") == 1024
    store.put(name, jpeg())
    assert counts(library.index()) == (1, 0, 0, 0, 0, 0)
    assert library.names() == [name]


def test_an_object_that_has_the_name_of_a_folder_is_left_out(library, store):
    store.put("a.jpg", jpeg())
    store.put("a.jpg/b.jpg", jpeg(70, 48))
    run = library.index()
    assert (run.indexed, reasons(run.skipped)) == (
        1, [("a.jpg/b.jpg", "its key or size in the bucket cannot be that of a file")],
    )  # fmt: skip
    store.delete("a.jpg")
    library.index()
    assert library.names() == ["a.jpg/b.jpg"]


def test_a_subfolder_is_indexed_by_its_part_of_the_list(library, store):
    store.put("x/a.jpg", jpeg())
    store.put("y/b.jpg", jpeg(70, 48))
    assert counts(library.index(subfolder="x")) == (1, 0, 0, 0, 0, 0)
    assert placeholders(library) == [b"x/a.jpg"]
    store.delete("x/a.jpg")
    library.index()
    assert library.names() == ["y/b.jpg"]


def test_placeholders_take_no_room(library, store):
    store.put_raw("big.jpg", jpeg() + bytes(8 << 20))
    library.index()
    with library.app.app_context():
        status = (current_service().settings.originals / "big.jpg").lstat()
    assert status.st_size > 8 << 20
    assert status.st_blocks == 0


def test_readers_decode_what_a_range_gives(store, library):
    with library.app.app_context():
        bucket = current_service().settings.bucket
    data = bytes(range(256)) * 1200
    store.put("a.bin", data)
    (listed,) = bucket.objects()
    with bucket.open(listed.key, listed.size, listed.mtime_ns) as file:
        assert BytesIO(file.readall()).getvalue() == data
        file.seek(-10, os.SEEK_END)
        assert file.read(100) == data[-10:]
        assert file.read(1) == b""
        with pytest.raises(OSError, match="Invalid argument"):
            file.seek(-1)
