"""The pages in Chromium: sign-in by keyboard, over http and https, and beside pages of others."""

import subprocess
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pyotp
import pytest

from photosvc.auth import second_factor
from photosvc.auth.accounts import find_user
from photosvc.web.auditing import operating
from tests.browser.chromium import open_page, open_panel
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


@pytest.fixture(scope="module")
def hostile_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("chromium")) as api:
        api.library.clock.present = datetime.now(UTC)  # that of the server, which is a process of its own
        for number in range(5):
            taken = exif({0x010F: "Canon", 0x0110: HOSTILE}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"2023/IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        api.library.index()
        yield api


@pytest.fixture(scope="module")
def base(hostile_api):
    with serve(hostile_api.library.instance, workers=1, threads=8) as address:
        yield address


@pytest.fixture(scope="module")
def https(hostile_api, tmp_path_factory):
    """The address of the same service over TLS."""
    folder = tmp_path_factory.mktemp("tls")
    subject = ["-subj", "/CN=localhost", "-days", "2", "-nodes", "-newkey", "rsa:2048"]
    command = ["openssl", "req", "-x509", *subject, "-keyout", folder / "key.pem", "-out", folder / "cert.pem"]
    subprocess.run(command, check=True, capture_output=True)
    options = ["--certfile", str(folder / "cert.pem"), "--keyfile", str(folder / "key.pem")]
    with serve(hostile_api.library.instance, workers=1, threads=8, options=options) as address:
        yield address.replace("http:", "https:")


@contextmanager
def foreign_page(body):
    """The address of a page of somebody else, on another port."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    server.server_close()
    thread.join()


def sign_in(page, base, name="alice"):
    page.goto(f"{base}/sign-in")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(f"{base}/")


def cookies(context):
    return {one["name"].rpartition("-")[0]: one for one in context.cookies()}


def test_over_http_a_browser_signs_in_changes_and_signs_out(chromium, base):
    address = base.replace("127.0.0.1", "photos.test")  # no secure context
    context = chromium.new_context()
    page = context.new_page()
    logged = []  # an exception in a handler would end Playwright's connection
    page.on("console", lambda message: logged.append(message.text))
    sign_in(page, address)
    cookie = cookies(context)["photosvc"]
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, False, "Strict")
    page.goto(f"{address}/settings/account")
    page.fill("#display_name", "Alice at home")
    page.click("form[action$=name] button")
    page.wait_for_selector("text=Your name is changed.")
    page.click("main form[action='/sign-out'] button")
    page.wait_for_url(f"{address}/sign-in")
    assert not context.cookies()
    page.goto(f"{address}/")
    page.wait_for_url(f"{address}/sign-in")
    context.close()
    assert logged == []


def test_over_https_the_cookie_is_bound_to_the_host(chromium, https):
    address = https.replace("127.0.0.1", "photos.test")
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    sign_in(page, address)
    cookie = cookies(context)["__Host-photosvc"]
    assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"], cookie["path"]) == (True, True, "Strict", "/")
    page.goto(f"{address}/settings/account")
    page.click("form[action$=name] button")
    page.wait_for_selector("text=Your name is changed.")
    context.close()


def test_the_page_of_another_port_or_site_gets_nothing_and_changes_nothing(chromium, base):
    address = base.replace("127.0.0.1", "photos.test")
    attack = f"""<title>other</title>
      <form method=post action="{address}/sign-out"><button id=form>x</button></form>
      <form method=post action="{address}/settings/account/name" enctype="text/plain"><button id=plain>x</button></form>
      <form method=post action="{address}/sign-in"><input name=name value=vera><input name=password value="{PASSWORD}">
        <button id=login>x</button></form>
      <a id=link href="{address}/?q=year:2023">x</a>
      <iframe src="{address}/"></iframe><img src="{address}/"><script src="{address}/"></script>
      <button id=fetch onclick="for (const [path, options] of [
          ['/api/v1/session/confirm', {{method: 'POST', body: '{{}}'}}], ['/api/v1/session', {{method: 'DELETE'}}],
          ['/api/v1/session', {{headers: {{'X-Photosvc': '1'}}}}], ['/', {{}}]])
        fetch('{address}' + path, {{credentials: 'include', ...options}}).then(a => a.text())
          .then(text => document.title += ' READ', () => document.title += ' blocked');">x</button>"""
    with foreign_page(attack) as port:
        for other in ("photos.test", "other.test"):
            context = chromium.new_context()
            page = context.new_page()
            sign_in(page, address)
            for button in ("#form", "#plain", "#login"):
                page.goto(f"http://{other}:{port}/")
                page.click(button)
                page.wait_for_selector("text=Another site or program sent this request")
            page.goto(f"http://{other}:{port}/")
            page.click("#fetch")
            page.wait_for_function("document.title.split('blocked').length == 5")
            assert "READ" not in page.title()
            assert all("Sign out" not in (frame.content() if frame.url != page.url else "") for frame in page.frames)
            page.click("#link")  # a link leads in, once the browser has asked by itself
            page.wait_for_selector("input[name=q][value='year:2023']", state="attached")
            assert page.inner_text(".leave b") == "alice"
            context.close()


