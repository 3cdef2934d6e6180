"""Guests: every route shows them the albums that are shared with them and no more."""

from itertools import count, product

import pytest

from photosvc.models import CLIENT_TOKEN, User
from tests.app.access.sharing import OUTSIDE, check_left_out, send, walk, ways
from tests.helpers.api_client import HASH, PASSWORD, check_error
from tests.helpers.factories.accounts import add_client, add_credential, add_user

_number = count()


@pytest.fixture
def guest(shared):
    """The name, UID and session of a new guest."""
    name = f"guest{next(_number)}"
    with shared.api.library.session() as session:
        uid = add_user(session, name, "guest", password_hash=HASH).uid
    return name, uid, shared.api.session_of(name, PASSWORD)


def share(shared, guest, album=None, role="viewer"):
    path = f"/albums/{album or shared.album}/accounts"
    answer = shared.api.call("POST", path, shared.token, json={"Account": guest[0], "Role": role})
    assert answer.status_code == 200, answer.text


def remove(shared, guest, album=None):
    path = f"/albums/{album or shared.album}/accounts/{guest[1]}"
    assert shared.api.call("DELETE", path, shared.token).status_code == 200


def found_by(shared, token, query=""):
    answer = send(shared, "GET", "/api/v1/photos", token, query=f"?count=99{query}")
    assert answer.status_code == 200, answer.text
    return sorted(photo["Name"] for photo in answer.json)


def test_no_route_shows_a_guest_unshared_photos_and_only_routes_for_visitors_show_photos(shared, guest):
    share(shared, guest)
    hidden = {*shared.identifiers(shared.outside), *OUTSIDE, shared.other, "Smart pictures"}
    walk(shared, guest[2], hidden, ("/api/v1/session", "/api/v1/users/", "/api/v1/shared"))
    assert found_by(shared, guest[2]) == shared.inside  # the share is as it was


def test_private_archived_and_hidden_photos_are_left_out_by_every_way(shared, guest):
    share(shared, guest)
    check_left_out(shared, guest[2], shared.album)
    remove(shared, guest)
    share(shared, guest, shared.smart)
    check_left_out(shared, guest[2], shared.smart)


def test_a_share_that_ends_is_closed_at_once_by_every_way(shared, guest):
    share(shared, guest)
    token, photo = guest[2], shared.photos["insidefile0"]
    headers = send(shared, "GET", "/api/v1/photos", token).headers
    waiting = send(shared, "POST", "/api/v1/zip", token, body={"photos": [photo["UID"]]}).json["filename"]
    tag = send(shared, "GET", f"/api/v1/photos?s={shared.album}", token).headers["ETag"]
    paths = [path for group in ways(shared, photo, headers) for path in group]
    for path in paths:
        assert send(shared, "GET", f"/api/v1{path}", token).status_code == 200, path
    remove(shared, guest)
    for path in paths:
        assert send(shared, "GET", f"/api/v1{path}", token).status_code == 404, path
    archive = send(shared, "GET", f"/api/v1/zip/{waiting}", token)
    assert b"insidefile0" not in archive.data
    kept = {"Authorization": f"Bearer {token}", "If-None-Match": tag}
    assert shared.api.call("GET", f"/photos?s={shared.album}", headers=kept).status_code == 404
    assert found_by(shared, token) == []
    assert send(shared, "GET", "/api/v1/shared", token).json == []


def test_a_share_opens_nothing_while_its_album_or_its_maker_may_not_share(shared, guest):
    api, admin = shared.api, shared.api.session_of("ann", PASSWORD)
    chosen, content_hash = {"photos": [shared.photos["insidefile0"]["UID"]]}, shared.photos["insidefile0"]["Hash"]
    for method, path, body in (
        ("PUT", "/albums/{album}", {"Private": True}),
        ("DELETE", "/albums/{album}", None),
        ("PUT", "/users/{sharer}", {"Disabled": True}),
        ("PUT", "/users/{sharer}", {"Role": "viewer"}),
    ):
        with api.library.session() as session:
            name = f"sharer{next(_number)}"
            uid = add_user(session, name, "user", password_hash=HASH).uid
        sharer = api.session_of(name, PASSWORD)
        album = api.call("POST", "/albums", sharer, json={"Title": f"By {name}"}).json["UID"]
        assert api.call("POST", f"/albums/{album}/photos", sharer, json=chosen).status_code == 200
        assert api.call("POST", f"/albums/{album}/accounts", sharer, json={"Account": guest[0]}).status_code == 200
        assert found_by(shared, guest[2]) == ["insidefile0"], body
        changed = path.format(album=album, sharer=uid)
        assert api.call(method, changed, admin, json=body).status_code == 200
        assert found_by(shared, guest[2]) == [], (path, body)
        assert send(shared, "GET", "/api/v1/shared", guest[2]).json == [], (path, body)
        assert send(shared, "GET", f"/api/v1/dl/{content_hash}", guest[2]).status_code == 404, (path, body)


