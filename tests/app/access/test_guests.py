"""Guests, the accounts that see nothing but the albums shared with them: every route shows them these and no more."""

from itertools import count

import pytest

from photosvc.models import CLIENT_TOKEN
from photosvc.web.contract import VISITORS
from tests.app.access.sharing import OUTSIDE, filled, open_shared, refuses_to_tell, routes, send, values_of
from tests.helpers.api_client import HASH, PASSWORD, check_error
from tests.helpers.factories.accounts import add_client, add_credential, add_user

_number = count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with open_shared(tmp_path_factory.mktemp("guests")) as shared:
        yield shared


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


def ways(shared, photo, headers):
    """Every way to a photo of the shared album, for a guest who got these headers while it was shared."""
    preview, download = headers["X-Preview-Token"], headers["X-Download-Token"]
    return [
        f"/t/{photo['Hash']}/{preview}/fit_720",
        f"/t/{photo['Hash']}/{download}/tile_224",
        f"/dl/{photo['Hash']}",
        f"/dl/{photo['Hash']}?t={download}",
        f"/photos/{photo['UID']}/dl",
        f"/albums/{shared.album}",
        f"/albums/{shared.album}/dl",
        f"/albums/{shared.album}/dl?t={download}",
        f"/photos?s={shared.album}",
        f"/photos/view?s={shared.album}",
    ]


def found_by(shared, token, query=""):
    answer = send(shared, "GET", "/api/v1/photos", token, query=f"?count=99{query}")
    assert answer.status_code == 200, answer.text
    return sorted(photo["Name"] for photo in answer.json)


@pytest.mark.slow(minutes=1)
def test_no_route_shows_a_guest_anything_that_is_not_shared(shared, guest):
    share(shared, guest)
    app, token = shared.api.library.app, guest[2]
    hidden = {*shared.identifiers(shared.outside), *OUTSIDE, shared.other, "Smart pictures"}
    headers = send(shared, "GET", "/api/v1/photos", token).headers
    queries = ("", "?q=Outsidetitle", f"?s={shared.other}", "?count=50&q=person:Bob*&by=year", "?filter=private:true")
    tried = 0
    for method, rule, _ in routes(app):
        if ("DELETE" in method and ("session" in rule.rule or "shared" in rule.rule)) or rule.rule == "/sign-out":
            continue
        for album, name in (
            (shared.other, "outsidefile0"),
            (shared.album, "insidefile2"),
            (shared.album, "insidefile0"),
        ):
            path = filled(rule, values_of(shared, album, shared.photos[name], headers["X-Preview-Token"]))
            if path.endswith("/leave"):
                continue
            ids = [shared.photos[one]["UID"] for one in ("outsidefile1", "insidefile0")]
            body = {"photos": ids, "albums": [shared.other], "q": "Outsidetitle"} if method != "GET" else None
            for query in queries if method == "GET" else ("",):
                answer = send(shared, method, path, token, body=body, query=query)
                assert answer.status_code < 500 or answer.status_code == 501, (method, path, answer.text)
                refuses_to_tell(answer, hidden, path + str(body) + query)
                tried += 1
    assert tried > 500
    assert found_by(shared, token) == shared.inside  # the share is as it was


def test_routes_that_show_photos_are_open_to_guests_only_if_they_are_to_visitors(shared, guest):
    share(shared, guest)
    token = guest[2]
    about_accounts = ("/api/v1/session", "/api/v1/users/", "/api/v1/shared")
    for method, rule, view in routes(shared.api.library.app):
        path = filled(rule, values_of(shared, shared.album, shared.photos["insidefile0"], "x"))
        closed = not getattr(view, VISITORS, False) and getattr(view, "photosvc_action", "public") != "public"
        if closed and rule.rule.startswith("/api/v1") and not rule.rule.startswith(about_accounts):
            answer = send(shared, method, path, token, body={} if method != "GET" else None)
            assert answer.status_code == 403, (method, path, answer.status_code)


@pytest.mark.parametrize("album", ["album", "smart"])
def test_private_archived_and_hidden_photos_are_left_out_by_every_way(shared, guest, album):
    share(shared, guest, getattr(shared, album))
    token = guest[2]
    found = send(shared, "GET", "/api/v1/photos?count=99", token)
    assert sorted(photo["Name"] for photo in found.json) == shared.inside
    for name in ("insidefile2", "insidefile3", "insidefile4", "outsidefile0"):
        for path in ways(shared, shared.photos[name], found.headers)[:5]:
            assert send(shared, "GET", f"/api/v1{path}", token).status_code == 404, (name, path)


