"""The library on the pages of Administration in Chromium: by keyboard, without scripts, and with hostile names."""

from datetime import UTC, datetime

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import clouds, encoded, exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

LIBRARY, ALIKE = "/administration/library", "/administration/look-alikes"
HOSTILE = '"><img src=x onerror=alert(1)>' + "\u202e" + "w" * 150
PAGES = (
    LIBRARY, f"{LIBRARY}/failures", f"{LIBRARY}/trash", f"{LIBRARY}/trash/empty", ALIKE, "/administration/statistics",
)  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("library")) as api:
        api.library.clock.present = datetime.now(UTC)  # that of the server, which is a process of its own
        camera = exif({0x010F: HOSTILE, 0x0110: HOSTILE}, {0x9003: "2023:05:01 10:00:00"})
        for width in (60, 120, 240):
            picture = clouds(1, 240, 180).resize((width, width * 3 // 4))
            api.library.put(f"{HOSTILE}/{width}.jpg", encoded(picture, "JPEG", exif=camera))
        api.library.put(f"{HOSTILE}/damaged.jpg", jpeg(90, 60)[:400])
        with serve(api.library.instance, workers=1, threads=8) as address:
            yield address


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
        assert page.inner_text(".runs li:first-child .what p") == "3 new, 1 failed"


def test_a_page_that_tells_of_a_run_leads_to_the_log_in_when_its_session_has_ended(chromium, base):
    with open_page(chromium, base, name="ann", expected="401") as page:
        page.goto(base + LIBRARY)
        page.click("text=Index…")
        page.click("button.primary:visible >> text=Index")
        page.wait_for_selector("#live [role=status]")
        page.context.clear_cookies()
        page.wait_for_url(f"{base}/sign-in?next={LIBRARY}**")


def test_look_alikes_are_found_archived_and_brought_back_by_keyboard(chromium, base):
    with open_page(chromium, base, name="ann") as page:
        page.goto(base + ALIKE)
        focus(page, "Search for")
        page.keyboard.press("Enter")
        page.wait_for_selector(".alike", timeout=60_000)
        assert page.locator(".alike li").count() == 3
        focus(page, "Archive selected")
        page.keyboard.press("Enter")
        page.wait_for_selector(".undo")
        assert page.locator(".alike").count() == 0
        focus(page, "Undo")
        page.keyboard.press("Enter")
        page.wait_for_selector(".alike")


def test_without_scripts_a_group_is_kept_apart_and_brought_back(chromium, base):
    with open_page(chromium, base, name="ann", java_script_enabled=False) as page:
        page.goto(base + ALIKE)
        page.click("text=Not the same")
        assert page.locator(".alike").count() == 0
        page.click("text=Undo")
        assert page.locator(".alike li").count() == 3


@pytest.mark.parametrize(("width", "theme"), [(320, "dark"), (390, "light"), (2560, "light")])
def test_pages_with_hostile_names_are_text_and_as_wide_as_the_window(chromium, base, width, theme):
    with open_page(chromium, base, name="ann", width=width, color_scheme=theme) as page:
        for path in PAGES:
            page.goto(base + path)
            for summary in page.locator("main summary").all():
                summary.click()
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
            assert page.locator("main img[src=x]").count() == 0
