"""Actions on selected photos in Chromium: marks, archive, trash, album, download, and what goes wrong in the middle."""

import re
from zipfile import ZipFile

import pytest

from tests.browser.chromium import (
    FAILS,
    FIRST,
    downloaded,
    focus_at,
    open_page,
    says,
    selected,
    shows,
    tile,
    until,
    view_closes,
    viewed,
)  # fmt: skip
from tests.browser.conftest import FEW

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def page(own, chromium):
    with open_page(chromium, own.base, expected=FAILS) as page:
        shows(page, FEW)
        yield page


def press_at(page, position, *keys):
    page.focus(f"{tile(position)} a")
    for key in keys:
        page.keyboard.press(key)


def count(site, query=""):
    return len(site.library.find(q=query, count=FEW))


def test_photos_are_made_favorites_and_not_also_by_keys_that_follow_each_other_at_once(own, page):
    press_at(page, 1, "f", "f", "f")
    says(page, "1 photo made a favorite")
    until(page, "document.querySelectorAll('.tiles .badge[title=Favorite]').length === 1")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert count(own, "favorite:true") == 0
    page.keyboard.press("Control+a")
    selected(page, FEW)
    page.keyboard.press("f")
    says(page, f"{FEW} photos made")
    assert count(own, "favorite:true") == FEW
    page.context.set_offline(True)
    page.keyboard.press("Control+z")
    says(page, "The server cannot be reached. Try again.")
    assert count(own, "favorite:true") == FEW
    page.context.set_offline(False)
    page.click(".undo button:text-is('Try again')")
    says(page, "Undone")
    assert count(own, "favorite:true") == 0


def test_archived_photos_go_the_focus_moves_to_the_next_and_all_come_back(own, page):
    page.goto(f"{own.base}/?q=jpg&order=relevance")
    shows(page, FEW)
    words = page.inner_text(".summary .total")
    assert words == f"{FEW} photos · Whole words first: show the newest first · Save as album"
    press_at(page, 2, "Shift+A")
    says(page, "1 photo archived")
    shows(page, FEW - 1)
    focus_at(page, 2)
    assert page.inner_text(".summary .total") == words.replace(str(FEW), str(FEW - 1), 1)
    page.keyboard.press("Control+z")
    says(page, "Undone")
    shows(page, FEW)
    page.keyboard.press("Control+a")
    selected(page, FEW)
    page.keyboard.press("a")
    says(page, f"{FEW} photos archived")
    page.wait_for_selector(".empty:has-text('No photos left.')")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    shows(page, FEW)
    assert page.is_hidden(".empty")


def test_selected_photos_are_stacked_and_taken_apart(own, page):
    press_at(page, 2, "x")
    page.click(".actions [aria-label=Stack]")
    says(page, "select at least two photos")
    press_at(page, 1, "x")
    selected(page, 2)
    page.click(".actions [aria-label=Stack]")
    says(page, "2 photos stacked")
    shows(page, FEW - 1)
    assert [len(one["Files"]) for one in own.library.find(q="stack:true", merged=True)] == [2]
    page.keyboard.press("Control+z")
    says(page, "Undone")
    shows(page, FEW)
    assert count(own, "stack:true") == 0


def test_all_of_a_search_are_downloaded_and_added_to_an_album(own, page):
    page.keyboard.press("Control+a")
    selected(page, FEW)
    with ZipFile(downloaded(page, lambda: page.keyboard.press("Shift+D"))) as archive:
        assert len(archive.namelist()) == FEW
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type("Christmas")
    page.keyboard.press("Enter")
    says(page, f"{FEW} photos added to Christmas")
    assert count(own, "album:Christmas") == FEW
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert count(own, "album:Christmas") == 0


def test_a_session_that_ended_loses_nothing_that_is_typed(page):
    press_at(page, 1, "e")
    page.fill("dialog [name=Title]", "A long text")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .alert:not([hidden]):has-text('You are signed out.')")
    assert page.input_value("dialog [name=Title]") == "A long text"
    page.context.add_cookies(cookies)
    page.keyboard.press("Enter")
    says(page, "1 of 1 photo changed")


