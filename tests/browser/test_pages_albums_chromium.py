"""Albums in Chromium: selected photos become an album and leave it, photos are dragged, all of it by keys alone."""

import re
import zipfile

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import (
    FAILS,
    FIRST,
    downloaded,
    enter,
    focus_at,
    open_page,
    says,
    selected,
    shows,
    tab_to,
    tile,
    until,
    viewed,
)
from tests.browser.conftest import FEW
from tests.helpers.api_client import PASSWORD
from tests.helpers.pictures import exif, jpeg

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def page(own, chromium):
    with open_page(chromium, own.base, expected=FAILS) as page:
        shows(page, FEW)
        yield page


def shown(page, count):
    """The UIDs of the photos in the grid, in its order."""
    until(page, "document.querySelectorAll('.tiles li a[href]').length === value", count)
    return page.evaluate("""() => [...document.querySelectorAll(".tiles li")]
      .sort((one, other) => one.getAttribute("aria-posinset") - other.getAttribute("aria-posinset"))
      .map((item) => item.querySelector("a").pathname.split("/").at(-1))""")


def create(page, base, title, query=""):
    """Make an album of the photos that are found now, and show it."""
    page.goto(f"{base}/albums/new{query}")
    page.fill("#title", title)
    if query:
        page.check("text=The current results of a search")
    page.click("text=Create album")
    page.wait_for_selector("text=Album created.")


def test_selected_photos_become_an_album_that_opens_is_shared_and_leave_it_again(page, own):
    page.keyboard.press("Control+a")
    selected(page, FEW)
    assert page.query_selector(".actions [aria-label^='Remove']") is None  # this is no album
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type('Lake "<img src=x>')
    page.keyboard.press("Enter")
    says(page, f'{FEW} photos added to Lake "<img src=x>')
    page.click(".undo a")
    page.wait_for_url(f"{own.base}/albums/a*")
    assert page.inner_text("h1") == 'Lake "<img src=x>'
    shows(page, FEW)
    page.focus(f"{FIRST} a")
    page.keyboard.press("x")
    assert page.is_visible(".actions [aria-label='Delete']")  # from the library, which the key does not mean here
    page.keyboard.press("Delete")
    says(page, "1 photo removed from this album")
    shows(page, FEW - 1)
    page.keyboard.press("Control+z")
    says(page, "Undone")
    shows(page, FEW)
    page.click(f"{FIRST} a")
    viewed(page, 1, FEW)
    assert re.search(r"/photos/p\w+\?s=a\w+", page.url)
    page.keyboard.press("Escape")
    page.click("main a:text-is('Share')")
    page.click("button:has-text('Make a link')")
    page.wait_for_selector("#address")  # whole, also where the service does not know its own address
    assert re.fullmatch(rf"{re.escape(own.base)}/s/[0-9a-z]{{26}}/lake-img-src-x", page.input_value("#address"))
    assert page.is_hidden("text=Put the address of this service before it.")


def test_the_typed_title_of_an_album_that_exists_means_this_album(page, own):
    create(page, own.base, "Rome in May")
    page.goto(own.base)
    shows(page, FEW)
    button = page.locator("dialog .primary")
    for typed, text in (("rome in", "Create album"), (" rome  in may ", "Add")):
        page.focus(f"{FIRST} a")
        page.keyboard.press("l")
        page.fill("#album-title", typed)
        assert button.inner_text() == text
        page.keyboard.press("Escape")
    page.focus(f"{FIRST} a")
    page.keyboard.press("l")
    page.fill("#album-title", " rome  in may ")
    page.keyboard.press("Enter")
    says(page, "1 photo added to Rome in May")
    page.goto(f"{own.base}/albums?q=rome")
    assert page.locator(".albums li").count() == 1


def by_hand(page):
    """Wait for the album in the order that photos were moved in."""
    page.wait_for_selector(".order summary:has-text('By hand')", state="attached")
    shows(page, FEW)


