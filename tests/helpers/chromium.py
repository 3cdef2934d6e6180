"""Chromium as it is installed, through Playwright: pages as somebody uses them, by mouse, touch and keyboard.

What runs inside of Playwright's `evaluate` escapes the Content-Security-Policy: tests only read there, and act
by native input. A page that logs an error, breaks the policy or loads something from elsewhere fails its test.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.helpers.api_client import PASSWORD
from tests.helpers.programs.needed import missing, package

#: Names of the network that lead to this machine: over http, pages from there have no clipboard, and are other sites.
_NAMES = "MAP photos.test 127.0.0.1, MAP other.test 127.0.0.1"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or ""


@contextmanager
def open_chromium() -> Iterator[Any]:
    """The browser, without a window; tests for which it is missing are skipped."""
    sync_api = package("playwright.sync_api")
    if not CHROMIUM:
        missing("not installed: chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={_NAMES}"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@contextmanager
def open_page(
    browser: Any,
    base: str,
    *,
    name: str = "alice",
    width: int = 1280,
    height: int = 800,
    expected: str = "",
    home: str = "/",
    **options: Any,
) -> Iterator[Any]:
    """A page of its own session, signed in; errors of the page fail the test.

    Those that contain the text `expected`, or one of the texts between `|` in it, do not. `home` is the first page.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(15_000)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith((base, "blob:")) else wrong.append(request.url))
    page.goto(f"{base}/sign-in")
    page.fill("#name", name)
    page.fill("#password", PASSWORD)
    page.click("button.primary")
    page.wait_for_url(base + home)
    yield page
    context.close()
    known = [text for text in expected.split("|") if text]
    assert [text for text in wrong if not any(one in text for one in known)] == []


def downloaded(page: Any, act: Any) -> Path:
    """The file that the browser saves because of `act`."""
    with page.expect_download() as waiting:
        act()
    return Path(waiting.value.path())