def test_photos_are_deleted_after_a_question_and_come_back_from_the_trash(own, page):
    newest, question = own.library.originals / "2023/IMG_5.jpg", "The originals move to the trash and can be restored"
    page.hover(FIRST)
    page.click(f"{FIRST} .pick")
    page.click(".actions [aria-label='Delete (Delete)']")
    page.wait_for_selector(f"dialog:has-text('{question}')")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    shows(page, FEW - 1)
    assert count(own) == FEW - 1
    assert not newest.exists()
    page.click(".undo button:text-is('Undo')")
    says(page, "Undone")
    shows(page, FEW)
    assert newest.exists()
    assert count(own, "archived:true") == 0
    press_at(page, 1, "a")
    says(page, "1 photo archived")
    page.goto(f"{own.base}/?q=archived:true")
    shows(page, 1)
    press_at(page, 1, "Delete")
    page.wait_for_selector(f"dialog:has-text('Delete 1 photo? {question}')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    page.keyboard.press("Delete")
    color = page.evaluate("getComputedStyle(document.querySelector('dialog .primary')).backgroundColor")
    assert color == "rgb(179, 38, 30)"
    page.click("dialog .primary:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    page.wait_for_selector(".empty:has-text('No photos left.')")
    assert not newest.exists()
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f"{FIRST} img.here")
    assert newest.exists()
    page.keyboard.press("Control+a")
    selected(page, 1)
    page.keyboard.press("a")
    says(page, "1 photo unarchived")


def test_what_one_deleted_is_restored_or_ended_in_the_trash(own, page):
    page.keyboard.press("Control+a")
    selected(page, FEW)
    page.keyboard.press("Delete")
    page.click("dialog .primary")
    says(page, f"{FEW} photos moved to the trash")
    page.goto(f"{own.base}/trash")
    shows(page, FEW)
    page.wait_for_selector(f"{FIRST} .days-left:text-is('30 days')")
    page.hover(FIRST)
    page.click(f"{FIRST} .act.restore")
    says(page, "1 photo restored")
    shows(page, FEW - 1)
    page.click(".undo button")
    says(page, "Undone")
    shows(page, FEW)
    page.click(f"{FIRST} a")
    viewed(page, 1, FEW)
    assert page.locator(".pswp__button.own:visible").count() == 2  # restore, delete now
    page.keyboard.press("r")
    says(page, "1 photo restored")
    viewed(page, 1, FEW - 1)
    page.keyboard.press("Escape")
    view_closes(page)
    press_at(page, 1, "Delete")
    page.wait_for_selector("dialog:has-text('Delete 1 photo for good? This cannot be undone.')")
    page.click("dialog .danger")
    says(page, "1 photo deleted for good")
    page.click("text=Empty trash…")
    page.click(f"dialog:has-text('Delete {FEW - 2} photos for good?') .danger")
    page.wait_for_selector("h2:text-is('Nothing in the trash')")
    assert count(own) == 1


def test_lists_are_sent_in_portions_of_the_length_that_the_page_names_and_undo_goes_on_behind_an_error(own, page):
    page.route(
        own.base + "/",
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
    page.goto(f"{own.base}/")
    shows(page, FEW)
    page.keyboard.press("Control+a")
    selected(page, FEW)
    page.click(".actions [aria-label='Delete (Delete)']")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, f"{FEW} photos moved to the trash")
    page.keyboard.press("Control+z")
    says(page, "The server cannot be reached. Try again.")
    page.click(".undo button:text-is('Try again')")
    says(page, "Undone")
    assert sent == [2, 2, 2, 2]
    assert count(own) == FEW


def test_the_viewer_goes_on_to_the_next_photo_when_one_is_deleted(own, page):
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    page.click(".pswp [aria-label='Delete (Delete)']")
    page.click("dialog .primary.danger:text-is('Delete')")
    says(page, "1 photo moved to the trash")
    viewed(page, 1, FEW - 1)
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f".pswp__position:has-text('of {FEW}')")
    assert count(own) == FEW
    page.keyboard.press("Escape")
    view_closes(page)


def test_a_grid_follows_a_library_that_others_change_and_loses_neither_focus_nor_keys(own, page):
    uids = [photo["UID"] for photo in own.library.find(count=2, order="newest")]
    token, held, months = own.api.access_token(), [], re.compile(r"/photos/timeline(\?|$)")

    def archive(uid):
        assert own.api.call("POST", "/batch/photos/archive", token, json={"photos": [uid]}).status_code == 200

    press_at(page, 1, "ArrowRight")
    archive(uids[0])
    page.keyboard.press("f")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{FEW - 1}'] .badge[title=Favorite]")
    focus_at(page, 1)  # at its photo
    page.focus(f"{tile(FEW - 1)} a")
    archive(uids[1])
    page.route(months, lambda route: held.append(route))  # noqa: PLW0108 - Playwright sets attributes of it
    with page.expect_request(months):
        page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    page.keyboard.press("Control+Home")  # while the page reads the changed library
    focus_at(page, 1)
    for route in held:
        route.continue_()
    page.unroute(months)
    shows(page, FEW - 2)
    assert page.evaluate("scrollY") == 0
