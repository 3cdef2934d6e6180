"""Modules of the grid without a browser, tested by node's own runner."""

import re
import subprocess
from pathlib import Path

import pytest

import photosvc.pages
from photosvc.pages.script_texts import _MEANT, _TEXTS

ASSETS = Path(photosvc.pages.__file__).with_name("assets")
SCRIPTS = sorted(path for path in ASSETS.rglob("*.js") if "vendor" not in path.parts)
TEXT_OR_COMMENT = re.compile(
    r"""\"(?:[^"\\]|\\.)*\"|`[^`]*`|(?<=[(,=:?&| ])/(?!/)(?:[^/\\]|\\.)+/|//.*|^ *(?:/\*)?\* .*"""
)
HEAD_OF_FOR = re.compile(r"\bfor (?:await )?\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)")


@pytest.mark.needs("node")
def test_the_grid_the_scrubber_and_the_uploads_do_as_their_tests_say():
    tests = sorted(Path(__file__).parent.glob("*.test.mjs"))
    command = ["node", "--test", "--test-reporter=tap", *tests]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stdout + run.stderr
    assert int(re.search(r"^# pass (\d+)$", run.stdout, re.MULTILINE)[1]) >= 30


def test_every_text_that_scripts_ask_for_is_handed_over():
    named = set()
    for path in [*ASSETS.glob("grid/*.js"), *ASSETS.glob("places/*.js")]:
        for first in re.findall(r"\bt\(([^,()]*)", path.read_text("utf-8")):
            named |= set(re.findall(r'"(\w+)"', first))
        named |= set(re.findall(r'"(keys?[A-Z]\w+)"', path.read_text("utf-8")))
    assert len(named) > 100
    assert named - {*_TEXTS, *_MEANT} == set()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_lines_of_scripts_have_at_most_120_characters_and_one_statement(path):
    for line in path.read_text("utf-8").splitlines():
        assert len(line) <= 120, line
        code = HEAD_OF_FOR.sub("", TEXT_OR_COMMENT.sub("", line))
        # Fields of a class without values may share a line.
        assert not re.search(r";\s*[^\s})]", re.sub(r"#?\w+;(?= #?\w+;)", "", code)), line


def test_a_long_touch_of_a_tile_shows_no_preview_of_its_link():
    # Chromium has no such preview, and no such property: the style sheet of iPhones is read as a text.
    (rule,) = re.findall(r"(?m)^\.tiles a \{.*$", (ASSETS / "grid/grid.css").read_text("utf-8"))
    assert "-webkit-touch-callout: none" in rule
