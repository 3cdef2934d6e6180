"""Thumbnails that two processes make at once."""

import fcntl
import os
import subprocess

import pytest

from tests.app.cli import test_thumbs_commands as everyday
from tests.app.cli.test_thumbs_commands import USUAL, cached
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS, SVC

pictures = everyday.pictures


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
