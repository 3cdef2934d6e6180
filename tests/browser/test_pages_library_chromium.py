"""The library on the pages of Administration in Chromium: by keyboard, and pages with hostile names."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest

from tests.browser.chromium import FIRST, open_page, tab_to, view_closes
from tests.helpers.api_client import open_api
from tests.helpers.factories.accounts import add_client, add_user
from tests.helpers.pictures import clouds, encoded, exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

LIBRARY, ALIKE = "/administration/library", "/administration/look-alikes"
HOSTILE = '"><img src=x onerror=alert(1)>' + "\u202e" + "w" * 150
LONG = "<img src=x onerror=alert(1)>" + "w" * 150
PAGES = (
    LIBRARY, f"{LIBRARY}/failures", f"{LIBRARY}/trash", f"{LIBRARY}/trash/empty", ALIKE, "/administration/statistics",
    *(f"/administration/{page}" for page in ("accounts", "clients", "devices", "security-log", "confirm")),
)  # fmt: skip


@pytest.fixture
def base(tmp_path, request):
    """A service of files with hostile names, which are indexed where `indexed` is used."""
    with open_api(tmp_path) as api:
        api.library.clock.present = datetime.now(UTC)  # that of the server, which is a process of its own
        camera = exif({0x010F: HOSTILE, 0x0110: HOSTILE}, {0x9003: "2023:05:01 10:00:00"})
        for width in (60, 120, 240):
            picture = clouds(1, 240, 180).resize((width, width * 3 // 4))
            api.library.put(f"{HOSTILE}/{width}.jpg", encoded(picture, "JPEG", exif=camera))
        api.library.put(f"{HOSTILE}/damaged.jpg", jpeg(90, 60)[:400])
        api.library.put(f"2023/{LONG}/plain.jpg", jpeg(90, 60))
        with api.library.session() as session:
            add_user(session, name="q" * 60, display_name=HOSTILE)
            add_client(session, name=HOSTILE)
        if "indexed" in request.fixturenames:
            api.library.index()
        with serve(api.library.instance, workers=1, threads=8) as address:
            yield address


@pytest.fixture
def indexed(base):
    """The service after its files were indexed."""
    return base


def focus(page, text):
    """Move the focus by Tab to what begins with this text; each stop on the way shows that it has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => { const e = document.activeElement; return [e.innerText || e.name || '',"
            " getComputedStyle(e).outlineStyle, e.matches(':focus-visible')]; }"
        )
        assert found[1] != "none" or not found[2] or "svg" in found, found
        if found[0].startswith(text):
            return
    pytest.fail(f"the keyboard does not reach {text}")


def test_an_index_run_is_started_by_keyboard_and_told_until_it_ends(chromium, base):
    with open_page(chromium, base, name="ann") as page:
        page.goto(base + LIBRARY)
        focus(page, "Index…")
        page.keyboard.press("Enter")
        focus(page, "again")
        page.keyboard.press("Space")
        focus(page, "Index")
        page.keyboard.press("Enter")
        page.wait_for_selector("#live [role=status]")
        page.wait_for_selector("#live", state="detached", timeout=60_000)
        page.wait_for_selector(".runs .state.done")
        assert page.inner_text(".runs li:first-child h3") == "All originals Read again"
        assert page.inner_text(".runs li:first-child .what p") == "4 new, 1 failed"


def test_pages_with_hostile_names_are_text_and_as_wide_as_the_window(chromium, indexed):
    base = indexed
    for width, theme in ((320, "dark"), (2560, "light")):
        with open_page(chromium, base, name="ann", width=width, color_scheme=theme) as page:
            page.goto(f"{base}/albums/new")
            page.fill("#title", HOSTILE)
            page.fill("#description", "y" * 500)
            page.click("text=Create album")
            page.wait_for_selector("text=Album created.")
            album = urlsplit(page.url).path
            for path in (
                *PAGES,
                "/folders",
                f"/folders/2023/{LONG}",
                "/albums",
                album,
                f"{album}/edit",
                f"{album}/photos",
            ):
                page.goto(base + path)
                for summary in page.locator("main summary:visible").all():
                    summary.click()
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
                assert page.locator("main img[src=x]").count() == 0, path


def test_keys_lead_to_a_folder_its_photo_and_back(chromium, indexed):
    base = indexed
    with open_page(chromium, base, "/folders") as page:
        tab_to(page, ".folders a")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{base}/folders/**")
        folder = page.url.partition("?")[0]
        page.wait_for_selector(f"{FIRST} img.here")
        tab_to(page, ".tiles a")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pswp--ui-visible")
        shared = page.url
        page.keyboard.press("Escape")
        view_closes(page)
        page.goto(shared)  # a link to the photo opens it over the grid of its folder
        page.wait_for_selector(".pswp--ui-visible")
        page.keyboard.press("Escape")
        view_closes(page)
        assert page.url.startswith(folder)
        page.goto(f"{base}/folders")
        page.select_option("#sort", "latest")
        page.wait_for_url(f"{base}/folders?find=&sort=latest")
