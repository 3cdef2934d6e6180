"""Folders in Chromium: walked through by keys alone, and as wide as a phone and a desktop in both themes."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LONG = "a-name-without-a-blank-that-is-longer-than-the-screen-of-any-phone-is-wide"
DEEP = f"2023/{LONG}/{LONG}"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with photos in folders."""
    with open_api(tmp_path_factory.mktemp("folders")) as api:
        for number, folder in enumerate(("2023", "2023", DEEP, DEEP, "2024")):
            taken = exif({}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"{folder}/IMG_{number}.jpg", jpeg(80 + number, 60, exif=taken))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


def press_until(page, key, selector):
    """Press a key until the focus is on an element."""
    for _ in range(60):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    pytest.fail(f"{key} does not lead to {selector}")


def tiles(page, count):
    page.wait_for_selector(f".tiles li[aria-setsize='{count}'] img.here")


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 390), ("light", 1280), ("dark", 1280)])
def test_no_folder_is_wider_than_the_screen(base, chromium, theme, width):
    with open_page(chromium, base, color_scheme=theme, width=width) as page:
        for path in ("/folders", "/folders/2023", f"/folders/2023/{LONG}", f"/folders/{DEEP}", "/folders?find=x-y"):
            page.goto(base + path)
            assert page.evaluate("() => document.documentElement.scrollWidth") == width, path


def test_keys_lead_to_a_folder_its_photo_and_back(base, chromium):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/folders")
        press_until(page, "Tab", ".folders a[href$='/2023']")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{base}/folders/2023")
        tiles(page, 2)
        press_until(page, "Tab", ".tiles a")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pswp__img")
        shared = page.url
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: url.startswith(f"{base}/folders/2023"))
        page.goto(shared)  # a link to the photo opens it over the grid of its folder
        page.wait_for_selector(".pswp__img")
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: url.startswith(f"{base}/folders/2023"))
        tiles(page, 2)
        press_until(page, "Shift+Tab", ".trail a")
        press_until(page, "Shift+Tab", ".trail a[href='/folders']")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{base}/folders")


def test_another_order_of_the_folders_is_shown_at_once(base, chromium):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/folders")
        page.select_option("#sort", "latest")
        page.wait_for_url(f"{base}/folders?find=&sort=latest")
        assert page.locator(".folders .name").all_inner_texts() == ["2024", "2023"]
