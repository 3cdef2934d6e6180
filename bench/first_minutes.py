"""The first minutes of a newcomer: `python -m bench.first_minutes [FOLDER] [--drawn N] [--hogs N] [--scrolls N]`.

Starts `svc run` on a fresh instance with a copy of FOLDER, or with N drawn pictures of 12 megapixels. Chromium makes
the first account as soon as the page is there, waits until all photos on the screen are shown, scrolls through some
screens without waiting for them, and waits again. Beside it a client searches. Hogs are processes that do nothing
but use a processor each.
"""

import argparse
import json
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bench.indexing import drawn
from tests.helpers.chromium import open_chromium

_PORT = 8149
BASE = f"http://localhost:{_PORT}"
PASSWORD = "correct horse battery"
_LIMIT = 600
#: Of the photos on the screen: how many there are, and how many show their picture, or the icon of what has none.
_ON_SCREEN = """() => {
  const on = [...document.querySelectorAll("#grid .tiles li")].filter((tile) => {
    const box = tile.getBoundingClientRect();
    return box.bottom > 64 && box.top < innerHeight;
  }).map((tile) => tile.querySelector("img"));
  const good = on.filter((img) => img.complete && img.naturalWidth > 0 && img.className === "here");
  return [on.length, good.length];
}"""


@contextmanager
def running(photos: Path, instance: Path) -> Iterator[str]:
    """`svc run`; gives the code of the first account."""
    environ = {**os.environ, "PHOTOSVC_INSTANCE": str(instance), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", "from photosvc.main import main; main()", "run", "--photos", str(photos)]
    with (instance.parent / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, "--port", str(_PORT)], env=environ, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert server.stdout
    for line in server.stdout:
        if found := re.search(r"type the code (\S+)", line):
            break
    threading.Thread(target=server.stdout.read, daemon=True).start()
    try:
        yield found[1] if found else ""
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def hogs(count: int) -> Iterator[None]:
    """Processes that do nothing but use processors."""
    all_ = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(count)]
    for one in all_:
        one.start()
    try:
        yield
    finally:
        for one in all_:
            one.kill()


def _spin() -> None:
    while True:
        pass


class Searches:
    """A client that searches five times a second."""

    def __init__(self, token: str) -> None:
        self.times: list[float] = []
        self.failed = 0
        self._token = token
        self._over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        request = urllib.request.Request(f"{BASE}/api/v1/photos?count=10", headers={"X-Auth-Token": self._token})
        while not self._over.wait(0.2):
            began = time.monotonic()
            try:
                with urllib.request.urlopen(request, timeout=30) as answer:
                    answer.read()
            except OSError:
                self.failed += 1
            self.times.append(time.monotonic() - began)

    def end(self) -> str:
        """Median, p95 and maximum in milliseconds."""
        self._over.set()
        times = sorted(self.times) or [0.0]
        half, most, last = (times[min(len(times) - 1, round(len(times) * share))] for share in (0.5, 0.95, 1))
        return f"{half * 1000:.0f}, {most * 1000:.0f}, {last * 1000:.0f}; failed {self.failed} of {len(times)}"


def until_shown(page: Any, least: int) -> tuple[float, list[int]]:  # noqa: ANN401 - Playwright is imported where it is there
    """Seconds until all photos on the screen show their pictures."""
    began, seen = time.monotonic(), [0, 0]
    while time.monotonic() - began < _LIMIT:
        with suppress(Exception):  # the page loads itself again
            seen = page.evaluate(_ON_SCREEN)
            if seen[0] >= least and seen[0] == seen[1]:
                break
        time.sleep(0.1)
    return time.monotonic() - began, seen


def visit(code: str, token_file: Path, scrolls: int) -> dict[str, object]:
    """What a newcomer sees."""
    answers: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    began = time.monotonic()
    figures: dict[str, object] = {}
    with open_chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.on("console", lambda one: errors.update([one.text]) if one.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: errors.update([str(error)]))
        page.on("response", lambda one: answers.update([_said(one)]) if "/api/v1/t/" in one.url else None)
        while True:
            try:
                page.goto(f"{BASE}/")
                break
            except Exception:  # noqa: BLE001 - the server is not there yet
                time.sleep(0.1)
                errors.clear()
        figures["account page, s"] = round(time.monotonic() - began, 1)
        for name, value in {"code": code, "name": "alice", "password": PASSWORD, "again": PASSWORD}.items():
            page.fill(f"input[name={name}]", value)
        page.keyboard.press("Enter")
        searches = Searches(token_file.read_text().strip())
        page.wait_for_selector("#grid .tiles li", timeout=_LIMIT * 1000)
        figures["grid, s"] = round(time.monotonic() - began, 1)
        shown, seen = until_shown(page, 1)
        figures["first screen shown after, s"] = round(shown, 1)
        for _ in range(scrolls):
            page.mouse.wheel(0, 1200)
            time.sleep(0.4)
        shown, seen = until_shown(page, 1)
        figures["last screen shown after, s"] = round(shown, 1)
        figures["photos there, shown"] = seen
        figures["search p50, p95, max ms"] = searches.end()
        figures["thumbnails by status and type"] = dict(answers)
        figures["errors of the console"] = dict(errors.most_common(5))
        page.screenshot(path=str(token_file.parents[1] / "last.png"))
    return figures


def _said(answer: Any) -> str:  # noqa: ANN401
    return f"{answer.status} {answer.headers.get('content-type', '')}".strip()


def main() -> None:
    """Print what one newcomer saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--hogs", type=int, default=0)
    parser.add_argument("--scrolls", type=int, default=6)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        photos, instance = Path(folder, "photos"), Path(folder, "instance")
        instance.mkdir()
        if given.folder:
            shutil.copytree(given.folder, photos)
        if given.drawn:
            drawn(photos / "drawn", given.drawn, (4000, 3000))
        with hogs(given.hogs), running(photos, instance) as code:
            figures = visit(code, instance / "run_token", given.scrolls)
        with suppress(OSError):
            shutil.copy(Path(folder, "last.png"), Path(tempfile.gettempdir(), "first_minutes.png"))
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
