"""Keys and addresses of the grid in Chromium: months in the address, letters that can be turned off, titles, focus."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

FIRST = ".tiles li[aria-posinset='1']"
MONTHS = ("2012:05", "2014:07", "2018:01")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("keys")) as api:
        for month in MONTHS:
            for number in range(30):
                taken = exif({}, {0x9003: f"{month}:{number % 28 + 1:02} 10:{number:02}:00"})
                name = f"{month.replace(':', '')}_{number:02}.jpg"
                api.library.put(name, jpeg(80, 60, exif=taken) + name.encode())
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


@pytest.fixture
def page(base, chromium):
    with open_page(chromium, base, height=500) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.wait_for_selector(".scrubber:not([hidden])")
        yield page


def at_month(page, words):
    """Wait until the scrubber is at this month."""
    page.wait_for_selector(f".scrubber[aria-valuetext='{words}']")


@pytest.mark.parametrize(
    ("month", "words"),
    [("2012-05", "May 2012"), ("2014-05", "July 2014"), ("1999-01", "May 2012"), ("2030-12", "January 2018")],
)
def test_a_month_in_the_address_leads_to_it_or_to_the_nearest_one(page, base, month, words):
    page.evaluate("month => { location.hash = month; }", month)
    at_month(page, words)
    page.goto("about:blank")
    page.goto(f"{base}/#{month}")
    at_month(page, words)


def test_letters_are_keys_only_where_the_photos_have_the_focus_or_nothing_has_it(page):
    page.keyboard.press("m")
    at_month(page, "July 2014")
    page.focus(".side nav a")
    page.keyboard.press("m")
    page.keyboard.press("?")
    page.wait_for_timeout(300)
    at_month(page, "July 2014")
    assert page.query_selector("dialog") is None
    page.focus(".scrubber")
    page.keyboard.press("m")
    at_month(page, "May 2012")


def test_letters_can_be_turned_off_and_on_again(page, base):
    page.keyboard.press("?")
    page.uncheck("dialog [name=letters]")
    page.keyboard.press("Escape")
    page.goto(base)
    page.wait_for_selector(".scrubber:not([hidden])")
    for key in ("m", "?", "/"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.evaluate("document.activeElement === document.body")
    at_month(page, "January 2018")
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    page.keyboard.press("i")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".pswp__position:text-is('2 of 90')")
    assert page.query_selector(".panel") is None
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")
    page.keyboard.press("?")
    page.check("dialog [name=letters]")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    at_month(page, "July 2014")


def test_the_title_of_the_tab_is_that_of_the_photo_in_the_viewer(page, base):
    page.goto(f"{base}/?q=day:20")  # one of each year, which is in the titles
    page.wait_for_selector(f"{FIRST} img.here")
    before = page.title()
    page.click(f"{FIRST} a")
    page.wait_for_function("before => document.title !== before", arg=before)
    page.wait_for_selector(".pswp--ui-visible")
    first = page.title()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("first => document.title !== first", arg=first)
    assert page.title().endswith(before.removeprefix("day:20"))
    page.keyboard.press("Escape")
    page.wait_for_function("before => document.title === before", arg=before)


def test_the_focus_box_of_the_scrubber_is_inside_of_the_screen(page):
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.scrubber')"):
            break
    style = "getComputedStyle(document.activeElement)"
    assert page.evaluate(f"{style}.outlineStyle") == "solid"
    assert page.evaluate(f"parseFloat({style}.outlineOffset) + parseFloat({style}.outlineWidth)") <= 0


@pytest.fixture
def sparse(tmp_path, chromium):
    """A page whose months have one photo each, a row wide; some stand together: from December 2021 to January 2019."""
    with open_api(tmp_path) as api:
        for year in (2019, 2020, 2021):
            for month in range(1, 13):
                taken = exif({}, {0x9003: f"{year}:{month:02}:05 10:00:00"})
                name = f"{year}{month:02}.jpg"
                api.library.put(name, jpeg(1200, 300, exif=taken) + name.encode())
        api.library.index()
        with (
            serve(api.library.instance, workers=1, threads=4) as address,
            open_page(chromium, address, height=500) as page,
        ):
            page.wait_for_selector(".scrubber:not([hidden])")
            yield page


#: The first photo of which nothing is under the bar of the search, and whether it is there already.
UPPERMOST = """[...document.querySelectorAll(".tiles li[aria-posinset]")]
    .filter((tile) => tile.getBoundingClientRect().top >= document.querySelector(".search").offsetHeight)
    .sort((a, b) => a.ariaPosInSet - b.ariaPosInSet)[0]?.ariaPosInSet"""


def uppermost(page, position):
    """Wait until the photo at this position, counted from 1, is the first one on the screen."""
    page.wait_for_function(f"position => {UPPERMOST} === position", arg=str(position))


@pytest.mark.parametrize(("month", "position"), [("2020-12", 13), ("2020-07", 18), ("2019-12", 25)])
def test_a_month_that_stands_beside_others_is_led_to_as_well(sparse, month, position):
    base = sparse.url
    sparse.evaluate("month => { location.hash = month; }", month)
    uppermost(sparse, position)
    sparse.goto("about:blank")
    sparse.goto(f"{base}#{month}")
    uppermost(sparse, position)


def test_the_place_stays_when_the_only_photo_of_the_month_there_is_archived(sparse):
    # The entry of this month begins with its only photo, and has another name without it.
    sparse.keyboard.press("y")
    sparse.wait_for_url("**/#20*")
    name = sparse.evaluate("location.hash.slice(1, 8)")
    position = int(sparse.evaluate(UPPERMOST))
    assert name == f"{2021 - (position - 1) // 12}-{12 - (position - 1) % 12:02}"
    sparse.hover(f".tiles li[aria-posinset='{position}']")
    sparse.click(f".tiles li[aria-posinset='{position}'] .pick")
    sparse.keyboard.press("a")
    sparse.wait_for_selector(".tiles li[aria-setsize='35']")
    uppermost(sparse, position)
    sparse.keyboard.press("Control+z")
    sparse.wait_for_selector(".tiles li[aria-setsize='36']")
    # What was on the screen stays there; the photo comes back above it.
    uppermost(sparse, position + 1)
