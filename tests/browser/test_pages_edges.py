"""The edges of the pages with a grid: they agree at every width, and leave room to type a search."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

WIDTHS = (390, 700, 768, 900, 1024, 1280, 2560)
#: Right edges in pixels of the last control of the search, of the line with the number of photos, and of the photos.
EDGES = """() => [".search > .button", ".summary .total", ".days"].map(
  (selector) => Math.round(document.querySelector(selector).getBoundingClientRect().right))"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with photos, some of them in review."""
    with open_api(tmp_path_factory.mktemp("edges")) as api:
        for number in range(12):
            taken = exif({}, {0x9003: f"2023:05:{number + 1:02} 10:00:00"})
            api.library.put(f"2023/IMG_{number}.jpg", jpeg(80 + number, 60, exif=taken))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


@pytest.mark.parametrize("path", ["/", "/review", "/folders/2023"])
def test_the_search_field_has_room_and_right_edges_agree(base, chromium, path):
    with open_page(chromium, base) as page:
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(base + path)
            page.wait_for_selector(".days img")
            assert page.evaluate("() => document.documentElement.scrollWidth") == width
            assert page.locator(".search .field").bounding_box()["width"] >= 300, width
            if width >= 900:
                controls, total, photos = page.evaluate(EDGES)
                # On wide screens the field ends before the edge.
                assert (min(controls, total), total) == (controls, photos), width
