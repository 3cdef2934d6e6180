"""The grid in Chromium without a connection, and links of tiles on phones."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

FIRST = ".tiles li[aria-posinset='1']"
TOTAL = 144
#: The text that the style sheet writes into the first element of this selector.
MARK = "selector => getComputedStyle(document.querySelector(selector), '::after').content"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("offline")) as api:
        for number in range(TOTAL):
            taken = exif({}, {0x9003: f"{2008 + number // 12}:05:{number % 12 + 1:02} 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


def test_without_a_connection_the_page_and_each_blank_row_say_so_until_it_is_back(base, chromium):
    with open_page(chromium, base, height=400, expected="Failed to load resource") as page:
        page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")
        page.wait_for_selector(".scrubber:not([hidden])")
        page.context.set_offline(True)
        page.wait_for_selector(".away:has-text('Offline')")
        page.focus(".scrubber")
        page.keyboard.press("End")
        page.wait_for_selector(".month:empty", state="attached")
        assert page.evaluate(MARK, ".month:empty") == '"Offline"'
        page.context.set_offline(False)
        page.wait_for_selector(f".tiles li[aria-posinset='{TOTAL - 8}'] img.here")
        page.wait_for_selector(".away", state="hidden")
        assert page.evaluate("!document.documentElement.classList.contains('offline')")


def test_the_connection_is_looked_for_at_once_when_the_browser_has_one_again(base, chromium):
    with open_page(chromium, base, expected="Failed to load resource") as page:
        with page.expect_response("**/photos/state"):  # the next look would be fifteen seconds later
            page.goto(base)
        page.wait_for_selector(".scrubber:not([hidden])")
        page.context.set_offline(True)
        page.wait_for_selector(".away:has-text('Offline')")
        page.context.set_offline(False)
        page.wait_for_selector(".away", state="hidden", timeout=8_000)


def test_what_needs_a_script_that_is_not_loaded_yet_says_that_there_is_no_connection(base, chromium):
    with open_page(chromium, base, expected="Failed to load resource") as page:
        page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")
        page.wait_for_selector(".scrubber:not([hidden])")
        page.context.set_offline(True)
        for key in ("l", "Enter"):
            page.focus(f"{FIRST} a")
            page.keyboard.press(key)
            page.wait_for_selector(".undo:has-text('The server cannot be reached. Try again.')")
            page.evaluate("document.querySelector('.undo').hidden = true")
        assert page.url == f"{base}/"
        page.context.set_offline(False)
        page.keyboard.press("Enter")
        page.wait_for_selector(".pswp__img")


def test_a_server_that_does_not_answer_counts_as_no_connection(base, chromium):
    with open_page(chromium, base, expected="Failed to load resource") as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.route("**/photos/state", lambda route: route.abort())
        page.route("**/t/**", lambda route: route.abort())
        page.goto(base)
        page.wait_for_selector(".away:has-text('Offline')")
        page.wait_for_selector(FIRST)
        assert page.evaluate(MARK, FIRST) == '"Offline"'
        page.unroute("**/photos/state")
        page.wait_for_selector(".away", state="hidden")


def test_a_long_touch_of_a_tile_selects_and_shows_no_preview_of_its_link():
    """Chromium has no such preview, and no such property: the style sheet of iPhones is read as a text."""
    from photosvc.pages.layout import _contents

    (rule,) = [line for line in _contents()["grid/grid.css"].decode().splitlines() if line.startswith(".tiles a {")]
    assert "-webkit-touch-callout: none" in rule
