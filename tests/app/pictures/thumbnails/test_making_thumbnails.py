"""The making of thumbnails: once for all callers, out of process, within bounds, and without incomplete files."""

import errno
import os
import resource
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from photosvc.core.problems import Reason
from photosvc.web.service import current_service
from photosvc.workers.process import WorkerDiedError
from tests.app.pictures.picture_client import PictureClient, replace_workers
from tests.app.pictures.thumbnails.small_disk import mounted
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clock import until
from tests.helpers.pictures import CORNERS, clouds, encoded, jpeg, png_bomb, quarters


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A library whose service keeps 16 MiB, with nine pictures."""
    settings = {"PHOTOSVC_THUMB_WAIT": 60, "PHOTOSVC_CACHE_SIZE": 16}
    with open_api(tmp_path_factory.mktemp("limited"), settings=settings) as api:
        limited = PictureClient(api)
        for number in range(8):
            api.library.put(f"{number}.jpg", jpeg(200 + number, 100))
        api.library.put("noise.png", noise(1600, 1200))
        api.library.index()
        assert limited.preview  # before threads ask for it
        yield limited


def noise(width, height):
    return encoded(Image.effect_noise((width, height), 90).convert("RGB"), "PNG")


@pytest.fixture
def hashes(limited):
    """The hashes of eight pictures without thumbnails."""
    limited.cache().clear()
    return [limited.hash_of(f"{number}.jpg") for number in range(8)]


@pytest.fixture
def workers(limited, monkeypatch):
    """The workers of the limited library."""
    return replace_workers(limited, monkeypatch)


def test_a_busy_service_answers_503_within_its_time_and_then_goes_on(limited, hashes, workers, monkeypatch):
    workers.is_held = True
    with limited.library.app.app_context():
        monkeypatch.setattr(current_service().pictures.thumbnails, "_wait", 1.0)
    sizes = ("tile_160", "tile_320", "tile_384")
    limited.library.clock.step = 0.1  # of each look of a waiting request
    try:
        with ThreadPoolExecutor(24) as callers:
            answers = list(callers.map(lambda n: limited.thumbnail(hashes[n % 8], sizes[n // 8]), range(24)))
    finally:
        limited.library.clock.step = 0.0
    for answer in answers:
        assert answer.headers["Retry-After"] == "1"
        check_error(answer, 503)
    workers.is_held = False
    workers.go_on()
    assert [limited.thumbnail(content_hash, "tile_384").status_code for content_hash in hashes] == [200] * 8


def test_many_callers_of_one_picture_have_it_made_once(limited, hashes, workers):
    workers.is_held = True
    with ThreadPoolExecutor(4) as callers:
        answers = [callers.submit(limited.thumbnail, hashes[0], "tile_160") for _ in range(4)]
        until(lambda: workers.held)
        workers.go_on()
        assert len({answer.result(60).data for answer in answers}) == 1
    assert len(workers.jobs) == 1


def test_a_worker_that_is_killed_costs_one_answer(limited, hashes, workers):
    workers.is_held = True
    with ThreadPoolExecutor(1) as caller:
        answers = caller.submit(limited.thumbnail, hashes[1], "left_224")
        until(lambda: workers.held)
        workers.held.pop()[1].set_exception(WorkerDiedError(Reason.KILLED, "SIGKILL"))
        assert check_error(answers.result(60), 503)["error"] == "The reader of the file was killed (Killed)."
        assert answers.result().headers["Retry-After"] == "60"
    workers.is_held = False
    assert limited.thumbnail(hashes[1], "left_224").status_code == 200
    assert not list(limited.cache().folder.rglob(".tmp-*"))


class NoProcess:
    """Stands for a process that the system refuses to start."""

    def __class_getitem__(cls, _):
        return cls

    def __init__(self, *_, **__):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


def test_a_system_without_room_for_processes_is_answered_503_until_it_has_some(limited, hashes, request, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("photosvc.workers.process.subprocess.Popen", NoProcess)
        answer = limited.thumbnail(hashes[3], "right_224")
        assert answer.headers["Retry-After"] == "10"
        check_error(answer, 503)
    request.getfixturevalue("workers")
    assert limited.thumbnail(hashes[3], "right_224").status_code == 200


def overwrite(path, data):
    """Write other bytes of the same length and time."""
    status = path.stat()
    assert len(data) <= status.st_size
    path.write_bytes(data.ljust(status.st_size, b"\0"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.usefixtures("workers")
def test_a_picture_that_cannot_be_decoded_is_tried_again_at_the_next_request(limited, hashes):
    path = limited.library.originals / "2.jpg"
    whole = path.read_bytes()
    overwrite(path, whole[: len(whole) // 2])
    assert check_error(limited.thumbnail(hashes[2], "tile_320"), 422)["error"] == "the picture is truncated"
    overwrite(path, whole)
    assert limited.thumbnail(hashes[2], "tile_320").status_code == 200


def test_a_bomb_is_refused_from_its_header_and_never_opened_by_the_service(limited, workers):
    bomb = png_bomb()
    content_hash = limited.put("bomb.png", encoded(quarters(61, 47), "PNG") + b"\0" * len(bomb))
    overwrite(limited.library.originals / "bomb.png", bomb)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    body = check_error(limited.thumbnail(content_hash, "tile_50"), 422)
    assert body["error"] == "the picture has 144 megapixels and unpacks to 1013 times its size"
    assert [job.original.name for job in workers.jobs] == ["bomb.png"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


@pytest.mark.usefixtures("workers")
def test_files_used_longest_ago_are_evicted_when_the_cache_is_full(limited, hashes):
    cache, noisy = limited.cache(), limited.hash_of("noise.png")
    for content_hash in hashes:
        cache.write(content_hash, "old.jpg", b"x" * (2 << 20))
        os.utime(cache.path(content_hash, "old.jpg"), (1, 1))
    assert limited.thumbnail(noisy, "fit_1920").status_code == 200
    assert cache.has(noisy, "fit_1920.jpg")
    assert cache.usage().bytes <= 16 << 20
    assert 0 < sum(cache.has(content_hash, "old.jpg") for content_hash in hashes) < 8


def test_thumbnails_are_served_when_the_disk_is_full(tmp_path, monkeypatch):
    with (
        mounted(tmp_path / "disk", 1) as small_disk,
        open_api(tmp_path, settings={"PHOTOSVC_CACHE": str(small_disk / "cache")}) as api,
    ):
        pictures = PictureClient(api)
        replace_workers(pictures, monkeypatch)
        content_hash = pictures.put("noise.png", noise(600, 400))
        for left in (20_000, 0):
            with (small_disk / "filler").open("ab", buffering=0) as filler, suppress(OSError):
                while True:
                    filler.write(b"x" * 4096)
            with (small_disk / "filler").open("ab") as filler:
                filler.truncate((small_disk / "filler").stat().st_size - left)
            assert pictures.pixels(content_hash, "fit_720").size == (600, 400)
            assert not any(name.startswith((".tmp-", content_hash)) for name in files(small_disk)), left


def test_a_cache_that_cannot_be_written_does_not_stop_thumbnails(tmp_path, monkeypatch):
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    with open_api(tmp_path, settings={"PHOTOSVC_CACHE": str(tmp_path / "cache")}) as api:
        pictures = PictureClient(api)
        replace_workers(pictures, monkeypatch)
        (tmp_path / "cache").unlink()
        content_hash = pictures.put("a.png", encoded(quarters(60, 40), "PNG"))
        shutil.rmtree(tmp_path / "cache")
        (tmp_path / "cache").write_bytes(b"")
        assert pictures.pixels(content_hash, "tile_50").getpixel((5, 5))[0] > CORNERS[0][0] - 12


def cut(data):
    return data[: len(data) // 2]


def emptied_by_a_crash(data):
    return data[: len(data) // 2].ljust(len(data), b"\0")


def other_bytes(data):
    return b"\xaa" * len(data)


def test_a_damaged_thumbnail_in_the_cache_is_made_again_and_never_sent(pictures, monkeypatch):
    content_hash, kind = pictures.hash_of("photo.jpg"), {"Accept": "image/webp,image/*"}
    settings = pictures.library.app.extensions["photosvc"].settings
    pictures.cache().remove_all([content_hash])  # larger ones would be the source of what is made again
    for size in ("fit_720", "tile_500"):
        whole = pictures.thumbnail(content_hash, size, **kind)
        for damage in (cut, emptied_by_a_crash, other_bytes, lambda _: b"", lambda data: data + b"\0"):
            with monkeypatch.context() as behind:
                behind.setattr(type(settings), "sendfile_header", "X-Accel-Redirect")
                sent = pictures.thumbnail(content_hash, size, **kind)
                path = settings.cache / sent.headers["X-Accel-Redirect"].partition("/cache/")[2]
                path.write_bytes(damage(path.read_bytes()))
                again = pictures.thumbnail(content_hash, size, **kind)
                assert again.headers["ETag"] == whole.headers["ETag"], (size, damage)
                assert again.data == whole.data or path.read_bytes() == whole.data, (size, damage)
            assert pictures.thumbnail(content_hash, size, **kind).data == whole.data, (size, damage)


def link_to_a_picture(path, elsewhere):
    path.symlink_to(elsewhere)


def named_pipe(path, _):
    os.mkfifo(path)


def folder(path, _):
    (path / "inner").mkdir(parents=True)


def test_only_files_of_the_cache_itself_are_sent(pictures, tmp_path):
    content_hash, elsewhere = pictures.hash_of("photo.jpg"), tmp_path / "elsewhere"
    pictures.cache().remove_all([content_hash])  # larger ones would be the source of what is made again
    whole = pictures.thumbnail(content_hash, "tile_500").data
    elsewhere.write_bytes(pictures.thumbnail(content_hash, "tile_100").data)
    path = Path(pictures.cache().path(content_hash, "tile_500.jpg"))
    for put in (link_to_a_picture, named_pipe, folder):
        path.unlink()
        put(path, elsewhere)
        assert pictures.thumbnail(content_hash, "tile_500").data == whole, put
        assert stat.S_ISREG(path.lstat().st_mode), put


def test_a_damaged_thumbnail_is_no_source_of_smaller_ones(pictures):
    content_hash = pictures.put("wide.jpg", encoded(clouds(1, 900, 600), "JPEG"))
    whole = Image.open(BytesIO(pictures.thumbnail(content_hash, "tile_224").data))
    for damage in (
        lambda data: data[: len(data) // 4] + bytes(9 * len(data)),
        lambda _: b"",
        lambda _: b"\xff\xd8\xff",
    ):
        assert pictures.thumbnail(content_hash, "fit_720").status_code == 200
        for path in Path(pictures.cache().path(content_hash, "tile_224.jpg")).parent.glob("*.jpg"):
            path.write_bytes(damage(path.read_bytes()))
        again = Image.open(BytesIO(pictures.thumbnail(content_hash, "tile_224").data))
        assert max(ImageStat.Stat(ImageChops.difference(whole, again)).mean) < 3, damage
