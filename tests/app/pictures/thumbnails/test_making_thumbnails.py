"""How thumbnails are made: once however many ask, out of process, within bounds, and without leaving half a file."""

import errno
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from PIL import Image, ImageChops, ImageStat
from sqlalchemy import select

from photosvc.models import File
from photosvc.web.current import current_service
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.picture_client import PictureClient
from tests.helpers.clock import until
from tests.helpers.files.small_disk import mounted
from tests.helpers.pictures import CORNERS, clouds, encoded, jpeg, png_bomb, quarters
from tests.helpers.programs.server import serve

ROOT = Path(__file__).parents[4]
HASHES = [f"{number:02x}" * 20 for number in range(8)]


def asking(folder, seconds, *hashes):
    """A process that asks for thumbnails whose maker takes some seconds each."""
    command = [sys.executable, "-m", "tests.app.pictures.thumbnails.asking_process", str(folder), str(seconds), *hashes]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def made(folder):
    path = folder / "made"
    return path.read_text().split() if path.exists() else []


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))


def children(process="self"):
    """The processes that this one, or another, started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return {int(pid) for path in lists for pid in path.read_text().split()}


@pytest.mark.slow
def test_eight_processes_that_ask_for_one_new_thumbnail_make_it_once(tmp_path):
    processes = [asking(tmp_path, 1, HASHES[0]) for _ in range(8)]
    assert [process.communicate(timeout=60)[0].split() for process in processes] == [[HASHES[0]]] * 8
    assert made(tmp_path) == [HASHES[0]]
    assert files(tmp_path / "cache") == [f"{HASHES[0]}_fit_1280.jpg"]


@pytest.mark.slow
def test_the_next_process_makes_the_thumbnail_of_one_that_was_killed(tmp_path):
    first = asking(tmp_path, 60, HASHES[0])
    until(lambda: made(tmp_path))
    second = asking(tmp_path, 0, HASHES[0])
    first.send_signal(signal.SIGKILL)
    first.communicate()
    assert second.communicate(timeout=60)[0].split() == [HASHES[0]]
    assert made(tmp_path) == [HASHES[0]] * 2
    assert files(tmp_path / "cache") == [f"{HASHES[0]}_fit_1280.jpg"]


@pytest.mark.slow
def test_processes_killed_at_any_moment_leave_no_half_file(tmp_path):
    for number in range(40):
        process = asking(tmp_path, 0, *HASHES)
        time.sleep(0.15 + number * 0.01)
        process.kill()
        process.communicate()
        kept = [path for path in tmp_path.glob("cache/pictures/**/*.jpg") if not path.name.startswith(".tmp-")]
        assert {path.stat().st_size for path in kept} <= {2_000_005}
        shutil.rmtree(tmp_path / "cache" / "pictures", ignore_errors=True)
    assert asking(tmp_path, 0, *HASHES).communicate(timeout=60)[0].split() == HASHES


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """A library whose service makes one thumbnail at a time and keeps 16 MiB."""
    settings = {"PHOTOSVC_THUMB_WORKERS": 1, "PHOTOSVC_THUMB_WAIT": 60, "PHOTOSVC_CACHE_SIZE": 16}
    with open_api(tmp_path_factory.mktemp("limited"), settings=settings) as api:
        yield PictureClient(api)


@pytest.fixture(scope="module")
def hashes(limited):
    """The hashes of eight pictures."""
    for number in range(8):
        limited.library.put(f"{number}.jpg", jpeg(200 + number, 100))
    limited.library.put("noise.png", encoded(Image.effect_noise((1600, 1200), 90).convert("RGB"), "PNG"))
    limited.library.index()
    return [limited.hash_of(f"{number}.jpg") for number in range(8)]


@pytest.fixture(scope="module")
def worker(limited, hashes):
    """A function that gives the process id of the one worker of this library."""
    others = children()

    def find():
        assert limited.thumbnail(hashes[0], "tile_50").status_code == 200
        (pid,) = children() - others
        return pid

    return find


@pytest.mark.slow
def test_a_busy_service_answers_503_within_its_time_and_then_goes_on(limited, hashes, worker, monkeypatch):
    limited.cache().clear()
    pid = worker()
    with limited.library.app.app_context():
        monkeypatch.setattr(current_service().pictures.thumbnails, "_wait", 1.0)
    sizes = ("tile_160", "tile_320", "tile_384")
    os.kill(pid, signal.SIGSTOP)
    try:
        limited.library.clock.step = 0.1  # of each look of a waiting request
        with ThreadPoolExecutor(24) as callers:
            asked = list(callers.map(lambda n: limited.thumbnail(hashes[n % 8], sizes[n // 8]), range(24)))
    finally:
        limited.library.clock.step = 0.0
        os.kill(pid, signal.SIGCONT)
    for answer in asked:
        assert answer.headers["Retry-After"] == "1"
        check_error(answer, 503)
    until(lambda: limited.thumbnail(hashes[7], "tile_384").status_code == 200)
    assert worker() == pid


@pytest.mark.slow
def test_a_worker_that_is_killed_costs_one_answer(limited, hashes, worker):
    limited.cache().clear()
    pid = worker()
    with limited.library.app.app_context():
        workers = current_service().pictures._thumbnail_workers
    until(lambda: workers._idle)
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as caller:
        answer = caller.submit(limited.thumbnail, hashes[1], "left_224")
        until(lambda: not workers._idle)
        time.sleep(0.2)  # for the thread that was idle to give the picture to the worker
        os.kill(pid, signal.SIGKILL)
        assert check_error(answer.result(60), 503)["error"] == "The reader of the file was killed (Killed)."
        assert answer.result().headers["Retry-After"] == "60"
    assert limited.thumbnail(hashes[1], "left_224").status_code == 200
    assert not list(limited.cache().folder.rglob(".tmp-*"))


def kill(pid):
    """Kill a child process and wait for its end, which its parent has not seen yet."""
    os.kill(pid, signal.SIGKILL)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)


@pytest.mark.slow
def test_a_worker_that_is_killed_while_idle_costs_nothing(limited, hashes, worker):
    kill(worker())
    assert limited.thumbnail(hashes[3], "left_384").status_code == 200


class NoProcess:
    """Stands for a process that the system refuses to start."""

    def __class_getitem__(cls, _):
        return cls

    def __init__(self, *_):
        raise OSError(errno.EAGAIN, "Resource temporarily unavailable")


def test_a_system_without_room_for_processes_is_answered_503_until_it_has_some(limited, hashes, worker, monkeypatch):
    kill(worker())
    with monkeypatch.context() as patch:
        patch.setattr("photosvc.workers.pool.Worker", NoProcess)
        answer = limited.thumbnail(hashes[3], "right_224")
        assert answer.headers["Retry-After"] == "10"
        check_error(answer, 503)
    assert limited.thumbnail(hashes[3], "right_224").status_code == 200


def overwrite(path, data):
    """Write other bytes of the same length and time."""
    status = path.stat()
    assert len(data) <= status.st_size
    path.write_bytes(data.ljust(status.st_size, b"\0"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_picture_that_cannot_be_decoded_is_not_tried_for_each_request(limited, hashes):
    path = limited.library.originals / "2.jpg"
    whole = path.read_bytes()
    overwrite(path, whole[: len(whole) // 2])
    assert check_error(limited.thumbnail(hashes[2], "tile_320"), 422)["error"] == "the picture is truncated"
    overwrite(path, whole)
    assert check_error(limited.thumbnail(hashes[2], "tile_320"), 422)["error"] == "the picture is truncated"
    assert limited.thumbnail(hashes[2], "tile_480").status_code == 422
    assert limited.thumbnail(hashes[2], "tile_50").status_code == 200


def test_a_bomb_is_refused_from_its_header_and_never_opened_by_the_service(limited):
    bomb = png_bomb()
    padded = encoded(quarters(61, 47), "PNG") + b"\0" * len(bomb)
    content_hash = limited.put("bomb.png", padded)
    limited.thumbnail(content_hash, "tile_50")
    limited.cache().clear()
    overwrite(limited.library.originals / "bomb.png", bomb)
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.monotonic()
    body = check_error(limited.thumbnail(content_hash, "tile_50"), 422)
    assert time.monotonic() - started < 10
    assert body["error"] == "the picture has 144 megapixels and unpacks to 1013 times its size"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - rss < 20_000  # KiB


def test_what_was_used_longest_ago_is_evicted_when_the_cache_is_full(limited, hashes):
    cache = limited.cache()
    cache.clear()
    for content_hash in hashes:
        cache.write(content_hash, "old.jpg", b"x" * (2 << 20))
        os.utime(cache.path(content_hash, "old.jpg"), (1, 1))
    assert limited.thumbnail(limited.hash_of("noise.png"), "fit_1920").status_code == 200
    assert cache.has(limited.hash_of("noise.png"), "fit_1920.jpg")
    until(lambda: cache.usage().bytes <= 16 << 20)
    assert 0 < sum(cache.has(content_hash, "old.jpg") for content_hash in hashes) < 8


@pytest.mark.usefixtures("hashes")
@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff no picture"])
def test_a_larger_thumbnail_that_is_damaged_does_not_spoil_the_smaller_ones(limited, data):
    content_hash = limited.hash_of("noise.png")
    cache = limited.cache()
    limited.thumbnail(content_hash, "fit_1280")
    Path(cache.path(content_hash, "fit_1280.jpg")).write_bytes(data)
    cache.remove(content_hash, "tile_50.jpg")
    assert limited.thumbnail(content_hash, "tile_50").status_code == 200
    if not data:
        assert limited.pixels(content_hash, "fit_1280").size == (1280, 960)


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of one MiB."""
    with mounted(tmp_path / "disk", 1) as folder:
        yield folder


