"""Uploads from the page in Chromium: progress, leaving, continuing after a reload, albums, drops, and shared files.

The queue itself, its pauses and its refusals are tested without a browser, in `tests/unit/pages/uploads.test.mjs`.
"""

import re
from contextlib import contextmanager

import pytest

from tests.browser.chromium import FAILS
from tests.browser.chromium import open_page as open_any_page
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(400)

PIECES = re.compile(r"/api/v1/uploads/\w+$")
ADDING = "**/api/v1/users/*/upload/*"
MIB = 1 << 20
#: The label of a file that no indexer had read when the request ended, as under load.
STORED = "Stored; it appears once it is indexed"
#: Counts the shared files that the browser keeps.
WAITING = """async () => (await (await caches.open("photosvc-shared")).keys()).length"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service that takes files up to 3 MB; each test sends pictures of its own."""
    limits = {"PHOTOSVC_MAX_FILE_SIZE": "3"}
    with open_api(tmp_path_factory.mktemp("uploads"), settings=limits) as api:
        api.library.put("first.jpg", picture(0))
        api.library.index()
        with serve(api.library.instance, workers=1, threads=8, environ=limits) as address:
            yield address


def picture(number, size=0):
    """A picture with a content of its own, of at least so many bytes."""
    taken = exif({}, {0x9003: f"2018:08:08 08:{number:02}:08"})
    return jpeg(90, 60, exif=taken) + f"{number}".encode() + b"\0" * size


@contextmanager
def open_page(chromium, base, path="/upload", **options):
    """A page that uploads. It waits as long as it must: a file is added when it is stored, indexed or not."""
    with open_any_page(chromium, base, path, expected=FAILS, **options) as page:
        page.set_default_timeout(60_000)
        page.wait_for_selector("form.live")
        yield page


def file_of(name, content):
    return {"name": name, "mimeType": "image/jpeg", "buffer": content}


def line(page, name, state=""):
    return page.locator(f".uploads li{':is(.added, .stored)' if state == '.added' else state}", has_text=name)


def title(page, text):
    texts = (text, text.replace("added", STORED[0].lower() + STORED[1:]))
    page.wait_for_selector(", ".join(f'.uploads header p:text-is("{one}")' for one in texts))


def pieces(page, fails):
    """The requests that send pieces, each with its offset and length; those for which `fails` is true get no answer."""
    seen = []

    def take(route):
        if route.request.method != "PATCH":
            return route.continue_()
        seen.append((int(route.request.headers["upload-offset"]), len(route.request.post_data_buffer or b"")))
        return route.abort() if fails(len(seen)) else route.continue_()

    page.route(PIECES, take)
    return seen


def hold(page, pattern, method):
    """The first request of this method; it waits."""
    held = []
    page.route(pattern, lambda route: held.append(route) if route.request.method == method else route.continue_())
    return held


def test_the_page_that_uploads_is_one_click_from_every_page(base, chromium):
    for width in (390, 1280):
        with open_page(chromium, base, width=width) as page:
            for path in ("/albums", "/settings/account", "/places"):
                page.goto(base + path)
                page.click(".side nav > a:has-text('Upload')")
                page.wait_for_url(f"{base}/upload")
            assert page.locator(".side nav > :visible").count() == 5 or width > 390


def test_leaving_the_page_asks_only_while_files_are_not_sent_yet_and_the_next_page_adds_them(base, chromium):
    with open_page(chromium, base) as page:
        asked, held = [], hold(page, PIECES, "PATCH")
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        page.route(ADDING, lambda route: route.abort())
        page.click("h1")  # browsers ask only users who have touched the page
        page.set_input_files("#files", [file_of("left.jpg", picture(40))])
        page.wait_for_selector(".uploads li small:text-is('0 %')")
        with page.expect_event("dialog"):
            page.click(".side a:has-text('Albums')")
        assert (asked, page.url) == (["beforeunload"], f"{base}/upload")
        page.unroute(ADDING)
        adding = hold(page, ADDING, "PUT")
        with page.expect_request(ADDING):
            held[0].continue_()
        page.wait_for_selector(".uploads li small:text-is('Adding')")
        page.click(".side a:has-text('Albums')")
        page.wait_for_url(f"{base}/albums")
        assert (asked, len(adding)) == (["beforeunload"], 1)
        page.unroute(ADDING)
        page.goto(f"{base}/upload")
        line(page, "left.jpg", ".added").wait_for()


