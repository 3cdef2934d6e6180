"""The workers of a server share the memory of what was imported before they were forked."""

import re
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from tests.library import SURROUNDINGS

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux tells how memory is shared")


def memory(process):
    """Kilobytes of a process by kind."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return {name: int(size) for name, size in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}


def test_most_memory_of_a_worker_is_shared_with_its_server(library):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    # Not by `tests.forks`, whose processes share memory anyway.
    options = ["--workers", "2", "--threads", "2", "--no-control-socket", "--worker-class", "photosvc.serving.Worker"]
    command = [sys.executable, "-m", "gunicorn", *options, "--bind", address, "photosvc.app:create_app()"]
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)}
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(600):
                try:
                    urllib.request.urlopen(f"http://{address}/api/v1/readyz", timeout=20).close()
                    break
                except OSError:
                    time.sleep(0.05)
            workers = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()
            found = [memory(worker) for worker in workers]
        finally:
            server.terminate()
    assert len(found) == 2
    for worker in found:
        assert worker["Private_Dirty"] < worker["Anonymous"] / 2
