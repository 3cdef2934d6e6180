"""The commands, targets, links and pictures of README.md and the guides exist."""

import re
from pathlib import Path

import click
from PIL import Image

from photosvc.cli import svc
from photosvc.query.filters import FILTERS
from photosvc.search.reading.request import ORDERS

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
GUIDES = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "bench/RESULTS.md", *GUIDES]


def test_every_relative_link_leads_to_a_file():
    for page in PAGES:
        targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text())
        assert [target for target in targets if not (page.parent / target).is_file()] == [], page.name


def test_backups_which_have_the_service_key_are_written_outside_of_the_clone():
    targets = [target for page in PAGES for target in re.findall(r"svc backup ([^\s`|]+)", page.read_text())]
    assert len(targets) >= 5
    assert [target for target in targets if target[0] not in "/~"] == []


def anchors(page):
    """The anchors that a page's headings have on GitHub."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_anchor_of_a_link_is_a_heading():
    for page in PAGES:
        links = re.findall(r"\]\((?!https?:)([^)#]*)#([^)]+)\)", page.read_text())
        wrong = [link for link in links if link[1] not in anchors(page.parent / link[0] if link[0] else page)]
        assert wrong == [], page.name


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"(?:`|^ {4,}(?:\$ )?)make ([a-z-]+)", page.read_text(), re.MULTILINE))
        assert named <= targets, page.name


def test_every_svc_command_exists():
    text = "\n".join(page.read_text() for page in PAGES)
    for words in re.findall(r"(?:`|^ {4,}(?:\$ )?)(?:flask |\.venv/bin/)?svc ((?:[a-z]+ ?)+)", text, re.MULTILINE):
        group: click.Command | None = svc
        for word in words.split():
            if isinstance(group, click.Group):
                group = group.get_command(click.Context(group), word)
                assert group is not None, words


def test_the_readme_leads_to_every_guide():
    linked = set(re.findall(r"\]\((docs/[^)#]+\.md)\)", README))
    assert linked == {str(guide.relative_to(ROOT)) for guide in GUIDES}


def test_the_readme_is_one_page_with_a_picture_that_loads_quickly():
    assert len(README.splitlines()) <= 60
    (picture,) = [ROOT / name for name in re.findall(r"!\[.+\]\(([^)]+)\)", README)]
    assert picture.stat().st_size <= 150_000
    with Image.open(picture) as opened:
        assert opened.size == (1280, 800)


def test_the_readme_counts_filters_and_orders():
    assert f"and {len(FILTERS)} filters" in README
    assert len(ORDERS) == 14
    assert "fourteen orders" in README
