"""The journeys of the guide to the architecture."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.library import SURROUNDINGS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/architecture.md").read_text()
JOURNEYS = [
    "From an original to a search row",
    "From GET /photos to bytes",
    "From PUT /photos/UID to a journal entry",
    "From POST /oauth/token to a token",
]


def _section(heading):
    return GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]


def _paths(text):
    """Everything in backticks that is the path of a file or folder."""
    return set(re.findall(r"`([\w./-]+(?:\.(?:py|cfg|toml|md|lock|sqlite)|/))`", text))


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    command = [sys.executable, "-m", "tests.system.journeys", str(tmp_path_factory.mktemp("journeys"))]
    done = subprocess.run(command, cwd=ROOT, env=SURROUNDINGS, capture_output=True, text=True, timeout=100, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("journey", JOURNEYS)
def test_a_journey_begins_with_files_that_run(traced, journey):
    named = {f"photosvc/{path}" for path in _paths(_section(journey)) if path.endswith(".py")}
    assert 3 <= len(named) <= 12
    assert sorted(named - set(traced[journey])) == []
