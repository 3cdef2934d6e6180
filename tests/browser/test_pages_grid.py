"""The grid of photos in Chromium: how it starts, scrolling, scrubbing, keys, selecting, orders, lost connections."""

import re
from datetime import date

import pytest
from playwright.sync_api import expect

from tests.browser.chromium import FAILS, FIRST, focus_at, open_page, selected, shows, tile, until, view_closes, viewed
from tests.browser.conftest import DAYS

pytestmark = pytest.mark.timeout(180)

TOTAL = sum(DAYS.values())
LAST = tile(TOTAL)
#: The text that the style sheet writes into the first element of this selector.
MARK = "selector => getComputedStyle(document.querySelector(selector), '::after').content"


@pytest.fixture
def page(site, chromium):
    """All photos on a desktop."""
    with open_page(chromium, site.base) as page:
        shows(page, TOTAL)
        page.wait_for_selector(".scrubber:not([hidden])")
        yield page


def at_month(page, words):
    page.wait_for_selector(f".scrubber[aria-valuetext='{words}']")


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_every_tile_is_a_link_with_a_text_at_its_place_and_arrows_lead_from_one_to_the_next(page):
    item = page.query_selector(FIRST)
    assert item.query_selector("a").get_attribute("href").startswith("/photos/p")
    assert item.query_selector("img").get_attribute("alt") != ""
    assert item.query_selector("img").get_attribute("srcset").count("/t/") == 3
    assert page.inner_text(".box h2").startswith("Wednesday, October 18, 2023")
    assert page.locator(".tiles li a[tabindex='0']").count() == 1
    page.focus(f"{FIRST} a")
    press(page, "ArrowRight")
    focus_at(page, 2)
    press(page, "Control+End")
    focus_at(page, TOTAL)
    press(page, *["ArrowUp"] * 20)
    until(page, "document.activeElement.closest('li').getAttribute('aria-posinset') < value", TOTAL - 40)
    press(page, "Control+Home")
    focus_at(page, 1)
    press(page, "ArrowLeft", "ArrowRight")  # from the first one, which ArrowLeft has not left
    focus_at(page, 2)


def test_the_scrubber_leads_to_months_which_the_address_keeps_over_a_reload(page, site):
    box = page.locator(".scrubber").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 1, steps=8)
    assert page.inner_text(".bubble") == "May 2008"
    page.mouse.up()
    page.wait_for_selector(f"{LAST} img.here")
    press(page, "Home")
    page.wait_for_selector(f"{FIRST} img.here")
    for key, words in (("ArrowDown", "May 2023"), ("PageDown", "March 2022")):
        press(page, key)
        at_month(page, words)
    page.wait_for_url("**/#2022-03*")
    page.reload()
    page.wait_for_selector(f"{tile(76)} img.here")
    assert page.evaluate("location.hash").startswith("#2022-03")
    page.evaluate("location.hash = '2012-05'")
    at_month(page, "May 2012")
    page.goto("about:blank")
    page.goto(f"{site.base}/#1999-01")  # the nearest one
    at_month(page, "May 2008")
    for _ in range(40):
        press(page, "Tab")
        if page.evaluate("document.activeElement.matches('.scrubber')"):
            break
    style = "getComputedStyle(document.activeElement)"
    assert page.evaluate(f"{style}.outlineStyle") == "solid"
    assert page.evaluate(f"parseFloat({style}.outlineOffset) + parseFloat({style}.outlineWidth)") <= 0


def test_pictures_wait_while_the_scrubber_is_held_and_are_there_when_it_rests(page):
    scrubber = page.locator(".scrubber")
    for key, shown in (("End", LAST), ("Home", FIRST)):  # so that the photos at both ends are known
        scrubber.press(key)
        page.wait_for_selector(f"{shown} img.here")
    box = scrubber.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"]
    page.mouse.move(x, y + 2)
    page.mouse.down()
    # The callback is asked for after that of the scrubber, and so runs right behind it in the same frame.
    held = page.evaluate(
        """([clientX, clientY]) => new Promise((done) => {
          const element = document.querySelector(".scrubber");
          element.dispatchEvent(new PointerEvent("pointermove", {clientX, clientY, pointerId: 1, isPrimary: true}));
          requestAnimationFrame(() => done([...document.querySelectorAll(".tiles li")].map((item) =>
            [Number(item.getAttribute("aria-posinset")), item.querySelector("img").hasAttribute("src")])));
        })""",
        [x, y + box["height"] - 3],
    )
    assert max(position for position, _ in held) > TOTAL - 60
    assert not any(shown for position, shown in held if position > TOTAL / 2)
    page.mouse.up()
    page.wait_for_selector(f"{LAST} img.here")
    page.wait_for_selector(".tiles li:is(.blank, :not(:has(img.here)))", state="detached")


