"""The page of the API in Chromium: the filter while somebody types, links into what it hides, and copying a command."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

SHOWN = "details[data-words]:visible"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with (
        open_api(tmp_path_factory.mktemp("docs")) as api,
        serve(api.library.instance, workers=1, threads=8) as address,
    ):
        yield address


def test_the_filter_hides_operations_and_groups_while_somebody_types(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/api-docs")
        every = page.locator(SHOWN).count()
        page.focus("#q")
        page.keyboard.type("Zip GET")
        assert page.locator(SHOWN).count() == 1
        assert page.locator("#found").inner_text() == "1 operation"
        assert page.locator("section.group:visible h2").all_inner_texts() == ["Downloads", "Searching", "Schemas"]
        assert page.locator(".groups a:visible").all_inner_texts() == ["downloads", "schemas"]
        page.keyboard.type("<img src=x onerror=alert(1)>")
        assert page.locator(SHOWN).count() == 0
        assert page.locator("#found").inner_text() == "0 operations"
        page.goto(f"{base}/api-docs#search_photos")  # of the same page, and hidden by the filter
        assert page.locator(SHOWN).count() == every
        assert page.locator("#curl-search_photos").is_visible()
        assert page.locator("#q").input_value() == ""


def test_enter_asks_the_server_for_the_same_operations(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/api-docs")
        page.focus("#q")
        page.keyboard.type("album post")
        typed = page.locator(f"{SHOWN} h3").all_inner_texts()
        page.keyboard.press("Enter")
        page.wait_for_url("**/api-docs?q=album+post")
        assert page.locator(f"{SHOWN} h3").all_inner_texts() == typed
        assert len(typed) > 3
        page.click("text=show all")
        page.wait_for_url("**/api-docs")


@pytest.mark.parametrize("host", ["127.0.0.1", "photos.test"])
def test_the_command_is_copied_with_or_without_a_clipboard_for_scripts(chromium, base, host):
    address = base.replace("127.0.0.1", host)
    with open_page(chromium, address, permissions=["clipboard-write"]) as page:
        page.goto(f"{address}/api-docs#read_photo")
        command = page.locator("#curl-read_photo").inner_text()
        assert f"{address}/api/v1/photos/$PHOTO_UID" in command
        button = page.locator("[data-copy=curl-read_photo]")
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_function("document.querySelector('[data-copy=curl-read_photo]').textContent === 'Copied'")
        page.focus("#q")
        page.keyboard.press("Control+V")
        assert re.sub(r"\s", "", page.locator("#q").input_value()) == re.sub(r"\s", "", command)


@pytest.mark.parametrize("width", [320, 390])
def test_a_phone_reads_an_operation_without_scrolling_sideways(chromium, base, width):
    with open_page(chromium, base, width=width, has_touch=True) as page:
        page.goto(f"{base}/api-docs")
        page.tap("text=GET /photos >> nth=0")
        page.wait_for_selector("#curl-search_photos")
        assert page.evaluate("document.documentElement.scrollWidth") == width
