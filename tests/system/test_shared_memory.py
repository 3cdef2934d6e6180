"""The workers of a server share the memory of what was imported before they were forked."""

import re
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS
from tests.helpers.programs.ports import free_port

pytestmark = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="Linux tells how memory is shared")


def memory(process):
    """Kilobytes of a process by kind."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return {name: int(size) for name, size in re.findall(r"^(\w+): +(\d+) kB", text, re.MULTILINE)}


def children(process):
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def is_ready(address):
    try:
        urllib.request.urlopen(f"http://{address}/api/v1/readyz", timeout=20).close()
    except OSError:
        return False
    return True


def test_most_memory_of_a_worker_is_shared_with_its_server(library):
    address = f"127.0.0.1:{free_port()}"
    # Not by `tests.forks`, whose processes share memory anyway.
    options = ["--workers", "2", "--threads", "2", "--no-control-socket", "--config", "python:photosvc.serving"]
    command = [sys.executable, "-m", "gunicorn", *options, "--bind", address, "photosvc.app:create_app()"]
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance)}
    with subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL) as server:
        try:
            until(lambda: is_ready(address) and len(children(server.pid)) == 2)
            found = [memory(worker) for worker in children(server.pid)]
        finally:
            server.terminate()
    assert len(found) == 2
    for worker in found:
        assert worker["Private_Dirty"] < worker["Anonymous"] / 2