def test_photos_are_dragged_and_moved_to_the_top_in_the_album_which_gets_a_cover(page, own):
    create(page, own.base, "Dragged", "?q=camera:canon")
    shows(page, FEW)
    before = shown(page, FEW)
    page.drag_and_drop(f"{tile(5)} a", f"{tile(2)} a", target_position={"x": 6, "y": 90})
    by_hand(page)
    after = [before[0], before[4], *before[1:4], before[5]]
    assert shown(page, FEW) == after
    for position in (6, 4):
        page.hover(tile(position))
        page.click(f"{tile(position)} .pick")
    page.click(".actions [aria-label^='To the top']")
    says(page, "2 photos moved")
    until(page, f'document.querySelector("{FIRST} a")?.pathname.endsWith(value)', after[3])
    assert shown(page, FEW) == [after[3], after[5], *after[:3], after[4]]
    page.focus(f"{tile(3)} a")
    page.keyboard.press("c")
    says(page, "Cover of the album changed")
    token, album = own.api.app_password("alice"), page.url.rpartition("/")[2].partition("#")[0]
    record = own.api.call("GET", f"/albums/{album}", token).json
    assert (record["ThumbSrc"], record["Order"]) == ("manual", "manual")
    assert record["Thumb"] in page.get_attribute(".cover > img", "src")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert own.api.call("GET", f"/albums/{album}", token).json["ThumbSrc"] == ""


def test_an_album_is_made_changed_arranged_and_deleted_by_keys_alone(page, own):
    enter(page, ".side a[href='/albums']", then="h1:has-text('Albums')")
    enter(page, "a[href='/albums/new']", then="#title")
    tab_to(page, "#title")
    page.keyboard.type("By keys")
    tab_to(page, "[name=kind]")
    page.keyboard.press("ArrowDown")
    tab_to(page, "[name=Filter]")
    page.keyboard.type("camera:canon")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Album created.")
    album = page.url.partition("?")[0]
    shows(page, FEW)
    before = shown(page, FEW)
    page.focus(f"{tile(3)} a")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")
    focus_at(page, 2)
    page.keyboard.press("ArrowLeft")
    focus_at(page, 1)
    assert page.locator(".unseen[role=status]:text-is('Before photo 1 of 6')").count() == 1
    page.keyboard.press("Space")
    by_hand(page)
    moved = [before[2], *before[:2], *before[3:]]
    assert shown(page, FEW) == moved
    page.focus(f"{tile(1)} a")
    page.keyboard.press("Space")
    page.keyboard.press("End")
    page.keyboard.press("Escape")  # puts it back
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    assert shown(page, FEW) == moved
    page.goto(f"{album}/edit")
    enter(page, "summary.danger", then="main button.danger")
    enter(page, "main button.danger", then="text=The album “By keys” is deleted.")
    assert page.locator(".albums >> text=By keys").count() == 0
    enter(page, ".undo button", then="text=Album restored.")
    assert shown(page, FEW) == [before[2], *before[:2], *before[3:]]


def linked(own, **values):
    """The path of a link to an album of all photos."""
    token = own.api.app_password("alice")
    photos = [photo["UID"] for photo in own.api.call("GET", "/photos?order=oldest", token).json]
    album = own.api.call("POST", "/albums", token, json={"Title": "Lake"}).json["UID"]
    own.api.call("POST", f"/albums/{album}/photos", token, json={"photos": photos})
    return f"/s/{own.api.call('POST', f'/albums/{album}/links', token, json=values).json['Token']}"


def swipe(page):
    """Move a finger to the left."""
    touch = page.context.new_cdp_session(page)
    for kind, x in (("touchStart", 340), ("touchMove", 260), ("touchMove", 120), ("touchEnd", None)):
        points = [] if x is None else [{"x": x, "y": 420}]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_visitors_of_a_link_have_the_viewer_and_a_slideshow_and_download_what_they_select(own, chromium):
    path = linked(own, ShowMetadata=True, CanDownload=True)
    with open_page(chromium, own.base, path, name="", width=390, height=844, has_touch=True) as page:
        shows(page, FEW)
        page.tap(f"{FIRST} a")
        viewed(page, 1, FEW)
        assert page.url.startswith(f"{own.base}{path}/picture/p")
        assert page.locator(".pswp__caption").inner_text() == "1 May 2023"
        page.keyboard.press("ArrowRight")  # repeated once the viewer is open, which touches need
        viewed(page, 2, FEW)
        swipe(page)
        viewed(page, 3, FEW)
        page.keyboard.press("i")
        page.wait_for_selector(".panel:has-text('Canon EOS 5D')")
        page.wait_for_selector("[aria-label='Details (i)'][aria-pressed=true]")  # no error before it
        page.go_back()
        page.wait_for_selector(".pswp", state="detached")
        assert page.url == own.base + path
        focus_at(page, 3)
        page.go_forward()
        viewed(page, 3, FEW)
        page.reload()
        viewed(page, 3, FEW)
        page.go_back()
        shows(page, FEW)
        page.click("[data-slideshow]")
        page.wait_for_selector(".playing")
        page.wait_for_selector(f".pswp__position:text-is('2 of {FEW}')")
        page.keyboard.press("Space")
        page.wait_for_selector(".held:text-is('Paused. Space continues.')")
        page.keyboard.press("Escape")
        page.wait_for_selector(".pswp:not(.playing)")
        page.keyboard.press("Escape")
        page.wait_for_selector(".pswp", state="detached")
        page.keyboard.press("x")
        page.keyboard.press("Shift+ArrowRight")
        selected(page, 2)
        assert page.locator(".actions button:visible").count() == 3  # clear, all, download
        archive = downloaded(page, lambda: page.click(".actions [aria-label^=Download]"))
        assert len(zipfile.ZipFile(archive).namelist()) == 2


