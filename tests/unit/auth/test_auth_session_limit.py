"""Login sessions of an account and of an app password are limited, and deleting old ones reads little."""

from dataclasses import replace

import pytest
from sqlalchemy import event, func, insert, select

from photosvc.auth import credentials
from photosvc.auth.credentials import issue, sweep
from photosvc.auth.errors import InvalidTokenError
from photosvc.auth.scopes import EVERYTHING
from photosvc.auth.tokens import verify
from photosvc.models import LOGIN_SESSION, Credential
from photosvc.models.engine import begin_write
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_user, log_in
from tests.helpers.operations import by_command


@pytest.fixture
def three(settings):
    return replace(settings, sessions_each=3)


def is_alive(session, secret):
    try:
        verify(session.connection(), secret, NOW)
    except InvalidTokenError:
        return False
    return True


def add_sessions(session, user, count, **values):
    begin_write(session)
    row = {"kind": LOGIN_SESSION, "scope": "*", "user_id": user.id, "created_at": NOW, "last_used_at": NOW}
    session.execute(
        insert(Credential),
        [{**row, "uid": f"sess{number:08d}", "digest": f"{number:064x}", **values} for number in range(count)],
    )
    session.flush()


def test_the_oldest_session_of_an_account_ends_with_one_more_than_the_limit(session, three):
    alice, bob = (add_user(session, name, password_hash=HASH) for name in ("alice", "bob"))
    app = issue(by_command(session), name="frame", scope=EVERYTHING, user=alice)
    others = [
        log_in(session, three, NOW, username="bob", password=PASSWORD).secret,
        log_in(session, three, NOW, username="alice", password=app.secret).secret,
    ]
    own = [log_in(session, three, NOW, username="alice", password=PASSWORD).secret for _ in range(5)]
    assert [is_alive(session, secret) for secret in own] == [False, False, True, True, True]
    assert all(is_alive(session, secret) for secret in (*others, app.secret))
    assert bob.id != alice.id


def test_the_sessions_of_each_app_password_are_limited_apart(session, three):
    alice = add_user(session, password_hash=HASH)
    first, second = (issue(by_command(session), name=name, scope=EVERYTHING, user=alice).secret for name in ("a", "b"))
    kept = [log_in(session, three, NOW, username="alice", password=PASSWORD).secret]
    kept += [log_in(session, three, NOW, username="alice", password=second).secret for _ in range(3)]
    many = [log_in(session, three, NOW, username="alice", password=first).secret for _ in range(4)]
    assert [is_alive(session, secret) for secret in many] == [False, True, True, True]
    assert all(is_alive(session, secret) for secret in (*kept, first, second))


def test_what_an_earlier_version_left_over_the_limit_ends_in_portions(session, three):
    alice = add_user(session, password_hash=HASH)
    add_sessions(session, alice, 50)
    left = []
    for _ in range(4):
        log_in(session, three, NOW, username="alice", password=PASSWORD)
        left.append(session.scalar(select(func.count()).select_from(Credential)))
    assert left == [46, 42, 38, 34]


def test_a_sweep_deletes_no_more_than_it_may(session):
    alice = add_user(session)
    add_sessions(session, alice, 30, expires_at=NOW)
    assert [sweep(session, NOW, most=20) for _ in range(3)] == [20, 10, 0]
    add_sessions(session, alice, 30, idle_seconds=60, last_used_at=NOW - 60 * SECOND)
    assert [sweep(session, NOW, most=20) for _ in range(3)] == [20, 10, 0]


def plans(session, work):
    """How the database looks up rows in the statements of `work`."""
    found, connection = [], session.connection()

    def explain(_connection, cursor, statement, parameters, *_):
        if not statement.startswith(("EXPLAIN", "INSERT")):
            rows = connection.connection.driver_connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)
            found.extend(row[3] for row in rows)

    event.listen(connection, "before_cursor_execute", explain)
    work()
    event.remove(connection, "before_cursor_execute", explain)
    return found


def test_neither_the_limit_nor_the_sweep_reads_all_sessions(session):
    alice = add_user(session)
    add_sessions(session, alice, 10, idle_seconds=60, expires_at=NOW)
    session.commit()
    begin_write(session)
    of_account = plans(session, lambda: credentials.end_oldest_sessions(session, alice.id, None, keep=3))
    of_app = plans(session, lambda: credentials.end_oldest_sessions(session, alice.id, 7, keep=3))
    swept = plans(session, lambda: sweep(session, NOW))
    assert of_account
    assert of_app
    assert swept
    assert [step for step in (*of_account, *of_app, *swept) if step.startswith("SCAN") and "list" not in step] == []
    assert any("ix_photosvc_credentials_owner" in step for step in of_account)
    assert any("ix_photosvc_credentials_idle" in step for step in swept)
