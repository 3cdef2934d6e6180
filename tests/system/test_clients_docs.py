"""Every example in docs/clients.md runs, and its tables name the fields that the answers have."""

import re
import subprocess
from pathlib import Path

import orjson
import pytest

from photosvc.records.accounts import OptionsSchema
from photosvc.records.photos import OPTIONAL_OF_FILES
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.library import SURROUNDINGS, open_library
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[2] / "docs/clients.md").read_text()
EXAMPLES = re.findall(r"^```sh\n(.*?)\n```$", GUIDE, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """The answers to the examples, in their order."""
    library = open_library(tmp_path_factory.mktemp("docs") / "instance")
    with library.session() as session:
        fill_varied_library(session, photos=12)
    photo = library.find(count=1)[0]
    with serve(library.instance, workers=1) as base:
        environ = {**SURROUNDINGS, "TOKEN": library.token(), "BASE": base, "HASH": photo["Hash"], "PHOTO": photo["UID"]}
        return [
            orjson.loads(subprocess.run(["bash", "-c", example], env=environ, capture_output=True, check=True).stdout)
            for example in EXAMPLES
        ]


def named(heading):
    """What is in backticks below a heading."""
    section = GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return set(re.findall(r"`([A-Za-z]+)`", section.partition("```sh")[2].partition("```")[2]))


def test_each_answer_has_the_fields_that_the_guide_names(answers):
    photo, file, views, folders, months, collection, config, settings = answers
    of_photo = {*photo, *photo["Details"], *photo["Camera"], *photo["Place"], *photo["Files"][0], *OPTIONAL_OF_FILES}
    assert named("One photo") - {"photos"} <= of_photo
    assert (file["PhotoUID"], file["Hash"]) == (photo["UID"], photo["Hash"])
    assert named("For picture viewers") - {"photos", "places", "src", "w", "h"} == set(views[0])
    assert {"Path", "Title", "UID", "PhotoCount", "TotalCount"} <= set(folders["folders"][0]) & named(
        "Folders and months"
    )
    assert {"Label", "Year", "Month", "PhotoCount", "UID"} <= set(months[0]) & named("Folders and months")
    assert collection["type"] == "FeatureCollection"
    sizes = {"size", "use", "w", "h"}
    assert named("The configuration") - {"config"} - sizes <= {*config, *config["count"]}
    assert set(config["count"]) <= named("The configuration")
    assert set(config["thumbs"][0]) == sizes
    options = {*OptionsSchema().fields}
    features = {*settings["features"]}
    assert named("Settings and options") - options <= {*settings, *features, *settings["stack"], "MB", "config"}
    assert options | {*settings["stack"]} <= named("Settings and options")
