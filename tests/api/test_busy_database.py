"""While somebody else writes for long, valid tokens work on, and what is not worth waiting for is left out."""

import sqlite3
import time
from contextlib import contextmanager

import pytest
from sqlalchemy import select

from photosvc.api import session as session_api
from photosvc.models import Credential
from photosvc.web.current import current_service
from tests.api_client import check_error, open_house


@pytest.fixture
def house(tmp_path):
    with open_house(tmp_path) as house:
        yield house


@contextmanager
def somebody_writes(house):
    connection = sqlite3.connect(house.library.instance / "photosvc.db", isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


def get(house, token):
    """The answer, which must come fast."""
    begun = time.monotonic()
    answer = house.call("GET", "/photos", token)
    assert time.monotonic() - begun < 10
    return answer


def last_uses(house):
    with house.library.session() as session:
        return session.scalars(select(Credential.last_used_at)).all()


def test_a_valid_token_works_and_its_use_is_noted_later(house):
    token = house.access_token("photos")
    with somebody_writes(house):
        assert get(house, token).status_code == 200
        assert last_uses(house) == [None]
    assert get(house, token).status_code == 200
    assert last_uses(house) == [house.clock()]


def test_a_token_that_is_over_and_one_that_never_was_are_refused(house):
    token = house.access_token("photos", lifetime=60)
    house.clock.move(seconds=61)
    with somebody_writes(house):
        check_error(get(house, token), 401)
        check_error(get(house, "0" * 48), 401)
        assert len(last_uses(house)) == 1
    check_error(get(house, token), 401)
    assert last_uses(house) == []


def test_afterwards_writers_wait_as_long_as_before(house):
    with somebody_writes(house):
        check_error(get(house, "0" * 48), 401)
    with house.library.app.app_context():
        connection = current_service().session.connection()
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 15_000


def test_a_log_in_succeeds_though_nothing_can_be_swept(house, monkeypatch):
    over = house.access_token("photos", lifetime=60)
    house.clock.move(seconds=61)
    sweep = session_api._sweep

    def sweep_while_somebody_writes(service):
        with somebody_writes(house):
            sweep(service)

    monkeypatch.setattr(session_api, "_sweep", sweep_while_somebody_writes)
    answer = house.log_in()
    assert answer.status_code == 200
    assert len(last_uses(house)) == 2
    monkeypatch.undo()
    assert house.is_alive(house.session_of())
    assert len(last_uses(house)) == 2
    check_error(get(house, over), 401)
