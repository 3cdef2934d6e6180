"""Modules of the grid without a browser, tested by node's own runner."""

import re
import subprocess
from pathlib import Path

import pytest


@pytest.mark.needs("node")
def test_the_grid_the_scrubber_and_the_uploads_do_as_their_tests_say():
    tests = sorted(Path(__file__).parent.glob("*.test.mjs"))
    command = ["node", "--test", "--test-reporter=tap", *tests]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"^# pass (\d+)$", run.stdout, re.MULTILINE)[1]) >= 30
