"""Thumbnails that two processes make at once."""

import fcntl
import os
import subprocess

import pytest

from tests.helpers.clients.picture_client import PictureClient
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS, SVC
from tests.helpers.pictures import encoded, jpeg, quarters

USUAL = ["fit_1280.jpg", "fit_1920.jpg", "fit_360.jpg", "fit_720.jpg", "tile_100.jpg", "tile_224.jpg", "tile_500.jpg"]


@pytest.fixture
def pictures(api):
    pictures = PictureClient(api)
    pictures.library.put("large.jpg", jpeg(2400, 1200))
    pictures.library.put("2020/small.png", encoded(quarters(60, 40), "PNG"))
    return pictures


def cached(pictures, name):
    """What the cache holds of a file."""
    content_hash = pictures.hash_of(name)
    found = pictures.cache().folder.glob(f"pictures/?/?/?/{content_hash}_*")
    return sorted(path.name.partition("_")[2] for path in found)


def test_thumbs_leaves_a_picture_to_the_process_that_is_at_it(api, pictures):
    pictures.library.index()
    content_hash = pictures.hash_of("large.jpg")
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(pictures.library.instance)}
    lock = os.open(pictures.cache().folder / "making.lock", os.O_RDWR | os.O_CREAT)
    fcntl.lockf(lock, fcntl.LOCK_EX, 1, int(content_hash[:12], 16))
    running = subprocess.Popen([SVC, "thumbs"], env=environ, stdout=subprocess.PIPE, text=True)
    until(lambda: len(cached(pictures, "2020/small.png")) == 4)
    assert len(cached(pictures, "2020/small.png")) == 4
    with pytest.raises(subprocess.TimeoutExpired):
        running.communicate(timeout=1)
    assert cached(pictures, "large.jpg") == []
    for name in USUAL:
        pictures.cache().write(content_hash, name, b"made by the other one")
    os.close(lock)
    assert running.communicate(timeout=20)[0] == "4 made, 7 kept, 0 failed\n"
