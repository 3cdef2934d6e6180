"""Runs of the tests: what fails is red, and nothing that fails looks as if it had been skipped."""

import os
import subprocess
import sys

import pytest

from tests.helpers.programs.forks import ROOT

FAILS = "def test_{}(): assert False\n"
PASSES = "def test_passes(): pass\n"
#: Fails, or ends by this statement, in the first run alone.
FIRST = """
from pathlib import Path
import pytest
def test_first():
    first = not Path("ran").exists()
    Path("ran").touch()
    assert not first{}
"""


def run(module, *arguments, cwd, **environ):
    """The exit code and the printed lines of a run of pytest."""
    command = [sys.executable, "-m", module, "-q", *arguments]
    known = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{cwd}{os.pathsep}{ROOT}", **environ}
    done = subprocess.run(command, cwd=cwd, env=known, capture_output=True, text=True, timeout=200, check=False)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize(
    ("tests", "code", "flaky", "closing"),
    [
        (PASSES, 0, False, "1 passed"),
        (FIRST.format("") + PASSES, 0, True, "1 passed"),
        (FAILS.format(1) + PASSES, 1, False, "1 failed"),
        ("".join(map(FAILS.format, range(6))), 1, False, "6 failed"),
        (FIRST.format("; pytest.skip('again')"), 1, False, "1 skipped"),
        (FIRST.format("") + "def test_ends(): pytest.exit('now', 1)\n" + PASSES, 6, False, "1 of 3 collected"),
        ("import nothing\n", 2, False, "1 error"),
    ],
)
def test_a_few_failures_are_repeated_once_and_all_else_is_red(tmp_path, tests, code, flaky, closing):
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:randomly\n")
    (tmp_path / "test_some.py").write_text(tests)
    found, lines = run("tools.repeated_tests", "test_some.py", cwd=tmp_path)
    assert found == code
    assert closing in lines[-1]
    assert ("FLAKY: test_some.py::test_first" in lines) is flaky


def test_a_migration_that_raises_is_an_error_and_no_missing_database(tmp_path):
    (tmp_path / "broken.py").write_text(
        "from photosvc.models import schema\ndef upgrade(engine): raise ValueError('wrong')\nschema.upgrade = upgrade\n"
    )
    asked = (
        "-p",
        "broken",
        str(ROOT / "tests/databases/models/test_models_statements_below.py"),
        "-n",
        "0",
        "-k",
        "postgresql",
        "-x",
    )
    code, lines = run("pytest", *asked, f"--rootdir={ROOT}", cwd=tmp_path, PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (code, lines[-1].partition(" in ")[0].split(", ")[-1]) == (1, "1 error")


@pytest.mark.parametrize(("ci", "code", "closing"), [("true", 1, "error"), ("", 0, "skipped")])
def test_a_missing_program_skips_tests_but_fails_them_in_ci(tmp_path, ci, code, closing):
    found, lines = run(
        "pytest", "tests/app/pages/photos/test_pages_rows.py", "-n", "0", "-m", "", cwd=ROOT, CI=ci, PATH=""
    )
    assert (found, closing in lines[-1]) == (code, True)
