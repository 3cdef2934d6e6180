"""A visitor's phone adds pictures in Chromium."""

import pytest

from tests.app.pages.albums import test_pages_link_uploads as everyday
from tests.app.pages.albums.test_pages_link_uploads import make
from tests.app.uploads.upload_client import originals, picture
from tests.browser.chromium import open_chromium
from tests.helpers.programs.server import serve

filled, sharing = everyday.filled, everyday.sharing


@pytest.mark.timeout(180)
def test_a_visitor_with_a_phone_adds_a_picture(sharing, tmp_path):
    path = f"/s/{make(sharing)['Token']}"
    (tmp_path / "mine.jpg").write_bytes(picture(9))
    with serve(sharing.library.instance, workers=1, threads=8) as base, open_chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844}, has_touch=True)
        page.goto(base + path)
        page.get_by_label("Add photos", exact=True).set_input_files(tmp_path / "mine.jpg")
        page.get_by_text("1 picture added.").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.locator(".adding label").bounding_box()["height"] >= 40
    assert len(originals(sharing)) == 3
