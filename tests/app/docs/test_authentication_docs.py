"""docs/authentication.md says what the policy says, and every example in it runs."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from photosvc.auth.scopes import parse_scope
from photosvc.cli.show import show
from tests.helpers.library import open_library
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[3] / "docs/authentication.md").read_text()
BEGIN, END = "<!-- policy: svc show policy --md -->\n\n", "\n<!-- end -->"
EXAMPLES = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


def table_of_the_policy(folder):
    app = open_library(folder / "instance", upgrade=False).app
    return CliRunner().invoke(show, ["policy", "--md"], obj=lambda: app).output


def test_the_guide_has_the_table_of_the_policy(tmp_path):
    assert GUIDE.partition(BEGIN)[2].partition(END)[0] == table_of_the_policy(tmp_path)


def test_the_guide_speaks_of_webdav_outside_the_table_only_when_a_route_serves_it(tmp_path):
    prose = GUIDE.partition(BEGIN)[0] + GUIDE.partition(END)[2]
    served = re.search(r"^\| webdav\.read .*\| yes \|$", table_of_the_policy(tmp_path), re.MULTILINE)
    assert ("webdav" in prose.lower()) == bool(served)


def test_every_scope_in_the_guide_is_one():
    scopes = re.findall(r"(?:--scope|-s) '?([a-z* ]+)'?", GUIDE)
    assert "photos read" in {scope.strip() for scope in scopes}
    assert all(parse_scope(scope.strip()) for scope in scopes)


@pytest.mark.slow
def test_the_examples_run_unchanged_one_after_the_other(tmp_path):
    library = open_library(tmp_path / "instance")
    path = f"{launcher(tmp_path).parent}{os.pathsep}{SURROUNDINGS['PATH']}"
    with serve(library.instance) as base:
        environ = {**SURROUNDINGS, "PATH": path, "PHOTOSVC_INSTANCE": str(library.instance), "BASE": base}
        script = "set -euxo pipefail\n" + "\n".join(EXAMPLES)
        done = subprocess.run(
            ["bash", "-c", script], env=environ, capture_output=True, text=True, timeout=100, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(EXAMPLES) == 12
    assert re.search("12(09600|0959[0-9])$", done.stdout, re.MULTILINE)  # seconds of a fresh log-in session
    assert re.search("^3600$", done.stdout, re.MULTILINE)  # of a password sent again
    assert re.search("photos sessions$", done.stdout, re.MULTILINE)
    assert re.search("[0-9a-f]{48}$", done.stdout, re.MULTILINE)
