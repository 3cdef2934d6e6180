"""The map in Chromium: by mouse and by keyboard, back to where it was, on screens of all widths, and with tiles."""

import re
from itertools import combinations

import pytest
from sqlalchemy import select

from photosvc.models import File
from tests.app.pages.places.test_pages_places import at, put_spots
from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

HASH = re.compile(r"#\d+/-?[\d.]+/-?[\d.]+$")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("map")) as api:
        put_spots(api.library)
        with serve(api.library.instance, workers=1, threads=8) as address:
            yield address


def test_a_disc_opens_its_photos_and_back_leads_to_the_same_map(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/places#5/48.9/5.0")
        page.wait_for_selector(".spot a[aria-label^='2 photos']")
        page.locator("#map").focus()
        page.keyboard.press("+")
        page.wait_for_url(re.compile("#6/"))
        page.wait_for_selector(".spot a[aria-label^='2 photos'] i")
        kept = page.url
        assert HASH.search(kept)
        page.locator(".spot a[aria-label^='2 photos']").focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".summary .total:has-text('2 photos')")
        page.go_back()
        page.wait_for_selector(".spot a[aria-label^='2 photos']")
        assert page.url == kept


def test_a_map_that_is_dragged_by_a_disc_opens_nothing(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/places#5/48.9/5.0")
        box = page.locator(".spot a[aria-label^='2 photos']").bounding_box()
        page.mouse.move(box["x"] + 15, box["y"] + 15)
        page.mouse.down()
        page.mouse.move(box["x"] - 120, box["y"] + 60, steps=6)
        page.mouse.up()
        page.wait_for_url(lambda url: HASH.search(url) and not url.endswith("/48.9/5.0"))
        assert "/places" in page.url


def test_all_photos_of_the_view_open_in_the_grid(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/places")
        page.click(".view a:has-text('3 photos')")
        page.wait_for_selector(".summary .total:has-text('3 photos')")


def test_the_map_is_asked_for_again_when_the_connection_is_back(chromium, base):
    with open_page(chromium, base, expected="Failed to load resource") as page:
        page.goto(f"{base}/places")
        page.wait_for_selector(".view a:has-text('3 photos')")
        page.context.set_offline(True)
        page.locator("#map").focus()
        page.keyboard.press("+")
        page.wait_for_selector(".view :text-is('The server cannot be reached. Try again.')")
        page.context.set_offline(False)
        page.wait_for_selector(".view :has-text('in this view')")


def test_a_view_without_anything_of_the_outline_has_lines_with_their_degrees(chromium, base):
    with open_page(chromium, base) as page:
        page.goto(f"{base}/places#9/49.4/-0.01")
        page.wait_for_selector(".degrees")
        degrees = page.locator(".degrees").all_inner_texts()
        assert {"49.5° N", "0°", "0.5° E", "0.5° W"} <= set(degrees)
        page.locator("#map").focus()
        for zoom in range(8, 5, -1):
            page.keyboard.press("-")
            page.wait_for_url(re.compile(f"#{zoom}/"))
        assert page.locator("img.outline").count() == 3
        assert page.locator(".degrees, .graticule").count() == 0


def test_without_tiles_the_map_ends_with_its_outline_and_photos_of_a_town_are_spread_around_it(chromium, tmp_path):
    with open_api(tmp_path) as api:
        for number in range(6):
            near = at(48, 51, 2, 21) | {2: [(48, 1), (51, 1), (number * 10, 1)]}
            taken = exif({0x010F: "Canon"}, {0x9003: "2023:05:01 10:00:00"}, gps=near)
            api.library.put(f"paris-{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with api.library.session() as session:
            session.scalars(select(File)).first().turn = 6
            session.commit()
        with serve(api.library.instance, workers=1, threads=8) as base, open_page(chromium, base) as page:
            page.goto(f"{base}/places#8/48.85/2.35")
            page.wait_for_selector(".spot a[aria-label^='6 photos near Paris']")
            assert page.locator(".spot, .leg").count() == 1
            page.locator("#map").focus()
            page.keyboard.press("+")
            page.wait_for_url(re.compile("#9/"))
            page.wait_for_function("() => document.querySelectorAll('.spot').length === 6")
            assert page.locator(".leg").count() == 6
            assert page.locator(".spot i").all_inner_texts() == ["Paris"]
            boxes = [spot.bounding_box() for spot in page.locator(".spot").all()]
            assert {(box["width"], box["height"]) for box in boxes} == {(44, 44)}  # as large as a finger needs
            apart = [abs(a["x"] - b["x"]) >= 44 or abs(a["y"] - b["y"]) >= 44 for a, b in combinations(boxes, 2)]
            assert all(apart)
            assert page.locator(".spot img[src$='&turn=6']").count() == 1
            page.wait_for_selector(".leaflet-control-zoom-in.leaflet-disabled")
            page.locator(".spot a").first.focus()
            page.keyboard.press("Enter")
            page.wait_for_selector(".summary .total:has-text('1 photo')")


@pytest.mark.parametrize("width", [390, 1280, 2560])
def test_the_farthest_view_shows_no_part_of_the_world_twice(chromium, base, width):
    with open_page(chromium, base, width=width, height=1440) as page:
        page.goto(f"{base}/places#3/20/10")
        page.wait_for_selector("img.outline")
        page.locator("#map").focus()
        for _ in range(2):
            page.keyboard.press("-")
            page.wait_for_timeout(400)
        page.wait_for_selector(".leaflet-control-zoom-out.leaflet-disabled")
        world, view = (page.locator(shown).first.bounding_box() for shown in ("img.outline", "#map"))
        assert world["width"] >= view["width"] - 1


@pytest.mark.parametrize("width", [320, 390, 1280, 2560])
def test_no_width_scrolls_sideways(chromium, base, width):
    long = "w" * 500
    with open_page(chromium, base, width=width) as page:
        for query in ("", f"-{long}", '-"<img src=x onerror=alert(1)>" | year:2023'):
            page.goto(f"{base}/places?q={query}")
            page.wait_for_selector(".view :first-child")
            assert page.evaluate("document.documentElement.scrollWidth") == width


def test_without_scripts_the_towns_are_the_page(chromium, base):
    with open_page(chromium, base) as page:
        cookies = page.context.cookies()
    context = chromium.new_context(java_script_enabled=False)
    context.add_cookies(cookies)
    page = context.new_page()
    page.goto(f"{base}/places")
    assert not page.locator("#map").is_visible()
    page.click("text=France")
    assert "1 photo" in page.locator(".summary .total").inner_text()
    context.close()