@pytest.mark.parametrize("filled", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_thumbnails_are_served_when_the_disk_is_full(tmp_path, small_disk, filled):
    if filled:
        with pytest.raises(OSError, match="No space"):
            (small_disk / "filler").write_bytes(b"x" * (2 << 20))
    with open_api(tmp_path, settings={"PHOTOSVC_CACHE": str(small_disk / "cache")}) as api:
        pictures = PictureClient(api)
        noise = encoded(Image.effect_noise((1600, 1200), 90).convert("RGB"), "PNG")
        pictures.library.put("noise.png", noise)
        pictures.library.index()
        content_hash = pictures.hash_of("noise.png")
        for _ in range(2):
            assert pictures.pixels(content_hash, "fit_2048").size == (1600, 1200)
        assert not any(name.startswith((".tmp-", content_hash)) for name in files(small_disk))


def test_a_cache_that_cannot_be_written_does_not_stop_thumbnails(tmp_path):
    (tmp_path / "cache").write_bytes(b"a file where the folder should be")
    with open_api(tmp_path, settings={"PHOTOSVC_CACHE": str(tmp_path / "cache")}) as api:
        pictures = PictureClient(api)
        (tmp_path / "cache").unlink()
        content_hash = pictures.put("a.png", encoded(quarters(60, 40), "PNG"))
        shutil.rmtree(tmp_path / "cache")
        (tmp_path / "cache").write_bytes(b"")
        assert pictures.pixels(content_hash, "tile_50").getpixel((5, 5))[0] > CORNERS[0][0] - 12


def memory(pid):
    """MiB of a process and of those that it started."""
    own = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    return int(own[1]) / 1024 + sum(map(memory, children(pid)))


@pytest.mark.slow
def test_two_hundred_new_thumbnails_for_forty_connections_are_all_answered(new_pictures):
    library = new_pictures.library
    for number in range(200):
        library.put(f"{number}.jpg", jpeg(1600 + number, 1200))
    library.clock.present = datetime.now(UTC)
    library.index(workers=0)
    with library.session() as session:
        hashes = list(session.scalars(select(File.hash)))
    token = new_pictures.preview
    environ = {"PHOTOSVC_THUMB_WORKERS": "1"}
    with serve(library.instance, workers=2, threads=20, environ=environ) as address:

        def get(content_hash):
            while True:
                try:
                    with urlopen(f"{address}/api/v1/t/{content_hash}/{token}/fit_1280", timeout=60) as answer:
                        return answer.status, len(answer.read()), int(answer.headers["X-Worker"])
                except HTTPError as error:
                    if error.code != 503:
                        raise
                    time.sleep(int(error.headers["Retry-After"]))

        with ThreadPoolExecutor(40) as connections:
            answers = list(connections.map(get, hashes))
        processes = {pid for _, _, pid in answers}
        used = sum(map(memory, processes))
    assert len(hashes) == 200
    assert {status for status, _, _ in answers} == {200}
    assert min(size for _, size, _ in answers) > 10_000
    assert used < 400


def cut(data):
    return data[: len(data) // 2]


def emptied_by_a_crash(data):
    return data[: len(data) // 2].ljust(len(data), b"\0")


def other_bytes(data):
    return b"\xaa" * len(data)


@pytest.mark.parametrize("size", ["fit_720", "tile_500"])
@pytest.mark.parametrize("damage", [cut, emptied_by_a_crash, other_bytes, lambda _: b"", lambda data: data + b"\0"])
def test_a_damaged_thumbnail_in_the_cache_is_made_again_and_never_sent(pictures, monkeypatch, size, damage):
    content_hash = pictures.hash_of("photo.jpg")
    kind = {"Accept": "image/webp,image/*"}
    whole = pictures.thumbnail(content_hash, size, **kind)
    settings = pictures.library.app.extensions["photosvc"].settings
    with monkeypatch.context() as behind:
        behind.setattr(type(settings), "sendfile_header", "X-Accel-Redirect")
        sent = pictures.thumbnail(content_hash, size, **kind)
        path = settings.cache / sent.headers["X-Accel-Redirect"].partition("/cache/")[2]
        path.write_bytes(damage(path.read_bytes()))
        again = pictures.thumbnail(content_hash, size, **kind)
        assert again.headers["ETag"] == whole.headers["ETag"]
        assert again.data == whole.data or path.read_bytes() == whole.data
    assert pictures.thumbnail(content_hash, size, **kind).data == whole.data


def link_to_a_picture(path, elsewhere):
    path.symlink_to(elsewhere)


def named_pipe(path, _):
    os.mkfifo(path)


def folder(path, _):
    (path / "inner").mkdir(parents=True)


@pytest.mark.parametrize("put", [link_to_a_picture, named_pipe, folder])
def test_only_files_of_the_cache_itself_are_sent(pictures, tmp_path, put):
    content_hash = pictures.hash_of("photo.jpg")
    whole = pictures.thumbnail(content_hash, "tile_500").data
    (tmp_path / "elsewhere").write_bytes(pictures.thumbnail(content_hash, "tile_100").data)
    path = Path(pictures.cache().path(content_hash, "tile_500.jpg"))
    path.unlink()
    put(path, tmp_path / "elsewhere")
    assert pictures.thumbnail(content_hash, "tile_500").data == whole
    assert stat.S_ISREG(path.lstat().st_mode)


def test_a_damaged_thumbnail_is_no_source_of_smaller_ones(pictures):
    content_hash = pictures.put("wide.jpg", encoded(clouds(1, 2400, 1600), "JPEG"))
    whole = Image.open(BytesIO(pictures.thumbnail(content_hash, "tile_224").data))
    assert pictures.thumbnail(content_hash, "fit_2048").status_code == 200
    for path in Path(pictures.cache().path(content_hash, "tile_224.jpg")).parent.glob("*.jpg"):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 4] + bytes(9 * len(data)))
    again = Image.open(BytesIO(pictures.thumbnail(content_hash, "tile_224").data))
    assert max(ImageStat.Stat(ImageChops.difference(whole, again)).mean) < 3
