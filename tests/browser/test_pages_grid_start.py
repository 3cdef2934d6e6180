"""How the grid starts in Chromium: with the photos that the page came with, and without scripts that load."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TOTAL = 40
TILES = ".tiles li img.here"
FIRST = ".tiles li[aria-posinset='1'] img.here"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with photos of four days."""
    with open_api(tmp_path_factory.mktemp("start")) as api:
        for number in range(TOTAL):
            taken = exif({}, {0x9003: f"2024:0{1 + number % 2}:{10 + number % 4} 10:{number:02}:00"})
            api.library.put(f"IMG_{number:04}.jpg", jpeg(60 + number, 60, exif=taken))
        assert api.library.index().summary.indexed == TOTAL
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


def places(page):
    """Where each photo stands, by the address of its page."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".tiles li")].map((item) => {
      const {x, y, width, height} = item.getBoundingClientRect();
      return [item.querySelector("a").pathname, [x, y, width, height].map(Math.round).join(" ")];
    }))""")


def test_the_first_photos_are_there_before_the_timeline_and_do_not_move_with_it(base, chromium):
    with open_page(chromium, base) as page:
        page.wait_for_selector(FIRST)
        asked, held = [], []
        page.on("request", lambda request: asked.append(request.url) if "/t/" in request.url else None)
        page.route("**/photos/timeline?*", lambda route: held.insert(0, route))
        page.goto(f"{base}/?q=year:2024", wait_until="commit")
        page.wait_for_selector(TILES)
        before = places(page)
        assert page.query_selector("[aria-posinset]") is None
        assert page.query_selector(f"{TILES} >> xpath=ancestor::a").get_attribute("href").startswith("/photos/p")
        held.pop().continue_()
        page.wait_for_selector(FIRST)
        assert places(page) == before
        page.wait_for_timeout(300)
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize(
    ("pattern", "status", "told"),
    [
        ("**/grid/main.js", 404, "Failed to"),
        ("**/grid/tools.js", 404, "Failed to"),
        ("**/photos/timeline?*", 503, "503"),
    ],
)
def test_a_grid_that_cannot_start_shows_the_photos_of_the_page(base, chromium, pattern, status, told):
    with open_page(chromium, base, expected=told) as page:
        page.wait_for_selector(FIRST)
        page.route(pattern, lambda route: route.fulfill(status=status, body=""))
        page.goto(f"{base}/?q=year:2024")
        page.wait_for_selector(".day .grid img")
        assert page.locator(".day .grid img").count() == TOTAL


def test_a_page_that_is_asked_for_by_its_number_is_plain(base, chromium):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/?page=1")
        assert page.locator(".day .grid img").count() == TOTAL
        page.wait_for_timeout(500)
        assert page.query_selector(".scrubber") is None


def test_photos_of_many_months_take_few_requests(chromium, tmp_path):
    with open_api(tmp_path) as api:
        for number in range(82):
            taken = exif({}, {0x9003: f"{1990 + number // 4}:{number % 4 * 3 + 1:02}:01 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as base, open_page(chromium, base) as page:
            asked = []
            page.goto("about:blank")  # the page after the log-in asks for nothing any more
            page.on("request", lambda request: asked.append(request.url) if "/photos/timeline" in request.url else None)
            page.goto(base)
            page.wait_for_selector(".tiles li[aria-setsize='82'] img.here")
            for _ in range(30):
                page.mouse.wheel(0, 400)
                page.wait_for_timeout(60)
            page.wait_for_selector(".tiles li[aria-posinset='82'] img.here")
            assert len(asked) <= 6, asked
