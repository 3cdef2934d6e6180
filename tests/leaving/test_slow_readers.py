"""Clients that do not read what they asked for hold a connection or one of a few slots, and the service goes on."""

import http.client
import os
import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from PIL import Image

from tests.helpers.api_client import open_api
from tests.helpers.clients.picture_client import PictureClient
from tests.helpers.pictures import encoded
from tests.helpers.programs.server import serve

WORKERS = {"own": ["--worker-class", "photosvc.serving.Worker"], "gunicorn": ["--worker-class", "gthread"]}
LARGE = 12 << 20
#: Seconds of an answer that waits for no client: those that hold threads do so for 30. On a busy machine it takes long.
SOON = 5


class Served:
    """A library behind gunicorn with one process of eight threads, and connections to it that read nothing."""

    def __init__(self, address, pictures):
        self.address = urlsplit(address)
        self.pictures = pictures
        self.token = pictures.library.token("photos", role="admin")
        self.preview, self.download = pictures.tokens(self.token)
        self.original = f"/api/v1/dl/{pictures.hash_of('large.png')}?t={self.download}"
        self.thumbnail = f"/api/v1/t/{pictures.hash_of('noise.png')}/{self.preview}/fit_1280"
        self.size = len((pictures.library.originals / "large.png").read_bytes())
        self.searches_within(20)  # the first request of a process loads modules

    def connect(self, path, headers=""):
        """A connection that has sent a request, with a receive buffer as small as the kernel allows."""
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(20)
        connection.connect((self.address.hostname, self.address.port))
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n{headers}\r\n".encode())
        return connection

    def get(self, path, token=None):
        """Status, headers, body and seconds of a request of a client that reads."""
        connection = http.client.HTTPConnection(self.address.hostname, self.address.port, timeout=20)
        began = time.monotonic()
        connection.request("GET", path, headers={} if token is None else {"X-Auth-Token": token})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body, time.monotonic() - began

    def searches_within(self, seconds):
        status, _, _, took = self.get("/api/v1/photos?count=10", self.token)
        assert status == 200
        assert took < seconds


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("readers")) as api:
        api.clock.present = api.clock.present.now(api.clock.present.tzinfo)
        pictures = PictureClient(api)
        pictures.library.put("large.png", encoded(Image.new("RGB", (40, 30)), "PNG") + os.urandom(LARGE))
        pictures.library.put("noise.png", encoded(Image.effect_noise((1280, 1024), 200).convert("RGB"), "PNG"))
        pictures.library.index()
        yield pictures


@pytest.fixture(scope="module", params=WORKERS)
def served(request, pictures):
    with serve(pictures.library.instance, workers=1, threads=8, options=WORKERS[request.param]) as address:
        yield Served(address, pictures)


@pytest.fixture(scope="module")
def own(pictures):
    with serve(pictures.library.instance, workers=1, threads=2, options=WORKERS["own"]) as address:
        yield Served(address, pictures)


@pytest.mark.slow
@pytest.mark.parametrize("headers", ["", "Range: bytes=0-\r\n", "Range: bytes=0-3000000,4000000-\r\n"])
def test_fifty_clients_that_do_not_read_a_large_original_do_not_delay_a_search(served, headers):
    with ExitStack() as stack:
        for _ in range(50):
            stack.enter_context(served.connect(served.original, headers))
        served.searches_within(SOON)
        status, answer, _, took = served.get(served.original)
        assert (status, answer["Retry-After"]) == (429, "10")
        assert took < SOON
    for _ in range(100):
        status, _, body, _ = served.get(served.original)
        if status != 429:
            break
        time.sleep(0.1)
    assert (status, len(body)) == (200, served.size)


@pytest.mark.slow
def test_another_account_still_downloads_meanwhile(served, pictures):
    other = pictures.tokens(pictures.library.token("photos", role="user"))[1]
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(served.connect(served.original))
        time.sleep(0.5)
        status, _, body, _ = served.get(served.original.replace(served.download, other))
        assert (status, len(body)) == (200, served.size)


@pytest.mark.slow
def test_fifty_clients_that_do_not_read_a_thumbnail_do_not_occupy_two_threads(own):
    _, _, whole, _ = own.get(own.thumbnail)
    assert 300_000 < len(whole) < 1 << 20
    with ExitStack() as stack:
        waiting = [stack.enter_context(own.connect(own.thumbnail, "Connection: close\r\n")) for _ in range(50)]
        own.searches_within(10)
        own.searches_within(SOON)
        for connection in waiting:
            received = connection.makefile("rb").read()
            assert received.startswith(b"HTTP/1.1 200 OK\r\n")
            assert received.endswith(whole)


@pytest.mark.slow
def test_the_next_request_of_a_slow_reader_is_answered_after_the_first(own):
    request = f"GET {own.thumbnail} HTTP/1.1\r\nHost: a\r\n\r\n"
    _, _, whole, _ = own.get(own.thumbnail)
    with own.connect(own.thumbnail) as connection:
        connection.sendall(request.encode())
        time.sleep(1)
        answers = connection.makefile("rb")
        for _ in range(2):
            assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
            while answers.readline() != b"\r\n":
                pass
            assert answers.read(len(whole)) == whole
