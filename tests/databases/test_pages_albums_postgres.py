"""Albums as pages on PostgreSQL."""

import re

import pytest
from sqlalchemy import select

from photosvc.library import albums
from photosvc.models import Photo
from photosvc.search.rows.write import project
from tests.helpers.api_client import open_api
from tests.helpers.browser import OWN, Browser, text_of
from tests.helpers.factories.photos import add_photos, edit_photos


@pytest.fixture(scope="module")
def filled_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("albums")) as api:
        with api.library.session() as session:
            add_photos(session, 30, api.clock())
            ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
            edit_photos(session, ids[1:2], private=True)
            project(session, ids)
        yield api


@pytest.fixture
def alice(filled_api):
    """`alice`, in a library without albums of people."""
    browser = Browser(filled_api)
    assert browser.sign_in().status_code == 303
    for album in call(filled_api, "GET", "/albums?count=1000"):
        call(filled_api, "DELETE", f"/albums/{album['UID']}")
    return browser


def call(library, method, path, json=None):
    answer = library.call(method, path, library.app_password("alice"), json=json)
    assert answer.status_code == 200, answer.text
    return answer.json


def make(alice, status=303, **form):
    answer = alice.send("/albums/new", {"Title": "Lake", "kind": "chosen", "Order": "oldest", **form})
    assert answer.status_code == status, text_of(answer)
    return re.match(r"/albums/(\w+)\?done=made", answer.headers["Location"])[1] if status == 303 else answer


def uids(library, **parameters):
    found = library.library.find(token=library.app_password("alice"), merged="true", count=1000, **parameters)
    return [record["UID"] for record in found]


def open_text(alice, path, **query):
    answer = alice.open(path, headers=OWN, query_string=query)
    assert answer.status_code == 200
    return text_of(answer)


def test_on_postgresql_a_deleted_album_comes_back_too(tmp_path, new_postgres, monkeypatch):
    monkeypatch.setattr(albums, "MOST_AT_ONCE", 2)
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        with api.library.session() as session:
            add_photos(session, 6, api.clock())
            project(session, list(session.scalars(select(Photo.id))))
        alice = Browser(api)
        alice.sign_in()
        uid = make(alice, kind="found", Filter="quality:0-")
        expected = uids(api, s=uid)
        assert len(expected) > 4
        alice.send(f"/albums/{uid}/delete", {})
        assert "is deleted" in open_text(alice, "/albums", deleted=uid)
        assert alice.send(f"/albums/{uid}/restore", {}).status_code == 303
        assert uids(api, s=uid) == expected