def test_by_keyboard_alone_with_a_second_factor(chromium, hostile_api, base):
    with hostile_api.library.app.app_context(), operating() as operation:
        user = find_user(operation.session, "ann")
        totp = pyotp.TOTP(second_factor.enrol(operation, user).secret)
        codes = second_factor.confirm(operation, user, code=totp.at(operation.now))
    context = chromium.new_context(base_url=base)
    page = context.new_page()
    page.goto("/")
    page.wait_for_selector("#name:focus")
    page.keyboard.type("ann")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#code:focus")
    page.keyboard.type(codes[0])
    page.keyboard.press("Enter")
    page.wait_for_selector("input[name=q]")
    page.wait_for_load_state("domcontentloaded")  # then the script hears keys
    page.keyboard.press("/")
    page.wait_for_selector("input[name=q]:focus")
    page.keyboard.type("year:2023")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=year*")
    page.wait_for_selector("text=5 photos")
    context.close()


def test_the_secret_is_copied_without_a_clipboard_of_the_page(chromium, base):
    address = base.replace("127.0.0.1", "photos.test")  # no secure context
    context = chromium.new_context(base_url=address)
    page = context.new_page()
    sign_in(page, address)
    page.goto("/settings/account/apps")
    if not page.locator("#name").is_visible():
        page.click("summary")
    page.fill("#name", "Copied")
    page.fill("#password", PASSWORD)
    page.click("button:has-text('Create')")
    page.click("button:has-text('Copy')")
    page.wait_for_selector("button:has-text('Copied')")
    secret = page.input_value("#secret")
    page.goto("/")
    page.click("input[name=q]")
    page.keyboard.press("Control+V")
    assert page.input_value("input[name=q]") == secret
    context.close()


def test_markup_in_metadata_runs_nowhere(chromium, base):
    with open_page(chromium, base, "/albums") as page:
        shown = []
        page.on("dialog", lambda dialog: (shown.append(dialog.message), dialog.dismiss()))
        page.goto(f"{base}/?q=year:2023")
        open_panel(page)
        assert "onerror=alert(1)" in page.inner_text(".panel")
        page.reload(wait_until="networkidle")
        assert shown == []


def test_a_browser_could_install_it(chromium, https):
    address = https.replace("127.0.0.1", "localhost")
    context = chromium.new_context(ignore_https_errors=True)
    page = context.new_page()
    sign_in(page, address)
    manifest = context.new_cdp_session(page).send("Page.getAppManifest")
    assert manifest["errors"] == []
    assert manifest["manifest"]["startUrl"] == f"{address}/"
    assert [icon["sizes"] for icon in manifest["manifest"]["icons"]] == ["192x192", "512x512", "0x0"]  # of any size
    context.close()
