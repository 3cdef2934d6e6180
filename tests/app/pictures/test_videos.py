"""Videos over HTTP: as they are, out of photos, converted once, and never half."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import av
import pytest
import requests
from PIL import Image

from photosvc.core.problems import Reason
from photosvc.media.slices import Slice
from photosvc.pictures import videos as conversions
from photosvc.pictures.ahead import is_sound
from photosvc.pictures.cache import PictureCache, Usage
from photosvc.pictures.originals import Original
from photosvc.pictures.videos import VideoJob, make_video
from photosvc.web.current import current_service
from photosvc.workers.pool import WorkerTimeoutError
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.picture_client import BROWSER, PictureClient, named
from tests.helpers.clock import until
from tests.helpers.files.videos import film, google_photo, heic_photo, micro_video, samsung_photo, turned
from tests.helpers.pictures import apple_note, exif, jpeg
from tests.helpers.programs.server import serve


class VideoClient(PictureClient):
    """Asks for the videos of a library."""

    def video(self, content_hash, name="avc", token=None, *, method="GET", **headers):
        path = f"/videos/{content_hash}/{token or self.preview}/{name}"
        return self.api.call(method, path, headers=named(headers), buffered=True)

    def ready(self, content_hash, name="avc"):
        """The video, asked for as players do: again while it is converted."""
        for _ in range(600):
            answer = self.video(content_hash, name)
            if answer.status_code != 503:
                assert answer.status_code == 200, answer.text
                return answer
            time.sleep(0.1)
        raise AssertionError(answer.text)

    @property
    def service(self):
        with self.library.app.app_context():
            return current_service().pictures.videos


def codecs(data):
    with av.open(BytesIO(data)) as container:
        return container.format.name.split(",")[0], *(stream.codec_context.name for stream in container.streams)


def grain(size, number):
    return Image.effect_noise(size, 100 + number).convert("RGB")


@pytest.fixture(scope="module")
def movies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    many = {"PHOTOSVC_TRANSFERS": 50, "PHOTOSVC_TRANSFERS_EACH": 50}
    with open_api(tmp_path_factory.mktemp("movies"), settings=many) as api:
        movies = VideoClient(api)
        put = movies.library.put
        plain = film(folder / "plain.mp4", sounds=["aac"]).read_bytes()
        put("plain.mp4", plain)
        put("web.webm", film(folder / "web.webm", "libvpx-vp9", sounds=["libopus"]).read_bytes())
        put("phone.mov", film(folder / "phone.mov", sounds=["pcm_s16le"]).read_bytes())
        put("new.mp4", film(folder / "new.mp4", "libx265").read_bytes())
        put("side.mov", turned(film(folder / "side.mov", "mpeg4")).read_bytes())
        put("broken.avi", film(folder / "broken.avi", "mjpeg", pixels="yuvj420p", frames=3).read_bytes())
        put("live/a.jpg", jpeg(80, 60))
        put("live/a.mp4", film(folder / "a.mp4", frames=20).read_bytes())
        put("motion/google.jpg", google_photo(plain))
        put("motion/micro.jpg", micro_video(plain))
        put("motion/samsung.jpg", samsung_photo(plain))
        put("motion/phone.heic", heic_photo(plain))
        put("motion/new.jpg", google_photo(film(folder / "b.mp4", "libx265", frames=10).read_bytes()))
        put("still.jpg", jpeg(90, 60))
        put("secret.mp4", film(folder / "secret.mp4", frames=5).read_bytes())
        movies.library.index()
        movies.change("secret.mp4", private=True)
        yield movies


def original(movies, name):
    return (movies.library.originals / name).read_bytes()


@pytest.mark.parametrize(("name", "kind"), [("plain.mp4", "video/mp4"), ("web.webm", "video/webm")])
def test_what_browsers_play_is_sent_as_it_is_in_ranges(movies, name, kind):
    data, content_hash = original(movies, name), movies.hash_of(name)
    for form in ("avc", "mp4", "MP4", "h264", "hevc", "mov/"):
        answer = movies.video(content_hash, form)
        assert (answer.status_code, answer.content_type, answer.data) == (200, kind, data)
    assert answer.headers["ETag"] == f'"{content_hash}"'
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert answer.headers["Accept-Ranges"] == "bytes"
    part = movies.video(content_hash, Range="bytes=10-19")
    assert (part.status_code, part.data) == (206, data[10:20])
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(data)}"
    head = movies.video(content_hash, method="HEAD")
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(data)))
    assert movies.video(content_hash, If_None_Match=f'"{content_hash}"').status_code == 304


def test_a_file_whose_codec_or_type_is_asked_for_is_sent_as_it_is(movies):
    for form in ("hevc", "hvc1", "h265"):
        answer = movies.video(movies.hash_of("new.mp4"), form)
        assert (answer.content_type, answer.data) == ("video/mp4", original(movies, "new.mp4"))
    answer = movies.video(movies.hash_of("phone.mov"), "mov")
    assert (answer.content_type, answer.data) == ("video/quicktime", original(movies, "phone.mov"))


def test_a_format_that_does_not_exist_is_not_found_and_the_others_are_named(movies):
    body = check_error(movies.video(movies.hash_of("plain.mp4"), "jpg"), 404)
    assert body["details"][0]["field"] == "format"
    assert body["error"].startswith(
        "there is no video format jpg; there are 3g2, 3gp, av01, av1, avc, avc1, avc3, avi,"
    )


def test_any_other_video_is_converted_and_then_lies_in_the_cache(movies):
    content_hash = movies.hash_of("phone.mov")
    before = movies.cache().usage().files
    answer = movies.ready(content_hash)
    assert answer.content_type == "video/mp4"
    assert codecs(answer.data) == ("mov", "h264", "aac")
    assert movies.cache().usage().files == before + 1
    part = movies.video(content_hash, Range="bytes=100-199", If_Range=answer.headers["ETag"])
    assert (part.status_code, part.data) == (206, answer.data[100:200])
    assert movies.video(content_hash).headers["ETag"] == answer.headers["ETag"]
    assert movies.cache().usage().files == before + 1
    side = movies.ready(movies.hash_of("side.mov"))
    with av.open(BytesIO(side.data)) as container:
        assert (container.streams.video[0].width, container.streams.video[0].height) == (48, 64)


def test_the_hash_of_a_live_photo_opens_its_video(movies):
    answer = movies.video(movies.hash_of("live/a.jpg"))
    assert (answer.status_code, answer.data) == (200, original(movies, "live/a.mp4"))
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["ETag"] == f'"{movies.hash_of("live/a.mp4")}"'


@pytest.mark.parametrize("name", ["google.jpg", "micro.jpg", "samsung.jpg", "phone.heic"])
def test_the_video_inside_a_motion_photo_is_cut_out_of_it_in_ranges(movies, name):
    content_hash, data = movies.hash_of(f"motion/{name}"), original(movies, "plain.mp4")
    answer = movies.video(content_hash)
    assert (answer.status_code, answer.content_type, answer.data) == (200, "video/mp4", data)
    assert answer.headers["Content-Length"] == str(len(data))
    assert answer.headers["ETag"] == f'"{content_hash}-video"'
    part = movies.video(content_hash, Range="bytes=-5")
    assert (part.status_code, part.data) == (206, data[-5:])
    assert part.headers["Content-Range"] == f"bytes {len(data) - 5}-{len(data) - 1}/{len(data)}"
    assert movies.video(content_hash, Range="bytes=99999999-").status_code == 416
    several = movies.video(content_hash, Range="bytes=0-1,5-6")
    assert data[:2] in several.data
    assert data[5:7] in several.data


def test_motion_photos_are_found_as_live_with_the_duration_of_their_video(movies):
    found = {record["FileName"]: record for record in movies.library.find(q="live:yes path:motion")}
    assert sorted(found) == [
        f"motion/{name}" for name in ("google.jpg", "micro.jpg", "new.jpg", "phone.heic", "samsung.jpg")
    ]
    assert {record["Type"] for record in found.values()} == {"live"}
    assert found["motion/google.jpg"]["Duration"] == pytest.approx(10**9, rel=0.05)
    assert found["motion/google.jpg"]["Duration"] == found["motion/phone.heic"]["Duration"]


def test_pictures_of_one_photo_open_their_own_videos(movies, tmp_path):
    first, second = (film(tmp_path / f"{number}.mp4", frames=number).read_bytes() for number in (7, 9))
    note = {number: apple_note(burst_id="B-1", content_id=f"C-{number}") for number in (1, 2)}
    for number, clip in ((1, first), (2, second)):
        block = exif({0x010F: "Apple", 0x0110: "iPhone"}, {0x927C: note[number]})
        movies.library.put(f"burst/{number}.jpg", jpeg(60 + number, 60, exif=block))
        movies.library.put(f"burst/{number}.mp4", clip)
    movies.library.index()
    assert len({record["UID"] for record in movies.library.find(path="burst")}) == 1
    assert movies.video(movies.hash_of("burst/1.jpg")).data == first
    assert movies.video(movies.hash_of("burst/2.jpg")).data == second


def test_the_video_inside_a_motion_photo_is_converted_when_browsers_do_not_play_it(movies):
    assert codecs(movies.ready(movies.hash_of("motion/new.jpg")).data) == ("mov", "h264")


def test_only_whole_files_are_handed_to_the_server_in_front(movies, monkeypatch):
    with movies.library.app.app_context():
        settings = current_service().settings
    monkeypatch.setattr(type(settings), "sendfile_header", "X-Accel-Redirect")
    answer = movies.video(movies.hash_of("plain.mp4"))
    assert (answer.data, answer.headers["X-Accel-Redirect"]) == (b"", "/photosvc-files/originals/plain.mp4")
    answer = movies.video(movies.hash_of("motion/google.jpg"))
    assert "X-Accel-Redirect" not in answer.headers
    assert answer.data == original(movies, "plain.mp4")


def test_what_holds_no_video_and_what_is_not_there_is_not_found(movies):
    assert check_error(movies.video(movies.hash_of("still.jpg")), 404)["error"] == "the picture holds no video"
    for unknown in ("0" * 40, "x", "é" * 40, "0" * 41, "..%2f..%2fetc%2fpasswd"):
        check_error(movies.video(unknown), 404)


def test_private_videos_do_not_exist_for_others_and_a_wrong_token_opens_nothing(movies):
    content_hash = movies.hash_of("secret.mp4")
    preview, download = movies.tokens(movies.library.token("photos", role="viewer"))
    for token in (preview, download):
        check_error(movies.video(content_hash, token=token), 404)
    assert movies.video(content_hash).status_code == 200
    for token in ("x", preview[:-1], download[:-1], "public"):
        check_error(movies.video(content_hash, token=token), 403)


def test_a_download_token_opens_a_video_for_an_hour(movies):
    content_hash = movies.hash_of("plain.mp4")
    _, download = movies.tokens(movies.library.token("photos", role="viewer"))
    movies.api.clock.move(seconds=3599)
    assert movies.video(content_hash, token=download).data == original(movies, "plain.mp4")
    movies.api.clock.move(seconds=1)
    check_error(movies.video(content_hash, token=download), 403)


def test_without_the_extra_only_what_browsers_play_is_sent(movies, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    content_hash = movies.hash_of("broken.avi")
    body = check_error(movies.video(content_hash), 415)
    assert body["error"] == "needs the extra \"video\": pip install 'photosvc[video]'"
    icon = movies.video(content_hash, Accept=BROWSER)
    assert (icon.status_code, icon.content_type) == (415, "image/svg+xml")
    for name in ("plain.mp4", "web.webm", "motion/google.jpg"):
        assert movies.video(movies.hash_of(name)).status_code == 200


def test_a_video_that_cannot_be_converted_is_remembered_for_an_hour(movies, monkeypatch):
    path = movies.library.originals / "broken.avi"
    changed = path.stat().st_mtime_ns
    path.write_bytes(path.read_bytes()[:200].ljust(path.stat().st_size, b"\0"))
    os.utime(path, ns=(changed, changed))
    content_hash, started = movies.hash_of("broken.avi"), []
    begin = movies.service._begin
    monkeypatch.setattr(movies.service, "_begin", lambda *given: started.append(1) or begin(*given))
    first = check_error(movies.video(content_hash), 422)
    assert "error" in first
    assert check_error(movies.video(content_hash), 422) == first
    assert len(started) == 1
    now = time.time()
    monkeypatch.setattr(conversions, "_REMEMBERED", 0)
    check_error(movies.video(content_hash), 422)
    assert len(started) == 2
    assert time.time() - now < 20


def test_a_conversion_whose_failure_may_pass_is_tried_again_after_pauses_that_grow(movies, monkeypatch):
    content_hash, begun = movies.put("stalled.avi", original(movies, "broken.avi")[:400]), []

    def begin(*given):
        begun.append(given)
        raise conversions.ConversionsBusyError

    monkeypatch.setattr(movies.service, "_begin", begin)
    for number, pause in enumerate((60, 600)):
        movies.service._remember(content_hash, WorkerTimeoutError(Reason.TIMEOUT, "900"))
        for age, tries in ((pause - 30, number), (pause + 30, number + 1)):
            then = time.time() - age
            os.utime(movies.cache().path(content_hash, "h264.failed"), (then, then))
            check_error(movies.video(content_hash), 503)
            assert len(begun) == tries


def test_a_video_that_cannot_be_converted_is_tried_again_after_the_clock_was_set_back(movies):
    content_hash = movies.put("cut.avi", original(movies, "broken.avi")[:300])
    check_error(movies.video(content_hash), 422)
    failed = Path(movies.cache().path(content_hash, "h264.failed"))
    for age, repeated in ((-7200, True), (60, False)):
        then = time.time() - age
        os.utime(failed, (then, then))
        tried = failed.stat().st_mtime_ns
        check_error(movies.video(content_hash), 422)
        assert (failed.stat().st_mtime_ns != tried) is repeated


def cut(path, _):
    path.write_bytes(path.read_bytes()[:-700])


def emptied_by_a_crash(path, _):
    path.write_bytes(bytes(path.stat().st_size))


def of_other_bytes(path, _):
    path.write_bytes(b"\xaa" * path.stat().st_size)


def longer(path, _):
    path.write_bytes(path.read_bytes() + bytes(100))


def a_link(path, elsewhere):
    path.unlink(missing_ok=True)
    path.symlink_to(elsewhere)


def a_folder(path, _):
    path.unlink(missing_ok=True)
    (path / "inner").mkdir(parents=True)
    (path / "inner/file").write_bytes(b"other")


def a_pipe(path, _):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [cut, emptied_by_a_crash, of_other_bytes, longer, a_link, a_folder, a_pipe])
def test_a_damaged_video_in_the_cache_is_converted_again_and_never_sent(movies, tmp_path, damage):
    data = original(movies, "phone.mov") + b"\0\0\0\x30free" + damage.__name__.encode().ljust(40)
    content_hash = movies.put(f"{damage.__name__}.mov", data)
    whole = movies.ready(content_hash).data
    (tmp_path / "elsewhere").write_bytes(whole[::-1])
    path = Path(movies.cache().path(content_hash, "h264.mp4"))
    damage(path, tmp_path / "elsewhere")
    assert is_sound(str(path), "h264.mp4", (0, 0)) is (damage in {a_link, a_folder, a_pipe})
    assert movies.ready(content_hash).data == whole
    assert path.read_bytes() == whole
    assert (tmp_path / "elsewhere").read_bytes() == whole[::-1]


@pytest.mark.parametrize("put", [a_link, a_folder, a_pipe])
@pytest.mark.parametrize("what", ["h264.mp4", "h264.progress"])
def test_whatever_has_the_name_of_a_temporary_file_is_removed(movies, tmp_path, put, what):
    data = original(movies, "phone.mov") + b"\0\0\0\x30free" + f"{put.__name__} {what}".encode().ljust(40)
    content_hash = movies.put(f"{put.__name__}.{what}.mov", data)
    (tmp_path / "elsewhere").write_bytes(b"0.5")
    put(Path(movies.cache().temporary(content_hash, what)), tmp_path / "elsewhere")
    assert movies.service._progress(Original(tmp_path, "", content_hash, 0, 0)) == 0
    assert codecs(movies.ready(content_hash).data) == ("mov", "h264", "aac")
    assert (tmp_path / "elsewhere").read_bytes() == b"0.5"
    assert [path for path in movies.cache().folder.rglob(".tmp-*") if content_hash in path.name] == []


@pytest.mark.slow
def test_a_conversion_evicts_finished_files_while_it_runs(slow_clip, tmp_path):
    (tmp_path / "a.avi").write_bytes(slow_clip)
    status = (tmp_path / "a.avi").stat()
    cache = PictureCache(tmp_path / "cache", 1000)
    cache.write("b" * 40, "tile_50.jpg", b"1" * 100)
    original = Original(tmp_path, "a.avi", "a" * 40, status.st_size, status.st_mtime_ns)
    target, progress = cache.temporary("a" * 40, "h264.mp4"), cache.temporary("a" * 40, "h264.progress")
    make_video(VideoJob(original, Slice(0, status.st_size), target, progress, 1 << 30, cache))
    assert cache.usage() == Usage(1, Path(target).stat().st_size)


def test_a_file_that_changed_since_the_index_run_is_gone(movies):
    path = movies.library.put("later.mp4", original(movies, "plain.mp4") + b"\0\0\0\x08free")
    movies.library.index()
    path.write_bytes(path.read_bytes() + b"more")
    check_error(movies.video(movies.hash_of("later.mp4")), 410)


@pytest.fixture(scope="module")
def slow_clip(tmp_path_factory):
    """A video that takes a second to convert."""
    path = tmp_path_factory.mktemp("slow") / "a.avi"
    grains = [grain((640, 480), number) for number in range(4)]
    film(path, "mjpeg", pixels="yuvj420p", size=(640, 480), frames=40, draw=lambda number: grains[number % 4])
    return path.read_bytes()


@pytest.fixture
def slow_movie(movies, slow_clip, tmp_path, monkeypatch):
    """The hash of a new video that takes a second to convert, and requests that do not wait for it."""
    monkeypatch.setattr(movies.service, "_wait", 0.0)
    return movies.put(f"{tmp_path.name}.avi", slow_clip + tmp_path.name.encode())


def temporary(movies):
    found = []
    for path in movies.cache().folder.rglob(".tmp-*"):
        with suppress(FileNotFoundError):  # finished meanwhile
            if path.stat().st_size:
                found.append(path)
    return found


@pytest.mark.slow
def test_who_comes_back_finds_what_was_converted_meanwhile(movies, slow_movie):
    answer = movies.video(slow_movie)
    assert check_error(answer, 503)["error"] == "The video is being converted (0% done); try again in a moment."
    assert answer.headers["Retry-After"] == "5"
    said = set()
    for _ in range(3000):
        answer = movies.video(slow_movie, Range="bytes=0-99")
        if answer.status_code == 206:
            break
        said.add(answer.json["error"])
        time.sleep(0.02)
    assert answer.status_code == 206
    assert len(said) > 2
    assert codecs(movies.video(slow_movie).data) == ("mov", "h264")
    assert temporary(movies) == []


@pytest.mark.slow
def test_a_killed_worker_leaves_no_half_file_and_the_next_request_converts_again(movies, slow_movie):
    check_error(movies.video(slow_movie), 503)
    until(lambda: any(path.name.endswith("h264.mp4") for path in temporary(movies)))
    os.kill(worker(), signal.SIGKILL)
    until(lambda: not temporary(movies))
    assert codecs(movies.ready(slow_movie).data) == ("mov", "h264")


def worker():
    """The process that writes a converted video."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and any(writes_video(link) for link in (folder / "fd").iterdir()):
                return int(folder.name)
    raise AssertionError


