"""Stores that hang: they take a connection and answer nothing, take no more of a file, or send byte by byte."""

import socket
import threading
import time
from collections.abc import Callable
from contextlib import closing

import pytest

from photosvc.storage import bucket as buckets
from photosvc.storage.adding import add
from photosvc.storage.bucket import Bucket, BucketError, TooSlowError
from photosvc.storage.groups import listed
from photosvc.storage.objects import find
from tests.helpers.api_client import open_api
from tests.helpers.dav_client import DavClient
from tests.leaving.storage.conftest import BUCKET, PREFIX, settings_of

pytestmark = pytest.mark.slow

#: More than the buffers of two sockets take.
LARGE = 24 << 20
DATE = "Wed, 01 May 2024 12:30:00 GMT"


class Hostile:
    """A server that does with each connection what a test says."""

    def __init__(self, act: Callable[[socket.socket], None]) -> None:
        self._act = act
        self.connections: list[socket.socket] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection = self._listening.accept()[0]
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        try:
            self._act(connection)
        except OSError:
            return

    def close(self) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        for one in (self._listening, *self.connections):
            one.close()


@pytest.fixture
def hostile(monkeypatch, tmp_path):
    """Return a function that gives the bucket of a hostile server."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(buckets, "_TRIES", 1)
    monkeypatch.setattr(buckets, "_LOOK", 0.02)
    servers = []

    def serve(act):
        servers.append(Hostile(act))
        return Bucket(BUCKET, f"{PREFIX}/", servers[-1].address, tmp_path)

    yield serve
    for server in servers:
        server.close()


def ends(act: Callable[[], object]) -> Exception | None:
    """Return the error with which a call ends, in a minute at most."""
    errors: list[Exception | None] = []

    def run() -> None:
        try:
            act()
        except Exception as error:  # noqa: BLE001 - the caller looks at it
            errors.append(error)
        else:
            errors.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(60)
    assert errors, "it waits still"
    return errors[0]


def head_of(connection):
    """Read a request up to its body; return the head with what came after it."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (piece := connection.recv(4096)):
            raise OSError
        received += piece
    return received


def drip(connection):
    """Send an answer that never ends, one byte at a time."""
    head_of(connection)
    connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        connection.sendall(b"a")
        time.sleep(0.02)


def test_a_request_whose_answer_never_ends_is_ended(hostile, monkeypatch):
    monkeypatch.setattr(buckets, "LONGEST", 0.3)
    bucket = hostile(drip)
    error = ends(lambda: find(bucket, "a.jpg"))
    assert (type(error), str(error)) == (BucketError, f"The store of {bucket.address} cannot be reached.")


def test_a_request_that_is_not_answered_is_ended(hostile, monkeypatch):
    monkeypatch.setattr(buckets, "_READ_SECONDS", 0.3)
    assert type(ends(lambda: find(hostile(head_of), "a.jpg"))) is BucketError


def send(bucket, path):
    """Store a large file, of which nothing is stored yet."""
    with path.open("wb") as file:
        file.truncate(LARGE)
    with path.open("rb") as file:
        add(bucket, "a.jpg", file)


def of_files(put, *, asks=True):
    """Answer that there is no object, ask for the file if `asks`, and let a function take it."""

    def act(connection):
        while True:
            head = head_of(connection)
            if head.startswith(b"HEAD"):
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                continue
            if asks:
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            put(connection, len(head.partition(b"\r\n\r\n")[2]))

    return act


@pytest.mark.parametrize("asks", [True, False])
def test_a_file_of_which_the_store_takes_no_more_is_ended(hostile, monkeypatch, tmp_path, asks):
    monkeypatch.setattr(buckets, "_READ_SECONDS", 0.5)
    stopped = threading.Event()
    bucket = hostile(of_files(lambda *_: stopped.wait(60), asks=asks))
    error = ends(lambda: send(bucket, tmp_path / "a.jpg"))
    stopped.set()
    assert (type(error), str(error)) == (BucketError, f"The store of {bucket.address} cannot be reached.")


def test_a_file_that_a_store_takes_slowly_is_not_ended(hostile, monkeypatch, tmp_path):
    monkeypatch.setattr(buckets, "_READ_SECONDS", 5)  # of looks, which take longer on a busy machine
    taken = []

    def slowly(connection, received):
        while received < LARGE:
            if received >= len(taken) * LARGE // 8:
                taken.append(received)
                time.sleep(0.8)
            received += len(connection.recv(1 << 20))
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    began = time.monotonic()
    error = ends(lambda: send(hostile(of_files(slowly)), tmp_path / "a.jpg"))
    assert (len(taken), time.monotonic() - began > 5) == (8, True)
    assert "has lost a file that it accepted" in str(error)


