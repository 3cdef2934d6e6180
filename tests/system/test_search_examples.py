"""The examples of the guide to searches."""

import re
import subprocess
from pathlib import Path

import orjson

from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[2] / "docs/search.md").read_text()


def test_the_examples_of_the_timeline_and_the_map_run(tmp_path):
    library = open_library(tmp_path / "instance")
    with library.session() as session:
        fill_varied_library(session, photos=12)
    examples = re.findall(r"^curl .*\$BASE.*$", GUIDE, re.MULTILINE)
    with serve(library.instance, workers=1) as base:
        environ = {**SURROUNDINGS, "TOKEN": library.token(), "BASE": base}
        answers = [
            orjson.loads(
                subprocess.run(["bash", "-c", f"{example} -fsS"], env=environ, capture_output=True, check=True).stdout
            )
            for example in examples
        ]
    assert [set(answer) for answer in answers] == [{"version", "total", "months"}, {"version", "cell", "clusters"}]
    assert answers[0]["total"] > 0