def test_letters_are_keys_where_photos_or_nothing_have_the_focus_until_they_are_turned_off(page, site):
    press(page, "m")
    at_month(page, "May 2023")
    page.focus(".side nav a")
    press(page, "m", "y", "?")
    page.focus(".scrubber")
    press(page, "m")
    at_month(page, "March 2022")  # one month further: the keys beside the navigation did nothing
    assert page.query_selector("dialog") is None
    press(page, "y")
    at_month(page, "December 2021")
    press(page, "?")
    page.wait_for_selector("dialog[open] dt:text-is('Ctrl Z')")
    page.uncheck("dialog [name=letters]")
    press(page, "Escape")
    page.goto(site.base)
    page.wait_for_selector(".scrubber:not([hidden])")
    press(page, "m", "?", "/")
    page.focus(".scrubber")
    press(page, "ArrowDown")
    at_month(page, "May 2023")  # `m` did nothing
    assert page.query_selector("dialog") is None
    press(page, "Home")
    page.click(f"{FIRST} a")
    page.wait_for_selector(".pswp--ui-visible")
    press(page, "i", "ArrowRight")
    viewed(page, 2, TOTAL)
    assert page.query_selector(".panel") is None
    press(page, "Escape")
    view_closes(page)
    press(page, "?")
    page.check("dialog [name=letters]")
    press(page, "Escape", "m")
    at_month(page, "May 2023")


def test_photos_are_selected_by_mouse_by_keys_and_as_a_whole(page, site):
    for marked in (True, False):
        page.hover(FIRST)
        page.click(f"{FIRST} .pick input")
        assert page.is_checked(f"{FIRST} .pick input") is marked
        assert page.is_visible(".actions") is marked
    page.click(f"{FIRST} .pick")
    page.click(f"{tile(4)} .pick", modifiers=["Shift"])
    selected(page, 4)
    page.focus(f"{tile(2)} a")
    press(page, "x")
    selected(page, 3)
    press(page, "Escape")
    assert page.is_hidden(".actions")
    page.focus(f"{FIRST} a")
    press(page, *["Shift+ArrowRight"] * 3)
    selected(page, 4)
    page.goto(f"{site.base}/?order=name")
    shows(page, TOTAL)
    page.wait_for_selector(".scrubber:not([hidden])")
    page.hover(FIRST)
    page.click(f"{FIRST} .pick")
    page.focus(".scrubber")
    press(page, "End")
    page.wait_for_selector(f"{tile(121)} img.here")
    page.click(f"{tile(125)} .pick", modifiers=["Shift"])
    selected(page, 125)
    press(page, "Control+a")
    selected(page, TOTAL)


def test_keys_that_are_pressed_before_the_viewer_is_there_count(page, site):
    page.goto(site.base)
    shows(page, TOTAL)
    page.focus(f"{FIRST} a")
    press(page, "Enter")
    page.wait_for_selector(".pswp", state="attached")
    press(page, "ArrowRight", "Escape")
    view_closes(page)
    assert page.url == f"{site.base}/"
    focus_at(page, 2)


