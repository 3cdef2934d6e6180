"""Uploads and imports that meet, are cut or killed: real servers, real processes."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from tusclient.client import TusClient
from tusclient.exceptions import TusCommunicationError

from photosvc.cli.index import other_jobs_of
from photosvc.web.indexer import Indexer
from photosvc.web.service import current_service
from tests.app.uploads.upload_client import FORM, form_of, originals, parts, picture
from tests.helpers.api_client import API, ApiClient, open_api
from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS
from tests.helpers.programs import forks
from tests.helpers.programs.server import serve

DONE = {"added", "duplicate"}


@dataclass
class Served:
    """A service of several processes, and a client of `alice`."""

    api: ApiClient
    base: str
    headers: dict[str, str]

    def call(self, method, path, **options) -> requests.Response:
        """The answer to a request, which is sent again while the service is too busy, as clients do."""
        headers = self.headers | options.pop("headers", {})
        for _ in range(300):
            answer = requests.request(method, self.base + path, headers=headers, timeout=300, **options)
            if answer.status_code not in {429, 503}:
                return answer
            assert answer.headers["Retry-After"]
            time.sleep(0.2)
        pytest.fail(f"{method} {path}: too busy for a minute")

    def post(self, bundle, *files) -> requests.Response:
        given = [("files", (name, data)) for name, data in files]
        return self.call("POST", f"{self.api.user_path()}/upload/{bundle}", files=given)

    def put(self, bundle) -> requests.Response:
        return self.call("PUT", f"{self.api.user_path()}/upload/{bundle}", json={})

    def photos(self) -> int:
        return len(self.call("GET", "/photos?count=99").json())

    def kill_a_worker(self) -> None:
        with suppress(requests.RequestException):
            answer = requests.get(f"{self.base}/status", timeout=5)
            os.kill(int(answer.headers["X-Worker"]), signal.SIGKILL)


@contextmanager
def served(folder, *, workers=2, **settings) -> Iterator[Served]:
    with open_api(folder) as api:
        environ = {f"PHOTOSVC_{name.upper()}": str(value) for name, value in settings.items()}
        options = ["--config", "python:photosvc.serving"]
        with serve(api.library.instance, workers=workers, threads=8, options=options, environ=environ) as address:
            yield Served(api, f"{address}{API}", {"Authorization": f"Bearer {api.app_password('alice', '*')}"})


def at_once(number, call):
    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(call, range(number)))


def test_eight_uploads_of_one_picture_at_once_are_one_file_and_one_photo(tmp_path):
    data = picture(1)
    with served(tmp_path, workers=4) as service:

        def upload(number):
            assert service.post(number, (f"{number}.jpg", data)).status_code == 200
            return service.put(number).json()

        answers = at_once(8, upload)
        files = [answer["files"][0] for answer in answers]
        assert sorted(file["status"] for file in files) == ["added"] + ["duplicate"] * 7
        assert [answer["indexed"] for answer in answers] == [True] * 8
        assert len({file["PhotoUID"] for file in files}) == 1
        assert (list(originals(service.api).values()), service.photos(), parts(service.api)) == ([data], 1, [])


def test_a_server_killed_at_any_moment_leaves_whole_files_only(tmp_path):
    chance = random.Random(5)
    contents = [picture(number) + bytes(300_000) for number in range(6)]
    with served(tmp_path, workers=1) as service:

        def upload(number):
            for _ in range(40):
                with suppress(requests.RequestException):
                    posted = service.post(number, (f"{number}.jpg", contents[number]))
                    added = service.put(number)
                    if (posted.status_code, added.status_code) == (200, 200) and {
                        file["status"] for file in added.json()["files"]
                    } & DONE:
                        return True
                time.sleep(0.05)
            return False

        with ThreadPoolExecutor(3) as pool:
            done = [pool.submit(upload, number) for number in range(6)]
            for _ in range(6):
                time.sleep(chance.uniform(0.05, 1.3))
                service.kill_a_worker()
                assert set(originals(service.api).values()) <= set(contents)
            assert all(future.result() for future in done)
        assert sorted(originals(service.api).values()) == sorted(contents)


def test_a_connection_cut_in_the_middle_of_a_file_leaves_nothing(tmp_path):
    body = form_of(("a.jpg", bytes(1_000_000)))
    with served(tmp_path, workers=1) as service:
        server = urlsplit(service.base)
        head = (
            f"POST {server.path}{service.api.user_path()}/upload/cut HTTP/1.1\r\nHost: a\r\n"
            f"Authorization: {service.headers['Authorization']}\r\n"
            f"Content-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        for sent in (0, 200_000, 999_000):
            with socket.create_connection((server.hostname, server.port)) as connection:
                connection.sendall(head.encode() + body[:sent])
        until(lambda: parts(service.api) == [], "parts that are removed")
        assert service.put("cut").json()["files"] == []
        assert originals(service.api) == {}


def indexers(api):
    """Processes that fulfil the requests of this library."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (process / "environ").read_bytes()
            if os.fsencode(api.library.instance) in environment and b"--wished" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def test_requests_for_an_index_run_start_one_process_that_outlives_its_worker(tmp_path):
    with served(tmp_path) as service:
        service.api.library.put("a.jpg", picture(1))
        answers = at_once(8, lambda _: service.call("POST", "/index", json={}))
        assert [answer.status_code for answer in answers] == [200] * 8
        assert {answer.json()["indexer"] for answer in answers} <= {"running", "started"}
        service.kill_a_worker()
        # A second one that both workers started at once ends by itself.
        until(lambda: service.photos() == 1 and len(indexers(service.api)) == 1, "one photo and one indexer")
        service.api.library.put("b.jpg", picture(2))
        assert service.call("POST", "/index", json={}).json()["indexer"] == "running"
        until(lambda: service.photos() == 2, "the second photo")
        os.kill(indexers(service.api)[0], signal.SIGTERM)


