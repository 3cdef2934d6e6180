"""Albums in Chromium: selected photos become an album and leave it, photos are dragged, all of it by keys alone."""

import re

import pytest

from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

TOTAL = 6
TILE = ".tiles li"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service with six photos."""
    with open_api(tmp_path_factory.mktemp("albums")) as api:
        for number in range(TOTAL):
            taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"2023/IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=4) as address:
            yield address


@pytest.fixture
def page(base, chromium):
    with open_page(chromium, base) as page:
        page.wait_for_selector(f"{TILE}[aria-setsize] img.here")
        yield page


def says(page, text):
    page.wait_for_function("text => document.querySelector('.undo')?.textContent.includes(text)", arg=text)


def tiles(page, count):
    page.wait_for_selector(f"{TILE}[aria-setsize='{count}'] img.here")


def shown(page, count):
    """The UIDs of the photos in the grid, in its order."""
    page.wait_for_function(f"() => document.querySelectorAll('.tiles li a[href]').length === {count}")
    return page.evaluate("""() => [...document.querySelectorAll(".tiles li")]
      .sort((one, other) => one.getAttribute("aria-posinset") - other.getAttribute("aria-posinset"))
      .map((item) => item.querySelector("a").pathname.split("/").at(-1))""")


def boxes(page):
    return [box.get_attribute("value") for box in page.query_selector_all("#arrange [name=photo]")]


def test_the_address_of_a_link_is_whole_where_the_service_does_not_know_its_own(page, base):
    page.goto(f"{base}/albums/new")
    page.fill("[name=Title]", "Shared")
    page.click("main button.primary")
    page.click("main a:text-is('Share')")
    page.click("button:has-text('Make a link')")
    page.wait_for_selector("#address")
    assert re.fullmatch(rf"{re.escape(base)}/s/[0-9a-z]{{26}}/shared", page.input_value("#address"))
    assert page.is_hidden("text=Put the address of this service before it.")


def test_selected_photos_become_an_album_that_opens_and_leave_it_again(page, base):
    page.keyboard.press("Control+a")
    page.wait_for_function("() => document.querySelector('.actions .count').textContent === '6 selected'")
    assert page.query_selector(".actions [aria-label^='Remove']") is None  # this is no album
    page.keyboard.press("l")
    page.wait_for_selector("dialog[open]")
    page.keyboard.type('Lake "<img src=x>')
    page.keyboard.press("Enter")
    says(page, '6 photos added to Lake "<img src=x>')
    page.click(".undo a")
    page.wait_for_url(f"{base}/albums/a*")
    assert page.inner_text("h1") == 'Lake "<img src=x>'
    tiles(page, TOTAL)
    page.focus(f"{TILE}[aria-posinset='1'] a")
    page.keyboard.press("x")
    assert page.is_visible(".actions [aria-label='Delete']")  # from the library, which the key does not mean here
    page.keyboard.press("Delete")
    says(page, "1 photo removed from this album")
    tiles(page, TOTAL - 1)
    page.keyboard.press("Control+z")
    says(page, "Undone")
    tiles(page, TOTAL)
    page.click(f"{TILE}[aria-posinset='1'] a")
    page.wait_for_selector(".pswp__img")
    assert re.search(r"/photos/p\w+\?s=a\w+", page.url)
    assert page.inner_text(".pswp__position") == f"1 of {TOTAL}"


def test_the_typed_title_of_an_album_that_exists_means_this_album(page, base):
    page.goto(f"{base}/albums/new")
    page.fill("#title", "Rome in May")
    page.click("text=Create album")
    page.wait_for_selector("text=Album created.")
    page.goto(base)
    tiles(page, TOTAL)
    button = page.locator("dialog .primary")
    for typed, text in (("rome in", "Create album"), (" rome  in may ", "Add")):
        page.focus(f"{TILE}[aria-posinset='1'] a")
        page.keyboard.press("l")
        page.fill("#album-title", typed)
        assert button.inner_text() == text
        page.keyboard.press("Escape")
    page.focus(f"{TILE}[aria-posinset='1'] a")
    page.keyboard.press("l")
    page.fill("#album-title", " rome  in may ")
    page.keyboard.press("Enter")
    says(page, "1 photo added to Rome in May")
    page.goto(f"{base}/albums?q=rome")
    assert page.locator(".albums li").count() == 1


def test_photos_are_dragged_to_another_place_and_the_album_is_shown_so(page, base):
    page.goto(f"{base}/albums/new?q=camera:canon")
    page.fill("#title", "Dragged")
    page.check("text=The current results of a search")
    page.click("text=Create album")
    page.wait_for_selector("text=Album created.")
    page.click("text=Arrange")
    page.wait_for_selector("#arrange li[draggable]")
    before = boxes(page)
    items = page.locator("#arrange li")
    items.nth(4).drag_to(items.nth(1))
    page.wait_for_selector("text=Moved.")
    assert boxes(page) == [before[0], before[4], *before[1:4], before[5]]
    items.nth(0).locator("input").check()
    items.nth(2).locator("input").click(modifiers=["Shift"])
    assert page.locator("#arrange :checked").count() == 3
    page.click("text=To the end")
    page.wait_for_selector("text=Moved to the end")
    after = [*before[2:4], before[5], before[0], before[4], before[1]]
    assert boxes(page) == after
    page.click(".up")
    page.wait_for_selector("#order option:checked:text-is('By hand')", state="attached")
    assert shown(page, 6) == after


def test_an_album_is_made_changed_arranged_and_deleted_by_keys_alone(page, base):
    # The label of a tick shows the focus in its place.
    focus = """() => {
      const here = document.activeElement, shown = [here, here.closest("label") || here];
      const visible = shown.some((one) => getComputedStyle(one).outlineStyle === "solid");
      return [(here.labels?.[0] || here).innerText.trim(), visible];
    }"""

    def go_to(text):
        for _ in range(80):
            page.keyboard.press("Tab")
            name, visible = page.evaluate(focus)
            if name.startswith(text):
                assert visible, text
                return
        pytest.fail(f"no key leads to {text}")

    go_to("Albums")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base}/albums")
    go_to("New album")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base}/albums/new")
    go_to("Title")
    page.keyboard.type("By keys")
    go_to("Photos that I choose")
    page.keyboard.press("ArrowDown")
    go_to("Search")
    page.keyboard.type("camera:canon")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Album created.")
    go_to("Arrange")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base}/albums/*/photos")
    before = boxes(page)
    page.focus("#arrange [name=photo] >> nth=2")
    page.keyboard.press("Space")
    page.focus("#arrange button[name=before] >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Moved.")
    assert boxes(page) == [before[2], *before[:2], *before[3:]]
    page.goto(page.url.partition("/photos")[0] + "/edit")
    go_to("Delete the album")
    page.keyboard.press("Enter")
    go_to("Delete album")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=The album “By keys” is deleted.")
    assert page.locator(".albums >> text=By keys").count() == 0
    go_to("Undo")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Album restored.")
    assert shown(page, 6) == [before[2], *before[:2], *before[3:]]


def test_uploads_into_an_album_are_in_it(page, base, tmp_path):
    new = tmp_path / "new.jpg"
    new.write_bytes(jpeg(90, 60, exif=exif({}, {0x9003: "2018:08:08 08:08:08"})))
    page.goto(f"{base}/albums/new?q=year:2023")
    page.fill("#title", "Filled")
    page.check("text=The current results of a search")
    page.click("text=Create album")
    tiles(page, TOTAL)
    page.set_default_timeout(120_000)  # files are added once an indexer has started and read them
    page.set_input_files("input[type=file]", [new])
    page.wait_for_selector(".uploads li:is(.added, .stored)")  # stored: no indexer had read it when the request ended
    tiles(page, TOTAL + 1)
    page.goto(f"{base}/?q=year:2018")
    tiles(page, 1)
    page.focus(f"{TILE}[aria-posinset='1'] a")
    page.keyboard.press("a")
    says(page, "1 photo archived")


def test_two_tabs_that_change_one_album_do_not_overwrite_each_other(base, chromium):
    with open_page(chromium, base, expected="409") as page:
        page.goto(f"{base}/albums/new")
        page.fill("#title", "Tabs")
        page.click("text=Create album")
        page.click("text=Edit")
        page.wait_for_url("**/edit")
        other = page.context.new_page()
        other.goto(page.url)
        other.fill("#title", "Theirs")
        other.click("text=Save")
        other.wait_for_selector("text=Album saved.")
        page.fill("#title", "Mine")
        page.click("button:text-is('Save')")
        page.wait_for_selector(".present q:text-is('Theirs')")
        page.click("button:text-is('Save')")
        page.wait_for_selector("h1:text-is('Mine')")


def test_a_form_that_is_left_asks_and_has_its_values_again_when_it_could_not_be_sent(base, chromium):
    with open_page(chromium, base, expected="Failed to load resource") as page:
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.goto(f"{base}/albums/new")
        page.click("nav[aria-label=Main] a >> text=Places")  # nothing is typed
        page.wait_for_url(f"{base}/places")
        page.goto(f"{base}/albums/new")
        page.fill("[name=Title]", "Written for an hour")
        page.fill("[name=Description]", "Two\nlines")
        page.click("nav[aria-label=Main] a >> text=Places", no_wait_after=True)
        page.wait_for_function("() => document.querySelector('form[data-unsaved]')")
        assert (page.url, asked) == (f"{base}/albums/new", ["beforeunload"])
        page.context.clear_cookies()
        page.click("main button.primary")
        page.fill("#name", "alice")
        page.fill("#password", "wrong")
        page.click("button.primary")
        page.wait_for_selector(".alert:has-text('Invalid credentials')")
        page.fill("#password", PASSWORD)
        page.click("button.primary")
        page.wait_for_url(f"{base}/albums/new")
        page.wait_for_selector("form[data-unsaved]")
        assert page.input_value("[name=Title]") == "Written for an hour"
        assert page.input_value("[name=Description]") == "Two\nlines"
        page.check("[name=kind][value=following]")
        page.fill("[name=Filter]", "lake (")
        page.click("main button.primary")
        page.wait_for_selector(".alert:has-text('Not created yet')")
        page.click("nav[aria-label=Main] a >> text=Places", no_wait_after=True)
        page.wait_for_function("() => document.querySelector('form[data-unsaved]')")
        assert asked == ["beforeunload"] * 2
        page.check("[name=kind][value=chosen]")
        page.click("main button.primary")
        page.wait_for_selector("h1:has-text('Written for an hour')")
        page.goto(f"{base}/albums/new")
        page.wait_for_load_state()
        assert page.input_value("[name=Title]") == ""
        assert asked == ["beforeunload"] * 2


def test_long_and_hostile_texts_are_wrapped_from_a_small_phone_to_a_wide_screen(base, chromium):
    with open_page(chromium, base, width=320, height=640) as page:
        shown = []
        page.on("dialog", lambda dialog: (shown.append(dialog.message), dialog.dismiss()))
        page.goto(f"{base}/albums/new?q=camera:canon")
        page.fill("#title", "<img src=x onerror=alert(1)>\u202e" + "x" * 160)
        page.fill("#description", "y" * 500)
        page.click("text=Create album")
        page.wait_for_selector("text=Album created.")
        album = page.url.partition("?")[0]
        page.goto(f"{base}/?q=camera:canon")
        page.wait_for_selector(".tiles li a[href]")
        photo = re.search(r"/photos/(p\w{15})", page.content())[1]
        add = f"{base}/albums/add?photo={photo}"
        for width in (320, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            for address in (
                f"{base}/albums",
                f"{base}/albums?type=folder",
                album,
                f"{album}/edit",
                f"{album}/photos",
                add,
            ):
                page.goto(address)
                assert page.evaluate("document.documentElement.scrollWidth") == width, (width, address)
        assert shown == []
