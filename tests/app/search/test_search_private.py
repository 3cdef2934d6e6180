"""Private photos stay private over HTTP: no request of a viewer or an OAuth client shows more than it may see."""

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.models import Photo
from photosvc.search.reading.request import ORDERS
from tests.app.oauth.oauth_client import open_oauth_api
from tests.databases.search.query_strategies import QUERIES
from tests.databases.search.varied_library import fill_varied_library, uid, visible_to_all
from tests.helpers.examples import examples

QUICK = examples(300, everyday=20, suppress_health_check=list(HealthCheck))
SECRET_ALBUM = uid("a", 2)


@pytest.fixture(scope="module")
def oauth(new_database, tmp_path_factory):
    settings = {"PHOTOSVC_DATABASE_URI": new_database()}
    with open_oauth_api(tmp_path_factory.mktemp("private"), settings=settings) as oauth:
        yield oauth


@pytest.fixture(scope="module")
def visible(oauth):
    with oauth.library.session() as session:
        photos, _ = fill_varied_library(session)
        return visible_to_all(photos)


@pytest.fixture(scope="module", params=["viewer", "client"])
def token(request, oauth):
    if request.param == "viewer":
        return oauth.library.token("photos", role="viewer")
    return oauth.token(oauth.register("photos"))


def check_nothing_private(oauth, token, visible, query, **asked):
    answer = oauth.library.get({"q": query, "count": 1000, "total": "true", **asked}, token=token)
    assert answer.status_code in {200, 400, 404}, answer.text
    if answer.status_code == 200:
        found = {record["FileUID"] for record in answer.json}
        found |= {file["UID"] for record in answer.json for file in record["Files"]}
        assert found <= visible
        assert answer.headers["X-Total-Count"] == str(len(found))


ASKED = given(QUERIES, st.sampled_from(sorted(ORDERS)), st.sampled_from(["true", "false"]))


def test_a_viewer_and_a_client_see_all_that_is_open_and_others_more(oauth, token, visible):
    found = {record["FileUID"] for record in oauth.library.find(token=token, count=1000)}
    assert found == visible
    assert found < {record["FileUID"] for record in oauth.library.find(
        token=oauth.library.token("photos", role="user"), count=1000, q="private:true | private:false | archived:true"
    )}  # fmt: skip


@QUICK
@ASKED
@example("private:true | lake", "newest", "true")
@example("-(private:false)", "added", "true")
@example("archived:true | hidden:true | error:true", "name", "false")
@example("-(hidden:false lake) | -(-archived:true)", "random", "true")
@example(f"album:{SECRET_ALBUM} | album:secret", "relevance", "true")
@example("near:p000000000000002 dist:20038 | private:true", "oldest", "false")
def test_no_query_shows_them_what_is_private(oauth, token, visible, query, order, merged):
    check_nothing_private(oauth, token, visible, query, order=order, merged=merged)


def test_a_private_album_is_to_them_as_one_that_does_not_exist(oauth, token, visible):
    hidden, unknown = (oauth.library.get({"s": album}, token=token) for album in (SECRET_ALBUM, uid("a", 99)))
    assert (hidden.status_code, hidden.json) == (unknown.status_code, unknown.json)
    assert hidden.status_code == 404


def test_a_hidden_photo_is_to_them_no_place_to_search_around(oauth, token, visible):
    with oauth.library.session() as session:
        hidden = [
            photo.uid for photo in session.scalars(select(Photo)) if not {file.uid for file in photo.files} & visible
        ]
    assert len(hidden) > 5
    for photo_uid in hidden:
        answer = oauth.library.get({"near": photo_uid, "dist": 500}, token=token)
        unknown = oauth.library.get({"near": uid("p", 999), "dist": 500}, token=token)
        assert answer.status_code == unknown.status_code == 404
        assert answer.text.replace(photo_uid, "") == unknown.text.replace(uid("p", 999), "")
