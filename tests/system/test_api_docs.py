"""Every example in docs/api.md runs as it is pasted, one after the other; its errors are those that are answered."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from photosvc import samples
from tests.helpers.library import call_svc
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[2] / "docs/api.md").read_text()
EXAMPLES = re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder in which all examples ran on the bundled samples, with their output in `output`."""
    folder = tmp_path_factory.mktemp("api")
    instance, environ = folder / "instance", {"PHOTOSVC_ORIGINALS": str(samples.ORIGINALS)}
    call_svc("db", "upgrade", instance=instance)
    assert call_svc("index", "--workers", "1", instance=instance, environ=environ).returncode == 0
    path = f"{launcher(folder).parent}{os.pathsep}{SURROUNDINGS['PATH']}"
    with serve(instance, workers=1, environ=environ) as base:
        own = {**SURROUNDINGS, **environ, "PATH": path, "PHOTOSVC_INSTANCE": str(instance), "BASE": base}
        script = "set -euo pipefail\n" + "\necho =====\n".join(EXAMPLES)
        done = subprocess.run(
            ["bash", "-c", script], env=own, cwd=folder, capture_output=True, text=True, timeout=100, check=False
        )
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "output").write_text(done.stdout)
    return folder


@pytest.fixture(scope="module")
def outputs(folder):
    return (folder / "output").read_text().split("=====\n")


def test_there_is_an_example_for_each_section(outputs):
    assert len(outputs) == len(EXAMPLES) == GUIDE.count("\n## ") == 6


def test_the_search_prints_the_newest_photos_and_their_number(outputs):
    *photos, count = outputs[1].splitlines()
    assert [line[:4] for line in photos] == ["2024", "2024"]
    assert count.lower().strip() == "x-count: 2"


def test_the_pages_have_every_file_once(outputs):
    files = [line.split(" ", 1)[1] for line in outputs[2].splitlines()]
    assert len(files) == len(set(files)) > 10


def test_the_pictures_are_a_thumbnail_and_an_original(folder):
    with Image.open(folder / "small.jpg") as small, Image.open(folder / "original") as original:
        assert max(small.size) <= 720
        assert original.format == "JPEG"


def test_the_change_and_the_errors_are_as_described(outputs):
    assert outputs[4] == "At the lake\n"
    assert '"field": "order"' in outputs[5]
    assert outputs[5].endswith("401\n")
