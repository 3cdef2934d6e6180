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
#: The browser logs each request that fails.
FAILS = "Failed to load resource"


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
    path: str = "/",
    *,
    name: str = "alice",
    width: int = 1280,
    height: int = 800,
    expected: str = "",
    **options: Any,
) -> Iterator[Any]:
    """A page at this path in a session of its own, signed in unless `name` is empty; errors of the page fail the test.

    Those that contain the text `expected`, or one of the texts between `|` in it, do not.
    """
    context = browser.new_context(viewport={"width": width, "height": height}, **options)
    context.set_default_timeout(15_000)
    if name:
        form, headers = {"name": name, "password": PASSWORD}, {"Origin": base}
        answer = context.request.post(f"{base}/sign-in", form=form, headers=headers, max_redirects=0)
        assert answer.status == 303, answer.text()
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith((base, "blob:")) else wrong.append(request.url))
    page.goto(base + path)
    yield page
    context.close()
    known = [text for text in expected.split("|") if text]
    assert [text for text in wrong if not any(one in text for one in known)] == []


def tile(position: int) -> str:
    """The selector of the tile at this position of the grid."""
    return f".tiles li[aria-posinset='{position}']"


FIRST = tile(1)


def until(page: Any, condition: str, value: object = None) -> None:
    """Wait until a condition is true in the page, in which `value` may occur."""
    page.wait_for_function(f"value => {condition}", arg=value)


def shows(page: Any, total: int) -> None:
    """Wait for the grid, its script and its tools, with so many photos."""
    page.wait_for_selector(f"{FIRST}[aria-setsize='{total}'] img.here")
    page.wait_for_selector(".actions", state="attached")


def says(page: Any, text: str) -> None:
    """Wait for the message after an action."""
    until(page, "document.querySelector('.undo:not([hidden])')?.textContent.includes(value)", text)


def selected(page: Any, count: int) -> None:
    """Wait until so many photos are selected."""
    until(page, "document.querySelector('.actions .count')?.textContent === `${value} selected`", count)


def focus_at(page: Any, position: int) -> None:
    """Wait until the tile at this position has the focus."""
    until(page, "document.activeElement.closest('li')?.getAttribute('aria-posinset') === String(value)", position)


def viewed(page: Any, position: int, total: int) -> None:
    """Wait until the viewer is open and shows the photo at this position."""
    page.wait_for_selector(".pswp--ui-visible")
    page.wait_for_selector(f".pswp__position:text-is('{position} of {total}')")


def view_closes(page: Any) -> None:
    """Wait until the viewer is closed."""
    page.wait_for_selector(".pswp", state="detached")


def open_panel(page: Any, *, by: str = f"{FIRST} a") -> None:
    """Open a photo in the viewer, and its panel where the page does not remember that it is open."""
    page.wait_for_selector(f"{FIRST} img.here")
    page.click(by)
    page.wait_for_selector(".pswp--ui-visible")
    if page.evaluate("sessionStorage.getItem('photosvc-panel')") != "1":
        page.keyboard.press("i")
    page.wait_for_selector(".panel .files summary")


def tab_to(page: Any, selector: str) -> None:
    """Press the Tab key until an element has the focus; every one on the way, or its label, shows that it has it."""
    for _ in range(90):
        page.keyboard.press("Tab")
        found, shown = page.evaluate(
            """selector => {
              const here = document.activeElement, drawn = [here, here.closest("label, .field") ?? here];
              const shown = drawn.some((one) => getComputedStyle(one).outlineStyle !== "none");
              return [here.matches(selector), shown || !here.matches(":focus-visible") || here === document.body];
            }""",
            selector,
        )
        assert shown, f"the focus is not seen before {selector}: {page.evaluate('document.activeElement.outerHTML')}"
        if found:
            return
    raise AssertionError(f"no Tab key leads to {selector}")


def enter(page: Any, selector: str, *, then: str) -> None:
    """Press Enter on what Tab leads to, and wait for this."""
    tab_to(page, selector)
    page.keyboard.press("Enter")
    page.wait_for_selector(then)


def downloaded(page: Any, act: Any) -> Path:
    """The file that the browser saves because of `act`."""
    with page.expect_download() as waiting:
        act()
    return Path(waiting.value.path())
