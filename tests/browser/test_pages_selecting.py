"""Selections and their actions in Chromium: marks, what goes wrong in the middle, and deleting."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TOTAL = 5
FIRST = ".tiles li[aria-posinset='1']"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service that moves deleted originals into the trash."""
    with open_api(tmp_path_factory.mktemp("selecting")) as api:
        for number in range(TOTAL):
            taken = exif({}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as base:
            yield base, api


@pytest.fixture
def page(served, chromium):
    with open_page(chromium, served[0], expected="Failed to load resource") as page:
        ready(page)
        yield page


def ready(page):
    page.wait_for_selector(f"{FIRST} img.here")
    page.wait_for_selector(".actions", state="attached")


def says(page, text):
    page.wait_for_selector(f".undo:not([hidden]) span:has-text('{text}')")


def count(served, query=""):
    return len(served[1].library.find(q=query, count=TOTAL))


def test_the_mark_of_a_photo_is_set_by_a_click_on_it_and_taken_away_by_the_next(page):
    for marked in (True, False):
        page.hover(FIRST)
        page.click(f"{FIRST} .pick input")
        assert page.is_checked(f"{FIRST} .pick input") is marked
        assert page.is_visible(".actions") is marked


def test_keys_that_are_pressed_before_the_tools_are_there_count(served, chromium):
    with open_page(chromium, served[0]) as page:
        page.route("**/grid/tools.js*", lambda route: (page.wait_for_timeout(1500), route.continue_()))
        page.goto(served[0], wait_until="commit")
        page.wait_for_selector(".tiles li:first-child img.here")
        page.focus(".tiles li a[tabindex='0']")
        for key in ("x", "ArrowRight", "x"):
            page.keyboard.press(key)
        page.wait_for_selector(".actions .count:has-text('2')")


def test_actions_that_follow_each_other_at_once_do_what_each_means(served, page):
    page.focus(f"{FIRST} a")
    for key in ("f", "f", "f"):
        page.keyboard.press(key)
    says(page, "1 photo made a favorite")
    page.wait_for_function("() => document.querySelectorAll('.tiles .badge[title=Favorite]').length === 1")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert count(served, "favorite:true") == 0


def test_what_the_server_does_not_hear_is_told_and_done_when_it_is_back(served, page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("f")
    says(page, "made a favorite")
    page.context.set_offline(True)
    page.keyboard.press("Control+z")
    says(page, "The server cannot be reached. Try again.")
    assert count(served, "favorite:true") == 1
    page.context.set_offline(False)
    page.click(".undo button:text-is('Try again')")
    says(page, "Undone")
    assert count(served, "favorite:true") == 0


def test_pictures_that_failed_without_a_network_come_with_it(served, chromium):
    with open_page(chromium, served[0], expected="Failed to load resource") as page:
        page.clock.install()
        asked = []
        page.route("**/t/**", lambda route: (asked.append(route.request.url), route.abort()))
        page.goto(served[0])
        page.wait_for_selector(f"{FIRST} img", state="attached")
        before = -1
        while len(asked) > before:  # until the page gives up
            before = len(asked)
            for _ in range(3):
                page.clock.fast_forward(10_000)
                page.wait_for_timeout(50)
        assert page.query_selector(f"{FIRST} img.here") is None
        page.unroute("**/t/**")
        page.clock.fast_forward(10_000)
        assert page.query_selector(f"{FIRST} img.here") is None
        page.context.set_offline(True)
        page.context.set_offline(False)
        page.clock.run_for(1500)
        page.wait_for_selector(f"{FIRST} img.here")


def test_a_session_that_ended_loses_nothing_that_is_typed(served, page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("e")
    page.fill("dialog [name=Title]", "A long text")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .alert:not([hidden]):has-text('You are signed out.')")
    assert page.input_value("dialog [name=Title]") == "A long text"
    page.context.add_cookies(cookies)
    page.keyboard.press("Enter")
    says(page, "1 of 1 photo changed")
    page.keyboard.press("Control+z")
    says(page, "Undone")


def test_all_photos_that_leave_a_search_leave_a_word_and_come_back(served, page):
    page.keyboard.press("Control+a")
    page.wait_for_selector(f".actions .count:has-text('{TOTAL}')")
    page.keyboard.press("a")
    says(page, f"{TOTAL} photos archived")
    page.wait_for_selector(".empty:has-text('No photos left.')")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")
    assert page.is_hidden(".empty")


def test_archived_photos_are_deleted_after_a_question_and_come_back_from_the_trash(served, page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("a")
    says(page, "1 photo archived")
    page.goto(f"{served[0]}/?q=archived:true")
    ready(page)
    page.focus(f"{FIRST} a")
    page.keyboard.press("Delete")
    page.wait_for_selector(
        "dialog:has-text('Delete 1 photo? The originals move to the trash and can be restored until')"
    )
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("Delete")
    color = page.evaluate("getComputedStyle(document.querySelector('dialog .primary')).backgroundColor")
    assert color == "rgb(179, 38, 30)"
    page.click("dialog .primary:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    page.wait_for_selector(".empty:has-text('No photos left.')")
    assert not (served[1].library.originals / "IMG_4.jpg").exists()
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f"{FIRST} img.here")
    assert (served[1].library.originals / "IMG_4.jpg").exists()
    page.keyboard.press("Control+a")
    page.wait_for_selector(".actions .count:has-text('1')")
    page.keyboard.press("a")
    says(page, "1 photo unarchived")


def test_a_photo_of_the_library_moves_to_the_trash_after_a_question_and_comes_back(served, page):
    page.hover(FIRST)
    page.click(f"{FIRST} .pick")
    page.click(".actions [aria-label='Delete (Delete)']")
    page.wait_for_selector("dialog:has-text('The originals move to the trash and can be restored until')")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL - 1}'] img.here")
    assert count(served) == TOTAL - 1
    page.click(".undo button:text-is('Undo')")
    says(page, "Undone")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")
    assert count(served, "archived:true") == 0


def test_lists_are_sent_in_portions_of_the_length_that_the_page_names_and_undo_goes_on_behind_an_error(served, page):
    page.route(
        served[0] + "/",
        lambda route: route.fulfill(body=route.fetch().text().replace('data-portion="1000"', 'data-portion="2"')),
    )
    sent = []

    def restore(route):
        sent.append(len(route.request.post_data_json["photos"]))
        if len(sent) == 2:  # the answer is lost
            assert route.fetch().ok
            route.abort()
        else:
            route.continue_()

    page.route("**/trash/restore", restore)
    page.goto(f"{served[0]}/")
    ready(page)
    page.keyboard.press("Control+a")
    page.wait_for_selector(f".actions .count:has-text('{TOTAL}')")
    page.click(".actions [aria-label='Delete (Delete)']")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, f"{TOTAL} photos moved to the trash")
    page.keyboard.press("Control+z")
    says(page, "The server cannot be reached. Try again.")
    page.click(".undo button:text-is('Try again')")
    says(page, "Undone")
    assert sent == [2, 2, 2, 1]
    assert count(served) == TOTAL


def test_the_viewer_goes_on_to_the_next_photo_when_one_is_deleted(served, page):
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    page.click(".pswp [aria-label='Delete (Delete)']")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    page.wait_for_selector(f".pswp__position:text-is('1 of {TOTAL - 1}')")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f".pswp__position:has-text('of {TOTAL}')")
    assert count(served) == TOTAL


def test_every_action_on_photos_is_in_reach_of_a_thumb(served, chromium):
    with open_page(chromium, served[0], width=390, height=844, has_touch=True) as page:
        ready(page)
        page.focus(f"{FIRST} a")
        page.keyboard.press("x")
        bar = page.locator(".actions button:visible")
        assert [bar.nth(number).get_attribute("title") for number in range(2, bar.count())][-2:] == [
            "Delete (Delete)", "Download (d)",
        ]  # fmt: skip
        boxes = [button.bounding_box() for button in bar.all()]
        assert all(box["x"] >= 12 and box["x"] + box["width"] <= 378 and box["width"] >= 40 for box in boxes), boxes
        page.keyboard.press("x")
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp--ui-visible")
        boxes = [button.bounding_box() for button in page.locator(".pswp__top-bar button:visible").all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["width"] >= 44 for box in boxes), boxes


def test_forward_opens_the_viewer_again_and_back_while_it_opens_closes_it(served, page):
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    first = page.url
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")
    page.go_forward(wait_until="commit")
    page.wait_for_selector(".pswp")
    assert page.url == first
    page.go_back(wait_until="commit")
    page.wait_for_selector(".pswp", state="detached")
    page.focus(f"{FIRST} a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".pswp", state="attached")
    page.go_back(wait_until="commit")
    page.wait_for_selector(".pswp", state="detached")
    assert page.url == f"{served[0]}/"


def test_back_closes_the_viewer_together_with_its_dialog(served, page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".pswp--ui-visible")
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open]")
    page.go_back(wait_until="commit")
    page.wait_for_selector(".pswp", state="detached")
    assert page.locator("dialog").count() == 0
    assert page.evaluate("document.activeElement.closest('li').getAttribute('aria-posinset')") == "1"


def test_the_focus_stays_at_its_photo_when_others_change_the_library(served, page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("ArrowRight")
    api = served[1]
    uid = api.library.find(count=1, order="newest")[0]["UID"]
    token = api.access_token()
    assert api.call("POST", "/batch/photos/archive", token, json={"photos": [uid]}).status_code == 200
    page.keyboard.press("f")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL - 1}'] .badge[title=Favorite]")
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '1'")
    api.call("POST", "/batch/photos/restore", token, json={"photos": [uid]})
    page.keyboard.press("Control+z")
    says(page, "Undone")