def test_a_file_that_a_store_takes_too_slowly_is_ended(hostile, monkeypatch, tmp_path):
    monkeypatch.setattr(buckets, "LONGEST", 0.2)
    monkeypatch.setattr(buckets, "_LOWEST_RATE", LARGE * 5)

    def slowly(connection, received):
        while received < LARGE:
            received += len(connection.recv(64 << 10))
            time.sleep(0.05)

    bucket = hostile(of_files(slowly))
    assert "cannot be reached" in str(ends(lambda: send(bucket, tmp_path / "a.jpg")))


def page(*objects, following=""):
    parts = "".join(
        f"<Contents><Key>{PREFIX}/{key}</Key><LastModified>2024-05-01T12:30:00.000Z</LastModified><ETag>&quot;a&quot;"
        f"</ETag><Size>{size}</Size></Contents>"
        for key, size in objects
    )
    more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{following}</NextContinuationToken>"
    return f"<ListBucketResult>{more if following else ''}{parts}</ListBucketResult>".encode()


def lists(answer):
    """Answer lists with the pages that a function gives for their numbers."""

    def act(connection):
        for number in range(1000):
            head_of(connection)
            body = answer(number)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    return act


def test_a_list_of_empty_pages_ends_with_an_error(hostile):
    bucket = hostile(lists(lambda number: page(following=f"page{number}")))
    error = ends(lambda: list(bucket.objects()))
    assert str(error) == f"The list of {bucket.address} does not end."


def test_empty_pages_within_a_list_are_read_over(hostile):
    bucket = hostile(
        lists(lambda number: page(("a", 1), ("b", 2)) if number == 20 else page(following=f"page{number}"))
    )
    assert [one.key for one in bucket.objects()] == ["a", "b"]


def test_a_request_lists_a_folder_for_a_minute_at_most(hostile, monkeypatch):
    monkeypatch.setattr("photosvc.storage.groups.SECONDS", 0.3)

    def slow(number):
        time.sleep(0.05)
        return page((f"{number}", 1), following=f"page{number}")

    assert type(ends(lambda: listed(hostile(lists(slow)), ""))) is TooSlowError


@pytest.mark.parametrize("size", [-1, 1 << 63, 10**30])
def test_a_list_with_an_impossible_size_cannot_be_read(hostile, size):
    bucket = hostile(lists(lambda _: page(("a.jpg", size))))
    assert "cannot be read" in str(ends(lambda: list(bucket.objects())))


def test_a_store_that_hangs_within_a_put_keeps_nobody_from_changing_the_library(store, tmp_path, monkeypatch):
    monkeypatch.setattr(buckets, "_TRIES", 1)
    monkeypatch.setattr(buckets, "_LOOK", 0.02)
    monkeypatch.setattr(buckets, "_READ_SECONDS", 2)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(environ):
        if environ["REQUEST_METHOD"] == "PUT" and environ["PATH_INFO"].endswith("large.bin"):
            hangs.set()
            goes_on.wait(60)

    with open_api(tmp_path, settings=settings_of(store)) as api:
        monkeypatch.setattr("photosvc.dav.server.wake_indexer", lambda _service: None)
        api.library.index()
        dav, answers = DavClient(api), []
        store.fault = hang
        data = bytes(LARGE)
        thread = threading.Thread(target=lambda: answers.append(dav.call("PUT", "/large.bin", data)))
        thread.start()
        assert hangs.wait(60)
        assert dav.call("PUT", "/small.txt", b"x").status_code == 201
        assert dav.call("PROPFIND", "/large.bin", headers={"Depth": "0"}).status_code == 404
        thread.join(60)
        goes_on.set()
        assert [one.status_code for one in answers] == [503]
        store.fault = lambda _: None
        assert dav.call("PUT", "/large.bin", b"y").status_code in {201, 204}
        with closing(store.client()) as client:
            keys = [one["Key"] for one in client.list_objects_v2(Bucket=BUCKET)["Contents"]]
        assert keys == [f"{PREFIX}/large.bin", f"{PREFIX}/small.txt"]
