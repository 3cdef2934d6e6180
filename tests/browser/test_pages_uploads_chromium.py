"""Uploads from the page in Chromium: progress, lost connections, cancelling, continuing after a reload, refusals."""

import json
import re
from contextlib import contextmanager
from hashlib import sha1

import pytest

from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.chromium import open_page as open_any_page
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PIECES = re.compile(r"/api/v1/uploads/\w+$")
MIB = 1 << 20
#: The page tries again by itself, and browsers log each failed request.
FAILS = "Failed to load resource"
#: The label of a file that no indexer had read when the request ended, as under load.
STORED = "Stored; it appears once it is indexed"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The address of a service that takes files up to 3 MB, and 20 MB of an account."""
    limits = {"PHOTOSVC_MAX_FILE_SIZE": "3", "PHOTOSVC_UPLOAD_QUOTA": "20"}
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
def open_page(chromium, base, **options):
    """The page that uploads. It waits as long as it must: a file is added when it is stored, indexed or not."""
    with open_any_page(chromium, base, **options) as page:
        page.set_default_timeout(120_000)
        page.goto(f"{base}/upload")
        if options.get("java_script_enabled", True):
            page.wait_for_selector("form.live")
        yield page


def file_of(name, content):
    return {"name": name, "mimeType": "image/jpeg", "buffer": content}


def line(page, name, state=""):
    return page.locator(f".uploads li{':is(.added, .stored)' if state == '.added' else state}", has_text=name)


def title(page, text):
    texts = (text, text.replace("added", STORED[0].lower() + STORED[1:]))
    page.wait_for_selector(", ".join(f'.uploads header p:text-is("{one}")' for one in texts))


def pieces(page, fails, *, status=None):
    """The requests that send pieces, each with its offset and length; those for which `fails` is true get no answer.

    With `status`, they get an answer of a proxy.
    """
    seen = []

    def take(route):
        if route.request.method != "PATCH":
            return route.continue_()
        seen.append((int(route.request.headers["upload-offset"]), len(route.request.post_data_buffer or b"")))
        if not fails(len(seen)):
            return route.continue_()
        return route.fulfill(status=status, body="<html>") if status else route.abort()

    page.route(PIECES, take)
    return seen


def remembered(page):
    """The files that the browser remembers."""
    return json.loads(page.evaluate("localStorage.getItem('photosvc-uploads')") or "{}")


def test_the_page_that_uploads_is_one_click_from_every_page(base, chromium):
    for width in (390, 1280):
        with open_page(chromium, base, width=width) as page:
            for path in ("/albums", "/settings/account", "/places"):
                page.goto(base + path)
                page.click(".side nav > a:has-text('Upload')")
                page.wait_for_url(f"{base}/upload")
            assert page.locator(".side nav > :visible").count() == 5 or width > 390


def test_a_phone_signs_out_behind_more(base, chromium):
    with open_page(chromium, base, width=390) as page:
        page.click(".more summary")
        page.click(".more button:has-text('Sign out')")
        page.wait_for_url(f"{base}/sign-in*")


def test_leaving_the_page_asks_only_while_files_are_not_sent_yet(base, chromium):
    with open_page(chromium, base, expected=FAILS) as page:
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
        held = []
        page.route(PIECES, lambda route: held.append(route) if route.request.method == "PATCH" else route.continue_())
        page.click("h1")  # browsers ask only users who have touched the page
        page.set_input_files("#files", [file_of("left.jpg", picture(40))])
        page.wait_for_selector(".uploads li small:text-is('0 %')")
        with page.expect_event("dialog"):
            page.click(".side a:has-text('Albums')")
        assert (asked, page.url) == (["beforeunload"], f"{base}/upload")
        held[0].continue_()
        page.wait_for_selector(".uploads li small:text-is('Adding')")
        page.click(".side a:has-text('Albums')")
        page.wait_for_url(f"{base}/albums")
        assert asked == ["beforeunload"]
        for _ in range(100):
            page.goto(f"{base}/?q=hash:{sha1(picture(40)).hexdigest()}")
            if page.locator(".summary .total:has-text('1 photo')").count():
                return
            page.wait_for_timeout(500)
        pytest.fail("the file was not added")


def test_each_file_tells_its_progress_and_what_became_of_it(base, chromium):
    with open_page(chromium, base) as page:
        files = [
            file_of("a <b>.jpg", picture(1)),
            file_of("first.jpg", picture(0)),
            file_of("letter.jpg", b"no picture"),
            file_of("letter.doc", b"a letter"),
            file_of("empty.jpg", b""),
            file_of("large.jpg", picture(2, 3 * MIB)),
        ]
        page.set_input_files("#files", files)
        title(page, "1 added, 1 in the library already, 4 refused")
        names = page.locator(".uploads li > span").all_inner_texts()
        texts = dict(zip(names, page.locator(".uploads small").all_inner_texts(), strict=True))
        assert texts == {
            "a <b>.jpg": texts["a <b>.jpg"],
            "first.jpg": "In the library already",
            "letter.jpg": "Refused: its content is not a picture or video",
            "letter.doc": "Refused: its content is not a picture or video",
            "empty.jpg": "Refused: the file is empty",
            "large.jpg": "Refused: larger than 3 MB, the most for one file",
        }
        assert texts["a <b>.jpg"] in {"Added", STORED}
        assert remembered(page) == {}


def test_a_lost_connection_is_tried_again_by_itself_from_where_it_stopped(base, chromium):
    with open_page(chromium, base, expected=FAILS) as page:
        seen = pieces(page, lambda count: count in {2, 3})
        page.set_input_files("#files", [file_of("lost.jpg", picture(20, 2 * MIB))])
        page.wait_for_selector(".uploads small:has-text('The connection was lost: next try in 1 s')")
        page.wait_for_selector(".uploads small:has-text('The connection was lost: next try in 2 s')")
        line(page, "lost.jpg", ".added").wait_for()
        assert [offset for offset, _ in seen[:4]] == [0, MIB, MIB, MIB]
        assert seen[2][1] < seen[1][1]


def test_an_upload_continues_after_a_reload_when_the_file_is_chosen_again(base, chromium, tmp_path):
    path = tmp_path / "long.jpg"
    path.write_bytes(picture(40, 2 * MIB))
    with open_page(chromium, base, expected=FAILS) as page:
        former = pieces(page, lambda count: count > 1)
        page.set_input_files("#files", path)
        page.wait_for_selector(".uploads small:has-text('next try in')")
        page.unroute(PIECES)
        page.goto(base)  # what was interrupted is shown on every page that uploads
        page.wait_for_selector(".uploads li.left:has-text('49 %: choose the file again to continue')")
        seen = pieces(page, lambda _: False)
        page.set_input_files("input[type=file]", path)
        line(page, "long.jpg", ".added").wait_for()
        assert (former[0], seen[0][0]) == ((0, MIB), MIB)
        assert remembered(page) == {}
        page.reload()
        page.wait_for_timeout(1000)
        assert page.locator(".uploads:visible").count() == 0


def test_an_interrupted_upload_is_given_up_and_complete_files_beside_it_are_added(base, chromium):
    with open_page(chromium, base, expected=FAILS) as page:
        pieces(page, lambda count: count > 2)
        page.set_input_files("#files", [file_of("whole.jpg", picture(41)), file_of("half.jpg", picture(42, 2 * MIB))])
        page.wait_for_selector(".uploads small:has-text('next try in')")
        page.reload()
        line(page, "half.jpg", ".left").wait_for()
        line(page, "whole.jpg", ".sent").wait_for()
        page.get_by_role("button", name="Cancel half.jpg").click()
        title(page, "1 added, 1 cancelled")
        assert remembered(page) == {}


def test_files_that_were_added_before_a_reload_are_not_sent_again_unless_no_search_finds_them(base, chromium, tmp_path):
    paths = [tmp_path / f"again{number}.jpg" for number in range(2)]
    for number, path in enumerate(paths):
        path.write_bytes(picture(47 + number))
    with open_page(chromium, base) as page:
        page.set_input_files("#files", paths)
        title(page, "2 added")
        page.reload()
        page.wait_for_selector("form.live")
        seen = pieces(page, lambda _: False)
        page.set_input_files("#files", paths)
        title(page, "2 in the library already")
        assert seen == []
        uid = page.get_attribute(".uploads a:text-is('again0.jpg')", "href").rpartition("/")[2]
        archive = """uid => fetch("/api/v1/batch/photos/archive", {
            method: "POST",
            headers: {"X-Photosvc": "1", "Content-Type": "application/json"},
            body: JSON.stringify({photos: [uid]}),
        }).then((answer) => answer.status)"""
        assert page.evaluate(archive, uid) == 200
        page.goto(f"{base}/upload")
        page.wait_for_selector("form.live")
        page.set_input_files("#files", paths)
        title(page, "2 in the library already")
        assert len(seen) == 1


def test_files_that_were_sent_before_the_page_was_left_are_added_by_the_next_one(base, chromium):
    with open_page(chromium, base, expected=FAILS) as page:
        page.route("**/api/v1/users/*/upload/*", lambda route: route.abort())
        page.set_input_files("#files", [file_of("sent.jpg", picture(43))])
        page.wait_for_selector(".uploads small:text-is('Adding')")
        page.unroute("**/api/v1/users/*/upload/*")
        page.reload()
        line(page, "sent.jpg", ".added").wait_for()


def test_another_tab_leaves_alone_what_this_one_sends(base, chromium):
    with open_page(chromium, base, expected=FAILS) as page:
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
    with open_page(chromium, base, expected=FAILS) as page:
        lost = []

        def lose(route):
            lost.append(route.fetch(timeout=120_000).status)
            route.abort()

        page.route("**/api/v1/users/*/upload/*", lose, times=1)
        page.set_input_files("#files", [file_of("answer.jpg", picture(45))])
        line(page, "answer.jpg", ".stopped").wait_for()
        assert lost == [200]
        assert "Try again to make sure" in page.inner_text(".uploads .stopped small")
        page.get_by_role("button", name="Try again: answer.jpg").click()
        line(page, "answer.jpg", ".duplicate").wait_for()


def test_a_quota_that_is_used_up_stops_the_file_until_somebody_tries_again(base, chromium):
    with open_page(chromium, base, expected=FAILS, name="ann") as page:
        files = [file_of(f"q{n}.jpg", picture(n, MIB * 29 // 10)) for n in range(50, 57)]
        page.set_input_files("#files", files)
        title(page, "6 added, 1 stopped")
        text = "The account may not upload so much; an administrator can raise PHOTOSVC_UPLOAD_QUOTA."
        assert page.inner_text(".uploads .stopped small") == text
        assert page.get_by_role("button", name=re.compile("Try again: q")).count() == 1


def test_files_for_an_album_that_is_deleted_meanwhile_can_be_added_without_it(base, chromium):
    call = """([method, path, body]) => fetch(`/api/v1/albums${path}`, {
        method, body, headers: {"X-Photosvc": "1", "Content-Type": "application/json"},
    }).then((answer) => answer.json())"""
    with open_page(chromium, base, expected=FAILS) as page:
        album = page.evaluate(call, ["POST", "", '{"Title": "Short"}'])["UID"]
        page.goto(f"{base}/albums/{album}")
        held = []

        def hold(route):
            held.append(route)

        page.route("**/api/v1/users/*/upload/*", hold, times=1)
        page.set_input_files("input[type=file]", [file_of("album.jpg", picture(49))])
        while not held:
            page.wait_for_timeout(100)
        assert album in held[0].request.post_data
        page.evaluate(call, ["DELETE", f"/{album}", None])
        held[0].continue_()
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
        page.click(".uploads a:text-is('dropped.jpg')")
        page.wait_for_url(f"{base}/photos/*")


def test_the_form_uploads_without_scripts(base, chromium):
    with open_page(chromium, base, java_script_enabled=False) as page:
        page.set_input_files("#files", [file_of("plain.jpg", picture(70)), file_of("letter.doc", b"a letter")])
        page.click("button.primary")
        page.wait_for_selector("h2:text-is('1 of 2 files added')")
        assert page.locator(".results small").all_inner_texts() == [
            "Added",
            "Refused: its content is not a picture or video",
        ]
        page.click(".results a:text-is('plain.jpg')")
        page.wait_for_url(f"{base}/photos/*")


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
    ready = """async () => (await navigator.serviceWorker.getRegistrations())
        .some(({active}) => active?.state === "activated")"""
    while not page.evaluate(ready):
        page.wait_for_timeout(100)
    page.evaluate(SHARE, [f"{base}/upload/shared", [(name, list(content)) for name, content in files]])


def test_files_that_another_app_shares_are_uploaded_once_somebody_agrees(base, chromium):
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


def test_shared_files_are_discarded_and_never_sent_without_a_click(base, chromium):
    sent = []
    with open_page(chromium, base) as page:
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


#: Counts the shared files that the browser keeps.
WAITING = """async () => (await (await caches.open("photosvc-shared")).keys()).length"""


def nothing_waits(page):
    page.wait_for_load_state("networkidle")
    assert page.evaluate(WAITING) == 0


def sign_in_as(page, name):
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("button.primary")


def test_signing_out_discards_shared_files_that_nobody_uploaded(base, chromium):
    with open_page(chromium, base) as page:
        share(page, base, ("secret.jpg", picture(74)))
        page.wait_for_selector(".shared li:text-is('secret.jpg')")
        assert page.evaluate(WAITING) == 1
        page.click(".side .leave button")
        page.wait_for_url(f"{base}/sign-in*")
        nothing_waits(page)


def test_shared_files_wait_for_the_account_whose_session_ended_and_for_no_other(base, chromium):
    with open_page(chromium, base) as page:
        page.context.clear_cookies()
        share(page, base, ("secret.jpg", picture(75)))
        page.wait_for_url("**/sign-in?next=/upload**")
        sign_in_as(page, "alice")
        page.wait_for_selector(".shared li:text-is('secret.jpg')")
        page.context.clear_cookies()
        page.reload()
        page.wait_for_url("**/sign-in?next=/upload**")
        sign_in_as(page, "ann")
        page.wait_for_url(f"{base}/upload?shared=yes")
        page.wait_for_selector("form.live")
        nothing_waits(page)
        assert page.locator(".shared:visible").count() == 0
