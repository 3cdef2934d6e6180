"""Editing many photos at once in Chromium: the dialog, its errors, and taking an edit back."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TOTAL = 4
FIRST = ".tiles li[aria-posinset='1']"
MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service with a few photos, and a client of its API."""
    with open_api(tmp_path_factory.mktemp("editing")) as api:
        for number in range(TOTAL):
            taken = exif({0x010F: "Canon"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as base:
            yield base, api


@pytest.fixture
def page(served, chromium):
    """The photos, all of them selected, with the dialog."""
    with open_page(chromium, served[0], expected="400|503") as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.keyboard.press("Control+a")
        page.wait_for_selector(f".actions .count:has-text('{TOTAL}')")
        page.keyboard.press("e")
        page.wait_for_selector("dialog.values")
        yield page


def photos(served):
    return served[1].library.find(count=TOTAL, order="oldest")


def titles(served):
    return [photo["Title"] for photo in photos(served)]


def says(page, text):
    page.wait_for_selector(f".undo:not([hidden]) span:has-text('{text}')")


def test_what_is_typed_becomes_that_of_all_and_is_taken_back(served, page):
    before = titles(served)
    assert page.inner_text("dialog h2") == f"Edit {TOTAL} photos"
    page.keyboard.type(MARKUP)
    page.fill("[name=add_keywords]", "lake, boat")
    page.keyboard.press("Enter")
    says(page, f"{TOTAL} of {TOTAL} photos changed")
    assert titles(served) == [MARKUP] * TOTAL
    assert len(served[1].library.find(q="keywords:lake")) == TOTAL
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert titles(served) == before
    assert served[1].library.find(q="keywords:lake") == []


def test_times_are_moved_and_the_grid_follows(served, page):
    page.fill("[name=shift]", "-15")
    page.click("dialog .primary")
    says(page, f"{TOTAL} of {TOTAL} photos changed")
    assert next(photo["TakenAtLocal"] for photo in photos(served)) == "2023-04-30T19:00:00Z"
    page.wait_for_selector(".box h2:has-text('April 30, 2023')")
    page.click(".undo button")
    says(page, "Undone")
    assert next(photo["TakenAtLocal"] for photo in photos(served)) == "2023-05-01T10:00:00Z"


@pytest.mark.parametrize(
    ("field", "text", "message"),
    [
        ("shift", "soon", "Type a number of hours, such as -1.5."),
        ("Position", "here", "Type latitude and longitude, such as 47.56903, 9.37510."),
        ("Position", "200, 5", "less than or equal to 90"),
        ("add_keywords", ",".join(f"word{number}" for number in range(257)), "at most 256 keywords"),
    ],
)
def test_a_value_that_is_wrong_is_told_beside_its_field_and_changes_nothing(served, page, field, text, message):
    before = photos(served)
    if not page.is_visible(f"[name={field}]"):
        page.click(f"summary:has(~ [name={field}])")
    page.fill(f"[name={field}]", text)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".alert:not([hidden]):has-text('{message}')")
    assert page.evaluate("document.activeElement.name") == field
    told, row = (page.locator(f"dialog {name}").bounding_box() for name in (".alert", ".row"))
    assert told["y"] + told["height"] <= row["y"]  # the buttons, which stay at the lower edge, cover nothing
    assert page.get_attribute(f"[name={field}]", "aria-invalid") == "true"
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")
    assert photos(served) == before


def test_what_an_edit_that_stopped_has_changed_is_taken_back(served, page):
    before = titles(served)

    def stop_midway(route):
        body = route.request.post_data_json
        changed = route.fetch(post_data={**body, "photos": body["photos"][:2]}).json()
        assert changed["photos"] == 2
        stopped = {"code": 503, "error": "it took long", "photos": 2, "change": changed["change"]}
        route.fulfill(status=503, json=stopped)

    page.route("**/batch/photos/edit", stop_midway)
    page.fill("[name=Title]", "Lake")
    page.keyboard.press("Enter")
    page.wait_for_selector(".alert:not([hidden]):has-text('it took long; the changes are undone')")
    assert titles(served) == before


def test_the_panel_leads_to_what_is_alike_and_p_makes_a_photo_private(served, chromium):
    base, api = served
    uid = photos(served)[-1]["UID"]
    token = api.access_token()
    edit = {"Lat": 47.5, "Lng": 9.4, "Details": {"Keywords": ['say "hi"']}}
    assert api.call("PUT", f"/photos/{uid}", token, json=edit).status_code == 200
    album = api.call("POST", "/albums", token, json={"Title": MARKUP}).json["UID"]
    api.call("POST", f"/albums/{album}/photos", token, json={"photos": [uid]})
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp__img")
        page.keyboard.press("i")
        page.wait_for_selector(f".panel dd a:text-is('{MARKUP}')")
        links = {one.inner_text(): one.get_attribute("href") for one in page.query_selector_all(".panel dd a")}
        assert links[MARKUP] == f"/albums/{album}"
        assert links["On the map"] == "/places#14/47.50000/9.40000"
        page.keyboard.press("p")
        page.wait_for_selector(".pswp__button--private[aria-pressed=true]")
        says(page, "1 photo made private")
        page.keyboard.press("Control+z")
        page.wait_for_selector(".pswp__button--private[aria-pressed=false]")
        page.click(".panel dd a:text-is('say \"hi\"')")
        page.wait_for_selector(f"{FIRST}[aria-setsize='1'] img.here")
        assert page.input_value(".search input") == 'label:"say \\"hi\\""'
