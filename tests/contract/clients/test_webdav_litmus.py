"""litmus, the test suite of WebDAV servers, over two workers."""

import os
import re
import shutil
import subprocess

import pytest

from tests.support.programs.dav_server import USER, serve_dav

#: Tests of each suite of litmus 0.13: one that dies prints no summary.
SUITES = {"basic": 16, "copymove": 13, "props": 30, "locks": 41, "http": 4}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("litmus") is None, reason="litmus is not installed"),
]


@pytest.mark.parametrize("kind", ["sync", "photosvc.serving.Worker"])
def test_all_tests_of_litmus_pass(tmp_path, kind):
    with serve_dav(tmp_path, options=["--worker-class", kind], threads=1 if kind == "sync" else 4) as dav:
        done = subprocess.run(
            ["litmus", "--keep-going", dav.url, USER, dav.password],
            cwd=tmp_path,  # it writes debug.log there
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
