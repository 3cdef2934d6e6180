"""A library whose thumbnails are not made yet, in Chromium: no error in the console, and all pictures in the end."""

import os
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from tests.browser.chromium import open_page
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

PHOTOS = 60
#: On the screen: whether each shows its picture, or the icon, which is a square and no other picture is.
SHOWN = """() => {
  const on = [...document.querySelectorAll(".tiles img, .day img")].filter((image) => {
    const {top, bottom} = image.getBoundingClientRect();
    return bottom > 0 && top < innerHeight;
  });
  return on.length >= 4 && on.every((image) => image.complete && image.naturalWidth > 0);
}"""
ICON = """() => [...document.querySelectorAll(".tiles img")].filter(
  (image) => image.naturalWidth && image.naturalWidth === image.naturalHeight).length === 1"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A service of one worker in which one request at a time may wait for a thumbnail."""
    random = np.random.default_rng(1)
    with open_api(tmp_path_factory.mktemp("first")) as api:
        for number in range(PHOTOS):
            picture = Image.fromarray(random.integers(0, 256, (30, 40, 3), dtype=np.uint8)).resize((3000, 2000))
            taken = exif({0x010F: "Canon"}, {0x9003: f"2023:05:{number % 28 + 1:02} 10:00:{number // 28:02}"})
            buffer = BytesIO()
            picture.save(buffer, "JPEG", exif=taken)
            api.library.put(f"2023/IMG_{number:02}.jpg", buffer.getvalue())
        api.library.index()
        broken = api.library.originals / "2023/IMG_27.jpg"  # the newest
        status = broken.stat()
        broken.write_bytes(broken.read_bytes()[:5000].ljust(status.st_size, b"\0"))
        os.utime(broken, ns=(status.st_atime_ns, status.st_mtime_ns))
        environ = {"PHOTOSVC_THUMB_WAITERS": "1", "PHOTOSVC_THUMB_WORKERS": "1"}
        with serve(api.library.instance, workers=1, threads=8, environ=environ) as address:
            yield address


def test_on_a_fresh_library_all_pictures_appear_also_in_the_viewer_and_the_console_has_no_error(chromium, base):
    with open_page(chromium, base) as page:
        statuses = []
        page.on("response", lambda answer: statuses.append(answer.status) if "/api/v1/t/" in answer.url else None)
        page.wait_for_function(SHOWN)
        for _ in range(8):
            page.mouse.wheel(0, 700)
            page.evaluate("() => new Promise(requestAnimationFrame)")
        page.wait_for_function(SHOWN)
        page.keyboard.press("Home")
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function(SHOWN)
        page.wait_for_function(ICON)
        page.goto(f"{base}/?order=title")
        page.wait_for_function(SHOWN)
        assert set(statuses) <= {200, 202, 304}
        assert 202 in statuses  # else the service was not busy enough for this test
        page.goto(base)
        page.wait_for_function(SHOWN)
        refused = []

        def refuse_once(route):
            if len(refused) >= 2:
                return route.continue_()
            refused.append(route.request.url)
            return route.fulfill(status=202)

        page.route("**/fit_1*", refuse_once)
        page.locator(".tiles li a").nth(2).click()
        page.wait_for_function(
            "() => document.querySelector('.pswp__img:not(.pswp__img--placeholder)')?.naturalWidth > 400"
        )
        assert refused
