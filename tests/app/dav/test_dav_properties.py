"""Dead properties in the database: how they are stored, follow their files, and how many there may be."""

from random import Random
from string import ascii_letters

import pytest
from sqlalchemy import delete, select

from photosvc.dav import properties
from photosvc.dav.properties import PropertyLimitError
from photosvc.models import DavProperty

ADA, BOB = "uada", "ubob"


@pytest.fixture
def table(service):
    with service.writing() as session:
        session.execute(delete(DavProperty))
    return service


def put(service, path, name="{urn:x}a", value="<a>1</a>", *, user=ADA):
    with service.writing() as session:
        properties.check(session, path, {name: value}, user)
        properties.write(session, path, {name: value}, user)


def values(service, path):
    with service.reading(orm=True) as session:
        return properties.find_all(session, path, None, "0").get(path, {})


def change(service, function, *arguments, **options):
    with service.writing() as session:
        function(session, *arguments, **options)


def is_refused(service, *arguments, **options):
    with pytest.raises(PropertyLimitError) as caught:
        put(service, *arguments, **options)
    return caught.value.status == 507


def stored_paths(service):
    with service.reading(orm=True) as session:
        return sorted(session.scalars(select(DavProperty.path)))


def test_a_property_is_written_replaced_and_removed(table):
    put(table, "/o/a", value='<x:a xmlns:x="urn:x">Zo&#235;</x:a>')
    put(table, "/o/a", name="{urn:x}b")
    assert values(table, "/o/a") == {"{urn:x}a": '<x:a xmlns:x="urn:x">Zo&#235;</x:a>', "{urn:x}b": "<a>1</a>"}
    put(table, "/o/a", value="<a>2</a>", user=BOB)
    assert values(table, "/o/a")["{urn:x}a"] == "<a>2</a>"
    change(table, properties.remove, "/o/a", ["{urn:x}a", "{urn:x}c"])
    assert list(values(table, "/o/a")) == ["{urn:x}b"]


def test_properties_follow_a_moved_folder_and_replace_those_at_its_new_name(table):
    for path in ("/o/a", "/o/a/b.jpg", "/o/a/b/c.jpg", "/o/a-b", "/o/a0", "/o/new/old.jpg"):
        put(table, path)
    change(table, properties.move, "/o/a", "/o/new")
    assert stored_paths(table) == ["/o/a-b", "/o/a0", "/o/new", "/o/new/b.jpg", "/o/new/b/c.jpg"]


def test_a_copy_gets_the_properties_and_they_count_for_who_copies(table, monkeypatch):
    monkeypatch.setattr(properties, "MOST_OF_USER", 3)
    for path in ("/o/a", "/o/a/b.jpg"):
        put(table, path)
    change(table, properties.copy, "/o/a", "/o/c", BOB, deep=False)
    assert stored_paths(table) == ["/o/a", "/o/a/b.jpg", "/o/c"]
    change(table, properties.copy, "/o/a", "/o/d", BOB, deep=True)
    put(table, "/o/e")
    assert is_refused(table, "/o/f", user=BOB)
    change(table, properties.copy, "/o/a", "/o/e", BOB, deep=True)
    assert stored_paths(table) == ["/o/a", "/o/a/b.jpg", "/o/c", "/o/d", "/o/d/b.jpg"]


def test_a_deleted_folder_takes_the_properties_inside_it_along(table):
    for path in ("/o/a", "/o/a/b.jpg", "/o/ab"):
        put(table, path)
    change(table, properties.remove_all, "/o/a")
    assert stored_paths(table) == ["/o/ab"]


def test_properties_that_would_get_too_long_a_path_are_left_out(table):
    put(table, "/a")
    put(table, "/a/" + "b" * 1990)
    change(table, properties.move, "/a", "/c" * 10)
    assert stored_paths(table) == ["/c" * 10]
    put(table, "/c" * 10 + "/" + "b" * 1970)
    change(table, properties.copy, "/c" * 10, "/" + "d" * 100, ADA, deep=True)
    assert [len(path) for path in stored_paths(table)] == [20, 1991, 101]


def test_sizes_and_numbers_are_limited(table, monkeypatch):
    put(table, "/o/a", value="<a>" + "x" * 65_529 + "</a>")
    assert is_refused(table, "/o/a", value="<a>" + "x" * 65_530 + "</a>")
    put(table, "/" + "".join(Random(1).choices(ascii_letters, k=1999)), name="{urn:x}" + "ä" * 246)
    assert is_refused(table, "/" + "a" * 2000)
    assert is_refused(table, "/o/a", name="{urn:x}" + "ä" * 247)
    monkeypatch.setattr(properties, "MOST_ON_RESOURCE", 2)
    put(table, "/o/a", name="b")
    assert is_refused(table, "/o/a", name="c")
    put(table, "/o/a", name="b", value="<b/>")
    monkeypatch.setattr(properties, "MOST_CHARACTERS_OF_USER", 70_000)
    assert is_refused(table, "/o/d", value="<a>" + "x" * 5000 + "</a>")
    put(table, "/o/d", user=BOB)
