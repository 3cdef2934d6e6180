"""litmus, the test suite of WebDAV servers."""

import os
import re
import subprocess
from pathlib import Path

from tests.system.clients.dav_server import USER, DavServer

#: Tests of each suite of litmus 0.13: one that dies prints no summary.
SUITES = {"basic": 16, "copymove": 13, "props": 30, "locks": 41, "http": 4}


def require_all_passed(dav: DavServer, folder: Path) -> None:
    """Run all suites against a server; the program writes its log into the folder."""
    done = subprocess.run(
        ["litmus", "--keep-going", dav.url, USER, dav.password],
        cwd=folder,
        env={"PATH": os.environ["PATH"]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    summary = r"<- summary for `(\w+)': of (\d+) tests run: (\d+) passed, (\d+) failed"
    found = {suite: tuple(map(int, counts)) for suite, *counts in re.findall(summary, done.stdout)}
    assert found == {suite: (count, count, 0) for suite, count in SUITES.items()}, done.stdout
    assert "WARNING" not in done.stdout
