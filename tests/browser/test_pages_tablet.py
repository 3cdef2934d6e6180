"""The pages on tablets and phones: what a finger touches is high enough for it, and all texts fit in any language."""

import pytest

from tests.browser.cut_off import TABLET, assert_no_text_is_cut_off
from tests.helpers.api_client import HASH, open_api
from tests.helpers.chromium import open_page
from tests.helpers.every_page import ADMINISTRATION, PAGES, serve_every_page
from tests.helpers.factories.accounts import add_user
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

#: Fields, buttons and links of a navigation that are shown and less than 44 pixels high. A box counts with its label.
LOW = """() => [...document.querySelectorAll(
        "button, .button, input, select, textarea, summary, nav a, .tag[href], .chips a")]
    .filter((one) => one.checkVisibility({checkVisibilityCSS: true, checkOpacity: true}))
    .filter((one) => !one.closest(".unseen, .unscripted, [aria-hidden=true]") && one.type !== "hidden")
    .map((one) => [one, one.matches("[type=checkbox], [type=radio]") ? one.closest("label") ?? one : one])
    .filter(([one, box]) => box.getBoundingClientRect().height < 43.5)
    .map(([one]) => `${one.tagName} ${one.className} ${one.textContent.trim() || one.name}`)"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with serve_every_page(tmp_path_factory.mktemp("tablet")) as served:
        yield served


@pytest.mark.parametrize(("name", "paths"), [("alice", PAGES), ("ann", ADMINISTRATION)])
def test_what_a_finger_touches_is_44_pixels_high(chromium, served, name, paths):
    base, names = served
    found = {}
    with open_page(chromium, base, name=name, expected="Failed to load resource", **TABLET) as page:
        for what, path in paths.items():
            page.goto(base + path.format(**names))
            found[what] = page.evaluate(LOW)
    assert {what: low for what, low in found.items() if low} == {}


@pytest.mark.parametrize("width", [390, 1024])
def test_everybody_finds_the_settings_and_signs_out(chromium, tmp_path, width):
    with open_api(tmp_path) as api:
        with api.library.session() as session:
            add_user(session, "gus", "guest", password_hash=HASH)
        with serve(api.library.instance, workers=1, threads=4) as base:
            for name in ("ann", "alice", "vera", "gus"):
                sized, home = TABLET | {"width": width}, "/shared" if name == "gus" else "/"
                with open_page(chromium, base, name=name, home=home, **sized) as page:
                    if width < 700:
                        page.click(".side .more summary")
                    page.click(".side a:has-text('Settings') >> visible=true")
                    page.wait_for_url(f"{base}/settings/account")
                    if width < 700:
                        page.click(".side .more summary")
                    page.click(".side button:has-text('Sign out') >> visible=true")
                    page.wait_for_url(f"{base}/sign-in")


@pytest.mark.parametrize("width", [390, 768])
def test_tabs_and_fields_show_all_of_their_texts(chromium, served, width):
    assert_no_text_is_cut_off(chromium, served[0], "de-DE", TABLET | {"width": width})


def test_the_name_of_a_file_that_failed_has_room_beside_no_button_on_a_phone(chromium, served):
    with open_page(chromium, served[0], name="ann", locale="fr-FR", width=390, height=844) as page:
        page.goto(f"{served[0]}/administration/library/failures")
        name, button = page.locator(".failed h2").bounding_box(), page.locator(".failed form").bounding_box()
        assert name["width"] > 200
        assert button["y"] >= name["y"] + name["height"]


@pytest.mark.parametrize("width", [768, 1024, 1280])
def test_the_bar_of_the_selection_leaves_the_navigation_free(chromium, served, width):
    with open_page(chromium, served[0], **TABLET | {"width": width}) as page:
        page.locator(".tiles li[aria-posinset] a").first.focus()
        page.keyboard.press("x")
        bar, side = page.locator(".actions").bounding_box(), page.locator("header.side").bounding_box()
        assert bar["x"] >= side["width"]
        assert bar["x"] + bar["width"] <= width
        assert bar["height"] < (120 if width < 900 else 64)
        out = page.get_by_role("button", name="Sign out").bounding_box()
        assert out["x"] + out["width"] <= bar["x"]
