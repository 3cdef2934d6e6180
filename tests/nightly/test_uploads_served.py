"""Uploads through gunicorn: several processes, processes that are killed, and the indexer that a request starts."""

import json
import os
import signal
import socket
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.pictures import clouds, encoded
from tests.helpers.programs.server import serve

DONE = {"added", "duplicate"}
FORM = "multipart/form-data; boundary=b"
TUS_PIECE = "application/offset+octet-stream"


@contextmanager
def served(folder, **options):
    with open_api(folder) as api:
        token = api.app_password("alice", "*")
        settings = {"options": ["--config", "python:photosvc.serving"], "threads": 8, **options}
        with serve(api.library.instance, **settings) as address:
            yield api, token, f"{address}/api/v1"


def call(method, url, token, data=None, kind=FORM):
    request = urllib.request.Request(
        url, data, {"Authorization": f"Bearer {token}", "Content-Type": kind}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except HTTPError as error:
        return error.code, json.load(error)


def call_again(method, url, token, data):
    """The answer to a JSON request, which is sent again every second while the service is too busy, as clients do."""
    for _ in range(20):
        status, answer = call(method, url, token, data, "application/json")
        if status != 503:
            break
        time.sleep(1)
    return status, answer


def form(data, name="a.jpg"):
    head = f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
    return head.encode() + data + b"\r\n--b--\r\n"


def stored(api):
    root = api.library.originals
    return [path for path in root.rglob("*") if path.is_file() and ".photosvc" not in path.parts]


def test_eight_uploads_of_one_picture_at_once_are_one_file_and_one_photo(tmp_path):
    data = encoded(clouds(1), "JPEG")
    with served(tmp_path, workers=4) as (api, token, url):
        path = f"{url}{api.user_path()}/upload"

        def until_free(*request):
            answer = call(*request)
            while answer[0] in {429, 503}:
                time.sleep(0.2)
                answer = call(*request)
            return answer

        def upload(number):
            posted = until_free("POST", f"{path}/{number}", token, form(data, f"{number}.jpg"))
            assert posted[0] == 200, posted
            return until_free("PUT", f"{path}/{number}", token, b"{}", "application/json")

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(upload, range(8)))
        assert [status for status, _ in answers] == [200] * 8, answers
        statuses = sorted(answer["files"][0]["status"] for _, answer in answers)
        assert statuses == ["added"] + ["duplicate"] * 7
        assert [answer["indexed"] for _, answer in answers] == [True] * 8
        assert len({answer["files"][0]["PhotoUID"] for _, answer in answers}) == 1
        (file,) = stored(api)
        assert file.read_bytes() == data
        assert len(call("GET", f"{url}/photos?count=9", token)[1]) == 1
        assert list((api.library.originals / ".photosvc").iterdir()) == []


def test_a_server_killed_at_any_moment_leaves_whole_files_only(tmp_path):
    contents = [encoded(clouds(number), "JPEG") + bytes(300_000) for number in range(6)]
    with served(tmp_path, workers=1) as (api, token, url):
        path = f"{url}{api.user_path()}/upload"

        def upload(number):
            for _ in range(40):
                with suppress(OSError, HTTPException):
                    posted, _ = call("POST", f"{path}/{number}", token, form(contents[number], f"{number}.jpg"))
                    added, answer = call("PUT", f"{path}/{number}", token, b"{}", "application/json")
                    if (posted, added) == (200, 200) and {file["status"] for file in answer["files"]} & DONE:
                        return True
                time.sleep(0.05)
            return False

        with ThreadPoolExecutor(3) as pool:
            done = [pool.submit(upload, number) for number in range(6)]
            for delay in (0.05, 0.2, 0.4, 0.7, 1.0, 1.3):
                time.sleep(delay)
                with suppress(OSError, HTTPException), urllib.request.urlopen(f"{url}/status", timeout=5) as answer:
                    os.kill(int(answer.headers["X-Worker"]), signal.SIGKILL)
                for file in stored(api):
                    assert file.read_bytes() in contents
            assert all(future.result() for future in done)
        assert sorted(file.read_bytes() for file in stored(api)) == sorted(contents)