def test_each_order_has_all_photos_at_their_positions(page, site):
    found = """() => Object.fromEntries([...document.querySelectorAll(".tiles li a[href]")].map((link) =>
      [Number(link.parentElement.getAttribute("aria-posinset")), link.pathname.split("/").at(-1)]))"""
    for order in ("oldest", "title", "random"):  # by time, by text, and one that no column has
        page.goto(f"{site.base}/?order={order}&seed=5")
        shows(page, TOTAL)
        seen = page.evaluate(found)
        page.focus(f"{FIRST} a")
        while str(TOTAL) not in seen:
            last = max(map(int, seen))
            page.locator(f"{tile(last)}").scroll_into_view_if_needed()
            page.wait_for_selector(f"{tile(min(TOTAL, last + 1))} a[href]")
            seen |= page.evaluate(found)
        records = site.library.find(count=TOTAL, merged="true", order=order, seed=5)
        assert [seen.get(str(at + 1)) for at in range(TOTAL)] == [record["UID"] for record in records], order
        assert page.evaluate("document.querySelectorAll('*').length") < 1000
    page.goto(f"{site.base}/?order=random")
    page.wait_for_url(re.compile(r"seed=\d+"))
    page.wait_for_selector(f"{FIRST} img.here")
    before = page.get_attribute(f"{FIRST} a", "href")
    page.reload()
    page.wait_for_selector(f"{FIRST} img.here")
    assert page.get_attribute(f"{FIRST} a", "href") == before
    page.goto(f"{site.base}/?q=order%3Aoldest")
    shows(page, TOTAL)
    assert "May 1, 2008" in page.inner_text(".box h2")
    page.goto(f"{site.base}/?order=size")
    shows(page, TOTAL)
    page.focus(".scrubber")
    assert page.get_attribute(".scrubber", "aria-label") == "Position"
    press(page, "ArrowDown")
    at_month(page, f"121 of {TOTAL}")
    page.wait_for_url("**/*#121.*")
    page.reload()
    page.wait_for_selector(f"{tile(121)} img.here")
    assert page.query_selector(FIRST) is None


def test_a_suggestion_searches_at_once_its_chip_is_in_words_and_the_search_is_offered_again(page):
    press(page, "/")
    page.wait_for_selector(".suggestions .years [role=option]:text-is('2023')")
    page.keyboard.type("eos")
    page.wait_for_selector(f".suggestions .line:has-text('Canon EOS 5D'):has-text('{TOTAL}')")
    press(page, "ArrowDown")
    assert page.get_attribute(".search [type=search]", "aria-activedescendant") == "suggestion-0"
    press(page, "Enter")
    page.wait_for_url("**/?q=camera*")
    shows(page, TOTAL)
    assert (page.inner_text(".search .chips"), page.input_value(".search [type=search]")) == ("Canon EOS 5D", "")
    press(page, "/")
    page.wait_for_selector(".suggestions [role=group] .line:has-text('Canon EOS 5D')")
    press(page, "Backspace")
    assert page.input_value(".search [type=search]") == 'camera:"Canon EOS 5D" '
    press(page, "Escape", "Enter")
    shows(page, TOTAL)
    assert page.url.endswith("/?q=camera%3A%22Canon+EOS+5D%22")


def test_memories_are_above_the_photos_until_they_are_closed_for_the_day(page, site):
    (photo,) = site.library.find(count=1, merged="true", q="year:2019")
    memory = {
        "first": "2019-07-03",
        "last": "2019-07-03",
        "count": 3,
        "hash": photo["Hash"],
        "turn": 1,
        "query": "year:2019",
    }
    kinds = [{"kind": "years", "years": 7, "place": "Lisbon"}, {"kind": "day", "years": 2, "place": ""}]
    page.route("**/api/v1/memories", lambda route: route.fulfill(json=[{**memory, **kind} for kind in kinds]))
    page.reload()
    page.wait_for_selector(".memories li:nth-child(2) img:not(.late)")
    assert page.inner_text(".memories ul").split("\n") == [
        "7 years ago", "Lisbon, July 3, 2019", "On this day", "2 years, 3 photos"
    ]  # fmt: skip
    page.click(".memories a >> nth=0")
    shows(page, 3)
    page.go_back()
    page.click(".memories button")
    page.reload()
    shows(page, TOTAL)
    page.wait_for_load_state("networkidle")
    assert page.query_selector(".memories") is None


def test_filters_are_a_drawer_that_stays_open_while_values_are_chosen(page):
    page.click(".filters-button")
    page.click(".drawer .by-year a:has-text('2019')")
    page.wait_for_url("**/?q=year*")
    shows(page, 3)
    page.wait_for_selector(".drawer .by-month a:has-text('July')")
    assert page.inner_text(".drawer footer") == "Show 3 photos"
    page.focus(".drawer")
    press(page, "Escape")
    page.wait_for_selector(".drawer", state="detached")
    assert page.evaluate("document.activeElement.className") == "filters-button"
    page.click(".search .chips a")
    shows(page, TOTAL)


