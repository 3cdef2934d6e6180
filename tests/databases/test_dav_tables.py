"""The tables of WebDAV: which locks fit together and forbid to write, and how properties follow their files."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from random import Random
from string import ascii_letters
from threading import Barrier
from uuid import uuid4

import pytest
from sqlalchemy import delete, select

from photosvc.dav import locks, properties
from photosvc.dav.locks import TooManyLocksError
from photosvc.dav.properties import PropertyLimitError
from photosvc.models import DavLock, DavProperty
from photosvc.web.service import current_service

ADA, BOB = "uada", "ubob"


@pytest.fixture(scope="module")
def stored(new_library):
    return new_library()


@pytest.fixture
def service(stored):
    """The service inside a context of its app, without locks and properties."""
    with stored.app.app_context():
        with current_service().writing() as session:
            for model in (DavLock, DavProperty):
                session.execute(delete(model))
        yield current_service()


def acquire(service, root, *, user=ADA, exclusive=True, deep=False, seconds=600):
    """The roots of the locks that forbid it; none when it is granted."""
    lock = DavLock(
        token=f"opaquelocktoken:{uuid4()}", root=root, user_uid=user, exclusive=exclusive, deep=deep, owner="",
        seconds=seconds, expires_at=service.now() + timedelta(seconds=seconds),
    )  # fmt: skip
    with service.writing() as session:
        locks.serialize(session)
        return locks.grant(session, service.now(), lock)


def token_of(service, root, user=ADA):
    with service.reading(orm=True) as session:
        return session.scalar(select(DavLock.token).where(DavLock.root == root, DavLock.user_uid == user))


def blocking(service, path, *, user=ADA, tokens=(), deep=False):
    with service.reading(orm=True) as session:
        return locks.blocking(session, service.now(), path, deep=deep, user_uid=user, tokens=list(tokens))


def covering(service, path):
    with service.reading(orm=True) as session:
        return [lock.root for lock in locks.covering(session, service.now(), path)]


def change(service, function, *arguments, **options):
    with service.writing() as session:
        function(session, *arguments, **options)


def column(service, of):
    with service.reading(orm=True) as session:
        return sorted(session.scalars(select(of)))


def test_a_lock_covers_its_resource_and_if_deep_what_is_inside_until_it_expires(service, stored):
    acquire(service, "/o/a", deep=True, seconds=60)
    acquire(service, "/o/b")
    assert covering(service, "/o/a") == covering(service, "/o/a/b/c.jpg") == ["/o/a"]
    assert covering(service, "/o/b") == ["/o/b"]
    assert covering(service, "/o") == covering(service, "/o/ab") == covering(service, "/o/b/c") == []
    stored.clock.move(seconds=59)
    assert covering(service, "/o/a") == ["/o/a"]
    stored.clock.move(seconds=1)
    assert (covering(service, "/o/a"), blocking(service, "/o/a", user=BOB)) == ([], [])
    assert acquire(service, "/o/a", user=BOB) == []


def test_two_locks_fit_together_when_they_are_apart_or_both_shared(service):
    for first, second, conflict in (
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
    ):
        change(service, locks.release_all, "/")
        found = [
            acquire(service, root, exclusive=scope == "exclusive", deep=depth == "infinity", user=user)
            for user, (root, scope, depth) in ((ADA, first), (BOB, second))
        ]
        assert found == [[], [first[0]] if conflict else []], (first, second)


def test_only_who_shows_the_token_of_the_own_lock_writes_and_of_shared_ones_one_is_enough(service):
    acquire(service, "/o/a", deep=True)
    token = token_of(service, "/o/a")
    assert blocking(service, "/o/a/b.jpg", tokens=[token]) == []
    assert blocking(service, "/o/a/b.jpg") == ["/o/a"]
    assert blocking(service, "/o/a", user=BOB, tokens=[token]) == ["/o/a"]
    assert blocking(service, "/o") == []
    assert blocking(service, "/o", deep=True) == ["/o/a"]
    assert blocking(service, "/o", deep=True, tokens=[token]) == []
    for user in (ADA, BOB):
        acquire(service, "/o/s", exclusive=False, user=user)
    own, other = token_of(service, "/o/s"), token_of(service, "/o/s", BOB)
    assert blocking(service, "/o/s", tokens=[own]) == blocking(service, "/o/s", tokens=[other], user=BOB) == []
    assert blocking(service, "/o/s", tokens=[other]) == ["/o/s"]


def test_expired_locks_are_deleted_in_portions_and_those_of_a_deleted_folder_at_once(service, stored, monkeypatch):
    monkeypatch.setattr(locks, "MOST_SWEPT", 3)
    for number in range(7):
        acquire(service, f"/o/{number}", seconds=60)
    stored.clock.move(seconds=60)
    left = []
    for number in range(3):
        acquire(service, f"/o/{number}")
        left.append(len(column(service, DavLock.root)))
    assert left == [5, 3, 3]
    for path in ("/o/1/b", "/o/1/b/c", "/o/10"):
        acquire(service, path)
    change(service, locks.release_all, "/o/1")
    assert column(service, DavLock.root) == ["/o/0", "/o/10", "/o/2"]


def test_locks_are_limited_for_a_user_a_resource_and_in_all(service, monkeypatch):
    for name, most in (("MOST_ON_RESOURCE", 2), ("MOST_OF_USER", 3), ("MOST", 5)):
        monkeypatch.setattr(locks, name, most)
    for _ in range(2):
        acquire(service, "/o/a", exclusive=False)
    with pytest.raises(TooManyLocksError):
        acquire(service, "/o/a", exclusive=False)
    acquire(service, "/o/b")
    with pytest.raises(TooManyLocksError):
        acquire(service, "/o/c")
    for name in "cd":
        acquire(service, f"/o/{name}", user=BOB)
    with pytest.raises(TooManyLocksError):
        acquire(service, "/o/e", user="ucy")


def test_of_six_exclusive_locks_at_once_one_is_granted(service, stored):
    barrier = Barrier(6)

    def attempt(number):
        with stored.app.app_context():
            barrier.wait()
            return acquire(current_service(), f"/o/{number // 6}", user=f"u{number}")

    with ThreadPoolExecutor(6) as pool:
        refused = list(pool.map(attempt, range(30)))
    for number in range(5):
        assert sorted(refused[number * 6 : number * 6 + 6]) == [[]] + [[f"/o/{number}"]] * 5


def put(service, path, name="{urn:x}a", value="<a>1</a>", *, user=ADA):
    with service.writing() as session:
        properties.check(session, path, {name: value}, user)
        properties.write(session, path, {name: value}, user)


def values(service, path):
    with service.reading(orm=True) as session:
        return properties.find_all(session, path, None, "0").get(path, {})


def is_refused(service, *arguments, **options):
    with pytest.raises(PropertyLimitError) as caught:
        put(service, *arguments, **options)
    return caught.value.status == 507


def test_a_property_is_written_replaced_and_removed(service):
    put(service, "/o/a", value='<x:a xmlns:x="urn:x">Zo&#235;</x:a>')
    put(service, "/o/a", name="{urn:x}b")
    assert values(service, "/o/a") == {"{urn:x}a": '<x:a xmlns:x="urn:x">Zo&#235;</x:a>', "{urn:x}b": "<a>1</a>"}
    put(service, "/o/a", value="<a>2</a>", user=BOB)
    assert values(service, "/o/a")["{urn:x}a"] == "<a>2</a>"
    change(service, properties.remove, "/o/a", ["{urn:x}a", "{urn:x}c"])
    assert list(values(service, "/o/a")) == ["{urn:x}b"]


def test_properties_follow_a_moved_folder_and_go_with_a_deleted_or_replaced_one(service):
    for path in ("/o/a", "/o/a/b.jpg", "/o/a/b/c.jpg", "/o/a-b", "/o/a0", "/o/new/old.jpg"):
        put(service, path)
    change(service, properties.move, "/o/a", "/o/new")
    others = ["/o/a-b", "/o/a0"]
    assert column(service, DavProperty.path) == [*others, "/o/new", "/o/new/b.jpg", "/o/new/b/c.jpg"]
    change(service, properties.remove_all, "/o/new")
    assert column(service, DavProperty.path) == others


def test_a_copy_gets_the_properties_and_they_count_for_who_copies(service, monkeypatch):
    monkeypatch.setattr(properties, "MOST_OF_USER", 3)
    for path in ("/o/a", "/o/a/b.jpg"):
        put(service, path)
    put(service, "/o/f")
    for target in ("/o/c", "/o/d", "/o/e", "/o/f"):
        change(service, properties.copy, "/o/a", target, BOB)
    assert column(service, DavProperty.path) == ["/o/a", "/o/a/b.jpg", "/o/c", "/o/d", "/o/e"]
    assert is_refused(service, "/o/g", user=BOB)


def test_properties_that_would_get_too_long_a_path_are_left_out(service):
    put(service, "/a")
    put(service, "/a/" + "b" * 1990)
    change(service, properties.move, "/a", "/c" * 10)
    assert column(service, DavProperty.path) == ["/c" * 10]
    for length in (1999, 2000):
        change(service, properties.copy, "/c" * 10, "/" + "d" * length, ADA)
    assert [len(path) for path in column(service, DavProperty.path)] == [20, 2000]


def test_sizes_and_numbers_of_properties_are_limited(service, monkeypatch):
    refused = partial(is_refused, service)
    put(service, "/o/a", value="<a>" + "x" * 65_529 + "</a>")
    assert refused("/o/a", value="<a>" + "x" * 65_530 + "</a>")
    put(service, "/" + "".join(Random(1).choices(ascii_letters, k=1999)), name="{urn:x}" + "ä" * 246)
    assert refused("/" + "a" * 2000)
    assert refused("/o/a", name="{urn:x}" + "ä" * 247)
    monkeypatch.setattr(properties, "MOST_ON_RESOURCE", 2)
    put(service, "/o/a", name="b")
    assert refused("/o/a", name="c")
    put(service, "/o/a", name="b", value="<b/>")
    monkeypatch.setattr(properties, "MOST_CHARACTERS_OF_USER", 70_000)
    assert refused("/o/d", value="<a>" + "x" * 5000 + "</a>")
    put(service, "/o/d", user=BOB)
