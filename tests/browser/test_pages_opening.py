"""Links to a photo in Chromium: the viewer over the grid of the search in the address, else the page of the photo."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

TOTAL = 150  # more than a page comes with
VIEWED = ".pswp--open:not([style*='opacity: 0'])"
COUNTER = ".pswp__position"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with photos of several months: its API, its address, and an album arranged by hand."""
    with open_api(tmp_path_factory.mktemp("opening")) as api:
        for number in range(TOTAL):
            taken = exif({}, {0x9003: f"2024:{1 + number % 12:02}:10 10:{number % 60:02}:{number // 60:02}"})
            api.library.put(f"IMG_{number:04}.jpg", jpeg(80, 60, exif=taken) + f"{number}".encode())
        assert api.library.index().summary.indexed == TOTAL
        uids = uids_of(api.library, order="name")
        album = api.library.call("POST", "/albums", json={"Title": "By hand", "Order": "manual"})["UID"]
        api.library.call("POST", f"/albums/{album}/photos", json={"photos": uids[:9][::-1]})
        with serve(api.library.instance, workers=1, threads=4) as base:
            yield api.library, base, album


@pytest.fixture
def page(service, chromium):
    """Somebody who is signed in."""
    with open_page(chromium, service[1]) as page:
        yield page


def uids_of(library, **asked):
    return [record["UID"] for record in library.find(count=1000, merged="true", **asked)]


def wait_for(page, position, total):
    """Wait until the viewer shows the photo at this position of all."""
    page.wait_for_selector(VIEWED)
    page.wait_for_function(f"() => document.querySelector('{COUNTER}')?.textContent === '{position} of {total}'")


def path_of(page):
    return page.evaluate("location.pathname")


@pytest.mark.parametrize("order", ["newest", "oldest", "name", "-title"])
def test_a_link_opens_the_viewer_among_the_photos_of_its_search(service, page, order):
    library, base, _ = service
    uids = uids_of(library, order=order, q="year:2024")
    at = TOTAL - 7
    page.goto(f"{base}/photos/{uids[at]}?q=year:2024&order={order}")
    wait_for(page, at + 1, TOTAL)
    assert path_of(page) == f"/photos/{uids[at]}"
    page.keyboard.press("ArrowRight")
    wait_for(page, at + 2, TOTAL)
    assert path_of(page) == f"/photos/{uids[at + 1]}"
    page.keyboard.press("i")
    page.wait_for_selector(".panel [name=Title]")
    page.go_back()
    page.wait_for_selector(VIEWED, state="detached")
    page.wait_for_selector(f".tiles li[aria-posinset='{at + 2}'] a:focus")
    assert "q=year%3A2024" in page.url
    page.go_forward()
    wait_for(page, at + 2, TOTAL)


def test_photos_that_the_months_have_elsewhere_than_the_sequence_open_in_the_viewer(tmp_path, chromium):
    with open_api(tmp_path) as api:
        library = api.library
        for day in range(10, 30):
            taken = exif({}, {0x9003: f"2024:06:{day} 10:00:00"})
            library.put(f"IMG_{day}.jpg", jpeg(80, 60, exif=taken) + bytes([day]))
        # Later by universal time, and on an earlier day.
        west, east = ("2024:05:01 23:30:00", "-08:00"), ("2024:05:02 01:00:00", "+09:00")
        for name, (time, zone) in {"west": west, "east": east}.items():
            library.put(f"{name}.jpg", jpeg(80, 60, exif=exif({}, {0x9003: time, 0x9011: zone})) + name.encode())
        library.index()
        (undated,) = library.find(q="name:IMG_29", merged="true", count=1)
        library.call("PUT", f"/photos/{undated['UID']}", json={"Year": 2024, "Month": -1, "Day": -1})
        places = {"east": 20, "west": 21, "IMG_29": 22}
        with serve(library.instance, workers=1, threads=4) as base, open_page(chromium, base) as page:
            for name, position in places.items():
                (photo,) = library.find(q=f"name:{name}", merged="true", count=1)
                page.goto(f"{base}/photos/{photo['UID']}")
                wait_for(page, position, 22)
                assert path_of(page) == f"/photos/{photo['UID']}"


def test_a_photo_of_an_album_by_hand_is_among_those_beside_it_there(service, page):
    library, base, album = service
    uids = uids_of(library, s=album, order="manual")
    page.goto(f"{base}/photos/{uids[3]}?s={album}")
    wait_for(page, 4, 9)
    page.keyboard.press("ArrowLeft")
    wait_for(page, 3, 9)
    page.keyboard.press("Escape")
    page.wait_for_selector(VIEWED, state="detached")
    assert path_of(page) == f"/albums/{album}"


def test_the_viewer_is_there_after_a_reload_and_back_leads_to_the_grid_once(service, page):
    library, base, _ = service
    uids = uids_of(library, order="newest")
    page.goto(f"{base}/places")
    page.goto(f"{base}/photos/{uids[20]}")
    wait_for(page, 21, TOTAL)
    for _ in range(2):
        page.reload()
        wait_for(page, 21, TOTAL)
    page.go_back()
    page.wait_for_selector(".tiles li img")
    page.wait_for_selector(VIEWED, state="detached")
    assert path_of(page) == "/"
    page.go_forward()
    wait_for(page, 21, TOTAL)
    page.keyboard.press("Escape")
    page.wait_for_function("() => location.pathname === '/'")
    page.go_back()
    page.wait_for_url(re.compile("/places"))


def test_back_from_a_search_that_the_panel_led_to_opens_the_same_photo(service, page):
    library, base, _ = service
    uids = uids_of(library, order="newest")
    page.goto(f"{base}/photos/{uids[5]}")
    wait_for(page, 6, TOTAL)
    page.keyboard.press("i")
    page.click(".panel dl a >> nth=0")
    page.wait_for_url(re.compile(r"/\?q="))
    page.wait_for_selector(".tiles li img")
    page.go_back()
    wait_for(page, 6, TOTAL)
    assert path_of(page) == f"/photos/{uids[5]}"


def test_its_page_is_shown_where_the_search_does_not_find_the_photo_or_the_address_asks_for_it(service, page):
    library, base, _ = service
    uid = uids_of(library, order="newest")[0]
    for address in (f"{uid}?q=year:1999", f"{uid}?page=1", f"{uid}?done=saved", f"{uid}?in=review", f"{uid}?q=year:x"):
        page.goto(f"{base}/photos/{address}", wait_until="load")
        page.wait_for_selector(".stage img")
        assert page.url == f"{base}/photos/{address}"


def test_its_page_is_shown_when_the_rest_of_the_grid_does_not_load(service, chromium):
    library, base, _ = service
    uid = uids_of(library, order="newest")[0]
    for refused in ("**/grid/tools*.js", "**/grid/viewer*.js", "**/photos/sequence*"):
        with open_page(chromium, base, expected="Failed to load|photos:|net::ERR_FAILED") as page:
            page.route(refused, lambda route: route.abort())
            page.goto(f"{base}/photos/{uid}?q=year:2024")
            page.wait_for_url(re.compile(r"&page=1$"))
            page.wait_for_selector(".stage img")
