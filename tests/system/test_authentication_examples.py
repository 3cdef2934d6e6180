"""The examples of the guide to authentication."""

import os
import re
import subprocess
from pathlib import Path

from tests.helpers.library import open_library
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[2] / "docs/authentication.md").read_text()
EXAMPLES = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


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