def test_a_resumable_upload_is_completed_whenever_its_server_is_killed(tmp_path):
    chance = random.Random(7)
    data = picture(1) + chance.randbytes(4_000_000)
    with served(tmp_path) as service:
        api = service.api

        def upload():
            client = TusClient(f"{service.base}/uploads", headers=service.headers)
            url, failure = None, "never tried"
            for _ in range(200):
                try:
                    options = {"url": url} if url else {"metadata": {"filename": "large.jpg"}}
                    uploader = client.uploader(file_stream=BytesIO(data), chunk_size=200_000, **options)
                    url = url or uploader.create_url()
                    uploader.upload()
                except (TusCommunicationError, requests.RequestException, OSError) as error:
                    failure = repr(error)
                    time.sleep(0.1)
                else:
                    return ""
            return failure

        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(upload)
            for _ in range(15):
                time.sleep(chance.uniform(0.02, 0.8))
                service.kill_a_worker()
                assert set(originals(api).values()) <= {data}
            assert done.result(100) == ""
        assert list(originals(api).values()) == [data]
        api.clock.present = datetime.now(UTC) + timedelta(days=4)
        with api.library.app.app_context():
            other_jobs_of(current_service()).hourly()
        assert parts(api) == []


def start(*arguments, api, **settings):
    """A command in a process of its own."""
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(api.library.instance), **settings}
    with open(os.devnull, "r+") as nothing:  # noqa: PTH123
        return forks.start("svc", *arguments, environ=environ, streams=(nothing.fileno(),) * 3)


def test_an_import_that_is_killed_again_and_again_loses_nothing(tmp_path):
    chance = random.Random(11)
    with open_api(tmp_path) as api:
        card = tmp_path / "card"
        card.mkdir()
        given = {f"{number // 20}/IMG_{number}.jpg": picture(number) + chance.randbytes(90_000) for number in range(48)}
        for name, data in given.items():
            (card / name).parent.mkdir(exist_ok=True)
            (card / name).write_bytes(data)
        kills, turns = 0, 60
        for turn in range(turns):
            run = start("import", str(card), "--move", api=api, PHOTOSVC_INDEX_WORKERS="2")
            with suppress(subprocess.TimeoutExpired):
                run.wait(chance.uniform(0.1, 0.2 + turn / 20) if turn < turns - 1 else 120)
            if run.poll() is None:
                run.kill()
                run.wait(10)
                kills += 1
            left = {path.relative_to(card).as_posix(): path.read_bytes() for path in card.rglob("*.jpg")}
            stored = set(originals(api).values())
            assert stored <= set(given.values())
            assert left.items() <= given.items()
            assert stored | set(left.values()) == set(given.values())
            if run.returncode == 0:
                break
        assert kills > 2
        assert (run.returncode, left) == (0, {})
        assert sorted(originals(api).values()) == sorted(given.values())
        assert len(api.library.names(count=999)) == 48


def test_an_import_on_request_goes_on_at_once_after_its_indexer_was_killed(tmp_path):
    with open_api(tmp_path) as api:
        card = api.library.instance / "import"
        card.mkdir()
        given = {f"IMG_{number}.jpg": picture(number) + os.urandom(90_000) for number in range(110)}
        for name, data in given.items():
            (card / name).write_bytes(data)
            os.utime(card / name, (0, 0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("photosvc.web.job_answers.wake_indexer", lambda _: Indexer.NONE)
            assert api.call("POST", "/import", api.app_password("ann", "*"), json={"move": True}).status_code == 200
        for least in (32, 64):
            run = start("index", "--wished", api=api, PHOTOSVC_INDEX_WORKERS="1", PHOTOSVC_WATCH_SETTLE="0")
            # The lease of the killed process ends after 90 seconds, which is longer than this waits.
            until(lambda least=least: len(originals(api)) >= least, f"{least} originals")
            run.kill()
            run.wait(10)
        assert set(originals(api).values()) <= set(given.values())
