"""Locks in the database: which fit together, which forbid to write, how long they last and how many there are."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import delete, select

from photosvc.dav import locks
from photosvc.dav.locks import TooManyLocksError
from photosvc.models import DavLock
from photosvc.web.current import current_service
from tests.app.dav.locking.lock_rows import new_lock

ADA, BOB = "uada", "ubob"


@pytest.fixture
def table(service):
    with service.writing() as session:
        session.execute(delete(DavLock))
    return service


def acquire(service, root, **options):
    """The roots of the locks that forbid it; none when it is granted."""
    with service.writing() as session:
        locks.serialize(session)
        return locks.grant(session, service.now(), new_lock(service.now(), root, **options))


def token_of(service, root, user=ADA):
    with service.reading(orm=True) as session:
        return session.scalar(select(DavLock.token).where(DavLock.root == root, DavLock.user_uid == user))


def blocking(service, path, *, user=ADA, tokens=(), deep=False):
    with service.reading(orm=True) as session:
        return locks.blocking(session, service.now(), path, deep=deep, user_uid=user, tokens=list(tokens))


def covering(service, path):
    with service.reading(orm=True) as session:
        return [lock.root for lock in locks.covering(session, service.now(), path)]


def roots(service):
    with service.reading(orm=True) as session:
        return sorted(session.scalars(select(DavLock.root)))


def test_a_lock_covers_its_resource_and_if_deep_what_is_inside(table):
    acquire(table, "/o/a", deep=True)
    acquire(table, "/o/b")
    assert covering(table, "/o/a") == covering(table, "/o/a/b/c.jpg") == ["/o/a"]
    assert covering(table, "/o/b") == ["/o/b"]
    assert covering(table, "/o") == covering(table, "/o/ab") == covering(table, "/o/b/c") == []


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        (("/o/a", "exclusive", "0"), ("/o/a", "exclusive", "0"), True),
        (("/o/a", "shared", "0"), ("/o/a", "exclusive", "0"), True),
        (("/o/a", "exclusive", "0"), ("/o/a", "shared", "0"), True),
        (("/o/a", "shared", "0"), ("/o/a", "shared", "0"), False),
        (("/o", "exclusive", "infinity"), ("/o/a", "shared", "0"), True),
        (("/", "exclusive", "infinity"), ("/o/a", "shared", "0"), True),
        (("/o", "exclusive", "0"), ("/o/a", "exclusive", "0"), False),
        (("/o/a", "exclusive", "0"), ("/o", "exclusive", "0"), False),
        (("/o/a", "exclusive", "0"), ("/o", "exclusive", "infinity"), True),
        (("/o/a", "shared", "0"), ("/o", "shared", "infinity"), False),
        (("/o/a", "exclusive", "infinity"), ("/o/ab", "exclusive", "infinity"), False),
        (("/o/a-b", "exclusive", "0"), ("/o/a", "exclusive", "infinity"), False),
        (("/o/a/%E7%85%A7", "exclusive", "0"), ("/o/a", "shared", "infinity"), True),
    ],
)
def test_two_locks_fit_together_when_they_are_apart_or_both_shared(table, first, second, conflict):
    root, scope, depth = first
    assert acquire(table, root, exclusive=scope == "exclusive", deep=depth == "infinity") == []
    other, scope, depth = second
    refused = acquire(table, other, exclusive=scope == "exclusive", deep=depth == "infinity", user=BOB)
    assert refused == ([root] if conflict else [])


def test_only_who_shows_the_token_of_the_own_lock_writes(table):
    acquire(table, "/o/a", deep=True)
    token = token_of(table, "/o/a")
    assert blocking(table, "/o/a/b.jpg", tokens=[token]) == []
    assert blocking(table, "/o/a/b.jpg") == ["/o/a"]
    assert blocking(table, "/o/a", user=BOB, tokens=[token]) == ["/o/a"]
    assert blocking(table, "/o") == []
    assert blocking(table, "/o", deep=True) == ["/o/a"]
    assert blocking(table, "/o", deep=True, tokens=[token]) == []


def test_of_several_shared_locks_one_token_is_enough(table):
    for user in (ADA, BOB):
        acquire(table, "/o/a", exclusive=False, user=user)
    own, other = token_of(table, "/o/a"), token_of(table, "/o/a", BOB)
    assert blocking(table, "/o/a", tokens=[own]) == []
    assert blocking(table, "/o/a", tokens=[other], user=BOB) == []
    assert blocking(table, "/o/a", tokens=[other]) == ["/o/a"]


def test_a_lock_expires(table, stored):
    acquire(table, "/o/a", seconds=60)
    stored.clock.move(seconds=59)
    assert covering(table, "/o/a") == ["/o/a"]
    stored.clock.move(seconds=1)
    assert covering(table, "/o/a") == []
    assert blocking(table, "/o/a", user=BOB) == []
    assert acquire(table, "/o/a", user=BOB) == []


def test_expired_locks_are_deleted_in_portions(table, stored, monkeypatch):
    monkeypatch.setattr(locks, "MOST_SWEPT", 3)
    for number in range(7):
        acquire(table, f"/o/{number}", seconds=60)
    stored.clock.move(seconds=60)
    left = []
    for number in range(3):
        acquire(table, f"/o/{number}")
        left.append(len(roots(table)))
    assert left == [5, 3, 3]


def test_locks_are_limited_for_a_user_a_resource_and_in_all(table, monkeypatch):
    monkeypatch.setattr(locks, "MOST_ON_RESOURCE", 2)
    monkeypatch.setattr(locks, "MOST_OF_USER", 3)
    monkeypatch.setattr(locks, "MOST", 5)
    for _ in range(2):
        acquire(table, "/o/a", exclusive=False)
    with pytest.raises(TooManyLocksError):
        acquire(table, "/o/a", exclusive=False)
    acquire(table, "/o/b")
    with pytest.raises(TooManyLocksError):
        acquire(table, "/o/c")
    for name in "cd":
        acquire(table, f"/o/{name}", user=BOB)
    with pytest.raises(TooManyLocksError):
        acquire(table, "/o/e", user="ucy")


def test_a_deleted_folder_takes_the_locks_inside_it_along(table):
    for path in ("/o/a", "/o/a/b", "/o/a/b/c", "/o/ab"):
        acquire(table, path)
    with table.writing() as session:
        locks.release_all(session, "/o/a")
    assert roots(table) == ["/o/ab"]


def test_of_six_exclusive_locks_at_once_one_is_granted(table, stored):
    barrier = Barrier(6)

    def attempt(number):
        with stored.app.app_context():
            barrier.wait()
            return acquire(current_service(), f"/o/{number // 6}", user=f"u{number}")

    with ThreadPoolExecutor(6) as pool:
        refused = list(pool.map(attempt, range(30)))
    for number in range(5):
        assert sorted(refused[number * 6 : number * 6 + 6]) == [[]] + [[f"/o/{number}"]] * 5
