"""The photos of searches, from each to the next."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from photosvc.search.rows.write import project
from tests.helpers.api_client import open_api
from tests.helpers.browser import OWN, Browser
from tests.helpers.factories.photos import add_photos, edit_photos

HOSTILE = '"><script>alert(1)</script>\u202e{{7*7}}'


@pytest.fixture(scope="module")
def filled_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("pages")) as api:
        with api.library.session() as session:
            add_photos(session, 30, api.clock())
            ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
            edit_photos(session, ids[:1], title=HOSTILE, description=HOSTILE)
            edit_photos(session, ids[1:2], private=True)
            edit_photos(session, ids[2:3], quality=-1)
            edit_photos(session, ids[3:4], year=-1, month=-1, day=-1)
            project(session, ids)
        yield api


@pytest.fixture
def alice(filled_api):
    browser = Browser(filled_api)
    assert browser.sign_in().status_code == 303
    return browser


def uids(api, **parameters):
    found = api.library.find(token=api.app_password("alice"), merged="true", count=1000, **parameters)
    return [record["UID"] for record in found]


def test_a_photo_leads_to_the_ones_beside_it_in_the_search(filled_api, alice):
    for query, order in (("year:2020", "oldest"), ("", ""), ("tree", "relevance"), ("", "title")):
        parameters = {"q": query, "order": order or "newest"}
        expected = uids(filled_api, **parameters)
        search = "?" + "&".join(f"{k}={v}" for k, v in {"q": query, "order": order}.items() if v)
        seen, address = [], f"/photos/{expected[0]}{search.rstrip('?')}"
        while address:
            answer = alice.open(address, headers=OWN)
            seen.append(re.match(r"/photos/(\w+)", address)[1])
            before = re.search(r'rel="prev" href="/photos/(\w+)', answer.text)
            assert (before[1] if before else None) == (seen[-2] if len(seen) > 1 else None)
            following = re.search(r'rel="next" href="([^"]+)"', answer.text)
            address = unescape(following[1]) if following else ""
        assert seen == expected