def test_each_file_tells_what_became_of_it_also_when_it_is_chosen_again(base, chromium, tmp_path):
    (tmp_path / "a <b>.jpg").write_bytes(picture(1))
    files = {
        "first.jpg": picture(0), "letter.jpg": b"no picture", "letter.doc": b"a letter", "empty.jpg": b"",
        "large.jpg": picture(2, 3 * MIB),
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with open_page(chromium, base) as page:
        page.set_input_files("#files", [tmp_path / "a <b>.jpg", *(tmp_path / name for name in files)])
        title(page, "1 added, 1 in the library already, 4 refused")
        names = page.locator(".uploads li > span").all_inner_texts()
        page.wait_for_selector(".uploads li:has-text('first.jpg') small:text-matches('already · .* 2018')")
        told = [text.partition(" · ")[0] for text in page.locator(".uploads small").all_inner_texts()]
        texts = dict(zip(names, told, strict=True))
        assert texts == {
            "a <b>.jpg": texts["a <b>.jpg"],
            "first.jpg": "In the library already",
            "letter.jpg": "Refused: its content is not a picture or video",
            "letter.doc": "Refused: its content is not a picture or video",
            "empty.jpg": "Refused: the file is empty",
            "large.jpg": "Refused: larger than 3 MB, the most for one file",
        }
        assert texts["a <b>.jpg"] in {"Added", STORED}
        page.reload()
        page.wait_for_selector("form.live")
        page.set_input_files("#files", [tmp_path / "a <b>.jpg"])
        title(page, "1 in the library already")
        page.click(".uploads a:text-is('a <b>.jpg')")
        page.wait_for_url(f"{base}/photos/*")


def test_after_a_reload_half_a_file_continues_or_is_given_up_and_whole_ones_are_added(base, chromium, tmp_path):
    for number, name in enumerate(("whole.jpg", "half.jpg", "long.jpg")):
        (tmp_path / name).write_bytes(picture(41 + number, 0 if name == "whole.jpg" else 2 * MIB))
    with open_page(chromium, base) as page:
        former = pieces(page, lambda _: len([one for one in former if one[0]]) > 0)
        page.set_input_files("#files", [tmp_path / name for name in ("whole.jpg", "half.jpg", "long.jpg")])
        for name in ("half.jpg", "long.jpg"):
            line(page, name).locator("small:has-text('The connection was lost: next try in')").wait_for()
        page.unroute(PIECES)
        page.goto(base)  # what was interrupted is shown on every page that uploads
        line(page, "whole.jpg", ".sent").wait_for()
        left = page.locator(".uploads li.left", has_text="49 %: choose the file again to continue")
        left.nth(1).wait_for()
        assert left.count() == 2
        seen = pieces(page, lambda _: False)
        page.get_by_role("button", name="Cancel half.jpg").click()
        page.set_input_files("input[type=file]", tmp_path / "long.jpg")
        title(page, "2 added, 1 cancelled")
        assert (former[0][0], seen[0][0]) == (0, MIB)
        assert page.evaluate("localStorage.getItem('photosvc-uploads')") is None
        page.reload(wait_until="networkidle")
        assert page.locator(".uploads:visible").count() == 0


def test_another_tab_leaves_alone_what_this_one_sends(base, chromium):
    with open_page(chromium, base) as page:
        pieces(page, lambda _: True)
        page.set_input_files("#files", [file_of("tab.jpg", picture(44))])
        page.wait_for_selector(".uploads small:has-text('next try in')")
        other = page.context.new_page()
        other.clock.install(time=0)
        other.clock.pause_at(1)
        other.goto(f"{base}/upload")
        other.wait_for_selector(".uploads", state="attached")
        # The first tab answers this question after that of the other tab's script, which then looks at the answers.
        other.evaluate("""() => new Promise((resolve) => {
            const tabs = new BroadcastChannel("photosvc-uploads");
            tabs.onmessage = ({data}) => { if (data?.length) resolve(); };
            tabs.postMessage(null);
        })""")  # fmt: skip
        other.clock.run_for(1000)
        assert other.locator(".uploads li").count() == 0
        page.get_by_role("button", name="Cancel tab.jpg").click()
        title(page, "1 cancelled")


def test_a_lost_answer_about_added_files_is_told_and_the_next_try_tells_what_became_of_them(base, chromium):
    with open_page(chromium, base) as page:
        lost = []

        def lose(route):
            lost.append(route.fetch(timeout=120_000).status)
            route.abort()

        page.route(ADDING, lose, times=1)
        page.set_input_files("#files", [file_of("answer.jpg", picture(45))])
        line(page, "answer.jpg", ".stopped").wait_for()
        assert lost == [200]
        assert "Try again to make sure" in page.inner_text(".uploads .stopped small")
        page.get_by_role("button", name="Try again: answer.jpg").click()
        line(page, "answer.jpg", ".duplicate").wait_for()


def test_files_for_an_album_that_is_deleted_meanwhile_can_be_added_without_it(base, chromium):
    call = """([method, path, body]) => fetch(`/api/v1/albums${path}`, {
        method, body, headers: {"X-Photosvc": "1", "Content-Type": "application/json"},
    }).then((answer) => answer.json())"""
    with open_page(chromium, base) as page:
        album = page.evaluate(call, ["POST", "", '{"Title": "Short"}'])["UID"]
        page.goto(f"{base}/albums/{album}")
        held = hold(page, ADDING, "PUT")
        with page.expect_request(ADDING):
            page.set_input_files("input[type=file]", [file_of("album.jpg", picture(49))])
        page.wait_for_selector(".uploads li small:text-is('Adding')")
        assert album in held[0].request.post_data
        page.evaluate(call, ["DELETE", f"/{album}", None])
        held[0].continue_()
        page.unroute(ADDING)
        line(page, "album.jpg", ".stopped").wait_for()
        page.get_by_role("button", name="Try again: album.jpg").click()
        line(page, "album.jpg", ".added").wait_for()


def test_files_are_dropped_on_the_page(base, chromium):
    with open_page(chromium, base) as page:
        transfer = page.evaluate_handle("""(bytes) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], "dropped.jpg", {type: "image/jpeg"}));
            return transfer;
        }""", list(picture(60)))  # fmt: skip
        page.dispatch_event("body", "dragenter", {"dataTransfer": transfer})
        page.wait_for_selector("html.dropping")
        page.dispatch_event("body", "drop", {"dataTransfer": transfer})
        line(page, "dropped.jpg", ".added").wait_for()


SHARE = """([address, files]) => {
    const form = document.createElement("form"), input = document.createElement("input"), kept = new DataTransfer();
    Object.assign(form, {method: "post", action: address, enctype: "multipart/form-data"});
    for (const [name, bytes] of files) kept.items.add(new File([new Uint8Array(bytes)], name, {type: "image/jpeg"}));
    Object.assign(input, {type: "file", name: "files", multiple: true, files: kept.files});
    form.append(input);
    document.body.append(form);
    form.submit();
}"""


def share(page, base, *files):
    """Send files as a phone does for an app that shares them."""
    page.wait_for_function("""async () => (await navigator.serviceWorker.getRegistrations())
        .some(({active}) => active?.state === "activated")""")
    page.evaluate(SHARE, [f"{base}/upload/shared", [(name, list(content)) for name, content in files]])


def nothing_waits(page):
    page.wait_for_load_state("networkidle")
    assert page.evaluate(WAITING) == 0


def test_files_that_another_app_shares_are_uploaded_once_somebody_agrees_or_discarded(base, chromium):
    with open_page(chromium, base, width=390) as page:
        sent = []
        page.on("request", lambda request: sent.append(request.url) if "/api/v1/uploads" in request.url else None)
        share(page, base, ("from-nowhere.jpg", picture(73)))
        page.wait_for_selector(".shared li:text-is('from-nowhere.jpg')")
        page.click(".shared button:has-text('Discard')")
        page.wait_for_url(f"{base}/upload")
        page.goto(f"{base}/upload?shared=yes")
        page.wait_for_selector("form.live")
        assert page.locator(".shared:visible").count() == 0
        share(page, base)
        page.wait_for_selector("text=The shared files did not arrive")
        assert sent == []
    with open_page(chromium, base, width=390) as page:
        share(page, base, ("sea ä.jpg", picture(71)), ("hill.jpg", picture(72)))
        page.wait_for_selector(".shared li:text-is('hill.jpg')")
        assert page.url == f"{base}/upload?shared=yes"
        assert page.locator(".shared li").all_inner_texts() == ["sea ä.jpg", "hill.jpg"]
        page.reload()
        page.click(".shared button:has-text('Upload')")
        for name in ("sea ä.jpg", "hill.jpg"):
            line(page, name, ".added").wait_for()
        assert page.url == f"{base}/upload"
        page.goto(f"{base}/upload?shared=yes")
        page.wait_for_selector("form.live")
        assert page.locator(".shared:visible").count() == 0


def test_shared_files_wait_for_the_account_whose_session_ended_and_for_no_other(base, chromium):
    def sign_in_as(name):
        page.wait_for_url("**/sign-in?next=/upload**")
        page.fill("#name", name)
        page.fill("#password", PASSWORD)
        page.click("button.primary")

    with open_page(chromium, base) as page:
        page.context.clear_cookies()
        share(page, base, ("secret.jpg", picture(75)))
        sign_in_as("alice")
        page.wait_for_selector(".shared li:text-is('secret.jpg')")
        page.context.clear_cookies()
        page.reload()
        sign_in_as("ann")
        page.wait_for_url(f"{base}/upload?shared=yes")
        page.wait_for_selector("form.live")
        nothing_waits(page)
        assert page.locator(".shared:visible").count() == 0
        share(page, base, ("secret.jpg", picture(74)))
        page.wait_for_selector(".shared li:text-is('secret.jpg')")
        assert page.evaluate(WAITING) == 1
        page.click(".side .leave button")
        page.wait_for_url(f"{base}/sign-in*")
        nothing_waits(page)  # signing out discards them
