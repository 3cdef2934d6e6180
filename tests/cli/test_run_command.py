"""`svc run`: serves, watches, and takes its watcher along when it ends."""

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from photosvc.cli import svc
from photosvc.models import File
from tests.library import SURROUNDINGS, SVC, open_library
from tests.pictures import jpeg
from tests.watching import QUICK, wait


def children(process):
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def watchers(process):
    return [child for child in children(process) if b"watch" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.parametrize(
    ("host", "proxies", "warns"),
    [
        ("127.0.0.1", 0, False),
        ("::1", 0, False),
        ("localhost", 0, False),
        ("0.0.0.0", 1, False),
        ("0.0.0.0", 0, True),
        ("::", 0, True),
    ],
)
def test_it_warns_when_other_machines_reach_it_without_a_proxy(tmp_path, monkeypatch, host, proxies, warns):
    library = open_library(tmp_path, settings={"PHOTOSVC_PROXIES": proxies, "PHOTOSVC_ORIGINALS": tmp_path / "none"})
    (tmp_path / "none").mkdir()
    served = []
    monkeypatch.setattr(os, "execv", lambda *program: served.append(program))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    monkeypatch.setenv("PHOTOSVC_BASE_URL", "http://localhost")
    done = CliRunner().invoke(svc, ["run", "--no-watch", "--host", host, "--port", port], obj=lambda: library.app)
    library.close()
    assert (done.exit_code, len(served)) == (0, 1)
    assert ("Warning: it accepts requests from other machines" in done.stderr) == warns


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