def test_a_share_that_ends_is_closed_at_once_by_every_way(shared, guest):
    share(shared, guest)
    token, photo = guest[2], shared.photos["insidefile0"]
    headers = send(shared, "GET", "/api/v1/photos", token).headers
    waiting = send(shared, "POST", "/api/v1/zip", token, body={"photos": [photo["UID"]]}).json["filename"]
    tag = send(shared, "GET", f"/api/v1/photos?s={shared.album}", token).headers["ETag"]
    for path in ways(shared, photo, headers):
        assert send(shared, "GET", f"/api/v1{path}", token).status_code == 200, path
    remove(shared, guest)
    for path in ways(shared, photo, headers):
        assert send(shared, "GET", f"/api/v1{path}", token).status_code == 404, path
    archive = send(shared, "GET", f"/api/v1/zip/{waiting}", token)
    assert b"insidefile0" not in archive.data
    kept = {"Authorization": f"Bearer {token}", "If-None-Match": tag}
    assert shared.api.call("GET", f"/photos?s={shared.album}", headers=kept).status_code == 404
    assert found_by(shared, token) == []
    assert send(shared, "GET", "/api/v1/shared", token).json == []


@pytest.mark.parametrize("change", ["private album", "deleted album", "disabled sharer", "sharer as viewer"])
def test_a_share_opens_nothing_while_its_album_or_its_maker_may_not_share(shared, guest, change):
    with shared.api.library.session() as session:
        name = f"sharer{next(_number)}"
        uid = add_user(session, name, "user", password_hash=HASH).uid
    sharer = shared.api.session_of(name, PASSWORD)
    api, admin = shared.api, shared.api.session_of("ann", PASSWORD)
    album = api.call("POST", "/albums", sharer, json={"Title": f"By {name}"}).json["UID"]
    chosen = {"photos": [shared.photos["insidefile0"]["UID"]]}
    assert api.call("POST", f"/albums/{album}/photos", sharer, json=chosen).status_code == 200
    assert api.call("POST", f"/albums/{album}/accounts", sharer, json={"Account": guest[0]}).status_code == 200
    assert found_by(shared, guest[2]) == ["insidefile0"]
    made = {
        "private album": ("PUT", f"/albums/{album}", {"Private": True}),
        "deleted album": ("DELETE", f"/albums/{album}", None),
        "disabled sharer": ("PUT", f"/users/{uid}", {"Disabled": True}),
        "sharer as viewer": ("PUT", f"/users/{uid}", {"Role": "viewer"}),
    }[change]
    assert api.call(made[0], made[1], admin, json=made[2]).status_code == 200
    assert found_by(shared, guest[2]) == []
    assert send(shared, "GET", "/api/v1/shared", guest[2]).json == []
    photo = shared.photos["insidefile0"]
    assert send(shared, "GET", f"/api/v1/dl/{photo['Hash']}", guest[2]).status_code == 404


def test_without_an_album_a_guest_searches_all_that_are_shared_and_names_one_by_s(shared, guest):
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


@pytest.mark.parametrize("path", ["/photos", "/photos/view"])
@pytest.mark.parametrize(
    "query", ["q=Insidetitle", "q=person:Ada*", "camera=Maplecam", "q=album:Otheralbum", "private=1"]
)
def test_guests_cannot_ask_by_words_or_by_filters_that_tell_more_than_the_pictures(shared, guest, path, query):
    share(shared, guest)
    check_error(send(shared, "GET", f"/api/v1{path}", guest[2], query=f"?{query}"), 403)


def test_app_passwords_and_clients_of_a_guest_are_confined_too(shared, guest):
    share(shared, guest)
    api = shared.api
    with api.library.session() as session:
        from photosvc.models import User

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
        for path in ("/photos/facets?by=year", "/albums", "/suggest?q=a", "/audit", "/trash", "/config", "/geo"):
            assert send(shared, "GET", f"/api/v1{path}", token).status_code == 403, path


def test_a_viewer_who_becomes_a_guest_loses_the_library_at_once(shared, guest):
    api = shared.api
    with api.library.session() as session:
        uid = add_user(session, f"shrunk{next(_number)}", "viewer", password_hash=HASH).uid
        from photosvc.models import User

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
