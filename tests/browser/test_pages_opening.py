"""The viewer in Chromium: links to a photo, back and forward, pixels of the original, videos and live photos."""

import re

import pytest

from tests.browser.chromium import (
    FAILS,
    FIRST,
    focus_at,
    open_page,
    open_panel,
    shows,
    tile,
    until,
    view_closes,
    viewed,
)
from tests.browser.conftest import DAYS
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve
from tests.unit.media.video.videos import film

pytestmark = pytest.mark.timeout(180)

TOTAL = sum(DAYS.values())


def uids_of(library, **asked):
    return [record["UID"] for record in library.find(count=1000, merged="true", **asked)]


def path_of(page):
    return page.evaluate("location.pathname")


def test_the_viewer_turns_pages_names_the_tab_tells_and_back_returns_to_the_last_photo(site, chromium):
    with open_page(chromium, site.base, "/?q=day:4") as page:  # its titles name their times
        page.evaluate("addEventListener('securitypolicyviolation', (e) => { window.broken = e.violatedDirective })")
        shows(page, 2)
        title = page.title()
        page.click(f"{FIRST} a")
        viewed(page, 1, 2)
        until(page, "document.title !== value", title)
        assert page.title().endswith(title.removeprefix("day:4"))
        first = page.url
        assert first.startswith(f"{site.base}/photos/p")
        assert page.get_attribute(".pswp", "aria-modal") == "true"
        page.keyboard.press("ArrowRight")
        viewed(page, 2, 2)
        until(page, "location.href !== value", first)
        page.keyboard.press("i")
        page.wait_for_selector(".panel .camera:has-text('EOS 5D')")
        page.keyboard.press("z")
        page.go_back()
        view_closes(page)
        assert page.url == f"{site.base}/?q=day:4"
        until(page, "document.title === value", title)
        focus_at(page, 2)
        page.go_forward(wait_until="commit")
        viewed(page, 2, 2)
        page.go_back(wait_until="commit")
        view_closes(page)
        page.focus(f"{FIRST} a")
        page.keyboard.press("Enter")
        page.wait_for_selector(".pswp", state="attached")
        page.go_back(wait_until="commit")  # while it opens
        view_closes(page)
        page.focus(f"{FIRST} a")
        page.keyboard.press("Enter")
        viewed(page, 1, 2)
        page.keyboard.press("l")
        page.wait_for_selector("dialog[open]")
        page.go_back(wait_until="commit")  # closes the viewer together with its dialog
        view_closes(page)
        assert page.locator("dialog").count() == 0
        focus_at(page, 1)
        assert page.evaluate("window.broken") is None


def test_a_link_opens_the_viewer_among_the_photos_of_its_search(site, chromium):
    with open_page(chromium, site.base, "/albums") as page:
        for order in ("newest", "oldest", "-title"):
            uids, at = uids_of(site.library, order=order, q="camera:canon"), TOTAL - 7
            page.goto(f"{site.base}/photos/{uids[at]}?q=camera:canon&order={order}")
            viewed(page, at + 1, TOTAL)
            assert path_of(page) == f"/photos/{uids[at]}", order
            page.keyboard.press("ArrowRight")
            viewed(page, at + 2, TOTAL)
            assert path_of(page) == f"/photos/{uids[at + 1]}", order
            page.go_back()
            view_closes(page)
            focus_at(page, at + 2)
            assert "q=camera%3Acanon" in page.url
            page.go_forward()
            viewed(page, at + 2, TOTAL)