def test_who_may_only_look_is_offered_no_changes(site, chromium):
    with open_page(chromium, site.base, name="vera") as page:
        shows(page, TOTAL)
        page.focus(f"{FIRST} a")
        press(page, "x")
        labels = [one.get_attribute("aria-label") for one in page.locator(".actions button[aria-label]").all()]
        assert labels == ["Clear selection", "Download (d)"]
        press(page, "f", "a", "Escape")
        assert page.query_selector("input[type=file]") is None
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp--ui-visible")
        press(page, "i")
        page.wait_for_selector(".panel .files summary")
        assert page.query_selector(".panel input, .history li") is None


def test_a_phone_shows_rows_over_its_whole_width_a_long_touch_selects_and_a_thumb_reaches_every_action(site, chromium):
    with open_page(chromium, site.base, width=390, height=844, has_touch=True, device_scale_factor=3) as page:
        shows(page, TOTAL)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        box = page.locator(FIRST).bounding_box()
        touch = page.context.new_cdp_session(page)
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        page.wait_for_selector(f"{FIRST}.picked")
        touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        page.tap(f"{tile(2)} a")
        selected(page, 2)
        assert page.url == f"{site.base}/"
        buttons = page.locator(".actions button:visible").all()
        assert [one.get_attribute("title") for one in buttons][-2:] == ["Delete (Delete)", "Download (d)"]
        boxes = [button.bounding_box() for button in buttons]
        assert all(box["x"] >= 12 and box["x"] + box["width"] <= 378 and box["width"] >= 40 for box in boxes), boxes
        press(page, "Escape")
        page.click(f"{FIRST} a")
        page.wait_for_selector(".pswp--ui-visible")
        boxes = [button.bounding_box() for button in page.locator(".pswp__top-bar button:visible").all()]
        assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["width"] >= 44 for box in boxes), boxes


def test_the_first_photos_are_there_before_the_timeline_and_do_not_move_with_it(page, site):
    places = """() => Object.fromEntries([...document.querySelectorAll(".tiles li")].map((item) => {
      const {x, y, width, height} = item.getBoundingClientRect();
      return [item.querySelector("a").pathname, [x, y, width, height].map(Math.round).join(" ")];
    }))"""
    page.goto(f"{site.base}/?q=year:2022", wait_until="networkidle")
    # Then all thumbnails are made; one that is not is asked for again.
    expect(page.locator(".tiles li img:not(.here)")).to_have_count(0)
    asked, held = [], []
    page.on("request", lambda request: asked.append(request.url) if "/t/" in request.url else None)
    page.route("**/photos/timeline?*", lambda route: held.insert(0, route))
    page.goto(f"{site.base}/?q=year:2022", wait_until="commit")
    page.wait_for_selector(".tiles li img.here")
    before = page.evaluate(places)
    assert page.query_selector("[aria-posinset]") is None
    held.pop().continue_()
    page.wait_for_selector(f"{FIRST} img.here")
    assert page.evaluate(places) == before
    page.wait_for_load_state("networkidle")
    assert len(asked) == len(set(asked))


def test_a_page_whose_scripts_do_not_run_says_so_in_one_sentence(site, chromium):
    with open_page(chromium, site.base, expected=f"Failed to|503|{FAILS}") as page:
        for pattern in ("**/grid/main.js", "**/grid/tools.js", "**/photos/timeline?*"):
            page.route(pattern, lambda route: route.fulfill(status=503, body=""))
            page.goto(f"{site.base}/?q=year:2022")
            page.locator("text=The scripts that show the photos did not load.").wait_for(state="visible")
            page.unroute(pattern)
        page.goto(f"{site.base}/?q=year:2022")
        shows(page, 30)
        assert page.is_hidden(".unloaded")
    with open_page(chromium, site.base, java_script_enabled=False) as page:
        page.wait_for_selector("noscript p")
        assert page.inner_text("noscript p").startswith("Photos are shown and uploaded with JavaScript.")
        assert page.is_hidden(".unloaded")


def test_a_thumbnail_that_was_refused_is_asked_for_again(site, chromium):
    refused = []

    def refuse_once(route):
        if route.request.url in refused:
            return route.continue_()
        refused.append(route.request.url)
        return route.fulfill(status=503)

    with open_page(chromium, site.base, "/albums", expected="503") as page:
        page.route("**/api/v1/t/**", refuse_once)
        page.goto(f"{site.base}/?q=year:2021")
        until(page, "[...document.querySelectorAll('.tiles img')].filter(i => i.naturalWidth).length == 8")
        assert refused


