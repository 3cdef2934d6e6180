"""Every page in Chromium: no violation by axe, one primary button, room for fingers, no text cut off."""

import pytest

from tests.browser.chromium import FAILS, open_page
from tests.browser.cut_off import TABLET, assert_no_text_is_cut_off
from tests.browser.every_page import ADMINISTRATION, PAGES, serve_every_page
from tests.helpers.api_client import HASH, open_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.programs.needed import package
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(600)

#: The rules that depend on the theme.
COLORS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
#: The widths at which a page is checked, the theme, and the rules; the other themes and widths have the same styles.
LOOKS = ((390, "light", {}), (390, "dark", COLORS), (1280, "light", {}))
#: Waits until a page has taken its new width and theme.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
#: Fields, buttons and links of a navigation that are shown and less than 44 pixels high. A box counts with its label.
LOW = """() => [...document.querySelectorAll(
        "button, .button, input, select, textarea, summary, nav a, .tag[href], .chips a")]
    .filter((one) => one.checkVisibility({checkVisibilityCSS: true, checkOpacity: true}))
    .filter((one) => !one.closest(".unseen, [aria-hidden=true]") && one.type !== "hidden")
    .map((one) => [one, one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one])
    .filter(([one, box]) => box.getBoundingClientRect().height < 43.5)
    .map(([one]) => `${one.tagName} ${one.className} ${one.textContent.trim() || one.name}`)"""
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
    with serve_every_page(tmp_path_factory.mktemp("pages")) as served:
        yield served


def violations(page):
    """The rules of axe that a page breaks, by its look."""
    page.evaluate(package("axe_playwright_python.sync_playwright").Axe().axe_script)
    for width, theme, rules in LOOKS:
        page.set_viewport_size({"width": width, "height": 844})
        page.emulate_media(color_scheme=theme)
        page.evaluate(DRAWN)
        options = {"resultTypes": ["violations"], **rules}
        for one in page.evaluate("options => axe.run(document, options)", options)["violations"]:
            yield width, theme, one["id"], [node["html"][:200] for node in one["nodes"]]


@pytest.mark.parametrize(("name", "paths"), [("alice", PAGES), ("ann", ADMINISTRATION)])
def test_no_page_has_a_violation_two_primary_buttons_or_too_low_ones(chromium, served, name, paths):
    base, names = served
    with open_page(chromium, base, "/albums", name=name, expected=FAILS, **TABLET) as page:
        for what, path in (paths | {"sign-in": "/sign-in"}).items():
            if what == "sign-in":
                page.context.clear_cookies()
            page.set_viewport_size({"width": 768, "height": 1024})
            page.goto(base + path.format(**names), wait_until="networkidle")
            assert page.evaluate(LOW) == [], what
            assert len(page.evaluate(PRIMARY)) <= 1, what
            assert list(violations(page)) == [], what
            closed = page.locator("main details.new:not([open]) > summary:visible")
            while closed.count():
                closed.first.click()
            assert len(page.evaluate(PRIMARY)) <= 1, f"{what}, opened"


def test_everybody_finds_the_settings_and_signs_out(chromium, tmp_path):
    with open_api(tmp_path) as api:
        with api.library.session() as session:
            add_user(session, "gus", "guest", password_hash=HASH)
        with serve(api.library.instance, workers=1, threads=4) as base:
            for name, width in (("ann", 1024), ("alice", 390), ("vera", 390), ("gus", 390), ("gus", 1024)):
                with open_page(chromium, base, name=name, **TABLET | {"width": width}) as page:
                    ways = {"a:has-text('Settings')": "/settings/account", "button:has-text('Sign out')": "/sign-in"}
                    for act, path in ways.items():
                        if width < 700:
                            page.click(".side .more summary")
                        page.click(f".side {act} >> visible=true")
                        page.wait_for_url(base + path)


def test_tabs_and_fields_show_all_of_their_texts(chromium, served):
    for width in (390, 768):
        assert_no_text_is_cut_off(chromium, served[0], "de-DE", TABLET | {"width": width})


def test_narrow_pages_have_room_beside_their_buttons_and_bars(chromium, served):
    failures = "/administration/library/failures"
    with open_page(chromium, served[0], failures, name="ann", locale="fr-FR", width=390, height=844) as page:
        name, button = page.locator(".failed h2").bounding_box(), page.locator(".failed form").bounding_box()
        assert name["width"] > 200
        assert button["y"] >= name["y"] + name["height"]
    for width in (768, 1280):
        with open_page(chromium, served[0], **TABLET | {"width": width}) as page:
            page.locator(".tiles li[aria-posinset] a").first.focus()
            page.keyboard.press("x")
            bar, side = page.locator(".actions").bounding_box(), page.locator("header.side").bounding_box()
            assert side["width"] <= bar["x"]
            assert bar["x"] + bar["width"] <= width
            assert bar["height"] < (120 if width < 900 else 64)
            out = page.get_by_role("button", name="Sign out").bounding_box()
            assert out["x"] + out["width"] <= bar["x"]
