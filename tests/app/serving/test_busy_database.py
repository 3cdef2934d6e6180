"""During a long write by another process, valid tokens still work and optional writes are skipped."""

import sqlite3
from contextlib import contextmanager
from functools import partial

import pytest
from sqlalchemy import event, select

from photosvc.api import session as session_api
from photosvc.auth import passwords, second_factor
from photosvc.models import Credential, engine
from photosvc.web.service import current_service
from tests.helpers.api_client import PASSWORD, check_error
from tests.helpers.clock import MovedClock


@contextmanager
def another_process_writes(api):
    connection = sqlite3.connect(api.library.instance / "photosvc.db", isolation_level=None, timeout=0)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


def get(api, token):
    """The answer, which must not wait for the lock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "SYSTEM_CLOCK", clock := MovedClock())
        answer = api.call("GET", "/photos", token)
    assert sum(clock.pauses) < 1
    return answer


def last_uses(api):
    with api.library.session() as session:
        return session.scalars(select(Credential.last_used_at)).all()


def test_a_valid_token_works_and_its_use_is_noted_later(api):
    token = api.access_token("photos")
    with another_process_writes(api):
        assert get(api, token).status_code == 200
        assert last_uses(api) == [None]
    assert get(api, token).status_code == 200
    assert last_uses(api) == [api.clock()]


def test_expired_and_unknown_tokens_are_refused(api):
    token = api.access_token("photos", lifetime=60)
    api.clock.move(seconds=61)
    with another_process_writes(api):
        check_error(get(api, token), 401)
        check_error(get(api, "0" * 48), 401)
        assert len(last_uses(api)) == 1
    check_error(get(api, token), 401)
    assert last_uses(api) == []


def test_afterwards_writers_wait_as_long_as_before(api):
    with another_process_writes(api):
        check_error(get(api, "0" * 48), 401)
    with api.library.app.app_context(), current_service().reading() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 15_000


def test_a_log_in_succeeds_though_nothing_can_be_swept(api, monkeypatch):
    over = api.access_token("photos", lifetime=60)
    api.clock.move(seconds=61)
    sweep = session_api.sweep_sessions

    def sweep_while_another_process_writes(service):
        with another_process_writes(api):
            sweep(service)

    monkeypatch.setattr(session_api, "sweep_sessions", sweep_while_another_process_writes)
    answer = api.log_in()
    assert answer.status_code == 200
    assert len(last_uses(api)) == 2
    monkeypatch.undo()
    assert api.is_alive(api.session_of())
    assert len(last_uses(api)) == 2
    check_error(get(api, over), 401)


def test_a_log_in_waits_twice_at_most_for_other_writers(api):
    api.log_in()  # the first one of a process, and one in five minutes, also deletes what has expired
    commits = []
    with api.library.app.app_context():
        event.listen(current_service().engine(), "commit", commits.append)
    assert api.log_in().status_code == 200
    assert len(commits) == 2
    api.clock.move(minutes=5)
    assert api.log_in().status_code == 200
    assert len(commits) == 5


def own_password(api, token):
    return api.call("PUT", api.user_path(rest="/password"), token, json={"old": PASSWORD, "new": "another horse"})


def enrol(api, token):
    return api.call("POST", api.user_path(rest="/passcode"), token, json={"password": PASSWORD})


def add_app_password(api, token):
    wanted = {"name": "frame", "scope": "photos", "password": PASSWORD}
    return api.call("POST", api.user_path(rest="/app-passwords"), token, json=wanted)


def add_account(api, _token):
    return api.call("POST", "/users", api.session_of("ann"), json={"Name": "bob", "Password": "another horse"})


def log_in(api, _token):
    return api.log_in()


@pytest.mark.parametrize("act", [log_in, own_password, enrol, add_app_password, add_account])
def test_no_write_lock_is_held_while_a_password_is_hashed(api, monkeypatch, act):
    token, hashed = api.session_of(), []

    def check(name):
        real = getattr(passwords, name)

        def with_a_free_lock(*arguments):
            with another_process_writes(api):  # raises at once when a request holds the lock
                hashed.append(name)
            return real(*arguments)

        return with_a_free_lock

    for module, name in (
        (passwords, "verify_password"),
        (second_factor, "verify_password"),
        (passwords, "hash_password"),
    ):
        monkeypatch.setattr(module, name, check(name))
    assert act(api, token).status_code in {200, 201}
    assert hashed


def test_a_request_has_one_transaction_at_a_time(api):
    with api.library.app.app_context():
        service = current_service()
        with service.writing():
            for begin in (service.reading, partial(service.reading, orm=True), service.writing):
                with pytest.raises(RuntimeError, match="a write transaction is open already"), begin():
                    pytest.fail("it must not begin")
        with service.reading() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar() == 1
        assert service.engine().pool.checkedout() == 0
