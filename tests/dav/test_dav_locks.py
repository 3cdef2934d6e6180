"""Locks in the database: which fit together, which forbid to write, how long they last and how many there are."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select
from wsgidav.dav_error import DAVError

from photosvc.dav import locks
from photosvc.dav.lock_manager import LockManager
from photosvc.models import DavLock
from photosvc.web.current import current_service

ADA, BOB = "uada", "ubob"
WEEK = 7 * 24 * 3600


@pytest.fixture
def manager(service):
    with service.writing() as session:
        session.execute(delete(DavLock))
    return LockManager(service)


def acquire(manager, url, *, scope="exclusive", depth="0", user=ADA, timeout=600, owner=b"<owner/>"):
    return manager.acquire(
        url=url,
        lock_type="write",
        lock_scope=scope,
        lock_depth=depth,
        lock_owner=owner,
        timeout=timeout,
        principal=user,
        token_list=[],
    )


def refused(function, *arguments, **options):
    with pytest.raises(DAVError) as caught:
        function(*arguments, **options)
    condition = caught.value.err_condition
    return (caught.value.value, condition.hrefs if condition else [])


def write(manager, url, *, user=ADA, tokens=(), depth="0"):
    manager.check_write_permission(url=url, depth=depth, token_list=list(tokens), principal=user)


def test_a_lock_is_found_by_its_token_and_its_resource(manager, stored):
    lock = acquire(
        manager, "/originals/a/", owner=b'<?xml version="1.0"?>\n<owner>Zo\xc3\xab</owner>', depth="infinity"
    )
    assert lock["token"].startswith("opaquelocktoken:")
    assert lock == {
        "root": "/originals/a",
        "type": "write",
        "scope": "exclusive",
        "depth": "infinity",
        "owner": "<owner>Zoë</owner>".encode(),
        "timeout": 600,
        "expire": stored.clock().timestamp() + 600,
        "principal": ADA,
        "token": lock["token"],
    }
    assert manager.get_lock(lock["token"]) == lock
    assert manager.get_lock(lock["token"], key="root") == "/originals/a"
    assert manager.get_lock("opaquelocktoken:0") is None
    assert manager.get_url_lock_list("/originals/a") == [lock]
    assert manager.get_url_lock_list("/originals/a/b.jpg") == []
    assert manager.get_url_lock_list("/originals", recursive=True) == [lock]
    assert manager.get_indirect_url_lock_list("/originals/a/b.jpg") == [lock]
    assert manager.get_indirect_url_lock_list("/originals/a/b.jpg", principal=BOB) == []
    assert manager.get_indirect_url_lock_list("/originals/ab.jpg") == []
    assert manager.is_url_locked("/originals/a/")
    assert manager.is_url_locked_by_token("/originals/a/b", lock["token"])
    assert not manager.is_url_locked_by_token("/originals/b", lock["token"])
    assert manager.is_token_locked_by_user(lock["token"], ADA)
    assert not manager.is_token_locked_by_user(lock["token"], BOB)
    manager.release(lock["token"])
    assert not manager.is_url_locked("/originals/a")


@pytest.mark.parametrize(
    ("first", "second", "conflict"),
    [
        (("/o/a", "exclusive", "0"), ("/o/a", "exclusive", "0"), True),
        (("/o/a", "shared", "0"), ("/o/a/", "exclusive", "0"), True),
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
def test_two_locks_fit_together_when_they_are_apart_or_both_shared(manager, first, second, conflict):
    url, scope, depth = first
    root = acquire(manager, url, scope=scope, depth=depth)["root"]
    url, scope, depth = second
    if conflict:
        assert refused(acquire, manager, url, scope=scope, depth=depth) == (423, [root])
    else:
        acquire(manager, url, scope=scope, depth=depth, user=BOB)


def test_only_who_shows_the_token_of_the_own_lock_writes(manager):
    token = acquire(manager, "/o/a", depth="infinity")["token"]
    write(manager, "/o/a/b.jpg", tokens=[token])
    assert refused(write, manager, "/o/a/b.jpg") == (423, ["/o/a"])
    assert refused(write, manager, "/o/a", user=BOB, tokens=[token]) == (423, ["/o/a"])
    write(manager, "/o")
    assert refused(write, manager, "/o", depth="infinity") == (423, ["/o/a"])
    write(manager, "/o", depth="infinity", tokens=[token])
    with manager.write_transaction(url="/o/b", token_list=[], principal=BOB):
        pass
    with pytest.raises(DAVError), manager.write_transaction(url="/o/a", token_list=[], principal=BOB):
        pass


def test_of_several_shared_locks_one_token_is_enough(manager):
    own = acquire(manager, "/o/a", scope="shared")["token"]
    other = acquire(manager, "/o/a", scope="shared", user=BOB)["token"]
    write(manager, "/o/a", tokens=[own])
    write(manager, "/o/a", tokens=[other], user=BOB)
    assert refused(write, manager, "/o/a", tokens=[other]) == (423, ["/o/a"])


def test_a_lock_expires_and_is_refreshed(manager, stored):
    lock = acquire(manager, "/o/a", timeout=60)
    stored.clock.move(seconds=59)
    assert manager.is_url_locked("/o/a")
    assert manager.refresh(lock["token"], timeout=60)["expire"] == lock["expire"] + 59
    stored.clock.move(seconds=59)
    assert manager.is_url_locked("/o/a")
    stored.clock.move(seconds=1)
    assert not manager.is_url_locked("/o/a")
    assert refused(manager.refresh, lock["token"], timeout=60) == (412, [])
    write(manager, "/o/a", user=BOB)
    acquire(manager, "/o/a", user=BOB)


@pytest.mark.parametrize(
    ("wanted", "got"), [(None, WEEK), (-1, 4 * WEEK), (10**9, 4 * WEEK), (0, 1), (30, 30), (float("inf"), 4 * WEEK)]
)
def test_no_lock_lasts_longer_than_four_weeks(manager, wanted, got):
    lock = acquire(manager, "/o/a", timeout=wanted)
    assert lock["timeout"] == got
    assert manager.refresh(lock["token"], timeout=wanted)["timeout"] == got


def test_expired_locks_are_deleted_in_portions(manager, service, stored, monkeypatch):
    monkeypatch.setattr(locks, "MOST_SWEPT", 3)
    for number in range(7):
        acquire(manager, f"/o/{number}", timeout=60)
    stored.clock.move(seconds=60)
    left = []
    for number in range(3):
        acquire(manager, f"/o/{number}")
        with service.loading() as session:
            left.append(session.scalar(select(func.count()).select_from(DavLock)))
    assert left == [5, 3, 3]


def test_locks_are_limited_for_a_user_a_resource_and_in_all(manager, monkeypatch):
    monkeypatch.setattr(locks, "MOST_ON_RESOURCE", 2)
    monkeypatch.setattr(locks, "MOST_OF_USER", 3)
    monkeypatch.setattr(locks, "MOST", 5)
    for _ in range(2):
        acquire(manager, "/o/a", scope="shared")
    assert refused(acquire, manager, "/o/a", scope="shared") == (403, [])
    acquire(manager, "/o/b")
    assert refused(acquire, manager, "/o/c") == (403, [])
    for name in "cd":
        acquire(manager, f"/o/{name}", user=BOB)
    assert refused(acquire, manager, "/o/e", user="ucy") == (403, [])


def test_long_owners_and_paths_are_refused(manager):
    acquire(manager, "/" + "a" * 1999, owner=b"<o>" + b"x" * 4089 + b"</o>")
    assert refused(acquire, manager, "/b" + "a" * 1999) == (403, [])
    assert refused(acquire, manager, "/c", owner=b"x" * 4097) == (413, [])


def test_a_deleted_folder_takes_the_locks_inside_it_along(manager):
    for path in ("/o/a", "/o/a/b", "/o/a/b/c", "/o/ab"):
        acquire(manager, path)
    manager.remove_all_locks_from_url("/o/a/", recursive=True)
    assert [lock["root"] for lock in manager.get_url_lock_list("/", recursive=True)] == ["/o/ab"]


def test_of_six_exclusive_locks_at_once_one_is_granted(manager, stored):
    barrier = Barrier(6)

    def attempt(number):
        with stored.app.app_context():
            own = LockManager(current_service())
            barrier.wait()
            try:
                acquire(own, f"/o/{number // 6}", user=f"u{number}")
            except DAVError as error:
                return error.value
            return 201

    with ThreadPoolExecutor(6) as pool:
        granted = list(pool.map(attempt, range(30)))
    assert [sorted(granted[start : start + 6]) for start in range(0, 30, 6)] == [[201] + [423] * 5] * 5
