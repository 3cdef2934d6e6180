"""`svc run`: serves, watches, and takes its watcher along when it ends."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from photosvc.models import File
from tests.library import SURROUNDINGS, SVC
from tests.pictures import jpeg
from tests.watching import QUICK, wait


def children(process):
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def watchers(process):
    return [child for child in children(process) if b"watch" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.slow
def test_a_running_service_indexes_what_comes_and_its_watcher_ends_with_it(library):
    library.put("a.jpg", jpeg())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [str(SVC), "run", "--port", str(port), "--workers", "1"],
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance), **QUICK},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait(lambda: watchers(server.pid), 40)
        (watcher,) = watchers(server.pid)
        library.put("b.jpg", jpeg(80, 48))
        with library.session() as session:
            wait(lambda: (session.rollback(), session.query(File).count() == 2)[1], 40)
            assert session.query(File).count() == 2
        server.send_signal(signal.SIGKILL)
        server.wait(20)
        wait(lambda: not Path(f"/proc/{watcher}").exists())
        assert not Path(f"/proc/{watcher}").exists()
    finally:
        for process in (*children(server.pid), server.pid) if server.poll() is None else ():
            os.kill(process, signal.SIGKILL)
        server.wait(20)
