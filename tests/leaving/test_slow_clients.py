"""Clients that send or read slowly hold connections of the server, but not its threads."""

import http.client
import json
import socket
import threading
import time
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import pytest

from tests.helpers.library import open_library
from tests.helpers.programs.server import serve

POST = b"POST /api/v1/session HTTP/1.1\r\nHost: a\r\n"
SMALL_CHUNK = b"1;" + b"a" * 200 + b"\r\n{\r\n"
#: Seconds of an answer that waits for no client: those that hold threads do so for 30. On a busy machine it takes long.
SOON = 5
GET = b"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def served_library(tmp_path_factory):
    return open_library(tmp_path_factory.mktemp("slow") / "instance")


@pytest.fixture(scope="module")
def server(served_library):
    options = ["--worker-class", "photosvc.serving.Worker"]
    with serve(served_library.instance, workers=1, threads=4, options=options) as address:
        yield urlsplit(address)


@pytest.fixture
def connections(server):
    """Opens a connection to the server; all are closed at the end."""
    with ExitStack() as stack:

        def connect(sent=b""):
            connection = stack.enter_context(socket.create_connection((server.hostname, server.port), timeout=20))
            connection.sendall(sent)
            return connection

        yield connect


def status_within(server, seconds):
    connection = http.client.HTTPConnection(server.hostname, server.port, timeout=seconds)
    began = time.monotonic()
    connection.request("GET", "/api/v1/status")
    answer = connection.getresponse()
    answer.read()
    connection.close()
    assert answer.status == 200
    assert time.monotonic() - began < seconds


def first_line(connection):
    return connection.makefile("rb").readline()


@pytest.mark.slow
@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"GET /api/v1/sta", id="half a line"),
        pytest.param(GET, id="half a head"),
        pytest.param(POST + b"Content-Length: 20\r\n\r\n{", id="half a body"),
        pytest.param(POST + b"Content-Length: 20000000\r\n\r\n" + b"{" * 70_000, id="half a large body"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n14\r\n{", id="half a chunk"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", id="half of the chunks"),
        pytest.param(POST + b"Transfer-Encoding: chunked\r\n\r\n" + SMALL_CHUNK * 340, id="small chunks"),
        pytest.param(GET + b"\r\n" + GET, id="half of a second request"),
        pytest.param(GET + (b"X: " + b"a" * 8000 + b"\r\n") * 9, id="a head without an end"),
        pytest.param(POST + b"Content-Length: 20\r\nExpect: 100-continue\r\n\r\n", id="a body that was asked for"),
    ],
)
def test_fifty_clients_that_stop_in_the_middle_of_a_request_delay_nobody(server, connections, sent):
    for _ in range(50):
        connections(sent)
    status_within(server, SOON)


@pytest.mark.slow
def test_clients_that_keep_a_closed_connection_open_delay_nobody(server, connections):
    ended = [connections(GET + b"Connection: close\r\n\r\n") for _ in range(40)]
    for connection in ended:
        assert first_line(connection) == b"HTTP/1.1 200 OK\r\n"
    status_within(server, SOON)


@pytest.mark.slow
def test_a_connection_that_the_client_keeps_open_is_dropped_after_two_seconds(server, connections):
    connection = connections(GET + b"Connection: close\r\n\r\n")
    while connection.recv(4096):
        pass
    time.sleep(2.5)

    def send_ten():
        for _ in range(10):  # the answer to the first one that comes too late is a reset
            connection.sendall(b"x")
            time.sleep(0.3)

    with pytest.raises(ConnectionError):
        send_ten()


def test_a_request_in_many_pieces_is_answered(server, connections):
    connection = connections()
    head = b"POST /api/v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\nX-A: \xc3\xa9\r\n\r\n"
    request = head + b'{"username": "a", "password": "b"'
    for start in range(0, len(request), 7):
        connection.sendall(request[start : start + 7])
        time.sleep(0.002)
    connection.sendall(b"}")
    assert first_line(connection) == b"HTTP/1.1 401 UNAUTHORIZED\r\n"


def test_a_kept_connection_answers_one_request_after_the_other(server, connections):
    connection = connections()
    answers = connection.makefile("rb")
    for _ in range(3):
        connection.sendall(GET)
        time.sleep(0.02)
        connection.sendall(b"\r\n")
        assert answers.readline() == b"HTTP/1.1 200 OK\r\n"
        while (line := answers.readline()) != b"\r\n":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answers.read(length)


