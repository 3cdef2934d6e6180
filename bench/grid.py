"""The grid of the web page in Chromium: `python -m bench.grid FOLDER`, of a library made by `bench.libraries.library`.

The processor of the page is slowed four times and its network is one of 10 Mbit/s and 40 ms. Eight sweeps drag the time
scrubber from one end to the other; tasks longer than 50 ms, the elements of the page and its memory are counted. They
are followed by 150 turns of the wheel. Thumbnails are made up, of 14 KB each. Tasks are told by their length, which
other load of the machine lengthens, and the longest ones in brackets by the time of the processor in them.

`--order NAME …` sweeps the grid in these orders instead, without names in every order of the page, and `--album` an
album of 100,000 photos arranged by hand, which is added to the library and deleted again. The best match is that for a
frequent word. A frame is the time between two pictures of the screen while the scrubber is held. The first row is a
bare page without a library (`bench.grid_app`), because all of these times depend on the machine.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from bench.libraries.library import FREQUENT_WORD
from bench.peers.serve import serve
from photosvc.app import create_app
from photosvc.core import ids
from photosvc.library.album_photos import add_photos, remove_photos
from photosvc.models import Album, Photo
from photosvc.models.engine import begin_write
from photosvc.pages.photos import ORDERS
from photosvc.search.reading.request import MANUAL
from photosvc.web.current import current_service
from tests.helpers.chromium import open_chromium

_SWEEPS, _STEPS, _STEP_MS = 8, 45, 25
_WHEELS = 150
_SLOWER = 4
_IN_ALBUM, _ADDED_AT_ONCE = 100_000, 10_000
#: Events of a trace: a task of a thread, and the collection of garbage that was asked for.
_TASK, _COLLECTION = "ThreadControllerImpl::RunTask", "V8.GCLowMemoryNotification"
_NETWORK = {"offline": False, "latency": 40, "downloadThroughput": 1_250_000, "uploadThroughput": 1_250_000}
#: Runs before the scripts of the page: keeps long tasks, when pictures appeared, and on demand the times of frames.
_WATCH = """
window.tasks = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.tasks.push([entry.startTime, entry.duration]);
}).observe({type: "longtask", buffered: true});
window.pictures = [];
document.addEventListener("load", (event) => {
  if (event.target.tagName === "IMG") window.pictures.push(performance.now());
}, true);
window.frames_ = [];
window.watch = () => {
  let last = 0;
  window.watched = true;
  requestAnimationFrame(function next(now) {
    if (last) window.frames_.push(now - last);
    last = now;
    if (window.watched) requestAnimationFrame(next);
  });
};
"""
_ON_SCREEN = """() => [...document.querySelectorAll("#grid img")].filter((img) => {
  const box = img.getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}).map((img) => img.complete && img.naturalWidth > 0)"""
_SCREENS: dict[str, dict[str, Any]] = {
    "1280 x 800": {"viewport": {"width": 1280, "height": 800}},
    "390 x 844, 3 pixels each": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 3},
    "2560 x 1440": {"viewport": {"width": 2560, "height": 1440}},
}


class Measured:
    """What one screen showed."""

    def __init__(self, page: Any) -> None:  # noqa: ANN401 - Playwright is imported where it is there
        self.page = page
        self.devtools = page.context.new_cdp_session(page)
        self.elements: list[int] = []
        self.heaps: list[float] = []
        self.frames: list[float] = []
        """Milliseconds of each frame while the scrubber was held."""
        self.collections: list[tuple[float, float]] = []
        """When unused memory was freed: between these milliseconds of the page."""

    def slow_down(self) -> None:
        """The processor and the network of a phone."""
        self.devtools.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
        self.devtools.send("Network.enable")
        self.devtools.send("Network.emulateNetworkConditions", _NETWORK)

    def count(self) -> None:
        """Note the elements of the page."""
        self.elements.append(self.page.evaluate("document.querySelectorAll('*').length"))

    def heap(self) -> float:
        """Megabytes of the scripts, after what is unused was freed; that is a long task, which is not the page's."""
        before = self.page.evaluate("performance.now()")
        self.devtools.send("HeapProfiler.collectGarbage")
        size = float(self.devtools.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
        self.collections.append((before, self.page.evaluate("performance.now()")))
        return size

    def traced(self, act: Callable[["Measured"], None]) -> list[float]:
        """Milliseconds of the processor that the longest tasks took while `act` ran, without collections of garbage."""
        browser = self.page.context.browser
        browser.start_tracing(page=self.page, categories=["toplevel", "v8"])
        act(self)
        events = json.loads(browser.stop_tracing())["traceEvents"]
        return _longest_tasks([event for event in events if event.get("ph") == "X"], _main_threads(events))

    def tasks(self) -> list[float]:
        """Milliseconds of the tasks over 50 ms since the last call."""
        self.page.wait_for_timeout(100)  # until the last ones were told
        own = [
            round(duration)
            for start, duration in self.page.evaluate("window.tasks.splice(0)")
            if not any(before <= start <= after for before, after in self.collections)
        ]
        return sorted(own, reverse=True)


def _main_threads(events: Sequence[dict[str, Any]]) -> set[tuple[int, int]]:
    """Process and thread of those that run pages."""
    names = (event for event in events if event.get("name") == "thread_name")
    return {(event["pid"], event["tid"]) for event in names if event["args"]["name"] == "CrRendererMain"}


def _longest_tasks(events: Sequence[dict[str, Any]], threads: set[tuple[int, int]]) -> list[float]:
    """The processor's time of the three longest tasks of any of these threads."""
    collections = [(event["pid"], event["ts"]) for event in events if event["name"] == _COLLECTION]
    times = [
        event.get("tdur", 0) / 1000
        for event in events
        if event["name"] == _TASK
        and (event["pid"], event["tid"]) in threads
        and not any(pid == event["pid"] and 0 <= ts - event["ts"] <= event["dur"] for pid, ts in collections)
    ]
    return sorted(times, reverse=True)[:3]


def first_screen(measured: Measured, base: str) -> tuple[float, float]:
    """Milliseconds until six pictures were shown, and until all on the screen were."""
    page = measured.page
    page.goto(base, wait_until="commit")
    page.wait_for_function("() => window.pictures && window.pictures.length >= 6")
    six = sorted(page.evaluate("window.pictures"))[5]
    page.wait_for_function(f"() => {{ const all = ({_ON_SCREEN})(); return all.length > 0 && all.every(Boolean); }}")
    return six, float(page.evaluate("Math.max(...window.pictures)"))


def sweep(measured: Measured) -> None:
    """Drag the scrubber from end to end, down and up."""
    page = measured.page
    box = page.locator(".scrubber").bounding_box()
    x = box["x"] + box["width"] / 2
    for number in range(_SWEEPS):
        ends = (2, box["height"] - 2) if number % 2 == 0 else (box["height"] - 2, 2)
        page.mouse.move(x, box["y"] + ends[0])
        page.mouse.down()
        page.evaluate("window.watch()")
        for step in range(_STEPS + 1):
            page.mouse.move(x, box["y"] + ends[0] + (ends[1] - ends[0]) * step / _STEPS)
            page.wait_for_timeout(_STEP_MS)
        measured.frames += page.evaluate("(window.watched = false, window.frames_.splice(0))")
        page.mouse.up()
        measured.count()
        page.wait_for_timeout(1200)
        measured.count()
        measured.heaps.append(measured.heap())


def wheel(measured: Measured) -> None:
    """Turn the wheel without a pause."""
    page = measured.page
    size = page.viewport_size
    page.mouse.move(size["width"] / 2, size["height"] / 2)
    for number in range(_WHEELS):
        page.mouse.wheel(0, 400)
        if number % 15 == 0:
            measured.count()
    page.wait_for_timeout(1200)


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description="Measure the grid of the web page in Chromium.")
    parser.add_argument("folder", type=Path)
    known = [name for name, _ in ORDERS]
    parser.add_argument(
        "--order", nargs="*", choices=known, metavar="NAME", help=f"every order, or of {', '.join(known)}"
    )
    parser.add_argument("--album", action="store_true", help="an album of 100,000 photos arranged by hand")
    asked = parser.parse_args()
    folder, orders = asked.folder.resolve(), asked.order
    with tempfile.TemporaryDirectory() as logs, open_chromium() as browser:
        command = [sys.executable, "-m", "gunicorn", "-k", "gthread", "--workers", "1", "--threads", "8"]
        command += ["--no-control-socket", "--bind", "{address}", "bench.grid_app:app"]
        environ = {"PHOTOSVC_INSTANCE": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        with serve(command, Path(logs, "gunicorn.log"), "/api/v1/status", **environ) as server:
            if orders is None and not asked.album:
                _print_screens(browser, server.base)
                return
            print(
                "| photos | six thumbnails, whole screen ms | frame, median and p95 ms | tasks > 50 ms (processor)"
                " | elements |"
            )
            print("|---|---|---|---|---|")
            print(_swept(browser, f"{server.base}/bare", "a bare page"), flush=True)
            for name in known if orders == [] else orders or ():
                query = f"?order={name}" + (f"&q={FREQUENT_WORD}" if name == "relevance" else "")
                print(_swept(browser, f"{server.base}/{query}", name), flush=True)
            if asked.album:
                with album_by_hand(folder) as uid:
                    print(_swept(browser, f"{server.base}/albums/{uid}", "an album by hand"), flush=True)


@contextmanager
def album_by_hand(folder: Path) -> Iterator[str]:
    """Add a shuffled album to the library; its UID."""
    app = create_app(instance=folder, environ={})
    with app.app_context(), Session(current_service().engine(), expire_on_commit=False) as session:
        now = current_service().now()
        album = Album(uid=ids.new_uid("a", now), title="By hand", order=MANUAL.name, created_at=now, updated_at=now)
        begin_write(session)
        session.add(album)
        photos = session.scalars(select(Photo.id).order_by(Photo.id)).all()
        session.commit()
        chosen = random.Random(3).sample(photos, min(_IN_ALBUM, len(photos)))
        try:
            for at in range(0, len(chosen), _ADDED_AT_ONCE):
                begin_write(session)
                add_photos(session, album, chosen[at : at + _ADDED_AT_ONCE], now)
                session.commit()
            yield album.uid
        finally:
            begin_write(session)
            remove_photos(session, album, chosen, now)
            session.delete(album)
            session.commit()


def _print_screens(browser: Any, base: str) -> None:  # noqa: ANN401
    print(
        "| screen | six thumbnails, whole screen ms | sweeps: tasks > 50 ms (processor) | wheel (processor)"
        " | elements | heap MB |"
    )
    print("|---|---|---|---|---|---|")
    for name, options in _SCREENS.items():
        print(_row(browser, base, name, options), flush=True)


@contextmanager
def _shown(browser: Any, address: str, options: dict[str, Any]) -> Iterator[tuple[Measured, float, float]]:  # noqa: ANN401
    """A page at rest on a slow machine, and the times of its first screen."""
    context = browser.new_context(**options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.add_init_script(_WATCH)
    measured = Measured(page)
    page.goto(address)
    page.wait_for_selector(".scrubber:not([hidden])")
    first_screen(measured, address)  # once, so that the service has read the library
    measured.slow_down()
    six, whole = first_screen(measured, address)
    page.wait_for_selector(".scrubber:not([hidden])")
    page.wait_for_timeout(1500)
    measured.tasks()
    yield measured, six, whole
    context.close()


def _row(browser: Any, base: str, name: str, options: dict[str, Any]) -> str:  # noqa: ANN401
    with _shown(browser, base, options) as (measured, six, whole):
        in_sweeps = measured.traced(sweep)
        swept = measured.tasks()
        in_turns = measured.traced(wheel)
        turned = measured.tasks()
    heaps = f"{measured.heaps[0]:.1f} to {max(measured.heaps):.1f}"
    return (
        f"| {name} | {six:.0f}, {whole:.0f} | {_told(swept)} ({_told(in_sweeps)}) | {_told(turned)} ({_told(in_turns)})"
        f" | {max(measured.elements)} | {heaps} |"
    )


def _swept(browser: Any, address: str, name: str) -> str:  # noqa: ANN401
    with _shown(browser, address, next(iter(_SCREENS.values()))) as (measured, six, whole):
        in_sweeps = measured.traced(sweep)
        swept = measured.tasks()
    frames = sorted(measured.frames)
    median, high = frames[len(frames) // 2], frames[len(frames) * 95 // 100]
    return (
        f"| {name} | {six:.0f}, {whole:.0f} | {median:.1f}, {high:.1f} | {_told(swept)} ({_told(in_sweeps)})"
        f" | {max(measured.elements)} |"
    )


def _told(tasks: Sequence[float]) -> str:
    return ", ".join(f"{task:.0f}" for task in tasks[:6]) or "none"


if __name__ == "__main__":
    main()
