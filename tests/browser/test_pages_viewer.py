"""The viewer of photos in Chromium: pixels of the original, videos and live photos."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.files.videos import film
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TILE = ".tiles li"
WIDTH = 2400


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("viewer")) as api:
        api.library.put("large.jpg", jpeg(WIDTH, 1600, exif=exif({}, {0x9003: "2023:05:01 10:00:00"})))
        api.library.put("alive.jpg", jpeg(800, 600))
        film(api.library.originals / "alive.mov", frames=60)
        film(api.library.originals / "clip.mp4", frames=120)
        assert api.library.index().summary.indexed == 4
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


@pytest.fixture
def page(chromium, base):
    with open_page(chromium, base) as page:
        yield page


def show(page, base, query):
    page.goto(f"{base}/?q={query}")
    page.wait_for_selector(f"{TILE} img.here")


def until(page, condition):
    page.wait_for_function(f"() => {condition}")


def test_zooming_in_shows_each_pixel_of_the_original(page, base):
    show(page, base, "name:large")
    page.click(f"{TILE} a")
    page.wait_for_selector(".pswp--ui-visible")
    page.wait_for_timeout(600)
    page.keyboard.press("z")
    image = "document.querySelector('.pswp__img:not(.pswp__img--placeholder)')"
    until(page, f"{image}.naturalWidth === {WIDTH} && {image}.complete")
    until(page, f"Math.round({image}.getBoundingClientRect().width) === {WIDTH}")


def test_a_video_plays_silently_under_the_pointer_and_with_controls_in_the_viewer(page, base):
    show(page, base, "name:clip")
    assert "0:05" in page.inner_text(f"{TILE} .badges")
    page.hover(TILE)
    until(page, "document.querySelector('.tiles video')?.currentTime > 0.1")
    assert page.evaluate("document.querySelector('.tiles video').muted")
    page.mouse.move(5, 5)
    until(page, "!document.querySelector('.tiles video')")
    page.click(f"{TILE} a")
    page.wait_for_selector(".pswp video[controls]")
    page.keyboard.press(" ")
    until(page, "document.querySelector('.pswp video').currentTime > 0.1")
    page.keyboard.press(" ")
    until(page, "document.querySelector('.pswp video').paused")


def test_a_live_photo_moves_when_somebody_asks_for_it(page, base):
    show(page, base, "name:alive")
    assert page.inner_text(f"{TILE} .badges") == "Live"
    page.click(f"{TILE} a")
    page.wait_for_selector(".pswp__img")
    page.click(".pswp__button--moving")
    until(page, "document.querySelector('.pswp__moving')?.currentTime > 0.1")
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")
