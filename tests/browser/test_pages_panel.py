"""The panel of the viewer in Chromium, where values are changed in place, and the dialog that edits many photos."""

import re

import pytest

from tests.browser.chromium import (
    FAILS,
    FIRST,
    open_page,
    open_panel,
    says,
    selected,
    shows,
    until,
    view_closes,
    viewed,
)
from tests.browser.conftest import FEW
from tests.helpers.pictures import exif, jpeg

pytestmark = pytest.mark.timeout(180)

TITLE, DESCRIPTION = ".panel [name=Title]", ".panel [name=Description]"
#: The lines of fields that a photo of the tests has no value for.
LINE_OF = {
    "Artist": "Rights", "Subject": "Rights", "Country": "Place", "Position": "Place", "Altitude": "Place",
    "Iso": "Camera", "Keywords": "Keywords",
}  # fmt: skip
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture
def page(own, chromium):
    """The panel of the first photo, `IMG_5`."""
    with open_page(chromium, own.base, expected=f"400|412|503|{FAILS}") as page:
        shows(page, FEW)
        open_panel(page)
        yield page


def record(site, name="IMG_5"):
    (photo,) = site.library.find(q=f"name:{name}", merged="true", count=5)
    return site.api.call("GET", f"/photos/{photo['UID']}", site.api.access_token()).json


def titles(site):
    return [photo["Title"] for photo in site.library.find(count=FEW, order="oldest")]


def unfold(page, name):
    """Open the line with this field by a click on it, or on what `Add` offers."""
    line = page.locator(f".panel .fact:has([name={name}])")
    if not page.is_visible(f".panel [name={name}]"):
        if not line.is_visible():
            page.click(".panel .adds summary")
        line_or_offer = line.locator("> .tell") if line.is_visible() else page.locator(f".adds [name={LINE_OF[name]}]")
        line_or_offer.click()
    page.wait_for_selector(f".panel [name={name}]")


def write(page, name, text):
    """Type a value and leave its field; the status of the answer."""
    unfold(page, name)
    with page.expect_response(lambda answer: answer.request.method == "PUT") as waiting:
        if page.evaluate("name => document.querySelector(`.panel [name=${name}]`).tagName", name) == "SELECT":
            page.select_option(f".panel [name={name}]", text)
        else:
            page.fill(f".panel [name={name}]", text)
            page.keyboard.press("Tab")
    return waiting.value.status


def saved(page):
    page.wait_for_selector("html:not([data-unsaved])", state="attached")


def test_values_of_every_kind_are_changed_in_place_told_wrong_and_taken_back(own, page):
    place = {"Country": "ch", "Position": "47.56903, 9.37510", "Altitude": "395", "TimeZone": "Europe/Vienna"}
    camera = {"Iso": "400", "FNumber": "2.8", "CameraModel": "EOS 6D", "LensModel": "EF 50mm", "Scan": "true"}
    for name, text in {"Artist": "Ada", "Subject": "A boat", **place, **camera}.items():
        assert write(page, name, text) == 200, name
    now = record(own)
    expected = {
        "Lat": 47.56903, "Lng": 9.3751, "Altitude": 395, "Iso": 400, "FNumber": 2.8,
        "CameraModel": "EOS 6D", "LensModel": "EF 50mm", "Scan": True, "TimeZone": "Europe/Vienna",
        "PlaceCountry": "ch",
    }  # fmt: skip
    assert {name: now[name] for name in expected} == expected
    assert (now["Details"]["Artist"], now["Details"]["Subject"]) == ("Ada", "A boat")
    page.click(".history summary")
    page.wait_for_selector(".history li:has-text('Time zone')")
    assert not re.search(r"Src|CellID", page.inner_text(".history"))
    told = "document.querySelector('.fact.title .told').textContent === value"
    before = page.inner_text(".fact.title .told")
    unfold(page, "Title")
    page.fill(TITLE, "<b>A lake</b>")
    page.keyboard.press("Enter")
    until(page, told, "<b>A lake</b>")
    says(page, "Title saved")
    page.click(".pswp .undo button")
    until(page, told, before)
    page.click(".history li:has-text('Title') button >> nth=0")
    until(page, told, "<b>A lake</b>")
    for name, text, message in (
        ("Iso", "many", "ISO: type a number."),
        ("Position", "here", "Type latitude and longitude"),
        ("Country", "c", "the two letters of a country"),
    ):
        if name == "Country":  # a position decides it
            write(page, "Position", "")
        unfold(page, name)
        before, value = record(own), page.input_value(f".panel [name={name}]")
        page.fill(f".panel [name={name}]", text)
        page.keyboard.press("Tab")
        page.wait_for_selector(f"#wrong-{name}:not([hidden]):has-text('{message}')")
        assert page.input_value(f".panel [name={name}]") == text
        assert page.get_attribute(f".panel [name={name}]", "aria-invalid") == "true"
        assert record(own) == before, name
        page.fill(f".panel [name={name}]", value)
        page.keyboard.press("Tab")
        saved(page)