def test_without_a_connection_the_page_and_each_blank_row_say_so_until_it_is_back(site, chromium):
    with open_page(chromium, site.base, height=400, expected=FAILS) as page:
        shows(page, TOTAL)
        page.wait_for_selector(".scrubber:not([hidden])")
        page.context.set_offline(True)
        page.wait_for_selector(".away:has-text('Offline')")
        for key in ("l", "Enter"):  # they need a script that is not loaded yet
            page.focus(f"{FIRST} a")
            press(page, key)
            page.wait_for_selector(".undo:has-text('The server cannot be reached. Try again.')")
            page.evaluate("document.querySelector('.undo').hidden = true")
        page.focus(".scrubber")
        press(page, "End")
        page.wait_for_selector(".month:empty", state="attached")
        page.wait_for_function(f"(({MARK})('.month:empty')) === '\"Offline\"'")
        page.context.set_offline(False)
        page.wait_for_selector(f"{tile(TOTAL - 8)} img.here")
        page.wait_for_selector(".away", state="hidden")
        assert page.evaluate("!document.documentElement.classList.contains('offline')")
        for pattern in ("**/photos/state", "**/t/**"):  # a server that does not answer counts as no connection
            page.route(pattern, lambda route: route.abort())
        page.goto(site.base)
        page.wait_for_selector(".away:has-text('Offline')")
        page.wait_for_selector(FIRST)
        page.wait_for_function(f"(({MARK})({FIRST!r})) === '\"Offline\"'")
        page.unroute("**/photos/state")
        page.wait_for_selector(".away", state="hidden")


def test_pictures_that_failed_without_a_network_come_with_it(site, chromium):
    with open_page(chromium, site.base, "/albums", expected=FAILS) as page:
        page.clock.install()
        page.route("**/t/**", lambda route: route.abort())
        page.goto(f"{site.base}/?q=year:2021")
        page.wait_for_selector(f"{FIRST} img", state="attached")
        for _ in range(42):  # more often than the page tries
            page.clock.fast_forward(10_000)
            until(page, "[...document.querySelectorAll('.tiles img')].every((image) => image.complete)")
        page.unroute("**/t/**")
        page.clock.fast_forward(10_000)
        assert page.query_selector(f"{FIRST} img.here") is None
        page.context.set_offline(True)
        page.context.set_offline(False)
        page.clock.run_for(1500)
        page.wait_for_selector(f"{FIRST} img.here")


def test_the_grid_and_its_dialogs_speak_the_language_of_the_browser(site, chromium):
    assert date(2021, 12, 24).weekday() == 4
    for locale, *words in (
        ("de-AT", "Freitag, 24. Dezember 2021", "1 ausgewählt", "Alle 8 dieser Suche", "Tasten"),
        ("es-ES", "viernes, 24 de diciembre de 2021", "1 seleccionada", "Las 8 de esta búsqueda", "Teclas"),
        ("fr-FR", "vendredi 24 décembre 2021", "1 sélectionnée", "Les 8 de cette recherche", "Touches"),
    ):
        with open_page(chromium, site.base, "/?q=year:2021", locale=locale) as page:
            shows(page, 8)
            page.focus(f"{FIRST} a")
            press(page, "x", "?")
            parts = (".tiles h2, main h2", ".actions .count", ".actions .all", "dialog h2")
            day, *others = [page.locator(part).first.text_content() for part in parts]
            assert [day[: len(words[0])], *others] == words


def test_the_search_field_has_room_and_right_edges_agree(page, site):
    edges = """() => [".search .field", ".summary .total", ".days"].map(
      (selector) => Math.round(document.querySelector(selector).getBoundingClientRect().right))"""
    for path in ("/?q=year:2021", "/folders/20211224"):
        for width in (390, 700, 900, 1280, 2560):
            page.set_viewport_size({"width": width, "height": 900})
            page.goto(site.base + path)
            page.wait_for_selector(".days img")
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert page.locator(".search .field").bounding_box()["width"] >= 300, width
            if width >= 900:
                field, total, photos = page.evaluate(edges)
                assert field <= total == photos, (path, width)
