"""The commands, targets and links of README.md and the guides exist."""

import re
from pathlib import Path

import click
import pytest

from photosvc.cli import svc
from photosvc.query.filters import FILTERS
from photosvc.search.reading.orders import ORDERS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_to_a_file(page):
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_exists(page):
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"(?:`|^ {4,}(?:\$ )?)make ([a-z-]+)", page.read_text(), re.MULTILINE)) <= set(targets)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_svc_command_exists(page):
    for words in re.findall(
        r"(?:`|^ {4,}(?:\$ )?)(?:flask |\.venv/bin/)?svc ((?:[a-z]+ ?)+)", page.read_text(), re.MULTILINE
    ):
        group: click.Command | None = svc
        for word in words.split():
            if isinstance(group, click.Group):
                group = group.get_command(click.Context(group), word)
                assert group is not None, words


def test_the_readme_counts_filters_and_orders():
    assert f"and {len(FILTERS)} filters" in README
    assert len(ORDERS) == 13
    assert "thirteen orders" in README