def test_requests_sent_together_are_answered_in_order(server, connections):
    connection = connections(GET + b"\r\n" + GET.replace(b"status", b"none") + b"Connection: close\r\n\r\n")
    received = connection.makefile("rb").read()
    assert received.count(b"HTTP/1.1 200 OK\r\n") == 1
    assert b"HTTP/1.1 404 NOT FOUND\r\n" in received
    assert received.index(b"200 OK") < received.index(b"404 NOT FOUND")


def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(server, connections):
    head = b"POST /api/v1/session HTTP/1.1\r\nHost: a\r\nContent-Length: 34\r\nExpect: 100-continue\r\n\r\n"
    connection = connections(head)
    assert first_line(connection) == b"HTTP/1.1 100 Continue\r\n"
    connection.sendall(b'{"username": "a", "password": "b"}')
    assert b"401 UNAUTHORIZED" in connection.recv(4096)


def test_a_head_above_the_limit_is_refused(server, connections):
    connection = connections(GET + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n")
    assert first_line(connection) == b"HTTP/1.1 431 Request Header Fields Too Large\r\n"


@pytest.mark.parametrize(
    ("request_", "code", "error"),
    [
        (
            b"GET /api/v1/photos?q=" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
            414,
            "The address is too long: method, address and version may have 4,094 bytes.",
        ),
        (GET + b"X-Long: " + b"a" * 9000 + b"\r\n\r\n", 431, "The headers of the request are too long or too many."),
        (GET + b"X-A: b\r\n" * 200 + b"\r\n", 431, "The headers of the request are too long or too many."),
        (GET + b"X-Long: " + b"a" * 70_000 + b"\r\n\r\n", 431, "The headers of the request are too long or too many."),
    ],
)
def test_what_is_too_long_is_refused_with_an_error_of_the_api(server, connections, request_, code, error):
    head, _, body = connections(request_).makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % code)
    assert b"Content-Type: application/json; charset=utf-8\r\n" in head
    assert json.loads(body) == {"code": code, "error": error}


def test_a_client_that_closes_in_the_middle_of_a_request_leaves_the_server_alone(server, connections):
    for _ in range(20):
        connections(GET).close()
    status_within(server, SOON)


def test_a_body_in_chunks_is_read_whole(server, connections):
    connection = connections(POST + b"Transfer-Encoding: chunked\r\n\r\n")
    for part in (b'{"username": "a", ', b'"password": "b"}'):
        time.sleep(0.02)
        connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    connection.sendall(b"0\r\nX-Trailer: a\r\n\r\n")
    assert first_line(connection) == b"HTTP/1.1 401 UNAUTHORIZED\r\n"


def test_a_client_that_closes_its_half_after_the_request_is_answered(server, connections):
    connection = connections(GET + b"\r\n")
    connection.shutdown(socket.SHUT_WR)
    assert first_line(connection) == b"HTTP/1.1 200 OK\r\n"


def test_fifty_clients_that_send_a_byte_now_and_then_delay_nobody(server, connections):
    dripping = [connections(POST + b"Transfer-Encoding: chunked\r\n\r\n") for _ in range(50)]
    for byte in b"fffff\r\n{":
        for connection in dripping:
            connection.sendall(bytes([byte]))
        status_within(server, SOON)


@pytest.mark.slow
def test_bodies_that_arrive_byte_by_byte_hold_half_of_the_threads_at_most(server, connections, served_library):
    token = served_library.token("*", role="viewer").encode()
    head = b"POST /api/v1/zip HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-Auth-Token: " + token
    dripping = [connections(head + b"\r\nContent-Length: 1000000\r\n\r\n" + b" " * 70_000) for _ in range(30)]
    ends = threading.Event()

    def drip():
        while not ends.wait(0.01):
            for connection in dripping:
                with suppress(OSError):
                    connection.send(b" ")

    dripper = threading.Thread(target=drip)
    dripper.start()
    try:
        for _ in range(5):
            status_within(server, SOON)
    finally:
        ends.set()
        dripper.join()


@pytest.mark.slow
def test_more_idle_connections_than_the_server_has_places_for_delay_nobody(server, connections):
    kept = [connections(GET + b"\r\n") for _ in range(20)]
    for _ in range(1100):
        connections(b"GET / HT")
    status_within(server, SOON)
    assert first_line(kept[-1]) == b"HTTP/1.1 200 OK\r\n"
