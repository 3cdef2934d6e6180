"""The map with tiles of a map server that is there, sends elsewhere, or is gone."""

import io
import re
import socket

import pytest
from PIL import Image

from tests.app.pages.places.test_pages_places import put_spots
from tests.browser.tile_server import COLOR, serve_tiles
from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

CREDIT = "© Tiles <b>&</b> Sons https://tiles.example.org/terms"
#: In the middle of Europe, and a query that nobody but the service may learn.
VIEW = "places?q=-secretword#5/48.9/5.0"


@pytest.fixture(scope="module")
def placed_library(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("tiles")) as api:
        put_spots(api.library)
        yield api.library


def served(library, tiles):
    settings = {"PHOTOSVC_MAP_TILES": tiles, "PHOTOSVC_MAP_ATTRIBUTION": CREDIT}
    return serve(library.instance, workers=1, threads=8, environ=settings)


def share_of_tiles(page):
    """How much of the map has the colour of the tiles."""
    picture = Image.open(io.BytesIO(page.locator("#map").screenshot())).convert("RGB")
    found = picture.resize((100, 100), Image.Resampling.NEAREST).getcolors(10_000)
    near = [count for count, color in found if sum(abs(a - b) for a, b in zip(color, COLOR, strict=True)) < 20]
    return sum(near) / 10_000


def free_address():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_tiles_cover_the_outline_and_learn_nothing_but_the_origin(chromium, placed_library):
    with (
        serve_tiles() as tiles,
        served(placed_library, tiles.template) as base,
        open_page(chromium, base, expected=tiles.address) as page,
    ):
        for zoom in (3, 5, 10):
            page.goto(f"{base}/{VIEW}".replace("#5", f"#{zoom}"))
            page.reload()
            page.wait_for_selector(".leaflet-tile-loaded")
            page.wait_for_timeout(400)  # they fade in
            assert share_of_tiles(page) > 0.85, zoom
        assert page.locator(".credit").inner_text() == "© Tiles <b>&</b> Sons"
        assert page.locator(".credit a").get_attribute("href") == "https://tiles.example.org/terms"
    assert {int(path.split("/")[1]) for path, _ in tiles.asked} == {3, 5, 10}
    assert all(re.fullmatch(r"/\d+/\d+/\d+\.png", path) for path, _ in tiles.asked)
    assert {headers["Referer"] for _, headers in tiles.asked} == {f"{base}/"}
    assert not any("Cookie" in headers for _, headers in tiles.asked)


def test_tiles_that_lead_to_another_server_are_not_loaded_from_there(chromium, placed_library):
    with (
        serve_tiles() as other,
        serve_tiles(elsewhere=other.address) as tiles,
        served(placed_library, tiles.template) as base,
        open_page(chromium, base, expected=f"Content Security Policy|{tiles.address}|{other.address}") as page,
    ):
        with page.expect_console_message(lambda message: "img-src" in message.text):
            page.goto(f"{base}/{VIEW}")
        page.wait_for_selector(".spot a")
    assert tiles.asked
    assert other.asked == []


def test_without_the_map_server_the_outline_is_the_map(chromium, placed_library):
    dead = free_address()
    with (
        served(placed_library, dead + "/{z}/{x}/{y}.png") as base,
        open_page(chromium, base, expected="ERR_CONNECTION_REFUSED|" + dead) as page,
    ):
        page.goto(f"{base}/{VIEW}")
        page.wait_for_selector(".spot a[aria-label^='2 photos']")
        assert page.locator("img.outline").evaluate_all("all => all.every(one => one.naturalWidth > 0)")
        page.click(".view a")
        page.wait_for_selector(".summary .total:has-text('3 photos')")
