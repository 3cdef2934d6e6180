"""The map in Chromium: by mouse and keyboard, in all widths, with a server of tiles and without one."""

import io
import re
import socket

import pytest
from PIL import Image
from sqlalchemy import select

from photosvc.models import File
from tests.app.pages.places.test_pages_places import at, put_spots
from tests.browser.chromium import FAILS, open_page, until
from tests.browser.tile_server import COLOR, serve_tiles
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

HASH = re.compile(r"#\d+/-?[\d.]+/-?[\d.]+$")


CREDIT = "© Tiles <b>&</b> Sons https://tiles.example.org/terms"
#: In the middle of Europe, and a query that nobody but the service may learn.
VIEW = "/places?q=-secretword#5/48.9/5.0"
PAIR = ".spot a[aria-label^='2 photos']"


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("map")) as api:
        put_spots(api.library)
        yield api.library


@pytest.fixture(scope="module")
def base(placed):
    with serve(placed.instance, workers=1, threads=8) as address:
        yield address


def serve_with(placed, tiles):
    settings = {"PHOTOSVC_MAP_TILES": tiles, "PHOTOSVC_MAP_ATTRIBUTION": CREDIT}
    return serve(placed.instance, workers=1, threads=8, environ=settings)


def test_the_map_is_moved_opens_photos_and_back_leads_to_where_it_was(chromium, base):
    with open_page(chromium, base, "/places#5/48.9/5.0", expected=FAILS) as page:
        page.wait_for_selector(PAIR)
        page.locator("#map").focus()
        page.keyboard.press("+")
        page.wait_for_url(re.compile("#6/"))
        page.wait_for_selector(f"{PAIR} i")
        before = page.url
        assert HASH.search(before)
        page.locator(PAIR).focus()
        page.keyboard.press("Enter")
        page.wait_for_selector(".summary .total:has-text('2 photos')")
        page.go_back()
        page.wait_for_selector(PAIR)
        assert page.url == before
        box = page.locator(PAIR).bounding_box()  # a map that is dragged by a disc opens nothing
        page.mouse.move(box["x"] + 15, box["y"] + 15)
        page.mouse.down()
        page.mouse.move(box["x"] - 120, box["y"] + 60, steps=6)
        page.mouse.up()
        page.wait_for_url(lambda url: HASH.search(url) and url != before)
        assert "/places" in page.url
        page.goto("about:blank")
        page.goto(f"{base}/places")
        page.wait_for_selector(".view a:has-text('3 photos')")
        page.context.set_offline(True)
        page.locator("#map").focus()
        page.keyboard.press("+")
        page.wait_for_selector(".view :text-is('The server cannot be reached. Try again.')")
        page.context.set_offline(False)
        page.wait_for_selector(".view :has-text('in this view')")
        page.goto("about:blank")
        page.goto(f"{base}/places")
        page.click(".view a:has-text('3 photos')")
        page.wait_for_selector(".summary .total:has-text('3 photos')")


def test_without_tiles_the_map_ends_with_its_outline_and_a_disc_opens_the_photos_of_a_town(chromium, tmp_path):
    with open_api(tmp_path) as api:
        for number in range(6):
            near = at(48, 51, 2, 21) | {2: [(48, 1), (51, 1), (number * 10, 1)]}
            taken = exif({0x010F: "Canon"}, {0x9003: "2023:05:01 10:00:00"}, gps=near)
            api.library.put(f"paris-{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with api.library.session() as session:
            newest = session.scalars(select(File).order_by(File.id.desc())).first()
            newest.turn = 6
            session.commit()
        with (
            serve(api.library.instance, workers=1, threads=8) as base,
            open_page(chromium, base, "/places#8/48.85/2.35") as page,
        ):
            page.locator("#map").focus()
            page.keyboard.press("+")
            page.wait_for_url(re.compile("#9/"))
            page.wait_for_selector(".leaflet-control-zoom-in.leaflet-disabled")
            assert page.locator(".spot").count() == 1
            assert page.locator(".spot i").all_inner_texts() == ["Paris"]
            box = page.locator(".spot").bounding_box()
            assert (box["width"], box["height"]) == (44, 44)  # as large as a finger needs
            assert page.locator(".spot img[src$='&turn=6']").count() == 1
            page.locator(".spot a[aria-label^='6 photos near Paris']").focus()
            page.keyboard.press("Enter")
            page.wait_for_selector(".summary .total:has-text('6 photos')")


def test_the_farthest_view_shows_no_part_of_the_world_twice_and_no_width_scrolls_sideways(chromium, base):
    for width in (320, 2560):
        with open_page(chromium, base, "/places#3/20/10", width=width, height=1440) as page:
            page.wait_for_selector("img.outline")
            page.locator("#map").focus()
            while not page.locator(".leaflet-control-zoom-out.leaflet-disabled").count():
                before = page.url
                page.keyboard.press("-")
                page.wait_for_url(lambda url, before=before: url != before)
            world, view = (page.locator(shown).first.bounding_box() for shown in ("img.outline", "#map"))
            assert world["width"] >= view["width"] - 1, width
            for query in ("", f"-{'w' * 500}", '-"<img src=x onerror=alert(1)>" | year:2023'):
                page.goto(f"{base}/places?q={query}")
                page.wait_for_selector(".view :first-child")
                assert page.evaluate("document.documentElement.scrollWidth") == width, query


def share_of_tiles(page):
    """Return the share of the map that has the colour of the tiles."""
    picture = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
    found = picture.resize((100, 100), Image.Resampling.NEAREST).getcolors(10_000)
    near = [count for count, color in found if sum(abs(a - b) for a, b in zip(color, COLOR, strict=True)) < 20]
    return sum(near) / 10_000


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_tiles_cover_the_outline_and_learn_nothing_but_the_origin(chromium, placed):
    with (
        serve_tiles() as tiles,
        serve_with(placed, tiles.template) as base,
        open_page(chromium, base, "/albums", expected=tiles.address) as page,
    ):
        for zoom in (3, 5, 10):
            page.goto((base + VIEW).replace("#5", f"#{zoom}"))
            page.reload()
            page.wait_for_selector(".leaflet-tile-loaded")
            until(
                page,
                "[...document.querySelectorAll('.leaflet-tile')].every((one) => getComputedStyle(one).opacity === '1')",
            )
            assert share_of_tiles(page) > 0.85, zoom
        assert page.locator(".credit").inner_text() == "© Tiles <b>&</b> Sons"
        assert page.locator(".credit a").get_attribute("href") == "https://tiles.example.org/terms"
    assert {int(path.split("/")[1]) for path, _ in tiles.asked} == {3, 5, 10}
    assert all(re.fullmatch(r"/\d+/\d+/\d+\.png", path) for path, _ in tiles.asked)
    assert {headers["Referer"] for _, headers in tiles.asked} == {f"{base}/"}
    assert not any("Cookie" in headers for _, headers in tiles.asked)


def test_without_the_map_server_the_outline_is_the_map(chromium, placed):
    dead = free_address()
    with (
        serve_with(placed, dead + "/{z}/{x}/{y}.png") as base,
        open_page(chromium, base, "/albums", expected="ERR_CONNECTION_REFUSED|" + dead) as page,
    ):
        page.goto(base + VIEW)
        page.wait_for_selector(PAIR)
        assert page.locator("img.outline").evaluate_all("all => all.every(one => one.naturalWidth > 0)")
        page.click(".view a")
        page.wait_for_selector(".summary .total:has-text('3 photos')")
