"""The grid of the web page in Chromium: `python -m bench.grid FOLDER`, of a library made by `bench.library`.

The processor of the page is slowed four times and its network is that of a phone, 10 Mbit/s and 40 ms. Eight sweeps
drag the time scrubber from one end to the other, in each order. A frame is the time between two pictures of the screen
while the scrubber is held. The first row is an empty page, the limit, because all times depend on the machine.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.library import FREQUENT_WORD
from bench.servers import percentile, serve
from photosvc.pages.photos import ORDERS
from tests.browser.chromium import open_chromium

_SWEEPS, _STEPS, _STEP_MS = 8, 45, 25
_SLOWER = 4
_NETWORK = {"offline": False, "latency": 40, "downloadThroughput": 1_250_000, "uploadThroughput": 1_250_000}
#: Runs before the scripts of the page: notes when pictures appeared, long tasks, and on demand the times of frames.
_WATCH = """
window.pictures = [];
window.tasks = [];
window.frames_ = [];
document.addEventListener("load", (event) => {
  if (event.target.tagName === "IMG") window.pictures.push(performance.now());
}, true);
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.tasks.push(Math.round(entry.duration));
}).observe({type: "longtask", buffered: true});
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
_IS_WHOLE = """() => {
  const shown = [...document.querySelectorAll("#grid img")].filter((img) => {
    const box = img.getBoundingClientRect();
    return box.bottom > 0 && box.top < innerHeight;
  });
  return shown.length > 0 && shown.every((img) => img.complete && img.naturalWidth > 0);
}"""
_EMPTY = "data:text/html,<title>An empty page</title>"


def frames_of(page: Any) -> list[float]:  # noqa: ANN401 - Playwright is imported where it is there
    """Milliseconds of each frame while the scrubber, or the edge of an empty page, is dragged up and down."""
    box = (page.query_selector(".scrubber") or page.query_selector("body")).bounding_box()
    size, frames = page.viewport_size, []
    x, top, bottom = box["x"] + box["width"] / 2, max(box["y"], 64) + 2, size["height"] - 2
    for number in range(_SWEEPS):
        start, end = (top, bottom) if number % 2 == 0 else (bottom, top)
        page.mouse.move(x, start)
        page.mouse.down()
        page.evaluate("window.watch()")
        for step in range(_STEPS + 1):
            page.mouse.move(x, start + (end - start) * step / _STEPS)
            page.wait_for_timeout(_STEP_MS)
        frames += page.evaluate("(window.watched = false, window.frames_.splice(0))")
        page.mouse.up()
        page.wait_for_timeout(1200)
    return frames


def row(browser: Any, address: str, name: str) -> str:  # noqa: ANN401
    """A line of the table."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.add_init_script(_WATCH)
    first = ""
    if address != _EMPTY:
        page.goto(address)
        page.wait_for_function(_IS_WHOLE)  # once, so that the service has read the library
    devtools = context.new_cdp_session(page)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": _SLOWER})
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", _NETWORK)
    page.goto(address)
    if address != _EMPTY:
        page.wait_for_function(_IS_WHOLE)
        first = f"{page.evaluate('Math.max(...window.pictures)'):.0f}"
        page.wait_for_selector(".scrubber:not([hidden])")
    page.wait_for_timeout(1500)
    page.evaluate("window.tasks.splice(0)")
    frames = frames_of(page)
    tasks = sorted(page.evaluate("window.tasks"), reverse=True)[:3]
    elements = page.evaluate("document.querySelectorAll('*').length")
    context.close()
    long = ", ".join(map(str, tasks)) or "none"
    half, most = percentile(frames, 0.5), percentile(frames, 0.95)
    return f"| {name} | {first} | {half:.1f}, {most:.1f} | {long} | {elements} |"


def main(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as logs, open_chromium() as browser:
        command = [sys.executable, "-m", "gunicorn", "-k", "gthread", "--workers", "1", "--threads", "8"]
        command += ["--no-control-socket", "--bind", "{address}", "bench.grid_app:app"]
        environ = {"PHOTOSVC_INSTANCE": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}
        with serve(command, Path(logs, "gunicorn.log"), "/api/v1/status", **environ) as server:
            print("| photos | whole screen ms | frame, median and p95 ms | longest tasks > 50 ms | elements |")
            print("|---|---|---|---|---|")
            print(row(browser, _EMPTY, "an empty page"), flush=True)
            for name, _ in ORDERS:
                query = f"?order={name}" + (f"&q={FREQUENT_WORD}" if name == "relevance" else "")
                print(row(browser, f"{server.base}/{query}", name), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
