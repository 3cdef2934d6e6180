"""Thumbnails of several processes: made by the next one after a kill, and never half."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.clock import until
from tests.helpers.pictures import jpeg

ROOT = Path(__file__).parents[2]
HASHES = [f"{number:02x}" * 20 for number in range(8)]


@pytest.fixture
def asking(tmp_path):
    """A function that starts a process that asks for thumbnails, whose maker waits for a pipe if one is named."""
    os.mkfifo(tmp_path / "pipe")
    started = []

    def ask(*hashes, pipe="0"):
        command = [sys.executable, "-m", "tests.system.asking_process", str(tmp_path), pipe, *hashes]
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        return started[-1]

    yield ask
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def made(folder):
    path = folder / "made"
    return path.read_text().split() if path.exists() else []


def files(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and not path.name.endswith(".lock"))


def children(process="self"):
    """The processes that this one, or another, started."""
    lists = Path(f"/proc/{process}/task").glob("*/children")
    return {int(pid) for path in lists for pid in path.read_text().split()}


def test_the_next_process_makes_the_thumbnail_of_a_killed_one(tmp_path, asking):
    first = asking(HASHES[0], pipe="pipe")
    until(lambda: made(tmp_path))
    second = asking(HASHES[0])
    first.send_signal(signal.SIGKILL)
    assert second.communicate(timeout=60)[0].split() == [HASHES[0]]
    assert made(tmp_path) == [HASHES[0]] * 2
    assert files(tmp_path / "cache") == [f"{HASHES[0]}_fit_1280.jpg"]


def test_processes_killed_while_they_write_leave_no_half_file(tmp_path, asking):
    for number in range(8):
        process = asking(*HASHES)
        until(lambda number=number: len(made(tmp_path)) > number and files(tmp_path / "cache"))
        process.kill()
        process.communicate()
        whole = [path for path in tmp_path.glob("cache/pictures/**/*.jpg") if not path.name.startswith(".tmp-")]
        assert {path.stat().st_size for path in whole} <= {2_000_005}
        shutil.rmtree(tmp_path / "cache" / "pictures", ignore_errors=True)
        (tmp_path / "made").write_text("\n".join(HASHES[: number + 1]))
    assert asking(*HASHES).communicate(timeout=60)[0].split() == HASHES


def test_a_worker_that_is_killed_while_idle_costs_nothing(tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_THUMB_WORKERS": 1}) as api:
        pictures = PictureClient(api)
        content_hash, others = pictures.put("a.jpg", jpeg(200, 100)), children()
        assert pictures.thumbnail(content_hash, "tile_50").status_code == 200
        (worker,) = children() - others
        os.kill(worker, signal.SIGKILL)
        os.waitid(os.P_PID, worker, os.WEXITED | os.WNOWAIT)  # its parent has not seen its end yet
        assert pictures.thumbnail(content_hash, "left_384").status_code == 200
