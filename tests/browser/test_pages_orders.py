"""The grid in Chromium in every order and in albums arranged by hand: scrolling, scrubbing, selecting and viewing."""

import re

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.chromium import open_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

TOTAL = 260
TILE = ".tiles li"
FIRST, LAST = f"{TILE}[aria-posinset='1']", f"{TILE}[aria-posinset='{TOTAL}']"
VIEWED = ".pswp--open:not([style*='opacity: 0'])"
#: Orders by time in both directions, by text, and one that no column has; the API's tests have all of them.
SHOWN = ("newest", "oldest", "title", "random")
SHAPES = ((80, 60), (60, 80), (120, 60))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with photos of two days, all of them in an album that is arranged by hand: its API and its address."""
    with open_api(tmp_path_factory.mktemp("orders")) as api:
        for number in range(TOTAL):
            taken = exif({}, {0x9003: f"2024:0{1 + number % 2}:10 10:{number % 60:02}:{number // 60:02}"})
            picture = jpeg(*SHAPES[number % 3], exif=taken) + f"{number}".encode()
            api.library.put(f"{number % 7}/IMG_{number:04}.jpg", picture)
        assert api.library.index().summary.indexed == TOTAL
        uids = [record["UID"] for record in api.library.find(count=TOTAL, order="name")]
        album = api.library.call("POST", "/albums", json={"Title": "By hand", "Order": "manual"})["UID"]
        api.library.call("POST", f"/albums/{album}/photos", json={"photos": uids[::-1]})
        with serve(api.library.instance, workers=1, threads=4) as base:
            yield api.library, base, album


@pytest.fixture
def page(service, chromium):
    """The photos on a desktop."""
    with open_page(chromium, service[1]) as page:
        page.wait_for_selector(f"{FIRST} img.here")
        yield page


def uids_of(library, **asked):
    return [record["UID"] for record in library.find(count=1000, merged="true", **asked)]


def seen(page):
    """UIDs of the tiles by their positions."""
    return page.evaluate("""() => Object.fromEntries([...document.querySelectorAll(".tiles li a[href]")].map((link) =>
      [Number(link.parentElement.getAttribute("aria-posinset")), link.pathname.split("/").at(-1)]))""")


def opened(page, base, address):
    page.goto(base + address)
    page.wait_for_selector(f"{FIRST}[aria-setsize='{TOTAL}'] img.here")


def wait_for_counter(page, text):
    page.wait_for_function("text => document.querySelector('.pswp [role=status]')?.textContent === text", arg=text)


@pytest.mark.parametrize("order", SHOWN)
def test_every_order_has_the_grid_with_all_photos_at_their_positions(service, page, order):
    library, base, _ = service
    opened(page, base, f"/?order={order}&seed=5")
    expected = uids_of(library, order=order, seed=5)
    page.mouse.move(600, 400)
    found = {}
    for _ in range(60):
        page.wait_for_function("() => !document.querySelector('.tiles li a:not([href])')")
        found |= seen(page)
        if str(TOTAL) in found:
            break
        page.mouse.wheel(0, 500)
        page.wait_for_timeout(60)
    page.wait_for_selector(f"{LAST} img.here")
    found |= seen(page)
    assert all(uid == expected[int(position) - 1] for position, uid in found.items())
    assert len(found) == TOTAL
    assert page.evaluate("document.querySelectorAll('*').length") < 1000


def test_an_album_by_hand_has_the_grid_and_the_viewer_in_its_order(service, page):
    library, base, album = service
    opened(page, base, f"/albums/{album}")
    expected = uids_of(library, s=album, order="manual")
    assert seen(page)["1"] == expected[0]
    page.click(f"{TILE}[aria-posinset='3'] a")
    wait_for_counter(page, f"3 of {TOTAL}")
    page.keyboard.press("ArrowRight")
    wait_for_counter(page, f"4 of {TOTAL}")
    assert page.url.split("?")[0].endswith(expected[3])
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    wait_for_counter(page, f"2 of {TOTAL}")
    page.keyboard.press("Escape")
    page.wait_for_selector(".pswp", state="detached")
    assert page.evaluate("document.activeElement.parentElement.getAttribute('aria-posinset')") == "2"


def test_photos_are_selected_over_the_whole_of_another_order(service, page):
    library, base, _ = service
    opened(page, base, "/?order=name")
    page.hover(FIRST)
    page.click(f"{FIRST} .pick")
    page.focus(".scrubber")
    page.keyboard.press("End")
    page.wait_for_selector(f"{LAST} img.here")
    page.click(f"{TILE}[aria-posinset='250'] .pick", modifiers=["Shift"])
    page.wait_for_function("() => document.querySelector('.actions .count').textContent === '250 selected'")
    page.keyboard.press("Escape")
    page.focus(f"{TILE}[aria-posinset='245'] a")
    page.keyboard.press("Control+a")
    page.wait_for_function(f"() => document.querySelector('.actions .count').textContent === '{TOTAL} selected'")
    page.keyboard.press("f")
    page.wait_for_function("() => document.querySelector('.undo')?.textContent.includes('made favorites')")
    assert len(library.find(q="favorite:true", count=1000)) == TOTAL
    page.keyboard.press("Control+z")
    page.wait_for_function("() => document.querySelector('.undo')?.textContent.includes('Undone')")
    assert library.find(q="favorite:true", count=1000) == []


def test_the_scrubber_tells_positions_and_the_address_keeps_them_over_a_reload(service, page):
    _, base, _ = service
    opened(page, base, "/?order=size")
    page.focus(".scrubber")
    assert page.get_attribute(".scrubber", "aria-label") == "Position"
    page.keyboard.press("ArrowDown")
    assert page.get_attribute(".scrubber", "aria-valuetext") == f"121 of {TOTAL}"
    page.wait_for_selector(f"{TILE}[aria-posinset='121'] img.here")
    page.wait_for_url("**/*#121.*")
    page.reload()
    page.wait_for_selector(f"{TILE}[aria-posinset='121'] img.here")
    assert page.query_selector(FIRST) is None
    box = page.locator(".scrubber").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 4)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + box["height"] - 1, steps=5)
    assert page.inner_text(".bubble") == f"{TOTAL} of {TOTAL}"
    page.mouse.up()
    page.wait_for_selector(f"{LAST} img.here")


def test_pictures_wait_while_the_scrubber_is_held_and_are_there_when_it_rests(service, page):
    _, base, _ = service
    opened(page, base, "/?order=title")
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


def test_shuffled_photos_stay_in_their_order_when_the_page_is_loaded_again(service, page):
    _, base, _ = service
    opened(page, base, "/?order=random")
    before = seen(page)
    page.reload()
    page.wait_for_selector(f"{FIRST} img.here")
    after = seen(page)
    assert {at: uid for at, uid in after.items() if at in before} == before
    assert re.search(r"seed=\d+", page.url)


def test_a_photo_whose_title_moves_it_is_followed_by_the_viewer(service, page):
    library, base, _ = service
    opened(page, base, "/?order=title")
    uid = seen(page)["5"]
    page.click(f"{TILE}[aria-posinset='5'] a")
    wait_for_counter(page, f"5 of {TOTAL}")
    page.keyboard.press("i")
    page.fill(".panel [name=Title]", "Zebra")
    page.press(".panel [name=Title]", "Tab")
    wait_for_counter(page, f"{TOTAL} of {TOTAL}")
    assert page.url.split("?")[0].endswith(uid)
    library.call("PUT", f"/photos/{uid}", json={"Title": ""})


def test_the_total_changes_and_the_words_beside_it_stay(service, page):
    _, base, _ = service
    opened(page, base, "/?q=jpg&order=relevance")
    before = page.inner_text(".summary .total")
    assert before == f"{TOTAL} photos · Whole words first: show the newest first · Save as album"
    page.focus(f"{TILE}[aria-posinset='2'] a")
    page.keyboard.press("a")
    page.wait_for_selector(f".summary .total:has-text('{TOTAL - 1} photos')")
    assert page.inner_text(".summary .total") == before.replace(str(TOTAL), str(TOTAL - 1), 1)
    page.keyboard.press("Control+z")
    page.wait_for_selector(f".summary .total:has-text('{TOTAL} photos')")


def test_a_million_positions_are_reached_and_few_elements_are_in_the_page(service, page):
    _, base, _ = service
    million = 1_000_000
    asked = []

    def made_up(route):
        given = dict(pair.split("=") for pair in route.request.url.partition("?")[2].split("&"))
        start, count = int(given.get("from", 0)), int(given["n"])
        asked.append((start, given.get("cursor")))
        found = range(start, min(start + count, million))
        photos = [
            {"uid": f"p{at:015}", "hash": f"{at}", "duration": 0, "favorite": False, "private": False, "width": 60,
             "height": 40, "turn": 1, "text": f"Photo {at}"}
            for at in found
        ]  # fmt: skip
        columns = {"ratio": [150] * len(found), "color": "4" * len(found), "type": "0" * len(found)}
        after = f"c{start + count}" if start + count < million else ""
        body = {"version": "made-up", "total": million, "from": start, **columns, "photos": photos, "next": after}
        route.fulfill(json=body)

    page.route(re.compile(r"/photos/sequence"), made_up)
    page.route("**/photos/state", lambda route: route.fulfill(json={"version": "made-up", "indexing": None}))
    page.route("**/api/v1/t/**", lambda route: route.fulfill(body=jpeg(60, 40), content_type="image/jpeg"))
    page.goto(f"{base}/?order=name#1")  # with a place in the address, the photos of the page are not used
    page.wait_for_selector(f"{FIRST}[aria-setsize='{million}'] img.here")
    box = page.locator(".scrubber").bounding_box()
    x, upper, lower = box["x"] + 20, box["y"] + 1, box["y"] + box["height"] - 1
    elements = []
    for begin, end in ((upper, lower), (lower, upper)) * 2:
        page.mouse.move(x, begin)
        page.mouse.down()
        for step in range(1, 21):
            page.mouse.move(x, begin + (end - begin) * step / 20)
            elements.append(page.evaluate("document.querySelectorAll('*').length"))
        page.mouse.up()
        page.wait_for_selector(f"{TILE} img.here")
    assert max(elements) <= 1000
    page.focus(".scrubber")
    page.keyboard.press("End")
    page.wait_for_selector(f"{TILE}[aria-posinset='999961'] img.here")
    del asked[:]
    page.keyboard.press("Home")
    page.wait_for_selector(f"{FIRST} img.here")
    page.mouse.move(600, 400)
    for _ in range(40):
        page.mouse.wheel(0, 900)
        page.wait_for_timeout(40)
    page.wait_for_timeout(300)
    # Scrolling goes on from what was read last, and counts from the beginning no more.
    assert all(cursor for start, cursor in asked if start > 240)
