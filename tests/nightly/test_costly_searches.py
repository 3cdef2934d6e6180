"""Costly searches: they end with their client, and no client gets all places of a worker."""

import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import pytest
from sqlalchemy import select

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.ids import digest
from photosvc.models import Credential
from photosvc.search.limits import Turns
from photosvc.web.current import current_service
from tests.helpers.api_client import check_error
from tests.helpers.factories.slow_rows import slow_rows


@pytest.fixture(scope="module")
def slow_library(new_library):
    library = new_library(60)
    with library.app.app_context():
        service = current_service()
    service.limits = replace(service.limits, clock=SYSTEM_CLOCK)  # the seconds of these searches really pass
    with slow_rows(library):
        yield library


@pytest.fixture
def limits(slow_library):
    """A function that changes the limits of searches for one test; they are 10 seconds else."""
    with slow_library.app.app_context():
        service = current_service()
    usual = service.limits
    yield lambda **changes: setattr(service, "limits", replace(usual, **changes))
    service.limits = usual


@pytest.fixture
def turns(slow_library):
    with slow_library.app.app_context():
        return current_service().limits.turns


def search(library, client=None, query="-iso:1-", token=None):
    """The answer to a search over this connection."""
    return library.app.test_client().get(
        "/api/v1/photos",
        query_string={"q": query},
        headers={"X-Auth-Token": token or library.token()},
        environ_overrides={} if client is None else {"gunicorn.socket": client},
    )


def ended(library, reason):
    """How many searches the metrics count as ended for this reason."""
    with library.app.app_context():
        return current_service().requests.ended_searches().get(reason, 0)


@contextmanager
def place(turns, owner):
    """A place that is taken inside of the block."""
    turn = turns.join(owner)
    assert turn is not None
    yield turn
    turns.leave(turn)


def owner_of(library):
    """The owner of the usual token: the credential itself, which has no account."""
    with library.session() as session:
        return session.scalar(select(Credential.uid).where(Credential.digest == digest(library.token())))


def test_a_search_ends_when_its_client_closes_the_connection(slow_library, turns):
    before = ended(slow_library, "client_gone")
    server_side, client = socket.socketpair()
    with server_side:
        timer = threading.Timer(0.3, client.close)
        timer.start()
        began = time.monotonic()
        assert check_error(search(slow_library, server_side), 503)["error"] == "The client closed the connection."
        assert 0.2 < time.monotonic() - began < 5
        timer.join()
    assert ended(slow_library, "client_gone") == before + 1
    assert turns.join("anybody") is not None


def test_a_client_that_has_sent_its_next_request_is_still_there(slow_library, limits):
    limits(seconds=0.4)
    server_side, client = socket.socketpair()
    with server_side, client:
        client.sendall(b"GET /api/v1/photos HTTP/1.1\r\n")
        assert check_error(search(slow_library, server_side), 503)["error"] == "the search took too long"
        assert server_side.recv(3) == b"GET"


def test_a_client_that_waits_is_still_there(slow_library, limits):
    limits(seconds=0.4)
    server_side, client = socket.socketpair()
    with server_side, client:
        assert check_error(search(slow_library, server_side), 503)["error"] == "the search took too long"


def test_who_has_all_of_its_places_is_refused_at_once_and_others_are_not(slow_library, limits, turns):
    limits(seconds=30)
    before = ended(slow_library, "busy")
    with ExitStack() as places:
        for _ in range(4):
            places.enter_context(place(turns, owner_of(slow_library)))
        began = time.monotonic()
        answer = search(slow_library)
        assert check_error(answer, 503)["error"].startswith("Too many costly searches are running")
        assert answer.headers["Retry-After"] == "2"
        assert time.monotonic() - began < 15
        limits(seconds=0.5)
        other = check_error(search(slow_library, token=slow_library.token(role="admin")), 503)
        assert other["error"] == "the search took too long"
    assert ended(slow_library, "busy") == before + 1
    assert check_error(search(slow_library), 503)["error"] == "the search took too long"


def test_a_search_that_others_went_before_says_so(slow_library, limits, tmp_path):
    """On PostgreSQL, which divides the cores by itself, the search runs at the same time."""
    turns = Turns(tmp_path / "searches.lock", places=6, cores=1)
    limits(seconds=1, turns=turns)
    with slow_library.session() as session:
        on_sqlite = session.get_bind().dialect.name == "sqlite"
    with place(turns, "somebody") as turn:
        assert turns.take_core(turn)
        body = check_error(search(slow_library), 503)
    assert body["error"].startswith("Too many costly searches are running" if on_sqlite else "the search took too long")