def test_a_link_without_scripts_has_a_page_for_each_picture(own, chromium):
    path = linked(own)
    with open_page(chromium, own.base, path, name="", java_script_enabled=False) as page:
        assert page.locator(".grid li img").count() == FEW
        page.click(".grid a >> nth=1")
        page.click("a[rel=next]")
        assert page.is_visible("figure img")
        page.click("a.up")
        assert page.url == own.base + path


def test_photos_are_shared_from_where_they_are_in_two_steps(own, chromium):
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    with open_page(chromium, own.base, **allowed) as page:
        shows(page, FEW)
        page.click(f"{FIRST} a")
        viewed(page, 1, FEW)
        page.click(".pswp [aria-label='Share (s)']")
        page.fill("#share-title", "For Ada")
        page.click("dialog .primary")
        says(page, "Link copied")
        address = page.evaluate("navigator.clipboard.readText()")
        assert re.fullmatch(rf"{re.escape(own.base)}/s/[0-9a-z]{{26}}/for-ada", address)
        page.goto(f"{own.base}/albums")
        page.click("text=For Ada")
        page.click("main a:text-is('Share')")
        expect(page.locator(".again input")).to_have_value(address)  # a script completes the path
    with open_page(chromium, own.base, address.removeprefix(own.base), name="") as page:
        shows(page, 1)
        assert page.inner_text("h1") == "For Ada"


def test_uploads_into_an_album_are_in_it(page, own, tmp_path):
    new = tmp_path / "new.jpg"
    new.write_bytes(jpeg(90, 60, exif=exif({}, {0x9003: "2018:08:08 08:08:08"})))
    create(page, own.base, "Filled", "?q=year:2023")
    shows(page, FEW)
    page.set_default_timeout(120_000)  # files are added once an indexer has started and read them
    page.set_input_files("input[type=file]", [new])
    page.wait_for_selector(".uploads li:is(.added, .stored)")  # stored: no indexer had read it when the request ended
    shows(page, FEW + 1)


def test_a_form_that_is_left_asks_and_has_its_values_again_when_it_could_not_be_sent(page, own):
    places, asked = "nav[aria-label=Main] a >> text=Places", []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.goto(f"{own.base}/albums/new")
    page.click(places)  # nothing is typed
    page.wait_for_url(f"{own.base}/places")
    page.goto(f"{own.base}/albums/new")
    page.fill("[name=Title]", "Written for an hour")
    page.fill("[name=Description]", "Two\nlines")
    page.click(places, no_wait_after=True)
    page.wait_for_selector("form[data-unsaved]")
    assert (page.url, asked) == (f"{own.base}/albums/new", ["beforeunload"])
    page.context.clear_cookies()
    page.click("main button.primary")
    page.fill("#name", "alice")
    page.fill("#password", "wrong")
    page.click("button.primary")
    page.wait_for_selector(".alert:has-text('Invalid credentials')")
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(f"{own.base}/albums/new")
    page.wait_for_selector("form[data-unsaved]")
    assert page.input_value("[name=Title]") == "Written for an hour"
    assert page.input_value("[name=Description]") == "Two\nlines"
    page.check("[name=kind][value=following]")
    page.fill("[name=Filter]", "lake (")
    page.click("main button.primary")
    page.wait_for_selector(".alert:has-text('Not created yet')")
    page.click(places, no_wait_after=True)
    page.wait_for_selector("form[data-unsaved]")
    assert asked == ["beforeunload"] * 2
    page.check("[name=kind][value=chosen]")
    page.click("main button.primary")
    page.wait_for_selector("h1:has-text('Written for an hour')")
    page.goto(f"{own.base}/albums/new")
    assert page.input_value("[name=Title]") == ""
    assert asked == ["beforeunload"] * 2
