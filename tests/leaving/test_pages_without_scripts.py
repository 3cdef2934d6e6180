"""The photos in Chromium without JavaScript, and with scripts that do not load: seen, opened, edited and marked."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.timeout(120)]

NAMES = ("lake", "hill", "town")
TILE = ".unscripted .grid li"
SCRIPTS = re.compile(r"/assets/.*\.js$")


@pytest.fixture
def served(tmp_path):
    """The address of a service with three photos, and its library."""
    with open_api(tmp_path) as api:
        for day, name in enumerate(NAMES, 1):
            taken = exif({}, {0x9003: f"2023:05:0{day} 10:00:00"})
            api.library.put(f"{name}.jpg", jpeg(300 + day, 200, exif=taken))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address, api


def named(api, name):
    (found,) = api.library.find(token=api.app_password("alice"), q=f"name:{name}", archived="", merged="true")
    return found


def test_without_javascript_a_photo_is_seen_opened_edited_and_marked(chromium, served):
    base, api = served
    with open_page(chromium, base, java_script_enabled=False) as page:
        page.locator(TILE).first.wait_for(state="visible")
        assert page.locator(TILE).count() == len(NAMES)
        page.locator(f"{TILE} a").first.click()
        page.wait_for_url(re.compile(f"{base}/photos/p"))
        page.click("text=Edit")
        page.fill("[name=Title]", "At the lake")
        page.fill("[name=Keywords]", "water, boat")
        page.select_option("[name=Rating]", "4")
        page.click("text=Place and time zone")
        page.fill("[name=Position]", "47.5, 9.25")
        page.click("button:has-text('Save')")
        page.wait_for_selector("text=Photo saved.")
        page.click("button:has-text('Favorite')")
        page.wait_for_selector("text=Photo added to the favorites.")
        page.click("button:has-text('Archive')")
        page.wait_for_selector("text=Photo archived.")
        page.click("button:has-text('Undo')")
        page.wait_for_selector("text=Photo restored from the archive.")
    town = named(api, "town")
    assert (town["Title"], town["Favorite"], town["Lat"]) == ("At the lake", True, 47.5)


def test_without_javascript_ticked_photos_are_archived_and_come_back(chromium, served):
    base, api = served
    with open_page(chromium, base, width=390, height=844, java_script_enabled=False) as page:
        page.locator(f"{TILE} input").nth(0).check()
        page.locator(f"{TILE} input").nth(1).check()
        page.click("button:has-text('Archive')")
        page.wait_for_selector("text=2 photos archived.")
        assert page.locator(TILE).count() == 1
        assert len(api.library.find(token=api.app_password("alice"))) == 1
        page.click("button:has-text('Undo')")
        page.wait_for_selector("text=2 photos restored from the archive.")
        assert page.locator(TILE).count() == len(NAMES)


@pytest.mark.parametrize("missing", [SCRIPTS, re.compile(r"/assets/.*/grid/.*\.js$"), re.compile(r"/page\.js$")])
def test_when_scripts_do_not_load_the_photos_are_there(chromium, served, missing):
    base, _ = served
    with open_page(chromium, base, expected="Failed to load resource|ERR_FAILED") as page:
        page.route(missing, lambda route: route.abort())
        page.goto(f"{base}/")
        page.locator(":is(.unscripted .grid, .grid, .tiles) > li a").first.wait_for(state="visible")
        # Either the grid, or the plain photos; never both.
        assert page.locator("li a[href*='/photos/p']:visible").count() == len(NAMES)


def test_with_scripts_the_plain_photos_are_taken_away_at_once(chromium, served):
    base, _ = served
    with open_page(chromium, base) as page:
        page.wait_for_selector(".tiles li[aria-posinset] img.here")
        assert page.locator(".unscripted").count() == 0