def test_the_configuration_of_a_guest_is_that_of_the_log_in_without_the_size_of_the_library(shared, guest):
    share(shared, guest)
    login = shared.api.call("POST", "/session", json={"username": guest[0], "password": PASSWORD}).json
    assert shared.api.call("GET", "/config", login["access_token"]).json == login["config"]
    assert (login["config"]["count"], login["config"]["years"]) == (None, [])


def test_a_guest_searches_all_shared_albums_or_one_by_s(shared, guest):
    assert found_by(shared, guest[2]) == []
    share(shared, guest)
    share(shared, guest, shared.other)
    token = guest[2]
    assert found_by(shared, token) == ["insidefile0", "insidefile1", "outsidefile0"]
    assert found_by(shared, token, f"&s={shared.other}") == ["insidefile0", "outsidefile0"]
    assert found_by(shared, token, f"&s={shared.album}&order=manual") == shared.inside
    check_error(send(shared, "GET", "/api/v1/photos?order=manual", token), 400)
    check_error(send(shared, "GET", f"/api/v1/photos?s={shared.smart}", token), 404)
    titles = [album["Title"] for album in send(shared, "GET", "/api/v1/shared", token).json]
    assert titles == ["Otheralbum", "Shared pictures"]


def test_guests_cannot_ask_by_words_or_by_filters_that_tell_more_than_the_pictures(shared, guest):
    share(shared, guest)
    asked = ("q=Insidetitle", "q=person:Ada*", "camera=Maplecam", "q=album:Otheralbum", "private=1")
    for path, query in product(("/photos", "/photos/view"), asked):
        answer = send(shared, "GET", f"/api/v1{path}", guest[2], query=f"?{query}")
        assert answer.status_code == 403, (path, query)
        check_error(answer, 403)


def test_app_passwords_and_clients_of_a_guest_are_confined_too(shared, guest):
    share(shared, guest)
    api = shared.api
    with api.library.session() as session:
        user = session.query(User).filter_by(name=guest[0]).one()
        client = add_client(session, "of a guest", "admin", user_id=user.id)
        tokens = [
            add_credential(session, CLIENT_TOKEN, client_id=client.id),
            add_credential(session, "access_token", user_id=user.id),
        ]
    app = api.call(
        "POST", f"/users/{guest[1]}/app-passwords", guest[2], json={"name": "phone", "scope": "*", "password": PASSWORD}
    )
    assert app.status_code == 201, app.text
    tokens.append(next(value for value in app.json.values() if isinstance(value, str) and value.count("-") == 3))
    for token in tokens:
        assert found_by(shared, token) == shared.inside
        for path in ("/photos/facets?by=year", "/albums", "/suggest?q=a", "/audit", "/trash", "/settings", "/geo"):
            assert send(shared, "GET", f"/api/v1{path}", token).status_code == 403, path


def test_a_viewer_who_becomes_a_guest_loses_the_library_at_once(shared, guest):
    api = shared.api
    with api.library.session() as session:
        uid = add_user(session, f"shrunk{next(_number)}", "viewer", password_hash=HASH).uid
        name = session.query(User).filter_by(uid=uid).one().name
    token = api.session_of(name, PASSWORD)
    headers = send(shared, "GET", "/api/v1/photos", token).headers
    photo = shared.photos["outsidefile0"]
    address = f"/api/v1/t/{photo['Hash']}/{headers['X-Preview-Token']}/tile_224"
    assert send(shared, "GET", address, token).status_code == 200
    admin = api.session_of("ann", PASSWORD)
    assert api.call("PUT", f"/users/{uid}", admin, json={"Role": "guest"}).status_code == 200
    assert found_by(shared, token) == []
    assert send(shared, "GET", address, token).status_code == 403  # the token was that of a viewer


def test_a_proxy_lets_guests_send_large_bodies_and_no_visitors(shared, guest):
    assert send(shared, "GET", "/api/v1/credential", guest[2]).status_code == 204
    assert send(shared, "GET", "/api/v1/credential", shared.visit()).status_code == 403


def test_guests_manage_their_own_account_and_see_no_other(shared, guest):
    token, others = guest[2], shared.api.uids["ann"]
    assert send(shared, "GET", "/api/v1/session", token).json["user"]["Name"] == guest[0]
    assert send(shared, "GET", f"/api/v1/users/{guest[1]}", token).status_code == 200
    assert send(shared, "GET", f"/api/v1/users/{others}", token).status_code == 403
    assert send(shared, "PUT", f"/api/v1/users/{guest[1]}", token, body={"Role": "admin"}).status_code == 403
    assert send(shared, "GET", "/api/v1/users", token).status_code == 403
