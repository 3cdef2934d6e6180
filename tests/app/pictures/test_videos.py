"""Videos over HTTP: unchanged, out of photos, or converted once, and never incomplete."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from io import BytesIO
from itertools import islice
from pathlib import Path

import av
import pytest
from PIL import Image

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.problems import Reason
from photosvc.media.slices import Slice
from photosvc.pictures.cache import PictureCache, Usage
from photosvc.pictures.originals import Original
from photosvc.pictures.prerender import is_sound
from photosvc.pictures.videos import VideoJob, make_video
from photosvc.web.service import current_service
from photosvc.workers.pool import WorkersBusyError
from photosvc.workers.process import WorkerDiedError, WorkerTimeoutError
from tests.app.pictures.picture_client import BROWSER, PictureClient, WorkersInProcess, named
from tests.helpers.api_client import check_error, open_api
from tests.helpers.pictures import apple_note, exif, jpeg
from tests.unit.media.video.videos import film, google_photo, heic_photo, micro_video, samsung_photo, turned


class VideoClient(PictureClient):
    """Asks for the videos of a library."""

    def video(self, content_hash, name="avc", token=None, *, method="GET", **headers):
        path = f"/videos/{content_hash}/{token or self.preview}/{name}"
        return self.api.call(method, path, headers=named(headers), buffered=True)

    def ready(self, content_hash):
        """The video, which must be there or be converted while the request waits."""
        answer = self.video(content_hash)
        assert answer.status_code == 200, answer.text
        return answer

    @property
    def service(self):
        with self.library.app.app_context():
            return current_service().pictures.videos


def codecs(data):
    with av.open(BytesIO(data)) as container:
        return container.format.name.split(",")[0], *(stream.codec_context.name for stream in container.streams)


@pytest.fixture(scope="module")
def movies(tmp_path_factory):
    folder = tmp_path_factory.mktemp("films")
    many = {"PHOTOSVC_TRANSFERS": 50, "PHOTOSVC_TRANSFERS_EACH": 50, "PHOTOSVC_CACHE_SIZE": 64}
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
        assert movies.preview  # before threads ask for it
        yield movies


@pytest.fixture(autouse=True)
def converter(movies, monkeypatch):
    """The converter of a test."""
    converter = WorkersInProcess(make_video)
    monkeypatch.setattr(movies.service, "_workers", lambda: converter)
    return converter


@pytest.fixture
def held(movies, converter, monkeypatch):
    """The converter, which is held, and requests that do not wait."""
    converter.is_held = True
    monkeypatch.setattr(movies.service, "_wait", 0.0)
    return converter


@pytest.fixture
def new_video(movies, tmp_path):
    """The hash of a video that is not converted yet."""
    return movies.put(f"{tmp_path.name}.mov", original(movies, "phone.mov") + filler(tmp_path.name))


def filler(name):
    """A box without content that makes another file of a video."""
    return b"\0\0\0\x30free" + name.encode()[-40:].ljust(40)


def original(movies, name):
    return (movies.library.originals / name).read_bytes()


def test_a_video_that_browsers_play_is_sent_unchanged_in_ranges(movies):
    for name, kind in (("plain.mp4", "video/mp4"), ("web.webm", "video/webm")):
        data, content_hash = original(movies, name), movies.hash_of(name)
        for form in ("avc", "mp4", "MP4", "h264", "hevc", "mov/"):
            answer = movies.video(content_hash, form)
            assert (answer.status_code, answer.content_type, answer.data) == (200, kind, data), (name, form)
        assert answer.headers["ETag"] == f'"{content_hash}"'
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert answer.headers["Accept-Ranges"] == "bytes"
    part = movies.video(content_hash, Range="bytes=10-19")
    assert (part.status_code, part.data) == (206, data[10:20])
    assert part.headers["Content-Range"] == f"bytes 10-19/{len(data)}"
    head = movies.video(content_hash, method="HEAD")
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(data)))
    assert movies.video(content_hash, If_None_Match=f'"{content_hash}"').status_code == 304


def test_a_file_with_the_requested_codec_or_type_is_sent_unchanged(movies):
    for form in ("hevc", "hvc1", "h265"):
        answer = movies.video(movies.hash_of("new.mp4"), form)
        assert (answer.content_type, answer.data) == ("video/mp4", original(movies, "new.mp4"))
    dolby_vision = original(movies, "new.mp4").replace(b"hev1", b"dvh1")
    answer = movies.video(movies.put("dolby.mp4", dolby_vision), "hevc")
    assert (answer.content_type, answer.data) == ("video/mp4", dolby_vision)
    answer = movies.video(movies.hash_of("phone.mov"), "mov")
    assert (answer.content_type, answer.data) == ("video/quicktime", original(movies, "phone.mov"))


def test_a_format_that_does_not_exist_is_not_found_and_the_others_are_named(movies):
    body = check_error(movies.video(movies.hash_of("plain.mp4"), "jpg"), 404)
    assert body["details"][0]["field"] == "format"
    assert body["error"].startswith(
        "there is no video format jpg; there are 3g2, 3gp, av01, av1, avc, avc1, avc3, avi,"
    )


def test_any_other_video_is_converted_and_then_lies_in_the_cache(movies, converter):
    content_hash = movies.hash_of("phone.mov")
    answer = movies.ready(content_hash)
    assert answer.content_type == "video/mp4"
    assert codecs(answer.data) == ("mov", "h264", "aac")
    part = movies.video(content_hash, Range="bytes=100-199", If_Range=answer.headers["ETag"])
    assert (part.status_code, part.data) == (206, answer.data[100:200])
    assert movies.video(content_hash).headers["ETag"] == answer.headers["ETag"]
    assert [job.original.name for job in converter.jobs] == ["phone.mov"]
    assert converter.jobs[0].max_bytes == movies.cache().limit // 2  # so that it is not evicted at once
    side = movies.ready(movies.hash_of("side.mov"))
    with av.open(BytesIO(side.data)) as container:
        assert (container.streams.video[0].width, container.streams.video[0].height) == (48, 64)
    # The video inside a motion photo too.
    assert codecs(movies.ready(movies.hash_of("motion/new.jpg")).data) == ("mov", "h264")


def test_the_hash_of_a_live_photo_opens_its_video(movies):
    answer = movies.video(movies.hash_of("live/a.jpg"))
    assert (answer.status_code, answer.data) == (200, original(movies, "live/a.mp4"))
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["ETag"] == f'"{movies.hash_of("live/a.mp4")}"'


def test_the_video_inside_a_motion_photo_is_cut_out_of_it_in_ranges(movies):
    data = original(movies, "plain.mp4")
    for name in ("google.jpg", "micro.jpg", "samsung.jpg", "phone.heic"):
        content_hash = movies.hash_of(f"motion/{name}")
        answer = movies.video(content_hash)
        assert (answer.status_code, answer.content_type, answer.data) == (200, "video/mp4", data), name
        assert answer.headers["Content-Length"] == str(len(data))
        assert answer.headers["ETag"] == f'"{content_hash}-video"'
    part = movies.video(content_hash, Range="bytes=-5")
    assert (part.status_code, part.data) == (206, data[-5:])
    assert part.headers["Content-Range"] == f"bytes {len(data) - 5}-{len(data) - 1}/{len(data)}"
    assert movies.video(content_hash, Range="bytes=99999999-").status_code == 416
    several = movies.video(content_hash, Range="bytes=0-1,5-6").data
    assert data[:2] in several
    assert data[5:7] in several


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


def test_only_whole_files_are_handed_to_the_server_in_front(movies, monkeypatch):
    with movies.library.app.app_context():
        settings = current_service().settings
    monkeypatch.setattr(type(settings), "sendfile_header", "X-Accel-Redirect")
    answer = movies.video(movies.hash_of("plain.mp4"))
    assert (answer.data, answer.headers["X-Accel-Redirect"]) == (b"", "/photosvc-files/originals/plain.mp4")
    answer = movies.video(movies.hash_of("motion/google.jpg"))
    assert "X-Accel-Redirect" not in answer.headers
    assert answer.data == original(movies, "plain.mp4")


def test_a_file_without_a_video_and_an_unknown_hash_are_not_found(movies):
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


def test_without_the_extra_only_videos_that_browsers_play_are_sent(movies, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    content_hash = movies.hash_of("broken.avi")
    body = check_error(movies.video(content_hash), 415)
    assert body["error"] == "needs the extra \"video\": pip install 'photosvc[video]'"
    icon = movies.video(content_hash, Accept=BROWSER)
    assert (icon.status_code, icon.content_type) == (415, "image/svg+xml")
    for name in ("plain.mp4", "web.webm", "motion/google.jpg"):
        assert movies.video(movies.hash_of(name)).status_code == 200


def set_age(path, seconds):
    """Make a file as old as this, by the clock of the machine, which the cache reads."""
    then = SYSTEM_CLOCK().timestamp() - seconds
    os.utime(path, (then, then))


def test_a_video_that_cannot_be_converted_is_remembered_for_an_hour(movies, converter):
    content_hash = movies.put("cut.avi", original(movies, "broken.avi")[:300])
    first = check_error(movies.video(content_hash), 422)
    for age, tries in ((0, 1), (3000, 1), (4000, 2), (-7200, 3), (60, 3)):  # of -7200, the clock was set back since
        set_age(movies.cache().path(content_hash, "h264.failed"), age)
        assert check_error(movies.video(content_hash), 422) == first
        assert len(converter.jobs) == tries, age


def test_a_conversion_that_takes_too_long_is_tried_again_after_an_hour(movies, held, new_video):
    check_error(movies.video(new_video), 503)
    held.held.pop()[1].set_exception(WorkerTimeoutError(Reason.TIMEOUT, "900"))
    for age, jobs in ((0, 1), (3500, 1), (3700, 2)):
        set_age(movies.cache().path(new_video, "h264.failed"), age)
        answer = movies.video(new_video)
        sentence = check_error(answer, 503)["error"]
        assert (sentence == "The file took longer than 900 s to read.") is (jobs == 1), (age, sentence)
        assert int(answer.headers["Retry-After"]) > 0
        assert len(held.jobs) == jobs


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


def test_a_damaged_video_in_the_cache_is_converted_again_and_never_sent(movies, converter, new_video, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    whole = movies.ready(new_video).data
    elsewhere.write_bytes(whole[::-1])
    path = Path(movies.cache().path(new_video, "h264.mp4"))
    damages = (cut, emptied_by_a_crash, of_other_bytes, longer, a_link, a_folder, a_pipe)
    for tries, damage in enumerate(damages, start=2):
        damage(path, elsewhere)
        assert is_sound(str(path), "h264.mp4", (0, 0)) is (damage in {a_link, a_folder, a_pipe}), damage
        assert movies.ready(new_video).data == path.read_bytes() == whole, damage
        assert len(converter.jobs) == tries, damage
    assert elsewhere.read_bytes() == whole[::-1]


def test_whatever_has_the_name_of_a_temporary_file_is_removed(movies, new_video, tmp_path):
    elsewhere, cache = tmp_path / "elsewhere", movies.cache()
    elsewhere.write_bytes(b"0.5")
    for what in ("h264.mp4", "h264.progress"):
        for put in (a_link, a_folder, a_pipe):
            put(Path(cache.temporary(new_video, what)), elsewhere)
            assert movies.service._progress(Original(tmp_path, "", new_video, 0, 0)) == 0, (what, put)
            assert codecs(movies.ready(new_video).data) == ("mov", "h264", "aac"), (what, put)
            assert temporary(movies) == [], (what, put)
            cache.remove(new_video, "h264.mp4")
    assert elsewhere.read_bytes() == b"0.5"


def test_a_conversion_notes_its_progress_and_evicts_finished_files_while_it_runs(tmp_path):
    def grain(number):
        return Image.effect_noise((160, 120), 100 + number).convert("RGB")

    path = film(tmp_path / "a.mov", size=(160, 120), frames=60, draw=grain)
    cache, notes = PictureCache(tmp_path / "cache", 1000), []
    cache.write("b" * 40, "tile_50.jpg", b"1" * 100)
    original = Original(tmp_path, "a.mov", "a" * 40, path.stat().st_size, path.stat().st_mtime_ns)
    target, progress = cache.temporary("a" * 40, "h264.mp4"), cache.temporary("a" * 40, "h264.progress")
    evict = cache.evict_if_due
    cache.evict_if_due = lambda size: notes.append(float(Path(progress).read_text())) or evict(size)
    make_video(VideoJob(original, Slice(0, path.stat().st_size), target, progress, 1 << 30, cache))
    assert cache.usage() == Usage(1, Path(target).stat().st_size)
    assert notes == sorted(notes)
    assert len(set(notes)) > 2


def test_a_file_that_changed_since_the_index_run_is_gone(movies):
    path = movies.library.put("later.mp4", original(movies, "plain.mp4") + b"\0\0\0\x08free")
    movies.library.index()
    path.write_bytes(path.read_bytes() + b"more")
    check_error(movies.video(movies.hash_of("later.mp4")), 410)


def temporary(movies):
    return list(movies.cache().folder.rglob(".tmp-*"))


def test_a_later_request_finds_the_video_that_was_converted_meanwhile(movies, held, new_video):
    answer = movies.video(new_video)
    assert check_error(answer, 503)["error"] == "The video is being converted (0% done); try again in a moment."
    assert answer.headers["Retry-After"] == "5"
    Path(held.jobs[0].progress).write_text("0.42")
    assert "(42% done)" in check_error(movies.video(new_video), 503)["error"]
    held.go_on()
    assert movies.video(new_video, Range="bytes=0-99").status_code == 206
    assert codecs(movies.video(new_video).data) == ("mov", "h264", "aac")
    assert (temporary(movies), len(held.jobs)) == ([], 1)


def test_a_killed_worker_leaves_no_half_file_and_the_next_request_converts_again(movies, held, new_video):
    check_error(movies.video(new_video), 503)
    job, made = held.held.pop()
    for path in (job.target, job.progress):
        Path(path).write_bytes(b"half")
    made.set_exception(WorkerDiedError(Reason.KILLED, "SIGKILL"))
    assert temporary(movies) == []
    check_error(movies.video(new_video), 503)
    held.go_on()
    assert codecs(movies.video(new_video).data) == ("mov", "h264", "aac")


def test_some_requests_of_an_owner_wait_for_one_conversion_so_that_threads_stay_free(
    movies, held, new_video, monkeypatch
):
    monkeypatch.setattr(movies.service, "_wait", 60.0)
    with ThreadPoolExecutor(10) as pool:
        requests = [pool.submit(movies.video, new_video) for _ in range(10)]
        refused = list(islice(as_completed(requests, 60), 6))
        assert [request.result().status_code for request in refused] == [503] * 6
        held.go_on()
        waited = [request.result(60) for request in requests if request not in refused]
    # Of the six places of a process, one owner leaves two to others.
    assert [answer.status_code for answer in waited] == [200] * 4
    assert (len({answer.headers["ETag"] for answer in waited}), len(held.jobs)) == (1, 1)


def test_a_conversion_that_the_workers_refuse_is_answered_503(movies, new_video, monkeypatch):
    owners = []

    def refuse(_, owner):
        owners.append(owner)
        raise WorkersBusyError

    with monkeypatch.context() as patch:
        patch.setattr(WorkersInProcess, "submit", lambda _, *requests: refuse(*requests))
        for token in (None, movies.tokens(movies.library.token("photos", role="viewer"))[0]):
            answer = movies.video(new_video, token=token)
            assert check_error(answer, 503)["error"] == "Other videos are being converted; try again later."
            assert answer.headers["Retry-After"] == "30"
    assert len(set(owners)) == 2  # whom the workers keep from taking all of them
    assert movies.video(new_video).status_code == 200
