"""The grid in Chromium with two million photos: all of them are reached, and the page stays as small as it is.

The timeline is made up, as the service would answer it for such a library; the photos of the page are those of a small
one.
"""

import re

import pytest

from tests.browser.chromium import open_page
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

MONTHS, PHOTOS, DAYS = 400, 5000, 25
TOTAL = MONTHS * PHOTOS
SHAPES = (150, 67, 133, 178, 75)
NAMES = [f"{2025 - number // 12}-{12 - number % 12:02}" for number in range(MONTHS)]
VERSION = "made-up"
FIRST, LAST = f".tiles li[aria-posinset='1'][aria-setsize='{TOTAL}']", f".tiles li[aria-posinset='{TOTAL}']"


@pytest.fixture
def page(chromium, tmp_path):
    """The grid of two million photos."""
    picture = jpeg(60, 40)
    with open_api(tmp_path) as api:
        for number in range(3):
            taken = exif({}, {0x9003: f"2025:12:0{number + 1} 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(60, 40 + number, exif=taken))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as base, open_page(chromium, base) as page:
            page.route(re.compile(r"/photos/timeline"), lambda route: route.fulfill(json=made_up(route.request.url)))
            page.route("**/api/v1/t/**", lambda route: route.fulfill(body=picture, content_type="image/jpeg"))
            page.goto(f"{base}/?q=year:2025")
            page.wait_for_selector(f"{FIRST} img.here")
            yield page


def made_up(address):
    """What the timeline answers: all months, the columns of one, or a hundred of its photos."""
    path, _, given = address.partition("/photos/timeline")[2].partition("?")
    _, month, *photos = (path or "/").split("/")
    if not month:
        return {"version": VERSION, "total": TOTAL, "months": [[name, PHOTOS] for name in NAMES]}
    if not photos:
        days = [[DAYS - day, PHOTOS // DAYS] for day in range(DAYS)]
        ratio = list(SHAPES) * (PHOTOS // len(SHAPES))
        return {
            "version": VERSION,
            "month": month,
            "days": days,
            "ratio": ratio,
            "color": "4" * PHOTOS,
            "type": "0" * PHOTOS,
        }
    asked = dict(pair.split("=") for pair in given.split("&"))
    start, count = int(asked.get("from", 0)), int(asked["n"])
    return {"version": VERSION, "month": month, "from": start, "photos": [
        {"uid": f"p{month}{at}", "hash": f"{month}{at}", "duration": 0, "favorite": False, "private": False,
         "width": 60, "height": 40, "text": f"Photo {at}"}
        for at in range(start, min(start + count, PHOTOS))
    ]}  # fmt: skip


def heap(devtools):
    """Megabytes of the scripts, without what is unused."""
    devtools.send("HeapProfiler.collectGarbage")
    return devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6


def test_two_million_photos_are_reached_and_leave_nothing_behind(page):
    devtools = page.context.new_cdp_session(page)
    box = page.locator(".scrubber").bounding_box()
    x, upper, lower = box["x"] + box["width"] / 2, box["y"] + 1, box["y"] + box["height"] - 1
    elements, heaps = [], []
    for sweep in range(8):
        begin, end = (upper, lower) if sweep % 2 == 0 else (lower, upper)
        page.mouse.move(x, begin)
        page.mouse.down()
        for step in range(1, 21):
            page.mouse.move(x, begin + (end - begin) * step / 20)
            if step % 5 == 0:
                elements.append(page.evaluate("document.querySelectorAll('*').length"))
        page.mouse.up()
        page.wait_for_selector(".tiles li img.here")
        heaps.append(heap(devtools))
    assert max(elements) <= 1000
    assert max(heaps[4:]) < max(heaps[:4]) + 1
    page.focus(".scrubber")
    page.keyboard.press("End")
    page.wait_for_selector(f".tiles li[aria-posinset='{TOTAL - PHOTOS + 1}'] a[tabindex='0']")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+End")
    page.wait_for_selector(f"{LAST} img.here")
    page.wait_for_function(
        "total => document.activeElement.closest('li')?.getAttribute('aria-posinset') === total", arg=str(TOTAL)
    )
    page.keyboard.press("Control+Home")
    page.wait_for_selector(f"{FIRST} img.here")
