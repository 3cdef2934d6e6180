"""The grid of photos in Chromium: scrolling, scrubbing, keys, selecting, batch actions, suggestions and the viewer."""

import re
from zipfile import ZipFile

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import downloaded, open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

#: Photos of each day; in time the last one is the first.
DAYS = {
    "2019:07:03": 3,
    "2021:12:24": 8,
    "2022:03:01": 30,
    "2023:05:01": 12,
    "2023:05:02": 1,
    "2023:05:04": 2,
    "2023:10:18": 60,
}
TOTAL = sum(DAYS.values())
TILE = ".tiles li"
FIRST = f"{TILE}[aria-posinset='1']"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with the photos of `DAYS`."""
    with open_api(tmp_path_factory.mktemp("grid")) as api:
        for day, count in DAYS.items():
            for number in range(count):
                shape = ((80, 60), (60, 80), (120, 60))[number % 3]
                taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"{day} 10:{number:02}:00"})
                name = f"{day.replace(':', '')}/IMG_{number:04}.jpg"
                api.library.put(name, jpeg(*shape, exif=taken) + f"{day}{number}".encode())
        assert api.library.index().summary.indexed == TOTAL
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


@pytest.fixture
def page(base, chromium):
    """The photos on a desktop, once their first tiles are shown."""
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        yield page


def shown(page):
    """The positions of the tiles that are elements."""
    return sorted(int(item.get_attribute("aria-posinset")) for item in page.query_selector_all(TILE))


def says(page, text):
    page.wait_for_function("text => document.querySelector('.undo')?.textContent.includes(text)", arg=text)


def total(page, query=""):
    address = f"/api/v1/photos/timeline?q={query}"
    return page.evaluate(
        "a => fetch(a, {headers: {'X-Photosvc': '1'}}).then(r => r.json()).then(d => d.total)", address
    )


def test_every_tile_is_a_link_with_a_text_at_its_place_in_the_search(page):
    item = page.query_selector(FIRST)
    assert item.get_attribute("aria-setsize") == str(TOTAL)
    assert item.query_selector("a").get_attribute("href").startswith("/photos/p")
    assert item.query_selector("img").get_attribute("alt") != ""
    assert item.query_selector("img").get_attribute("srcset").count("/t/") == 3
    assert page.inner_text(".box h2").startswith("Wednesday, October 18, 2023")
    assert len(page.query_selector_all(f"{TILE} a[tabindex='0']")) == 1


def test_the_scrubber_reaches_the_last_month_by_mouse_and_by_keys(page):
    box = page.locator(".scrubber").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 1, steps=8)
    assert page.inner_text(".bubble") == "Jul 2019"
    page.mouse.up()
    page.wait_for_selector(f"{TILE}[aria-posinset='{TOTAL}'] img.here")
    page.keyboard.press("Home")
    page.wait_for_selector(f"{FIRST} img.here")
    page.keyboard.press("ArrowDown")
    assert page.get_attribute(".scrubber", "aria-valuetext") == "May 2023"
    page.keyboard.press("PageDown")
    assert page.get_attribute(".scrubber", "aria-valuetext") == "March 2022"


def test_the_address_keeps_the_place_over_a_reload(page):
    page.focus(".scrubber")
    page.keyboard.press("PageDown")
    page.wait_for_url("**/#2022-03*")
    page.reload()
    page.wait_for_selector(f"{TILE}[aria-posinset='76'] img.here")
    assert page.evaluate("location.hash").startswith("#2022-03")


def test_arrows_lead_from_tile_to_tile_over_days_and_months(page):
    page.focus(f"{FIRST} a")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '2'")
    page.keyboard.press("Control+End")
    page.wait_for_function(f"() => document.activeElement.parentElement.getAttribute('aria-posinset') === '{TOTAL}'")
    for _ in range(20):
        page.keyboard.press("ArrowUp")
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') < 80")
    page.keyboard.press("Control+Home")
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '1'")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")  # from the first one, which ArrowLeft has not left
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '2'")


def test_photos_are_selected_by_mouse_with_shift_and_by_key_and_made_favorites_and_not(page):
    page.hover(FIRST)
    page.click(f"{FIRST} .pick")
    page.click(f"{TILE}[aria-posinset='4'] .pick", modifiers=["Shift"])
    page.wait_for_function("() => document.querySelector('.actions .count').textContent === '4 selected'")
    page.focus(f"{TILE}[aria-posinset='2'] a")
    page.keyboard.press("x")
    assert page.inner_text(".actions .count") == "3 selected"
    page.keyboard.press("f")
    says(page, "3 photos made")
    assert total(page, "favorite:true") == 3
    page.click(".undo button")
    says(page, "Undone")
    assert total(page, "favorite:true") == 0
    page.keyboard.press("Escape")
    assert page.is_hidden(".actions")


def test_an_archived_photo_goes_and_comes_back_and_the_focus_moves_to_the_next(page):
    page.focus(f"{TILE}[aria-posinset='3'] a")
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '2'")
    page.keyboard.press("Shift+A")
    says(page, "1 photo archived")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL - 1}']")
    page.wait_for_function("() => document.activeElement.parentElement?.getAttribute('aria-posinset') === '2'")
    page.keyboard.press("Control+z")
    says(page, "Undone")
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}']")


def test_all_of_a_search_are_selected_downloaded_and_added_to_an_album(page, base):
    page.goto(f"{base}/?q=year:2021")
    page.wait_for_selector(f"{FIRST} img.here")
    page.keyboard.press("Control+a")
    page.wait_for_function("() => document.querySelector('.actions .count').textContent === '8 selected'")
    with ZipFile(downloaded(page, lambda: page.keyboard.press("Shift+D"))) as archive:
        assert len(archive.namelist()) == 8
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type("Christmas")
    page.keyboard.press("Enter")
    says(page, "8 photos added to Christmas")
    assert total(page, "album:Christmas") == 8
    page.keyboard.press("Control+z")
    says(page, "Undone")
    assert total(page, "album:Christmas") == 0


def test_shift_and_arrows_extend_a_selection_and_letters_jump_by_month_and_year(page):
    page.focus(f"{FIRST} a")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("() => document.querySelector('.actions .count').textContent === '4 selected'")
    page.keyboard.press("Escape")
    page.keyboard.press("m")
    assert page.get_attribute(".scrubber", "aria-valuetext") == "May 2023"
    page.keyboard.press("y")
    assert page.get_attribute(".scrubber", "aria-valuetext") == "March 2022"
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open] dt:text-is('Ctrl Z')")
    page.keyboard.press("Escape")
    page.wait_for_selector("dialog", state="detached")


def test_the_order_of_the_page_or_of_the_query_is_that_of_the_grid(page, base):
    for address in ("/?order=oldest", "/?q=order%3Aoldest"):
        page.goto(base + address)
        page.wait_for_selector(f"{FIRST} img.here")
        assert "July 3, 2019" in page.inner_text(".box h2")


def test_suggestions_complete_a_filter_and_its_value(page):
    page.keyboard.press("/")
    page.keyboard.type("came")
    page.wait_for_selector(".suggestions li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".suggestions .name:text-is('Canon EOS 5D')")
    assert page.inner_text(".suggestions .help") == str(TOTAL)
    page.keyboard.press("ArrowDown")
    assert page.get_attribute(".search input", "aria-activedescendant") == "suggestion-0"
    page.keyboard.press("Enter")
    assert page.input_value(".search input") == 'camera:"Canon EOS 5D" '
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=camera*")


def test_the_viewer_turns_pages_tells_what_is_known_and_back_returns_to_the_last_photo(page, base):
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp__img")
    first = page.url
    assert first.startswith(f"{base}/photos/p")
    assert page.inner_text(".pswp__position") == f"1 of {TOTAL}"
    assert page.get_attribute(".pswp", "aria-modal") == "true"
    page.wait_for_selector(".pswp--ui-visible")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("address => location.href !== address", arg=first)
    page.keyboard.press("i")
    page.wait_for_selector(".panel dd:has-text('EOS 5D')")
    page.go_back()
    page.wait_for_selector(".pswp", state="detached")
    assert page.url == f"{base}/"
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '2'")


def test_keys_that_are_typed_while_the_viewer_opens_count(page, base):
    page.focus(f"{FIRST} a")
    page.keyboard.press("Enter")
    page.wait_for_selector(".pswp", state="attached")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")
    assert page.url == f"{base}/"
    page.wait_for_function("() => document.activeElement.parentElement.getAttribute('aria-posinset') === '2'")


def test_a_title_is_changed_in_place_told_wrong_and_taken_back(page):
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp__img")
    page.keyboard.press("i")
    page.wait_for_selector(".panel [name=Title]")
    before = page.input_value(".panel [name=Title]")
    page.fill(".panel [name=Title]", "<b>A lake</b>")
    page.keyboard.press("Enter")
    page.wait_for_selector(".panel h2:text-is('<b>A lake</b>')")
    page.click(".history li:has-text('Title') button >> nth=0")
    page.wait_for_function("before => document.querySelector('.panel h2').textContent === before", arg=before)
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")


def test_two_pages_that_change_one_photo_do_not_overwrite_each_other(base, chromium):
    with open_page(chromium, base, expected="412") as page, open_page(chromium, base) as other:
        page.wait_for_selector(f"{FIRST} img.here")
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp__img")
        page.keyboard.press("i")
        page.wait_for_selector(".panel [name=Title]")
        other.wait_for_selector(f"{FIRST} img.here")
        other.focus(f"{FIRST} a")
        other.keyboard.press("f")
        says(other, "made")
        with page.expect_response(lambda answer: answer.request.method == "PUT") as answer:
            page.fill(".panel [name=Title]", "Mine")
            page.keyboard.press("Enter")
        assert answer.value.status == 412
        page.click(".wrong button")
        page.wait_for_function("() => document.querySelector('.panel [name=Title]').value !== 'Mine'")
        other.keyboard.press("Control+z")
        says(other, "Undone")


def test_a_grid_follows_a_library_that_others_change(base, chromium):
    with open_page(chromium, base, expected="409") as page, open_page(chromium, base) as other:
        page.wait_for_selector(f"{FIRST} img.here")
        other.wait_for_selector(f"{FIRST} img.here")
        other.focus(f"{FIRST} a")
        other.keyboard.press("a")
        says(other, "1 photo archived")
        page.focus(".scrubber")
        page.keyboard.press("End")
        page.wait_for_selector(f"{TILE}[aria-posinset='{TOTAL - 1}'][aria-setsize='{TOTAL - 1}'] img.here")
        other.keyboard.press("Control+z")
        says(other, "Undone")
        page.keyboard.press("Home")
        page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")


def test_a_key_that_is_pressed_while_the_grid_reads_a_changed_library_is_not_lost(base, chromium):
    held = []
    with open_page(chromium, base) as page, open_page(chromium, base) as other:
        page.wait_for_selector(f"{FIRST} img.here")
        page.focus(".scrubber")
        page.keyboard.press("End")
        page.wait_for_selector(f"{TILE}[aria-posinset='{TOTAL}'] img.here")
        other.wait_for_selector(f"{FIRST} img.here")
        other.focus(f"{FIRST} a")
        other.keyboard.press("a")
        says(other, "1 photo archived")
        months = re.compile(r"/photos/timeline(\?|$)")
        page.route(months, lambda route: held.append(route))  # noqa: PLW0108 - Playwright sets attributes of it
        with page.expect_request(months):
            page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        page.wait_for_timeout(100)
        with page.expect_request(months):
            held[0].continue_()
        page.wait_for_timeout(100)
        page.keyboard.press("Home")
        page.wait_for_selector(f"{FIRST} img.here")
        held[1].continue_()
        page.unroute(months)
        page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL - 1}'] img.here")
        assert page.evaluate("scrollY") == 0
        other.keyboard.press("Control+z")
        says(other, "Undone")


def test_who_may_only_look_is_offered_no_changes(base, chromium):
    with open_page(chromium, base, name="vera") as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.focus(f"{FIRST} a")
        page.keyboard.press("x")
        labels = [
            button.get_attribute("aria-label") for button in page.query_selector_all(".actions button[aria-label]")
        ]
        assert labels == ["Clear selection", "Download (d)"]
        page.keyboard.press("f")
        page.keyboard.press("a")
        page.keyboard.press("Escape")
        assert page.query_selector("input[type=file]") is None
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp__img")
        page.keyboard.press("i")
        page.wait_for_selector(".panel dl")
        assert page.query_selector(".panel input, .history li") is None


def test_a_phone_shows_rows_over_its_whole_width_and_a_long_touch_selects(base, chromium):
    with open_page(chromium, base, width=390, height=844, has_touch=True, device_scale_factor=3) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        box = page.locator(FIRST).bounding_box()
        touch = page.context.new_cdp_session(page)
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_selector(f"{FIRST}.picked")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.tap(f"{TILE}[aria-posinset='2'] a")
        page.wait_for_function("() => document.querySelector('.actions .count').textContent === '2 selected'")
        assert page.url == f"{base}/"


def test_nothing_of_the_page_breaks_its_policy(base, chromium):
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.evaluate("addEventListener('securitypolicyviolation', (e) => { window.broken = e.violatedDirective })")
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp__img")
        page.keyboard.press("i")
        page.wait_for_selector(".panel dl")
        page.keyboard.press("z")
        page.wait_for_timeout(400)
        page.keyboard.press("Escape")
        page.wait_for_selector(".pswp", state="detached")
        assert page.evaluate("window.broken") is None


def test_a_grid_that_is_hidden_shows_its_photos_again(base, chromium):
    style = "@media print { #grid.live { display: none } }"
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        page.route("**/photos.css", lambda route: route.fulfill(body=style, content_type="text/css"))
        page.reload()
        page.wait_for_selector(f"{FIRST} img.here")
        page.emulate_media(media="print")
        page.wait_for_timeout(300)
        assert page.is_hidden("#grid")
        page.emulate_media(media="screen")
        page.wait_for_selector(f"{FIRST} img.here")
        page.focus(".scrubber")
        page.keyboard.press("End")
        page.wait_for_selector(f"{TILE}[aria-posinset='{TOTAL}'] img.here")