def writes_video(link):
    with suppress(OSError):  # closed meanwhile
        name = link.readlink().name
        return name.startswith(".tmp-") and name.endswith("h264.mp4")
    return False


@pytest.mark.slow
def test_only_some_requests_wait_for_videos_so_that_threads_stay_free(movies, slow_movie, monkeypatch):
    monkeypatch.setattr(movies.service, "_wait", 60.0)
    began = time.monotonic()
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: (movies.video(slow_movie).status_code, time.monotonic() - began), range(10)))
    waited = [seconds for status, seconds in answers if status == 200]
    refused = [seconds for status, seconds in answers if status == 503]
    assert (len(waited), len(refused)) == (4, 6)  # of the six places of a process, one owner leaves two to others
    assert max(refused) < min(waited)


@pytest.mark.slow
def test_long_videos_of_one_owner_leave_conversions_to_others(movies, tmp_path, monkeypatch):
    """Four videos that take seconds, and one of another owner."""
    monkeypatch.setattr(movies.service, "_wait", 0.0)
    grains = [grain((1280, 720), number) for number in range(4)]
    long = tmp_path / "long.avi"
    film(long, "mjpeg", pixels="yuvj420p", size=(1280, 720), frames=60, draw=lambda number: grains[number % 4])
    hashes = [movies.put(f"long{number}.avi", long.read_bytes() + bytes([number])) for number in range(4)]
    film(tmp_path / "short.avi", "mjpeg", pixels="yuvj420p", frames=4)
    short = movies.put("short.avi", (tmp_path / "short.avi").read_bytes())
    answers = [check_error(movies.video(one), 503)["error"] for one in hashes]
    assert answers == [
        *["The video is being converted (0% done); try again in a moment."] * 3,
        "Other videos are being converted; try again later.",
    ]
    other = movies.tokens(movies.library.token("photos", role="viewer"))[0]
    check_error(movies.video(short, token=other), 503)
    until(lambda: movies.video(short, token=other).status_code == 200)
    check_error(movies.video(hashes[1]), 503)
    assert all(movies.ready(one).status_code == 200 for one in hashes[:3])