def test_the_viewer_is_there_after_a_reload_and_back_leads_to_the_grid_once(site, chromium):
    uids = uids_of(site.library, order="newest")
    with open_page(chromium, site.base, "/places") as page:
        page.goto(f"{site.base}/photos/{uids[20]}")
        viewed(page, 21, TOTAL)
        for _ in range(2):
            page.reload()
            viewed(page, 21, TOTAL)
        page.go_back()
        page.wait_for_selector(".tiles li img")
        view_closes(page)
        assert path_of(page) == "/"
        page.go_forward()
        viewed(page, 21, TOTAL)
        page.keyboard.press("Escape")
        until(page, "location.pathname === '/'")
        page.go_back()
        page.wait_for_url(re.compile("/places"))
        page.goto(f"{site.base}/photos/{uids[5]}")
        viewed(page, 6, TOTAL)
        page.keyboard.press("i")
        page.click(".panel .taken .same")
        page.wait_for_url(re.compile(r"/\?q="))
        page.wait_for_selector(".tiles li img")
        page.go_back()  # from a search that the panel led to
        viewed(page, 6, TOTAL)
        assert path_of(page) == f"/photos/{uids[5]}"


def test_a_photo_that_its_search_does_not_find_opens_alone_and_one_that_cannot_open_leaves_the_grid(site, chromium):
    uid = uids_of(site.library, order="newest")[0]
    with open_page(chromium, site.base, "/albums", expected=f"{FAILS}|photos:|net::ERR_FAILED") as page:
        for query in ("q=year:1999", "q=year:x", "in=archive"):
            page.goto(f"{site.base}/photos/{uid}?{query}")
            viewed(page, 1, 1)
            assert path_of(page) == f"/photos/{uid}"
        for refused in ("**/grid/viewer*.js", "**/photos/sequence*"):
            page.route(refused, lambda route: route.abort())
            page.goto(f"{site.base}/photos/{uid}?q=year:2023")
            page.wait_for_selector(".undo:has-text('The server cannot be reached. Try again.')")
            assert page.url == f"{site.base}/?q=year%3A2023"
            page.unroute(refused)


def test_photos_in_review_are_approved_one_by_one_and_together(own, chromium):
    with open_page(chromium, own.base, "/review") as page:
        shows(page, 6)
        page.click(f"{FIRST} a")
        viewed(page, 1, 6)
        page.click(".pswp__button--approve")
        viewed(page, 1, 5)
        page.keyboard.press("Escape")
        view_closes(page)
        page.focus(f"{FIRST} a")
        page.keyboard.press("Control+a")
        page.click(".actions [title=Approve]")
        page.wait_for_selector(".undo:has-text('5 photos approved')")
        page.wait_for_selector("text=No photos left.")
    assert own.library.find(q="review:true") == []


def test_photos_that_the_months_have_elsewhere_than_the_sequence_open_in_the_viewer(own, chromium):
    # Later by universal time, and on an earlier day.
    west, east = ("2023:04:01 23:30:00", "-08:00"), ("2023:04:02 01:00:00", "+09:00")
    for name, (time, zone) in {"west": west, "east": east}.items():
        own.library.put(f"{name}.jpg", jpeg(80, 60, exif=exif({}, {0x9003: time, 0x9011: zone})) + name.encode())
    own.library.index()
    (undated,) = own.library.find(q="name:IMG_5", merged="true", count=1)
    own.library.call("PUT", f"/photos/{undated['UID']}", json={"Year": 2023, "Month": -1, "Day": -1})
    with open_page(chromium, own.base, "/albums") as page:
        for name, position in {"east": 6, "west": 7, "IMG_5": 8}.items():
            (photo,) = own.library.find(q=f"name:{name}", merged="true", count=1)
            page.goto(f"{own.base}/photos/{photo['UID']}")
            viewed(page, position, 8)
            assert path_of(page) == f"/photos/{photo['UID']}", name


