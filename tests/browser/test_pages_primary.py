"""One primary button a screen: a page says by it what most people came for."""

import pytest

from tests.helpers.chromium import open_page
from tests.helpers.every_page import ADMINISTRATION, PAGES, serve_every_page

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

#: The texts of the buttons that have the accent as their background, as far as they are shown.
PRIMARY = """() => {
    const accent = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.backgroundColor = accent;
    const color = getComputedStyle(probe).backgroundColor;
    probe.remove();
    return [...document.querySelectorAll("main button, main .button")]
        .filter((one) => one.checkVisibility({checkVisibilityCSS: true}))
        .filter((one) => getComputedStyle(one).backgroundColor === color)
        .map((one) => one.textContent.trim());
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve_every_page(tmp_path_factory.mktemp("primary")) as served:
        yield served


@pytest.mark.parametrize(("name", "paths"), [("alice", PAGES), ("ann", ADMINISTRATION)])
def test_no_page_has_two_primary_buttons_also_with_its_parts_opened(chromium, served, name, paths):
    base, names = served
    found = {}
    with open_page(chromium, base, name=name, expected="Failed to load resource") as page:
        for what, path in paths.items():
            page.goto(base + path.format(**names))
            found[what] = page.evaluate(PRIMARY)
            for part in page.locator("main details.new").all():
                if part.get_attribute("open") is None:
                    part.locator("> summary").click()
                found[f"{what}, opened"] = page.evaluate(PRIMARY)
    assert {what: texts for what, texts in found.items() if len(texts) > 1} == {}
    assert sum(len(texts) == 1 for texts in found.values()) > 5