def test_what_is_typed_while_another_field_is_saved_stays_and_is_saved_too(own, page):
    held = []
    page.route(
        "**/api/v1/photos/p*",
        lambda route: held.append(route) if route.request.method == "PUT" else route.continue_(),
    )
    unfold(page, "Title")
    page.fill(TITLE, "One")
    with page.expect_request(lambda request: request.method == "PUT"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.type("typed meanwhile")
    held[0].continue_()
    page.unroute("**/api/v1/photos/p*")
    page.wait_for_selector(".fact.title .told:text-is('One')", state="attached")
    assert page.input_value(DESCRIPTION) == "typed meanwhile"
    assert write(page, "Description", "typed meanwhile, and more") == 200
    assert (record(own)["Title"], record(own)["Description"]) == ("One", "typed meanwhile, and more")
    page.click(".pswp__button--favorite")
    page.wait_for_selector(".pswp .undo:not([hidden]) span:has-text('favorite')")
    assert write(page, "Title", "After the heart") == 200  # the own change is no conflict
    assert record(own)["Title"] == "After the heart"


def drag(page):
    for act, x in (("move", 500), ("down", None), ("move", 300), ("move", 100), ("up", None)):
        getattr(page.mouse, act)(*([] if x is None else [x, 400]))


LEAVING = {
    "the arrow of the viewer": lambda page: page.click(".pswp__button--arrow--next"),
    "a swipe": drag,
    "the arrow key, after a click on the picture": lambda page: (
        page.mouse.click(400, 400), page.evaluate("document.activeElement.blur()"), page.keyboard.press("ArrowRight")
    ),
    "a click on the picture": lambda page: page.mouse.click(400, 400),
    "the heart, then the arrow": lambda page: (
        page.click(".pswp__button--favorite"), page.click(".pswp__button--arrow--next")
    ),
    "the button of the panel": lambda page: page.click(".pswp__button--info"),
    "the button that closes": lambda page: page.click(".pswp__button--close"),
    "Back": lambda page: page.go_back(),
    "Enter": lambda page: page.keyboard.press("Enter"),
    "another tab of the browser": lambda page: page.evaluate(
        "Object.defineProperty(document, 'hidden', {value: true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    ),
}  # fmt: skip


def test_a_typed_value_is_saved_in_whatever_way_its_field_is_left(own, page):
    for way, leave in LEAVING.items():
        page.goto(own.base)
        shows(page, FEW)
        open_panel(page)
        unfold(page, "Title")
        page.fill(TITLE, f"Left by {way}")
        with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
            leave(page)
        saved(page)
        assert record(own)["Title"] == f"Left by {way}"


def test_a_value_that_is_not_saved_waits_in_its_field_and_is_sent_again(own, page):
    unfold(page, "Title")
    page.context.set_offline(True)
    page.fill(TITLE, "Again")
    page.keyboard.press("Enter")
    page.wait_for_selector("#wrong-Title:has-text('The server cannot be reached. Try again.')")
    page.context.set_offline(False)
    page.focus(TITLE)
    page.keyboard.press("Tab")
    page.wait_for_selector("#wrong-Title", state="hidden")
    saved(page)
    assert record(own)["Title"] == "Again"
    page.route(
        "**/api/v1/photos/p*", lambda route: route.abort() if route.request.method == "PUT" else route.continue_()
    )
    unfold(page, "Title")
    page.fill(TITLE, "Waits")
    page.click(".pswp__button--arrow--next")
    page.wait_for_selector(".undo:not([hidden]) span:has-text('Not saved. Title: The server cannot be reached')")
    viewed(page, 2, FEW)
    page.click(".pswp__button--close")
    view_closes(page)
    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload(), 0)")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    page.click(".undo a:text-is('Show')")
    viewed(page, 1, FEW)
    page.wait_for_selector("#wrong-Title:has-text('The server cannot be reached')")
    assert page.input_value(TITLE) == "Waits"
    page.unroute("**/api/v1/photos/p*")
    page.click("#wrong-Title button:text-is('Try again')")
    saved(page)
    assert record(own)["Title"] == "Waits"


def test_a_photo_that_somebody_else_changed_leaves_the_choice_and_what_is_typed(own, page):
    address, token = f"/photos/{record(own)['UID']}", own.api.access_token()
    for values, choice, title in (
        ({"Title": "Theirs"}, "Show the current version", "Theirs"),
        ({"Title": "Theirs again"}, "Save mine", "Mine"),
        ({"Description": "A text"}, "Save mine", "Mine too"),
    ):
        assert own.api.call("PUT", address, token, json=values).status_code == 200
        typed = "Mine" if title == "Theirs" else title
        unfold(page, "Title")
        page.fill(TITLE, typed)
        page.keyboard.press("Enter")
        page.wait_for_selector("#wrong-Title:has-text('Somebody else changed this photo.')")
        page.click(".pswp__button--info")
        page.click(".undo:not([hidden]):has-text('Not saved. Title: Somebody else changed this photo.') a")
        assert page.input_value(TITLE) == typed
        page.click(f"#wrong-Title button:text-is('{choice}')")
        saved(page)
        assert (page.input_value(TITLE), record(own)["Title"]) == (title, title)
    assert record(own)["Description"] == "A text"


def test_a_line_becomes_its_field_on_a_click_or_by_e_and_escape_restores_its_value(own, page):
    assert page.locator(".panel :is(input:not([type=radio]), textarea, select):visible").count() == 0
    assert page.inner_text(".fact.description") == "Add a description"
    assert [line.get_attribute("class") for line in page.query_selector_all(".fact") if line.is_visible()] == [
        "fact title", "fact description missing", "fact taken", "fact camera"
    ]  # fmt: skip
    page.keyboard.press("e")
    page.wait_for_selector(f"{TITLE}:focus")
    page.keyboard.press("Escape")
    page.wait_for_selector(".fact.title .tell:focus")
    page.keyboard.press("i")
    page.wait_for_selector(".panel", state="hidden")
    page.keyboard.press("e")
    page.wait_for_selector(f"{TITLE}:focus")
    before = record(own)["Title"]
    page.fill(TITLE, "Not this")
    page.keyboard.press("Escape")
    saved(page)
    assert page.inner_text(".fact.title .told") == record(own)["Title"] == before
    unfold(page, "Description")
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("Enter")
    assert record(own)["Description"] == "One\nTwo"


def test_stars_are_given_by_one_press_or_key_and_taken_away_by_the_same(own, page):
    for act, stars in (
        (lambda: page.click(".rating input[value='4']"), 4),
        (lambda: page.click(".rating input[value='4']"), 0),
        (lambda: page.keyboard.press("5"), 5),
        (lambda: page.keyboard.press("0"), 0),
    ):
        with page.expect_response("**/batch/photos/edit"):
            act()
        until(page, "document.querySelectorAll('.rating :checked').length === Math.min(value, 1)", stars)
        assert record(own).get("Rating", 0) == stars
    page.keyboard.press("?")
    page.wait_for_selector("dialog.help")


def test_a_place_is_set_by_its_name_or_a_pin_and_the_zone_follows(own, page):
    unfold(page, "Position")
    page.fill("[name=PlaceName]", "bellagio")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.keyboard.press("Enter")
    page.wait_for_selector(".fact.place .told:has-text('Bellagio · Lombardy, Italy')")
    page.wait_for_selector(".map a span:text-is('Menaggio')")
    assert record(own)["TimeZone"] == "Europe/Rome"
    page.click("text=Pin on the map")
    page.wait_for_selector(".pinning .leaflet-image-layer", state="attached")
    page.keyboard.press("ArrowUp")
    page.wait_for_timeout(400)
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.click("text=Use this place")
    assert record(own)["Lat"] > 46.1


def test_a_photo_whose_time_changes_within_its_month_stays_open_at_its_new_place(own, page):
    page.keyboard.press("ArrowRight")
    viewed(page, 2, FEW)
    page.wait_for_selector(".fact.taken:has-text('May 5, 2023')")
    write(page, "TakenAtLocal", "2023-05-20T08:00:00")
    viewed(page, 1, FEW)
    assert page.url.partition("?")[0].endswith(record(own, "IMG_4")["UID"])
    says(page, "Date and time saved")
    page.click(".pswp .undo button")
    viewed(page, 2, FEW)


def test_files_of_a_stack_are_shown_turned_and_taken_out_and_the_turn_is_seen_at_once(own, chromium):
    taken = exif({}, {0x9003: "2023:06:01 10:00:00", 0xA420: "0123456789abcdef0123456789abcdef"})
    own.library.put("stack_1.jpg", jpeg(80, 60, exif=taken))
    own.library.put("stack_2.jpg", jpeg(60, 80, exif=taken) + b"2")
    own.library.index()
    grid, stack = f"{own.base}/?q=taken:2023-06", ".files li:has-text('stack_2.jpg')"
    tile, viewer = ".tiles img.here", ".pswp__img:not(.pswp__img--placeholder)"

    def lies(page, selector, *, upright=False):
        until(page, f"((one) => one?.naturalWidth {'<' if upright else '>'} one?.naturalHeight)"
              "(document.querySelector(value))", selector)  # fmt: skip

    with open_page(chromium, own.base) as page, open_page(chromium, own.base) as other:
        page.goto(grid)
        open_panel(page)
        page.click(".files summary")
        assert page.locator(".files li").count() == 2
        page.click(".files button:text-is('Show')")
        page.wait_for_selector(f"{stack} button:text-is('Unstack')")
        page.wait_for_selector(".files li:has-text('stack_1.jpg') button:text-is('Show')")
        assert [file["Name"] for file in record(own, "stack_*")["Files"] if file["Primary"]] == ["stack_2.jpg"]
        other.goto(grid)
        lies(other, tile, upright=True)
        page.click(f"{stack} button:text-is('Turn')")
        page.wait_for_selector(f"{stack} small:has-text('80 × 60')")
        lies(page, viewer)
        page.keyboard.press("Escape")
        lies(page, tile)
        other.goto(grid)  # of a browser that had it before
        lies(other, tile)
        assert other.evaluate("document.querySelector('.tiles img').currentSrc.includes('turn')")
        open_panel(page)
        page.click(".files li:has-text('stack_1.jpg') button:text-is('Unstack')")
        page.click("dialog .primary")
        until(page, "document.querySelectorAll('.files li').length === 1")
        page.wait_for_selector(".pswp__position:text-matches('of 2')")
        assert len(own.library.find(q="taken:2023-06", count=5)) == 2


def test_facts_are_links_that_find_the_photo_whatever_its_values_are(own, chromium):
    uid, token = record(own)["UID"], own.api.access_token()
    values = {"LensModel": 'Lens 1" Pro | 50*', "CameraModel": "Back\\slash & Co", "Lat": 35.6895, "Lng": 139.6917}
    values["Details"] = {"Keywords": ['say "hi"']}
    assert own.api.call("PUT", f"/photos/{uid}", token, json=values).status_code == 200
    album = own.api.call("POST", "/albums", token, json={"Title": MARKUP}).json["UID"]
    own.api.call("POST", f"/albums/{album}/photos", token, json={"photos": [uid]})
    with open_page(chromium, own.base) as page:
        shows(page, FEW)
        open_panel(page)
        page.click(".files summary")
        assert "Asia/Tokyo" in page.inner_text(".files dl")
        page.wait_for_selector(f".albums a:text-is('{MARKUP}')")
        links = [link.get_attribute("href") for link in page.query_selector_all(".facts a[href*='?q=']")]
        hrefs = [page.get_attribute(f".panel {link}", "href") for link in (".albums a", ".map a")]
        assert hrefs == [f"/albums/{album}", "/places#14/35.68950/139.69170"]
        page.keyboard.press("p")
        page.wait_for_selector(".pswp__button--private[aria-pressed=true]")
        says(page, "1 photo made private")
        page.keyboard.press("Control+z")
        page.wait_for_selector(".pswp__button--private[aria-pressed=false]")
        assert len(links) == 5
        for link in links:
            page.goto(own.base + link)
            page.wait_for_selector(f"{FIRST}[aria-setsize='1'] a[href*='{uid}']")


@pytest.fixture
def dialog(own, chromium):
    """The dialog that edits all photos."""
    with open_page(chromium, own.base, expected=f"400|503|{FAILS}") as page:
        shows(page, FEW)
        page.keyboard.press("Control+a")
        selected(page, FEW)
        page.keyboard.press("e")
        page.wait_for_selector("dialog.values")
        yield page


def test_what_is_typed_becomes_that_of_all_photos_and_is_taken_back(own, dialog):
    before = titles(own)
    assert dialog.inner_text("dialog h2") == f"Edit {FEW} photos"
    dialog.keyboard.type(MARKUP)
    dialog.fill("[name=add_keywords]", "lake, boat")
    dialog.fill("[name=shift]", "-15")
    dialog.keyboard.press("Enter")
    says(dialog, f"{FEW} of {FEW} photos changed")
    dialog.wait_for_selector(".box h2:has-text('April 30, 2023')")
    oldest = own.library.find(count=1, order="oldest")[0]
    assert (titles(own), oldest["TakenAtLocal"]) == ([MARKUP] * FEW, "2023-04-30T19:00:00Z")
    assert len(own.library.find(q="keywords:lake")) == FEW
    dialog.keyboard.press("Control+z")
    says(dialog, "Undone")
    oldest = own.library.find(count=1, order="oldest")[0]
    assert (titles(own), oldest["TakenAtLocal"]) == (before, "2023-05-01T10:00:00Z")
    assert own.library.find(q="keywords:lake") == []


def test_a_wrong_value_for_all_is_told_beside_its_field_and_one_that_stopped_midway_is_taken_back(own, dialog):
    before = own.library.find(count=FEW)
    for field, text, message in (
        ("shift", "soon", "Type a number of hours, such as -1.5."),
        ("Position", "here", "Type latitude and longitude, such as 47.56903, 9.37510."),
        ("Position", "200, 5", "less than or equal to 90"),
        ("add_keywords", ",".join(f"word{number}" for number in range(257)), "at most 256 keywords"),
    ):
        if not dialog.is_visible(f"[name={field}]"):
            dialog.click(f"summary:has(~ [name={field}])")
        dialog.fill(f"[name={field}]", text)
        dialog.keyboard.press("Enter")
        dialog.wait_for_selector(f".alert:not([hidden]):has-text('{message}')")
        assert dialog.evaluate("document.activeElement.name") == field
        told, row = (dialog.locator(f"dialog {name}").bounding_box() for name in (".alert", ".row"))
        assert told["y"] + told["height"] <= row["y"]  # the buttons, which stay at the lower edge, cover nothing
        assert dialog.get_attribute(f"[name={field}]", "aria-invalid") == "true", field
        dialog.fill(f"[name={field}]", "")
    assert own.library.find(count=FEW) == before

    def stop_midway(route):
        body = route.request.post_data_json
        changed = route.fetch(post_data={**body, "photos": body["photos"][:2]}).json()
        assert changed["photos"] == 2
        stopped = {"code": 503, "error": "it took long", "photos": 2, "change": changed["change"]}
        route.fulfill(status=503, json=stopped)

    dialog.route("**/batch/photos/edit", stop_midway)
    dialog.fill("[name=Title]", "Lake")
    dialog.keyboard.press("Enter")
    dialog.wait_for_selector(".alert:not([hidden]):has-text('it took long; the changes are undone')")
    assert titles(own) == [photo["Title"] for photo in before[::-1]]