def test_an_album_by_hand_has_the_grid_and_the_viewer_in_its_order(own, chromium):
    uids = uids_of(own.library, order="name")[::-1]
    album = own.library.call("POST", "/albums", json={"Title": "By hand", "Order": "manual"})["UID"]
    own.library.call("POST", f"/albums/{album}/photos", json={"photos": uids})
    with open_page(chromium, own.base, f"/albums/{album}") as page:
        shows(page, 6)
        assert page.get_attribute(f"{FIRST} a", "href").partition("?")[0] == f"/photos/{uids[0]}"
        page.click(f"{tile(3)} a")
        viewed(page, 3, 6)
        page.keyboard.press("ArrowRight")
        viewed(page, 4, 6)
        assert path_of(page) == f"/photos/{uids[3]}"
        page.goto(f"{own.base}/photos/{uids[3]}?s={album}")
        viewed(page, 4, 6)
        page.keyboard.press("ArrowLeft")
        viewed(page, 3, 6)
        page.keyboard.press("Escape")
        view_closes(page)
        assert path_of(page) == f"/albums/{album}"
        focus_at(page, 3)


def test_a_photo_whose_title_moves_it_is_followed_by_the_viewer(own, chromium):
    with open_page(chromium, own.base, "/?order=title") as page:
        shows(page, 6)
        open_panel(page)
        path = path_of(page)
        page.keyboard.press("e")
        page.fill(".panel [name=Title]", "Zebra")
        page.press(".panel [name=Title]", "Tab")
        viewed(page, 6, 6)
        assert path_of(page) == path


def test_the_original_is_zoomed_videos_play_and_live_photos_move(chromium, tmp_path):
    width, image = 2400, "document.querySelector('.pswp__img:not(.pswp__img--placeholder)')"
    with open_api(tmp_path) as api:
        api.library.put("large.jpg", jpeg(width, 1600, exif=exif({}, {0x9003: "2023:05:01 10:00:00"})))
        api.library.put("alive.jpg", jpeg(800, 600))
        film(api.library.originals / "alive.mov", frames=60)
        film(api.library.originals / "clip.mp4", frames=120)
        assert api.library.index().summary.indexed == 4
        with (
            serve(api.library.instance, workers=1, threads=4) as base,
            open_page(chromium, base, "/?q=name:large", expected=FAILS) as page,
        ):
            shows(page, 1)
            page.click(f"{FIRST} a")
            page.wait_for_selector(".pswp--ui-visible")
            until(page, f"{image}?.complete")
            page.keyboard.press("z")
            until(page, f"{image}.naturalWidth === value && {image}.complete", width)
            until(page, f"Math.round({image}.getBoundingClientRect().width) === value", width)
            page.mouse.move(5, 5)  # no tile plays
            body = {"code": 503, "error": "The video is being converted (40% done)"}
            page.route("**/videos/**", lambda route: route.fulfill(status=503, json=body))
            page.goto(f"{base}/?q=name:clip")
            shows(page, 1)
            assert "0:05" in page.inner_text(f"{FIRST} .badges")
            page.focus(f"{FIRST} a")
            page.keyboard.press("Enter")
            page.wait_for_selector(".pswp__preparing:has-text('Preparing… 40 %')")
            assert "/t/" in page.get_attribute(".pswp video", "poster")
            page.unroute("**/videos/**")
            until(page, "document.querySelector('.pswp video[controls]')?.currentTime > 0.1")  # by itself
            page.keyboard.press(" ")
            until(page, "document.querySelector('.pswp video').paused")
            page.keyboard.press(" ")
            until(page, "!document.querySelector('.pswp video').paused")
            page.keyboard.press("Escape")
            view_closes(page)
            page.hover(FIRST)
            until(page, "document.querySelector('.tiles video')?.currentTime > 0.1")
            assert page.evaluate("document.querySelector('.tiles video').muted")
            page.mouse.move(5, 5)
            until(page, "!document.querySelector('.tiles video')")
            page.goto(f"{base}/?q=name:alive")
            shows(page, 1)
            assert page.inner_text(f"{FIRST} .badges") == "Live"
            page.click(f"{FIRST} a")
            page.wait_for_selector(".pswp__img")
            page.click(".pswp__button--moving")
            until(page, "document.querySelector('.pswp__moving')?.currentTime > 0.1")
            page.keyboard.press("Escape")
            view_closes(page)
