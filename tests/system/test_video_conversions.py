"""Videos converted by real workers and by several processes: once, within their time, and never half."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
import requests
from PIL import Image

from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clock import until
from tests.helpers.programs.server import serve
from tests.unit.media.video.test_media_transcode import converted, shown
from tests.unit.media.video.videos import X265, film


def clip(folder, frames):
    """A video that takes long to convert."""
    grains = [Image.effect_noise((640, 480), 100 + number).convert("RGB") for number in range(4)]
    path = folder / "a.avi"
    film(path, "mjpeg", pixels="yuvj420p", size=(640, 480), frames=frames, draw=lambda number: grains[number % 4])
    return path.read_bytes()


@pytest.fixture(scope="module")
def slow_clip(tmp_path_factory):
    """A video that takes a second to convert."""
    return clip(tmp_path_factory.mktemp("slow"), 40)


def video(pictures, content_hash):
    return pictures.api.call("GET", f"/videos/{content_hash}/{pictures.preview}/avc", buffered=True)


def temporary(pictures):
    """The unfinished files that have bytes."""
    found = []
    for path in pictures.cache().folder.rglob(".tmp-*"):
        with suppress(FileNotFoundError):  # finished meanwhile
            if path.stat().st_size:
                found.append(path)
    return found


def writer(path):
    """The process that writes this file."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # ended meanwhile, or of another account
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and any(link.samefile(path) for link in (folder / "fd").iterdir()):
                return int(folder.name)
    raise AssertionError(path)


def test_a_killed_worker_leaves_no_half_file_and_the_next_request_converts_again(tmp_path, slow_clip):
    with open_api(tmp_path, settings={"PHOTOSVC_THUMB_WAIT": 1}) as api:
        pictures = PictureClient(api)
        content_hash = pictures.put("a.avi", slow_clip)
        api.library.clock.step = 1  # a request does not wait
        check_error(video(pictures, content_hash), 503)
        until(lambda: any(path.name.endswith("h264.mp4") for path in temporary(pictures)))
        (half,) = [path for path in temporary(pictures) if path.name.endswith("h264.mp4")]
        os.kill(writer(half), signal.SIGKILL)
        until(lambda: not temporary(pictures))
        until(lambda: video(pictures, content_hash).status_code == 200)
        assert temporary(pictures) == []


def test_a_conversion_that_takes_longer_than_its_setting_ends(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_VIDEO_TIMEOUT": 1}) as api:
        pictures = PictureClient(api)
        content_hash = pictures.put("a.avi", clip(tmp_path, 300))
        for _ in range(2):
            answer = video(pictures, content_hash)
            assert check_error(answer, 503)["error"] == "The file took longer than 1 s to read."
            assert int(answer.headers["Retry-After"]) > 0
        assert temporary(pictures) == []


def test_many_processes_convert_a_video_once(tmp_path, slow_clip):
    with open_api(tmp_path) as api:
        pictures = PictureClient(api)
        pictures.library.clock.present = datetime.now(UTC)
        content_hash, token = pictures.put("a.avi", slow_clip), pictures.preview
        with serve(pictures.library.instance, workers=4) as address:

            def ask(_):
                while True:  # each request waits for the conversion
                    answer = requests.get(f"{address}/api/v1/videos/{content_hash}/{token}/avc", timeout=60)
                    if answer.status_code != 503:
                        return answer

            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(ask, range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.headers["ETag"] for answer in answers}) == 1
    assert len({answer.headers["X-Worker"] for answer in answers}) > 1


def test_high_dynamic_range_is_mapped_to_the_range_of_screens(tmp_path):
    for marks, least, most in (
        ("", 125, 129),
        (":transfer=arib-std-b67:colorprim=bt2020:colormatrix=bt2020nc", 136, 255),
    ):
        path = film(
            tmp_path / "a.mp4", "libx265", pixels="yuv420p10le", frames=1,
            draw=lambda _: Image.new("RGB", (64, 48), (127,) * 3), **{"x265-params": X265 + marks},
        )  # fmt: skip
        grey = shown(converted(path)).corners[0]
        assert max(grey) - min(grey) <= 2, marks
        assert least <= grey[0] <= most, marks
