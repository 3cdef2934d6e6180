"""Many slow uploads of one account over WebDAV: searches of others go on, and rclone gets through by trying again."""

import base64
import http.client
import os
import socket
import subprocess
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.system.clients.dav_server import USER, serve_dav

OPTIONS = {"workers": 2, "threads": 16, "options": ["--config", "python:photosvc.serving"]}


def test_searches_go_on_beside_forty_slow_uploads_of_one_account(tmp_path):
    with serve_dav(tmp_path, **OPTIONS) as dav, ExitStack() as stack:
        address, token = urlsplit(dav.address), dav.api.library.token("photos", role="viewer")

        def search():
            connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
            began = time.monotonic()
            connection.request("GET", "/api/v1/photos?count=10", headers={"X-Auth-Token": token})
            assert connection.getresponse().status == 200
            connection.close()
            return time.monotonic() - began

        for _ in range(10):
            search()
            dav.call("PROPFIND", "", headers={"Depth": "0"}, status=207)  # the first one of a process loads modules
        credential = base64.b64encode(f"{USER}:{dav.password}".encode())
        for number in range(40):
            connection = stack.enter_context(socket.create_connection((address.hostname, address.port), timeout=60))
            head = f"PUT /originals/{number}.jpg HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n".encode()
            connection.sendall(head + b"Authorization: Basic " + credential + b"\r\n\r\n" + b"x" * 70_000)
        began, taken = time.monotonic(), []
        while time.monotonic() - began < 4:  # requests that wait for a place do so for five seconds
            taken.append(search())
        assert max(taken) < 3
        assert sorted(taken)[len(taken) // 2] < 0.5


@pytest.mark.needs("rclone")
def test_rclone_stores_all_files_although_some_are_refused_at_first(tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    for number in range(24):
        (local / f"{number:02}.jpg").write_bytes(os.urandom(200_000))
    settings = {"PHOTOSVC_UPLOADS": "1"}
    with serve_dav(tmp_path / "served", environ=settings, workers=2, threads=16, options=OPTIONS["options"]) as dav:
        obscured = subprocess.run(
            ["rclone", "obscure", dav.password], check=True, capture_output=True, text=True
        ).stdout.strip()
        environ = {
            **os.environ,
            "RCLONE_CONFIG": os.devnull,
            "RCLONE_CONFIG_DAV_TYPE": "webdav",
            "RCLONE_CONFIG_DAV_URL": dav.url,
            "RCLONE_CONFIG_DAV_USER": USER,
            "RCLONE_CONFIG_DAV_PASS": obscured,
        }
        ran = subprocess.run(
            ["rclone", "copy", str(local), "dav:", "--transfers", "12", "--bwlimit", "2M", "-v"],
            check=False, env=environ, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr[-3000:]
        assert {name: len(data) for name, data in dav.files().items()} == {f"{n:02}.jpg": 200_000 for n in range(24)}