@pytest.mark.slow
def test_many_threads_that_ask_for_one_new_video_start_one_conversion(movies, slow_movie, monkeypatch):
    monkeypatch.setattr(movies.service, "_wait", 60.0)
    jobs = []
    workers = movies.service._workers()
    submit = workers.submit
    monkeypatch.setattr(workers, "submit", lambda job, owner: jobs.append(job) or submit(job, owner))
    with ThreadPoolExecutor(4) as pool:
        tags = {answer.headers["ETag"] for answer in pool.map(lambda _: movies.video(slow_movie), range(4))}
    assert (len(tags), len(jobs)) == (1, 1)


@pytest.mark.slow
def test_a_conversion_that_takes_too_long_ends(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_VIDEO_TIMEOUT": 1}) as api:
        movies = VideoClient(api)
        path = film(
            tmp_path / "long.avi", "mjpeg", pixels="yuvj420p", size=(640, 480), frames=200,
            draw=lambda number: grain((640, 480), number),
        )  # fmt: skip
        content_hash = movies.put("long.avi", path.read_bytes())
        for _ in range(2):
            answer = movies.video(content_hash)
            assert check_error(answer, 503)["error"] == "The file took longer than 1 s to read."
            assert int(answer.headers["Retry-After"]) > 0
        assert temporary(movies) == []


@pytest.mark.slow
def test_a_converted_video_is_at_most_half_of_the_cache(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_CACHE_SIZE": 16}) as api:
        movies = VideoClient(api)
        path = film(
            tmp_path / "large.avi", "mjpeg", pixels="yuvj420p", size=(1280, 960), frames=48,
            draw=lambda number: grain((1280, 960), number),
        )  # fmt: skip
        content_hash = movies.put("large.avi", path.read_bytes())
        for _ in range(60):
            answer = movies.video(content_hash)
            if answer.status_code != 503:
                break
        assert check_error(answer, 422)["error"] == "the converted video is larger than 8 MB"


@pytest.mark.slow
def test_many_processes_convert_a_video_once(tmp_path):
    from datetime import UTC, datetime

    with open_api(tmp_path) as api:
        movies = VideoClient(api)
        movies.library.clock.present = datetime.now(UTC)
        path = film(
            tmp_path / "a.avi", "mjpeg", pixels="yuvj420p", size=(640, 480), frames=60,
            draw=lambda number: grain((640, 480), number),
        )  # fmt: skip
        content_hash = movies.put("a.avi", path.read_bytes())
        with serve(movies.library.instance, workers=4) as address:
            started, found = threading.Barrier(8), []

            def ask(_):
                started.wait()
                for _ in range(60):
                    answer = requests.get(f"{address}/api/v1/videos/{content_hash}/{movies.preview}/avc", timeout=60)
                    if answer.status_code != 503:
                        break
                    time.sleep(int(answer.headers["Retry-After"]))
                found.append((answer.status_code, answer.headers.get("ETag"), answer.headers["X-Worker"]))

            assert movies.preview
            with ThreadPoolExecutor(8) as pool:
                list(pool.map(ask, range(8)))
    assert len({(status, tag) for status, tag, _ in found}) == 1
    assert found[0][0] == 200
    assert len({worker for _, _, worker in found}) > 1
