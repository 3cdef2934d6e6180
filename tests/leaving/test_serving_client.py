"""What the socket of a client sends, keeps and refuses to wait for."""

import os
import socket
import threading
import time

import pytest

from photosvc.serving import client as serving
from photosvc.serving.arrival import WaitBudget
from photosvc.serving.client import MOST_KEPT, Client

DATA = os.urandom(1 << 20)


@pytest.fixture
def pair():
    """The server's end of a connection, and the client's, which reads nothing by itself."""
    near, far = socket.socketpair()
    near.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
    with Client(near, WaitBudget(8)) as server, far as client:
        server.begin_answer()
        yield server, client


def read(client, size):
    data = b""
    while len(data) < size:
        data += client.recv(65536)
    return data


def test_what_the_client_does_not_take_is_kept_and_sent_later_in_order(pair):
    server, client = pair
    server.sendall(b"head")
    server.sendall(DATA)
    server.sendall(b"end")
    assert 0 < len(server.unsent) <= len(DATA) + 3
    received = b""
    while not server.send_unsent():
        received += client.recv(65536)
    received += read(client, len(DATA) + 7 - len(received))
    assert received == b"head" + DATA + b"end"


def test_the_end_of_a_file_is_kept_too(pair, tmp_path):
    server, client = pair
    (tmp_path / "file").write_bytes(b"before" + DATA + b"behind")
    with (tmp_path / "file").open("rb") as file:
        server.sendall(b"head")
        assert server.sendfile(file, 6, len(DATA)) == len(DATA)
    received = b""
    while not server.send_unsent():
        received += client.recv(65536)
    received += read(client, len(DATA) + 4 - len(received))
    assert received == b"head" + DATA


def test_a_file_that_was_cut_ends_the_connection(pair, tmp_path):
    (tmp_path / "file").write_bytes(b"short")
    with (tmp_path / "file").open("rb") as file, pytest.raises(BrokenPipeError):
        pair[0].sendfile(file, 0, 6)


def test_a_longer_rest_than_may_be_kept_waits_for_the_client(pair):
    server, client = pair
    data = os.urandom(MOST_KEPT + (1 << 20))
    reader = threading.Thread(target=lambda: (time.sleep(0.5), received.append(read(client, 1 << 20))))
    received = []
    began = time.monotonic()
    reader.start()
    server.sendall(data)
    assert time.monotonic() - began > 0.4
    reader.join()
    assert 0 < len(server.unsent) <= MOST_KEPT


def test_a_client_that_takes_no_byte_for_long_is_given_up(pair, monkeypatch):
    monkeypatch.setattr(serving, "STALL_SECONDS", 0.2)
    with pytest.raises(BrokenPipeError, match="too slowly"):
        pair[0].sendall(bytes(MOST_KEPT + (1 << 20)))
    assert not pair[0].unsent


def test_a_client_that_takes_less_than_a_kib_a_second_is_given_up_although_it_never_stops(pair, monkeypatch):
    server, client = pair
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.5)
    monkeypatch.setattr(serving, "_LOWEST_RATE", 1 << 20)
    ends = threading.Event()

    def trickle():
        while not ends.wait(0.05):
            client.recv(4096)

    reader = threading.Thread(target=trickle)
    reader.start()
    try:
        with pytest.raises(BrokenPipeError, match="too slowly"):
            server.sendall(bytes(MOST_KEPT + (4 << 20)))
    finally:
        ends.set()
        reader.join()


def test_without_a_thread_the_same_limits_hold(pair, monkeypatch):
    server, client = pair
    server.sendall(DATA)
    server.wait_for_client()
    assert not server.is_too_slow()
    monkeypatch.setattr(serving, "STALL_SECONDS", 0.2)
    time.sleep(0.3)
    assert server.is_too_slow()
    client.recv(65536)
    server.send_unsent()
    assert not server.is_too_slow()
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.1)
    monkeypatch.setattr(serving, "_LOWEST_RATE", 1 << 30)
    assert server.is_too_slow()


def test_between_answers_nothing_is_kept(pair):
    server, client = pair
    server.end_answer()
    reader = threading.Thread(target=read, args=(client, len(DATA)))
    reader.start()
    server.sendall(DATA)
    reader.join()
    assert not server.unsent


def test_the_body_of_a_request_is_awaited_for_a_while(pair, monkeypatch):
    server, client = pair
    client.sendall(b"first")
    assert server.recv(100) == b"first"
    later = threading.Timer(0.05, client.sendall, (b"second",))
    later.start()
    assert server.recv(100) == b"second"
    later.join()
    monkeypatch.setattr(serving, "STALL_SECONDS", 0.2)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            server.recv(100)
    client.sendall(b"too late")
    with pytest.raises(TimeoutError):
        server.recv(100)


def test_a_client_that_sends_a_byte_now_and_then_is_awaited_by_what_it_has_sent(pair, monkeypatch):
    monkeypatch.setattr(serving, "_GRACE_SECONDS", 0.2)
    server, client = pair
    stop = threading.Event()

    def drip():
        while not stop.wait(0.02):
            client.sendall(b"x")

    dripping = threading.Thread(target=drip)
    began = time.monotonic()
    dripping.start()
    try:
        with pytest.raises(TimeoutError):
            read(server, 10_000)
    finally:
        stop.set()
        dripping.join()
    assert 0.15 < time.monotonic() - began < 20  # and not 200, which 10,000 bytes would take


def test_only_half_of_the_threads_wait_long_for_bodies(monkeypatch):
    monkeypatch.setattr(serving, "STALL_SECONDS", 60)
    monkeypatch.setattr(serving, "_SHORT_WAIT", 0.1)
    budget = WaitBudget(4)
    with budget.for_body(), budget.for_body():
        near, far = socket.socketpair()
        with Client(near, budget) as server, far:
            server.begin_answer()
            began = time.monotonic()
            with pytest.raises(TimeoutError):
                server.recv(100)
            assert time.monotonic() - began < 20


def test_bodies_and_answers_share_all_threads_but_two():
    budget = WaitBudget(6)
    with budget.for_body() as first, budget.for_body() as second, budget.for_answer() as third:
        with budget.for_answer() as fourth, budget.for_answer() as fifth, budget.for_body() as sixth:
            assert (first, second, third, fourth) == (True,) * 4
            assert (fifth, sixth) == (False, False)
        with budget.for_body() as again:
            assert again
