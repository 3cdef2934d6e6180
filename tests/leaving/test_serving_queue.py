"""The order in which requests get threads, and the client that a request counts for."""

import random

import pytest

from photosvc.serving.arrival import Requester, RequestQueue, requester_of

ANN, BOB = Requester("192.0.2.1", 1), Requester("192.0.2.2", 2)
CAROL = Requester(ANN.network, 3)


def queue_of(threads):
    """A queue and the list of requests that it has started, in order."""
    started = []
    return RequestQueue(threads, lambda requester, request: started.append((requester, request))), started


@pytest.mark.parametrize(("threads", "most"), [(1, 1), (2, 2), (4, 3), (8, 5), (16, 9)])
def test_a_credential_has_half_of_the_threads_and_one(threads, most):
    queue, started = queue_of(threads)
    for number in range(40):
        queue.add(ANN, number)
    assert started == [(ANN, number) for number in range(most)]
    queue.end(ANN)
    assert started[most:] == [(ANN, most)]


@pytest.mark.parametrize(("threads", "most"), [(4, 3), (8, 7), (16, 14)])
def test_an_address_has_seven_of_eight_threads_however_many_credentials_it_sends(threads, most):
    queue, started = queue_of(threads)
    for number in range(40):
        queue.add(Requester(ANN.network, number), number)
    assert len(started) == most
    queue.add(BOB, 0)
    assert started[most:] == [(BOB, 0)]


def test_the_next_thread_goes_to_the_address_and_then_to_the_credential_with_the_fewest():
    queue, started = queue_of(4)
    for number in range(10):
        queue.add(ANN, number)
    for number in range(3):
        queue.add(BOB, number)
    queue.add(CAROL, 0)
    assert started == [(ANN, 0), (ANN, 1), (ANN, 2), (BOB, 0)]
    queue.end(ANN)
    assert started[4:] == [(BOB, 1)]
    queue.end(ANN)
    assert started[5:] == [(CAROL, 0)]
    queue.end(BOB)
    assert started[6:] == [(BOB, 2)]


def test_clients_with_equally_many_threads_take_turns():
    queue, started = queue_of(1)
    for number in range(3):
        for requester in (ANN, BOB, CAROL):
            queue.add(requester, number)
    for _ in range(8):
        queue.end(started[-1][0])
    assert [requester for requester, _ in started] == [ANN, BOB, CAROL] * 3
    assert [number for _, number in started] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_every_request_starts_once_in_the_order_of_its_client():
    generator = random.Random(7)
    for _ in range(50):
        queue, started = queue_of(generator.randrange(1, 9))
        expected = {requester: list(range(generator.randrange(30))) for requester in (ANN, BOB, CAROL)}
        waiting, ended = {requester: list(numbers) for requester, numbers in expected.items()}, 0
        while any(waiting.values()) or ended < len(started):
            requester = generator.choice((ANN, BOB, CAROL))
            if waiting[requester] and generator.random() < 0.7:
                queue.add(requester, waiting[requester].pop(0))
            elif ended < len(started):
                queue.end(started[ended][0])
                ended += 1
        for requester, numbers in expected.items():
            assert [number for client, number in started if client == requester] == numbers


HEAD = "GET /api/v1/photos HTTP/1.1\r\nHost: localhost\r\n{}\r\n"


def client(headers="", peer=("192.0.2.1", 4711), proxies=0):
    return requester_of(HEAD.format(headers).encode(), peer, proxies)


@pytest.mark.parametrize("name", ["Authorization", "X-Auth-Token", "x-session-id", "COOKIE"])
def test_a_client_is_the_credential_in_any_header(name):
    assert client(f"{name}: a\r\n") == client(f"{name}: a\r\n")
    assert client(f"{name}: a\r\n") != client(f"{name}: b\r\n")
    assert client(f"{name}: a\r\n") != client()
    assert client(f"{name}: a\r\n").network == client().network


def test_a_header_in_the_body_is_no_credential():
    assert requester_of(HEAD.format("").encode() + b"a\r\nX-Auth-Token: a\r\n", ("192.0.2.1", 1), 0) == client()


@pytest.mark.parametrize(
    ("forwarded", "proxies", "network"),
    [
        ("", 1, "192.0.2.1"),
        ("X-Forwarded-For: 198.51.100.1\r\n", 0, "192.0.2.1"),
        ("X-Forwarded-For: 198.51.100.1\r\n", 1, "198.51.100.1"),
        ("x-forwarded-for: 203.0.113.9, 198.51.100.1:4711\r\n", 1, "198.51.100.1"),
        ("X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-For: 198.51.100.1\r\n", 1, "198.51.100.1"),
        ("X-Forwarded-For: 203.0.113.9, 198.51.100.1\r\n", 2, "203.0.113.9"),
        ("X-Forwarded-For: [2001:db8::7]:4711\r\n", 1, "2001:db8::/64"),
        ("X-Forwarded-For: ,,\r\n", 1, "unknown"),
    ],
)
def test_the_address_is_the_one_that_the_outermost_trusted_proxy_saw(forwarded, proxies, network):
    assert client(forwarded, proxies=proxies).network == network


def test_a_connection_without_an_address_has_none():
    assert client(peer="").network == client(peer=b"").network == "unknown"