def test_a_connection_cut_in_the_middle_of_a_file_leaves_nothing(tmp_path):
    body = form(bytes(1_000_000))
    with served(tmp_path, workers=1) as (api, token, url):
        server = urlsplit(url)
        head = (
            f"POST {server.path}{api.user_path()}/upload/cut HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
        )
        head += f"Content-Type: {FORM}\r\nContent-Length: {len(body)}\r\n\r\n"
        for sent in (0, 200_000, 999_000):
            with socket.create_connection((server.hostname, server.port)) as connection:
                connection.sendall(head.encode() + body[:sent])
        parts = api.library.originals / ".photosvc"
        for _ in range(100):
            if not parts.exists() or not list(parts.iterdir()):
                break
            time.sleep(0.1)
        assert not parts.exists() or not list(parts.iterdir())
        assert call("PUT", f"{url}{api.user_path()}/upload/cut", token, b"{}", "application/json")[1]["files"] == []
        assert stored(api) == []


def indexers(api):
    """Processes that fulfil the wishes of this library."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (process / "environ").read_bytes()
            if os.fsencode(api.library.instance) in environment and b"--wished" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def test_requests_for_an_index_run_start_one_process_that_outlives_its_worker(tmp_path):
    with served(tmp_path, workers=2) as (api, token, url):
        api.library.put("a.jpg", encoded(clouds(1), "JPEG"))
        with ThreadPoolExecutor(8) as pool:
            requests = [pool.submit(call_again, "POST", f"{url}/index", token, b"{}") for _ in range(8)]
            answers = [request.result() for request in requests]
        assert [status for status, _ in answers] == [200] * 8
        assert {answer["indexer"] for _, answer in answers} <= {"running", "started"}
        with urllib.request.urlopen(f"{url}/status", timeout=5) as answer:
            os.kill(int(answer.headers["X-Worker"]), signal.SIGKILL)
        for _ in range(600):  # a second one that both workers started at once ends by itself
            if call("GET", f"{url}/photos?count=9", token)[1] and len(indexers(api)) == 1:
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"{indexers(api)} are running")
        api.library.put("b.jpg", encoded(clouds(2), "JPEG"))
        assert call("POST", f"{url}/index", token, b"{}", "application/json")[1]["indexer"] == "running"
        for _ in range(100):
            if len(call("GET", f"{url}/photos?count=9", token)[1]) == 2:
                break
            time.sleep(0.1)
        assert len(call("GET", f"{url}/photos?count=9", token)[1]) == 2
        os.kill(indexers(api)[0], signal.SIGTERM)


def tus(method, url, token, data=None, **headers):
    """The status of a request of tus, and its headers."""
    given = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    given = {"Authorization": f"Bearer {token}", "Tus-Resumable": "1.0.0", "Content-Type": TUS_PIECE, **given}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, given, method=method), timeout=60) as answer:
            return answer.status, answer.headers
    except HTTPError as error:
        return error.code, error.headers


def test_of_eight_pieces_sent_to_one_place_at_once_by_several_processes_one_is_stored(tmp_path):
    size = 3 << 20
    contents = [(encoded(clouds(1, 40, 30), "JPEG") + bytes([number]) * size)[:size] for number in range(8)]
    with served(tmp_path, workers=2) as (api, token, base):
        _, headers = tus("POST", f"{base}/uploads", token, b"", Upload_Length=size)
        url = base.removesuffix("/api/v1") + headers["Location"]
        for start, end in ((0, size // 2), (size // 2, size)):

            def send(data, start=start, end=end, url=url, token=token):
                return tus("PATCH", url, token, data[start:end], Upload_Offset=start)[0]

            with ThreadPoolExecutor(8) as threads:
                statuses = list(threads.map(send, contents))
            assert statuses.count(204) == 1, statuses
            assert set(statuses) <= {204, 409, 423, 429, 503}, statuses
        (path,) = stored(api)
        halves = (path.read_bytes()[: size // 2], path.read_bytes()[size // 2 :])
        assert halves[0] in {data[: size // 2] for data in contents}
        assert halves[1] in {data[size // 2 :] for data in contents}


def test_the_pieces_of_one_file_may_go_to_any_process(tmp_path):
    data = encoded(clouds(2, 40, 30), "JPEG") + bytes(100_000)
    with served(tmp_path, workers=2) as (api, token, base):
        _, headers = tus("POST", f"{base}/uploads", token, b"", Upload_Length=len(data))
        url, workers = base.removesuffix("/api/v1") + headers["Location"], set()
        for start in range(0, len(data), 5000):
            status, headers = tus("PATCH", url, token, data[start : start + 5000], Upload_Offset=start)
            assert (status, headers["Upload-Offset"]) == (204, str(min(len(data), start + 5000)))
            workers.add(headers["X-Worker"])
        assert [path.read_bytes() for path in stored(api)] == [data]
        assert len(workers) == 2
