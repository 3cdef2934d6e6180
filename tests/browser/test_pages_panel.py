"""The panel of the viewer in Chromium: every value that is changed in place, files of a stack, and what is typed."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

FIRST = ".tiles li[aria-posinset='1']"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service with photos, of which the last one has two files, and a client of its API."""
    with open_api(tmp_path_factory.mktemp("panel")) as api:
        for number in range(3):
            taken = exif({0x010F: "Canon"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        taken = exif({}, {0x9003: "2023:06:01 10:00:00", 0xA420: "0123456789abcdef0123456789abcdef"})
        api.library.put("stack_1.jpg", jpeg(80, 60, exif=taken))
        api.library.put("stack_2.jpg", jpeg(60, 80, exif=taken) + b"2")
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as base:
            yield base, api


def open_panel(page, base, query):
    page.goto(f"{base}/?q={query}")
    page.wait_for_selector(f"{FIRST} img.here")
    page.wait_for_selector(".actions", state="attached")
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    page.keyboard.press("i")
    page.wait_for_selector(".panel [name=Title]")


@pytest.fixture
def page(served, chromium):
    """The panel of the photo with the name `IMG_1`."""
    with open_page(chromium, served[0], expected="400") as page:
        open_panel(page, served[0], "name:IMG_1")
        yield page


def record(served, name="IMG_1"):
    api = served[1]
    (photo,) = api.library.find(q=f"name:{name}", merged="true", count=5)
    return api.call("GET", f"/photos/{photo['UID']}", api.access_token()).json


def write(page, name, text):
    """Types a value and leaves its field; waits for the answer."""
    if not page.is_visible(f".panel [name={name}]"):
        page.click(f".panel summary:has(~ * [name={name}])")
    with page.expect_response(lambda answer: answer.request.method == "PUT") as waiting:
        if page.evaluate("name => document.querySelector(`.panel [name=${name}]`).tagName", name) == "SELECT":
            page.select_option(f".panel [name={name}]", text)
        else:
            page.fill(f".panel [name={name}]", text)
            page.keyboard.press("Tab")
    return waiting.value


def test_values_of_every_kind_are_changed_in_place(served, page):
    place = {"Country": "ch", "Position": "47.56903, 9.37510", "Altitude": "395", "TimeZone": "Europe/Vienna"}
    camera = {"Iso": "400", "FNumber": "2.8", "CameraModel": "EOS 5D", "LensModel": "EF 50mm", "Scan": "true"}
    typed = {"Rating": "4", "Artist": "Ada", "Subject": "A boat", **place, **camera}
    for name, text in typed.items():
        assert write(page, name, text).status == 200, name
    now = record(served)
    position = {"Lat": 47.56903, "Lng": 9.3751, "Altitude": 395}
    expected = {"Rating": 4, **position, "Iso": 400, "FNumber": 2.8, "CameraModel": "EOS 5D"}
    assert {name: now[name] for name in expected} == expected
    assert (now["LensModel"], now["Scan"], now["TimeZone"]) == ("EF 50mm", True, "Europe/Vienna")
    assert (now["Details"]["Artist"], now["Details"]["Subject"], now["PlaceCountry"]) == ("Ada", "A boat", "ch")
    page.wait_for_selector(".history li:has-text('Time zone')")
    assert not re.search(r"Src|CellID", page.inner_text(".history"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("Position", "here", "Type latitude and longitude"),
        ("Iso", "many", "ISO: type a number."),
        ("Country", "c", "the two letters of a country"),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_stays_to_be_mended(served, page, name, text, message):
    if name == "Country":
        if page.input_value(".panel [name=Position]"):  # a position decides the country
            write(page, "Position", "")
        page.wait_for_selector(".panel [name=Country]", state="attached")
    before = record(served)
    if not page.is_visible(f".panel [name={name}]"):
        page.click(f".panel summary:has(~ * [name={name}])")
    page.fill(f".panel [name={name}]", text)
    page.keyboard.press("Tab")
    page.wait_for_selector(f"#wrong-{name}:not([hidden]):has-text('{message}')")
    assert page.input_value(f".panel [name={name}]") == text
    assert page.get_attribute(f".panel [name={name}]", "aria-invalid") == "true"
    assert record(served) == before


def test_what_is_typed_while_another_field_is_saved_stays_and_is_saved_too(served, page):
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {"offline": False, "latency": 500, "downloadThroughput": -1, "uploadThroughput": -1},
    )
    page.fill(".panel [name=Title]", "One")
    page.keyboard.press("Tab")
    page.keyboard.type("typed meanwhile", delay=60)
    page.wait_for_selector(".panel h2:text-is('One')")
    assert page.input_value(".panel [name=Description]") == "typed meanwhile"
    assert write(page, "Description", "typed meanwhile, and more").status == 200
    assert (record(served)["Title"], record(served)["Description"]) == ("One", "typed meanwhile, and more")


def test_a_value_that_was_not_saved_is_sent_again_when_its_field_is_left_once_more(served, chromium):
    with open_page(chromium, served[0], expected="Failed to load resource") as page:
        open_panel(page, served[0], "name:IMG_0")
        page.context.set_offline(True)
        page.fill(".panel [name=Title]", "Again")
        page.keyboard.press("Enter")
        page.wait_for_selector("#wrong-Title:has-text('The server cannot be reached. Try again.')")
        page.context.set_offline(False)
        page.focus(".panel [name=Title]")
        page.keyboard.press("Tab")
        page.wait_for_selector("#wrong-Title", state="hidden")
        page.wait_for_selector(".panel form.edit:not([data-unsaved])", state="attached")
        assert record(served, "IMG_0")["Title"] == "Again"


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


@pytest.mark.parametrize("way", LEAVING)
def test_a_typed_value_is_saved_in_whatever_way_its_field_is_left(served, chromium, way):
    with open_page(chromium, served[0], expected="412") as page:
        open_panel(page, served[0], "taken:2023-05")
        title = f"Left by {way}"
        page.click(".panel [name=Title]")
        page.fill(".panel [name=Title]", title)
        with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
            LEAVING[way](page)
        page.wait_for_selector("html:not([data-unsaved])", state="attached")
        assert record(served, "IMG_2")["Title"] == title


def test_a_value_that_is_not_saved_waits_in_its_field_while_other_photos_are_shown(served, chromium):
    with open_page(chromium, served[0], expected="Failed to load resource") as page:
        open_panel(page, served[0], "taken:2023-05")
        page.route(
            "**/api/v1/photos/p*", lambda route: route.abort() if route.request.method == "PUT" else route.continue_()
        )
        page.fill(".panel [name=Title]", "Waits")
        page.click(".pswp__button--arrow--next")
        page.wait_for_selector(".undo:not([hidden]) span:has-text('Not saved. Title: The server cannot be reached')")
        page.wait_for_selector(".pswp__position:text-is('2 of 3')")
        page.click(".pswp__button--close")
        page.wait_for_selector(".pswp", state="detached")
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.evaluate("setTimeout(() => location.reload(), 0)")
        page.wait_for_function("() => true")
        page.click(".undo a:text-is('Show')")
        page.wait_for_selector(".pswp__position:text-is('1 of 3')")
        page.wait_for_selector("#wrong-Title:has-text('The server cannot be reached')")
        assert page.input_value(".panel [name=Title]") == "Waits"
        assert asked == ["beforeunload"]
        page.unroute("**/api/v1/photos/p*")
        page.click("#wrong-Title button:text-is('Try again')")
        page.wait_for_selector("html:not([data-unsaved])", state="attached")
        assert record(served, "IMG_2")["Title"] == "Waits"


def test_a_photo_that_somebody_else_changed_leaves_the_choice_and_what_is_typed(served, chromium):
    base, api = served
    with open_page(chromium, base, expected="412") as page:
        open_panel(page, base, "name:IMG_1")
        address, token = f"/photos/{record(served)['UID']}", api.access_token()
        for values, choice, title in (
            ({"Title": "Theirs"}, "Show the current version", "Theirs"),
            ({"Title": "Theirs again"}, "Save mine", "Mine"),
            ({"Description": "A text"}, "Save mine", "Mine too"),
        ):
            assert api.call("PUT", address, token, json=values).status_code == 200
            typed = "Mine" if title == "Theirs" else title
            page.fill(".panel [name=Title]", typed)
            page.keyboard.press("Enter")
            page.wait_for_selector("#wrong-Title:has-text('Somebody else changed this photo.')")
            page.click(".pswp__button--info")
            page.click(".undo:not([hidden]):has-text('Not saved. Title: Somebody else changed this photo.') a")
            assert page.input_value(".panel [name=Title]") == typed
            page.click(f"#wrong-Title button:text-is('{choice}')")
            page.wait_for_selector("html:not([data-unsaved])", state="attached")
            assert (page.input_value(".panel [name=Title]"), record(served)["Title"]) == (title, title)
        assert record(served)["Description"] == "A text"


def test_escape_asks_before_it_discards_what_was_typed(served, page):
    before = record(served)["Title"]
    page.fill(".panel [name=Title]", "Not this")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog:has-text('Discard what you typed?')")
    page.click("dialog button:text-is('Cancel')")
    assert page.input_value(".panel [name=Title]") == "Not this"
    page.keyboard.press("Escape")
    page.click("dialog button:text-is('Discard')")
    page.wait_for_selector("html:not([data-unsaved])", state="attached")
    assert record(served)["Title"] == before != "Not this"


def test_the_own_change_of_a_photo_is_no_conflict_with_the_next(served, page):
    page.keyboard.press("f")
    page.wait_for_selector(".pswp .undo:not([hidden]) span:has-text('favorite')")
    assert write(page, "Title", "After the heart").status == 200
    page.click(".pswp .undo button")
    page.wait_for_selector(".pswp .undo span:has-text('Undone')")
    assert record(served)["Title"] == "After the heart"


def test_a_photo_whose_time_changes_within_its_month_stays_open_at_its_new_place(served, chromium):
    with open_page(chromium, served[0]) as page:
        open_panel(page, served[0], "taken:2023-05")
        page.keyboard.press("ArrowRight")
        page.wait_for_selector(".pswp__position:text-is('2 of 3')")
        page.wait_for_function(
            "() => document.querySelector('.panel [name=TakenAtLocal]').value.startsWith('2023-05-02')"
        )
        write(page, "TakenAtLocal", "2023-05-20T08:00:00")
        page.wait_for_selector(".pswp__position:text-is('1 of 3')")
        assert page.url.partition("?")[0].endswith(record(served)["UID"])
        page.click(".history li:has-text('Time') button >> nth=0")
        page.wait_for_selector(".pswp__position:text-is('2 of 3')")


def test_files_of_a_stack_are_shown_turned_and_taken_out(served, chromium):
    with open_page(chromium, served[0]) as page:
        open_panel(page, served[0], "taken:2023-06")
        assert len(page.query_selector_all(".files li")) == 2
        page.click(".files button:text-is('Show')")
        page.wait_for_selector(".files li:has-text('stack_2.jpg') button:text-is('Unstack')")
        page.wait_for_selector(".files li:has-text('stack_1.jpg') button:text-is('Show')")
        shown = record(served, "stack_*")
        assert [file["Name"] for file in shown["Files"] if file["Primary"]] == ["stack_2.jpg"]
        page.click(".files li:has-text('stack_2.jpg') button:text-is('Turn')")
        page.wait_for_selector(".files li:has-text('stack_2.jpg') small:has-text('80 × 60')")
        page.click(".files li:has-text('stack_1.jpg') button:text-is('Unstack')")
        page.click("dialog .primary")
        page.wait_for_function("() => document.querySelectorAll('.files li').length === 1")
        page.wait_for_selector(".pswp__position:text-matches('of 2')")
        assert len(served[1].library.find(q="taken:2023-06", count=5)) == 2


def test_a_photo_that_somebody_turns_shows_so_at_once_also_where_a_browser_kept_it_unturned(served, chromium):
    shown = "document.querySelector('.pswp__img:not(.pswp__img--placeholder)')"
    tile = f'document.querySelector("{FIRST} img.here")'
    is_upright, lies = "{0}?.naturalHeight > {0}?.naturalWidth", "{0}?.naturalWidth > {0}?.naturalHeight"
    with open_page(chromium, served[0]) as other, open_page(chromium, served[0]) as page:
        other.goto(f"{served[0]}/?q=name:IMG_0")
        until(other, lies.format(tile))
        open_panel(page, served[0], "name:IMG_0")
        until(page, lies.format(shown))
        page.click(".files button:text-is('Turn')")
        until(page, is_upright.format(shown))
        page.keyboard.press("Escape")
        until(page, is_upright.format(tile))
        for address in (f"{served[0]}/?q=name:IMG_0", f"{served[0]}/photos/{record(served, 'IMG_0')['UID']}?page=1"):
            other.goto(address)
            until(other, is_upright.format("document.querySelector('.tiles img.here, .stage img')"))
            with_turn = "document.querySelector('.tiles img.here, .stage img').currentSrc.endsWith('&turn=6')"
            assert other.evaluate(with_turn)
        other.goto(f"{served[0]}/?q=name:IMG_0&page=1")
        until(other, is_upright.format("document.querySelector('.grid img')"))


def until(page, condition):
    page.wait_for_function(f"() => {condition}")


def test_facts_are_links_that_find_the_photo_whatever_its_values_are(served, chromium):
    base, api = served
    values = {"LensModel": 'Lens 1" Pro | 50*', "CameraModel": "Back\\slash & Co", "Lat": 35.6895, "Lng": 139.6917}
    uid = record(served, "IMG_2")["UID"]
    answer = api.call("PUT", f"/photos/{uid}", api.access_token(), json=values)
    assert answer.status_code == 200, answer.text
    with open_page(chromium, base) as page:
        open_panel(page, base, "name:IMG_2")
        assert page.input_value(".panel [name=TimeZone]") == "Asia/Tokyo"
        links = {link.inner_text(): link.get_attribute("href") for link in page.query_selector_all(".panel dl a")}
        links.pop("On the map")
        assert len(links) == 5
        for link in links.values():
            page.goto(base + link)
            page.wait_for_selector(f"{FIRST}[aria-setsize='1'] a[href*='{uid}']")


def test_the_panel_tells_and_a_line_becomes_its_field_on_a_click_or_by_e(page):
    title, description = ".panel [name=Title]", ".panel [name=Description]"

    def looks_like_a_field(selector):
        color = page.eval_on_selector(selector, "(field) => getComputedStyle(field).borderTopColor")
        return color != "rgba(0, 0, 0, 0)"

    assert not looks_like_a_field(title)
    assert not looks_like_a_field(description)
    page.click(description)
    assert looks_like_a_field(description)
    page.keyboard.press("Escape")
    assert not looks_like_a_field(description)
    page.keyboard.press("e")
    page.wait_for_selector(f"{title}:focus")
    assert looks_like_a_field(title)
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.wait_for_selector(".panel", state="hidden")
    page.keyboard.press("e")
    page.wait_for_selector(f"{title}:focus")
