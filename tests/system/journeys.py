"""The journeys of docs/architecture.md and of other requests, traced: which files of the package run on each.

`python -m tests.system.journeys FOLDER` prints them as JSON. It needs a fresh interpreter, as functions whose result
is cached do not run a second time. Requests are sent to a service that has answered one before.
"""

import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from unittest.mock import patch

from click.testing import CliRunner

from photosvc.cli import svc
from photosvc.index.extract import extract
from photosvc.samples import ORIGINALS
from tests.app.dav.dav_client import DavClient
from tests.app.oauth.oauth_client import open_oauth_api
from tests.helpers.api_client import open_api
from tests.helpers.library import open_library

ROOT = Path(__file__).parents[2]
SAMPLE = ORIGINALS / "2023/lake-stars.jpg"
QUERY = {"q": "lake year:2023 -snow", "order": "newest"}


def files_run_by(call: Callable[[], object]) -> list[str]:
    """The package's files of which a function is called while `call` runs, in order of the first call."""
    seen: dict[str, None] = {}
    package = f"{ROOT / 'photosvc'}/"

    def note(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(package) and name not in seen and not _is_importing(frame):
            seen[name] = None

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return [f"photosvc/{name.removeprefix(package)}" for name in seen]


def _is_importing(frame: FrameType | None) -> bool:
    """Whether the frame runs because a module is being imported."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def trace(folder: Path) -> dict[str, list[str]]:
    """Heading of each journey in docs/architecture.md -> files that run, in order of the first call."""
    library = open_library(folder / "library")
    original = library.put("a.jpg", SAMPLE.read_bytes())
    index = files_run_by(lambda: CliRunner().invoke(svc, ["index", "--workers", "1"], obj=lambda: library.app))
    # The worker process is out of the trace's reach: its function runs here once more.
    worker = ["photosvc/workers/child.py", *files_run_by(lambda: extract(original, max_bytes=2**30))]
    token = library.token()
    library.call("GET", "/config", token=token)
    search = files_run_by(lambda: library.find(token=token, **QUERY))
    photo = library.find(token=token, **QUERY)[0]
    preview = library.call("GET", "/config", token=token)["previewToken"]
    jpeg = f"/api/v1/t/{photo['Hash']}/{preview}/tile_500"
    thumbnail = files_run_by(lambda: library.get(token=token, path=jpeg))
    assert library.get(token=token, path=jpeg).mimetype == "image/jpeg"
    title = {"Title": "At the lake"}
    edit = files_run_by(lambda: library.call("PUT", f"/photos/{photo['UID']}", token=token, json=title))
    with open_api(folder / "dav") as api, patch("photosvc.dav.blueprint.wake_indexer"):
        dav = DavClient(api)
        dav.call("PUT", "/a.jpg", b"a")
        upload = files_run_by(lambda: dav.call("PUT", "/b.jpg", SAMPLE.read_bytes()))
        assert dav.call("GET", "/b.jpg").data == SAMPLE.read_bytes()
    with open_oauth_api(folder / "oauth") as oauth:
        client = oauth.register()
        oauth.token(oauth.register())
        grant = files_run_by(lambda: oauth.token(client))
    return {
        "From an original to a search row": list(dict.fromkeys(index + worker)),
        "From GET /photos to bytes": search,
        "From POST /oauth/token to a token": grant,
        "A JPEG": thumbnail,
        "From PUT /photos/UID to a journal entry": edit,
        "A WebDAV PUT": upload,
    }


if __name__ == "__main__":
    print(json.dumps(trace(Path(sys.argv[1]))))  # noqa: T201 - the test reads it
