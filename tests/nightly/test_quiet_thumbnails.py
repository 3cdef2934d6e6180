"""Thumbnails of pages: `quiet` answers 2xx what browsers would log as an error, and nobody waits for those who left."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Timer

import pytest

from photosvc.core.slots import Slots
from photosvc.pictures.cache import PictureCache
from photosvc.pictures.originals import Original
from photosvc.pictures.sizes import SIZES, Target
from photosvc.pictures.thumbnails import Thumbnails, ThumbnailsBusyError
from photosvc.workers.pool import WorkerPool
from tests.app.pictures.picture_client import PictureClient
from tests.app.pictures.thumbnails.test_making_thumbnails import overwrite
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clock import until
from tests.helpers.pictures import jpeg
from tests.system.test_thumbnail_processes import HASHES, children, made
from tests.system.worker_tasks import count_thumbnails


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("quiet"), settings={"PHOTOSVC_THUMB_WORKERS": 1}) as api:
        client = PictureClient(api)
        for number in range(3):
            client.library.put(f"{number}.jpg", jpeg(200 + number, 100))
        client.library.index()
        yield client


def test_a_thumbnail_that_is_not_ready_is_accepted_and_there_when_asked_for_later(pictures):
    others = children()
    assert pictures.thumbnail(pictures.hash_of("0.jpg"), "tile_50").status_code == 200  # once the worker has started
    (worker,) = children() - others
    content_hash = pictures.hash_of("1.jpg")
    os.kill(worker, signal.SIGSTOP)
    clock = pictures.library.clock
    began, clock.step = clock.seconds, 0.1  # of each look of a waiting request
    try:
        answer = pictures.thumbnail(content_hash, "tile_50", query="?quiet", Accept="image/*")
    finally:
        clock.step = 0.0
        os.kill(worker, signal.SIGCONT)
    assert 2 <= clock.seconds - began < 15  # not the 20 of the setting: a page has few connections
    assert (answer.status_code, answer.data, answer.headers["Retry-After"]) == (202, b"", "1")
    assert answer.headers["Cache-Control"] == "no-store"
    until(lambda: pictures.thumbnail(content_hash, "tile_50", query="?quiet").status_code == 200)


def test_visitors_without_scripts_get_a_thumbnail_that_takes_longer_than_a_page_waits(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_THUMB_WORKERS": 1}) as api:
        client = PictureClient(api)
        client.library.put("0.jpg", jpeg(200, 100))
        client.library.index()
        content_hash, others = client.hash_of("0.jpg"), children()
        assert client.thumbnail(content_hash, "tile_50").status_code == 200
        (worker,) = children() - others
        os.kill(worker, signal.SIGSTOP)
        later = Timer(3, os.kill, (worker, signal.SIGCONT))
        later.start()
        try:
            assert client.thumbnail(content_hash, "fit_360", query="?quiet=waits").status_code == 200
        finally:
            later.join()


def test_a_picture_that_cannot_be_shown_is_an_icon_for_a_page_and_an_error_for_others(pictures):
    content_hash = pictures.hash_of("2.jpg")
    path = pictures.library.originals / "2.jpg"
    overwrite(path, path.read_bytes()[: path.stat().st_size // 2])
    answer = pictures.thumbnail(content_hash, "fit_360", query="?quiet")
    assert (answer.status_code, answer.content_type) == (200, "image/svg+xml")
    assert answer.headers["Cache-Control"] == "private, max-age=300"
    assert answer.data.startswith(b"<svg ")
    check_error(pictures.thumbnail(content_hash, "fit_360"), 422)


def test_a_missing_file_is_an_icon_and_a_forbidden_one_an_error(pictures):
    assert pictures.thumbnail("0" * 40, "fit_360", query="?quiet").status_code == 200
    check_error(pictures.thumbnail("0" * 40, "fit_360"), 404)
    answer = pictures.thumbnail(pictures.hash_of("0.jpg"), "fit_360", token="wrong", query="?quiet")
    check_error(answer, 403)


@pytest.fixture
def slow(tmp_path):
    """Thumbnails whose maker takes a second each, for two callers at a time."""
    workers = WorkerPool(count_thumbnails, result=list[bytes], workers=1, queued=4, timeout=60, memory_bytes=1 << 30)
    cache = PictureCache(tmp_path / "cache", 1 << 30)
    return Thumbnails(cache, lambda: workers, wait=30, waiting=Slots(2, 2))


def test_thumbnails_for_disconnected_callers_alone_are_not_made_and_keep_nobody_out(slow, tmp_path):
    def find(number, **options):
        original = Original(tmp_path, "1", HASHES[number], 0, 0, 4000, 3000)
        return slow.find(original, Target(SIZES["fit_1280"]), **options)

    with ThreadPoolExecutor(1) as callers:
        first = callers.submit(find, 0)
        until(lambda: made(tmp_path))
        for number in (1, 2, 3, 4, 5, 6):  # more than may wait, and than the queue takes
            with pytest.raises(ThumbnailsBusyError):
                find(number, is_gone=lambda: True)
        os.close(first.result().descriptor)
    os.close(find(7).descriptor)
    assert made(tmp_path) == [HASHES[0], HASHES[7]]


def test_thumbnails_that_callers_will_ask_for_again_begin_although_all_places_are_taken(slow, tmp_path):
    def find(number, **options):
        original = Original(tmp_path, "0.5", HASHES[number], 0, 0, 4000, 3000)
        return slow.find(original, Target(SIZES["fit_1280"]), **options)

    with ThreadPoolExecutor(2) as callers:
        waiting = [callers.submit(find, 0), callers.submit(find, 1)]
        until(lambda: made(tmp_path))
        time.sleep(0.1)  # the second is in the queue
        for number in (2, 3):
            with pytest.raises(ThumbnailsBusyError):
                find(number, **({"seconds": 5} if number == 2 else {}))
        for one in waiting:
            os.close(one.result().descriptor)
    until(lambda: len(made(tmp_path)) == 3)
    os.close(find(2).descriptor)
    assert made(tmp_path)[2] == HASHES[2]


def test_a_thumbnail_is_made_although_its_caller_waits_no_longer(slow, tmp_path):
    original = Original(tmp_path, "1", HASHES[0], 0, 0, 4000, 3000)
    with pytest.raises(ThumbnailsBusyError):
        slow.find(original, Target(SIZES["fit_1280"]), seconds=0.1)
    os.close(slow.find(original, Target(SIZES["fit_1280"])).descriptor)
    assert made(tmp_path) == [HASHES[0]]
