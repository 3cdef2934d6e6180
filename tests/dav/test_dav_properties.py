"""Dead properties in the database: how they are stored, follow their files, and how many there may be."""

from random import Random
from string import ascii_letters

import pytest
from sqlalchemy import delete, select
from wsgidav.dav_error import DAVError

from photosvc.dav import properties
from photosvc.dav.property_manager import PropertyManager, element_text
from photosvc.models import DavProperty

ADA = {"wsgidav.auth.user_name": "uada"}
BOB = {"wsgidav.auth.user_name": "ubob"}


@pytest.fixture
def manager(service):
    with service.writing() as session:
        session.execute(delete(DavProperty))
    return PropertyManager(service)


def put(manager, url, name="{urn:x}a", value=b"<a>1</a>", *, environ=ADA, dry_run=False):
    manager.write_property(url, name, value, dry_run, environ)


def refused(function, *arguments, **options):
    with pytest.raises(DAVError) as caught:
        function(*arguments, **options)
    return caught.value.value


def stored_paths(service):
    with service.loading() as session:
        return sorted(session.scalars(select(DavProperty.path)))


def test_a_property_is_written_replaced_and_removed(manager):
    put(manager, "/o/a/", value=b'<x:a xmlns:x="urn:x">Zo&#235;</x:a>\n  ')
    put(manager, "/o/a", name="{urn:x}b")
    assert manager.get_properties("/o/a") == ["{urn:x}a", "{urn:x}b"]
    assert manager.get_property("/o/a", "{urn:x}a") == '<x:a xmlns:x="urn:x">Zo&#235;</x:a>'
    put(manager, "/o/a", value=b"<a>2</a>", environ=BOB)
    assert manager.get_property("/o/a/", "{urn:x}a") == "<a>2</a>"
    assert manager.get_property("/o/a", "{urn:x}c") is None
    manager.remove_property("/o/a", "{urn:x}a", True)
    assert manager.get_properties("/o/a") == ["{urn:x}a", "{urn:x}b"]
    manager.remove_property("/o/a", "{urn:x}a", False)
    manager.remove_property("/o/a", "{urn:x}c", False)
    assert manager.get_properties("/o/a") == ["{urn:x}b"]


def test_a_rehearsal_stores_nothing(manager):
    put(manager, "/o/a", dry_run=True)
    assert manager.get_properties("/o/a") == []


def test_properties_follow_a_moved_folder_and_replace_those_at_its_new_name(manager, service):
    for path in ("/o/a/", "/o/a/b.jpg", "/o/a/b/c.jpg", "/o/a-b", "/o/a0", "/o/new/old.jpg"):
        put(manager, path)
    manager.move_properties("/o/a/", "/o/new/", True)
    assert stored_paths(service) == ["/o/a-b", "/o/a0", "/o/new", "/o/new/b.jpg", "/o/new/b/c.jpg"]


def test_a_copy_gets_the_properties_and_they_count_for_who_copies(manager, service, monkeypatch):
    monkeypatch.setattr(properties, "MOST_OF_USER", 3)
    for path in ("/o/a", "/o/a/b.jpg"):
        put(manager, path)
    manager.copy_properties("/o/a/", "/o/c/", BOB)
    assert stored_paths(service) == ["/o/a", "/o/a/b.jpg", "/o/c"]
    with service.writing() as session:
        properties.copy(session, "/o/a", "/o/d", "ubob", deep=True)
    put(manager, "/o/e", environ=ADA)
    assert refused(put, manager, "/o/f", environ=BOB) == 507
    with service.writing() as session:
        properties.copy(session, "/o/a", "/o/e", "ubob", deep=True)
    assert stored_paths(service) == ["/o/a", "/o/a/b.jpg", "/o/c", "/o/d", "/o/d/b.jpg"]


def test_a_deleted_folder_takes_the_properties_inside_it_along(manager, service):
    for path in ("/o/a", "/o/a/b.jpg", "/o/ab"):
        put(manager, path)
    manager.remove_properties("/o/a/")
    assert stored_paths(service) == ["/o/ab"]


def test_properties_that_would_get_too_long_a_path_are_left_out(manager, service):
    put(manager, "/a")
    put(manager, "/a/" + "b" * 1990)
    manager.move_properties("/a", "/c" * 10, True)
    assert stored_paths(service) == ["/c" * 10]
    put(manager, "/c" * 10 + "/" + "b" * 1970)
    manager.copy_properties("/c" * 10, "/" + "d" * 100, ADA)
    with service.writing() as session:
        properties.copy(session, "/c" * 10, "/" + "d" * 100, "uada", deep=True)
    assert [len(path) for path in stored_paths(service)] == [20, 1991, 101]


def test_sizes_and_numbers_are_limited(manager, monkeypatch):
    put(manager, "/o/a", value=b"<a>" + b"x" * 65_529 + b"</a>")
    assert refused(put, manager, "/o/a", value=b"<a>" + b"x" * 65_530 + b"</a>") == 507
    put(manager, "/" + "".join(Random(1).choices(ascii_letters, k=1999)), name="{urn:x}" + "ä" * 246)
    assert refused(put, manager, "/" + "a" * 2000) == 507
    assert refused(put, manager, "/o/a", name="{urn:x}" + "ä" * 247) == 507
    monkeypatch.setattr(properties, "MOST_ON_RESOURCE", 2)
    put(manager, "/o/a", name="b")
    assert refused(put, manager, "/o/a", name="c", dry_run=True) == 507
    put(manager, "/o/a", name="b", value=b"<b/>")
    monkeypatch.setattr(properties, "MOST_CHARACTERS_OF_USER", 70_000)
    assert refused(put, manager, "/o/d", value=b"<a>" + b"x" * 5000 + b"</a>") == 507
    put(manager, "/o/d", environ=BOB)


@pytest.mark.parametrize("xml", [b"<a/>", b"<a/>\n ", b"<a>1 &gt; 0</a>tail &gt;", b"<a><b/></a>  "])
def test_the_text_behind_an_element_is_cut_off(xml):
    assert element_text(xml) in {"<a/>", "<a>1 &gt; 0</a>", "<a><b/></a>"}
