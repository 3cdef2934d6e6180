"""A tablet on which somebody uses a finger: what is touched is high enough for it on every page."""

import pytest

from tests.pages.chromium import open_page
from tests.pages.every_page import ADMINISTRATION, PAGES, serve_every_page

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

#: Fields, buttons and links of a navigation that are shown and less than 44 pixels high. A box counts with its label.
LOW = """() => [...document.querySelectorAll("button, .button, input, select, textarea, summary, nav a, .tag[href], .chips a")]
    .filter((one) => one.checkVisibility({checkVisibilityCSS: true, checkOpacity: true}))
    .filter((one) => !one.closest(".unseen, .unscripted, [aria-hidden=true]") && one.type !== "hidden")
    .map((one) => [one, one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one])
    .filter(([one, box]) => box.getBoundingClientRect().height < 43.5)
    .map(([one]) => `${one.tagName} ${one.className} ${one.textContent.trim() || one.name}`)"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve_every_page(tmp_path_factory.mktemp("touch")) as served:
        yield served


@pytest.mark.parametrize(("name", "paths"), [("alice", PAGES), ("ann", ADMINISTRATION)])
def test_what_a_finger_touches_on_a_tablet_is_44_pixels_high(chromium, served, name, paths):
    base, names = served
    found = {}
    with open_page(
        chromium, base, name=name, width=768, height=1024, has_touch=True, expected="Failed to load resource"
    ) as page:
        for what, path in paths.items():
            page.goto(base + path.format(**names))
            found[what] = page.evaluate(LOW)
    assert {what: low for what, low in found.items() if low} == {}
