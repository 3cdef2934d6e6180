"""The pages in Chromium as far as every day needs: signing in, the grid, a search and the viewer."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

NAMES = ("lake", "hill", "town")
TILE = ".tiles li[aria-posinset]"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with three photos."""
    with open_api(tmp_path_factory.mktemp("smoke")) as api:
        for day, name in enumerate(NAMES, 1):
            taken = exif({}, {0x9003: f"2023:05:0{day} 10:00:00"})
            api.library.put(f"{name}.jpg", jpeg(300 + day, 200, exif=taken))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


def test_somebody_signs_in_looks_at_the_grid_searches_and_views_a_photo(chromium, base):
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{TILE} img.here")
        assert page.locator(TILE).count() == len(NAMES)
        page.fill("[name=q]", "name:hill")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{base}/?q=name%3Ahill*")
        page.wait_for_selector(f"{TILE}[aria-setsize='1'] img.here")
        page.click(f"{TILE} a")
        page.wait_for_selector(".pswp--ui-visible")
        page.wait_for_function(
            "() => document.querySelector('.pswp__img:not(.pswp__img--placeholder)')?.naturalWidth === 302"
        )
        page.keyboard.press("Escape")
        page.wait_for_selector(".pswp", state="detached")
