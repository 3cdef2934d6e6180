"""The users of a host app as principals of photosvc: their rights, and the limits of other sites."""

import pytest
from flask import abort, request
from sqlalchemy import text

from photosvc import HostUser, PhotoService
from photosvc.core.errors import SettingError
from tests.app.embed.host import NAMES, found, new_app, open_host, token_of, who_signed_in

PHOTOS = "/media/api/v1/photos"
OWN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def host(tmp_path):
    with open_host(tmp_path / "host", principal_loader=who_signed_in) as app:
        yield app


def signed_in(app, name="user"):
    client = app.test_client()
    client.post(f"/sign-in/{name}")
    return client


def test_nobody_finds_anything_before_signing_in_and_after_signing_out(host):
    client = host.test_client()
    assert client.get(PHOTOS).status_code == 401
    client.post("/sign-in/viewer")
    assert found(client.get(PHOTOS)) == ["lake.jpg", "moon.jpg"]
    client.post("/sign-out")
    assert client.get(PHOTOS).status_code == 401


def test_a_user_sees_photos_by_the_role(host):
    for role, names in (("viewer", NAMES[:2]), ("user", NAMES), ("admin", NAMES)):
        assert found(signed_in(host, role).get(PHOTOS)) == list(names), role


@pytest.mark.parametrize(("role", "sees", "names"), [("viewer", True, NAMES), ("admin", False, NAMES[:2])])
def test_the_host_decides_whether_a_user_sees_private_photos(tmp_path, role, sees, names):
    user = HostUser(id="7", role=role, sees_private=sees)
    with open_host(tmp_path / "host", principal_loader=lambda: user) as app:
        assert found(app.test_client().get(PHOTOS)) == list(names)


@pytest.mark.parametrize("role", ["user", "admin"])
def test_without_sight_of_private_photos_a_user_neither_lists_nor_restores_deleted_ones(tmp_path, role):
    user = [HostUser(id="1", role="user")]
    with open_host(tmp_path / "host", principal_loader=lambda: user[0]) as app:
        client, api = app.test_client(), "/media/api/v1"
        (photo,) = (record["UID"] for record in client.get(PHOTOS).json if record["FileName"] == NAMES[2])
        one = {"photos": [photo]}
        assert client.post(f"{api}/batch/photos/delete", json=one, headers=OWN).json["photos"] == 1
        assert [kept["Name"] for kept in client.get(f"{api}/trash").json] == [NAMES[2]]
        user[0] = HostUser(id="2", role=role, sees_private=False)
        for path in ("/trash", "/index", "/errors"):
            assert client.get(api + path).status_code == 403, path
        for body in (one, {"all": True}):
            assert client.post(f"{api}/trash/restore", json=body, headers=OWN).status_code == 403
        assert client.delete(f"{api}/trash", json={"days": 0}, headers=OWN).status_code == 403
        assert client.get(f"{PHOTOS}/{photo}/history").status_code == 404
        for page in ("library", "library/trash", "library/failures", "look-alikes", "statistics"):
            assert client.get(f"/media/administration/{page}", headers=OWN).status_code == 403, page
        assert "/administration/library" not in client.get("/media/", headers=OWN).text
        user[0] = HostUser(id="1", role="user")
        assert client.post(f"{api}/trash/restore", json=one, headers=OWN).json["photos"] == [photo]


def first_photo(client):
    return client.get(f"{PHOTOS}?filename=lake.jpg").json[0]


def test_users_change_photos_and_the_history_names_them_and_viewers_may_not(host):
    client = signed_in(host)
    photo = f"{PHOTOS}/{first_photo(client)['UID']}"
    assert client.put(photo, json={"Title": "Evening"}, headers=OWN).status_code == 200
    assert client.get(f"{photo}/history").json[0]["ActorName"] == "user"
    assert signed_in(host, "viewer").put(photo, json={"Title": "Mine"}, headers=OWN).status_code == 403


def test_accounts_the_security_log_and_originals_are_closed_even_to_admins_of_the_host(host):
    client = signed_in(host, "admin")
    for path in ("api/v1/session", "api/v1/users", "api/v1/audit", "originals/lake.jpg"):
        assert client.get(f"/media/{path}").status_code == 403, path


def test_a_scope_narrows_the_rights_of_the_role(tmp_path):
    user = HostUser(id="7", role="admin", scope="photos read")
    with open_host(tmp_path / "host", principal_loader=lambda: user) as app:
        client = app.test_client()
        assert client.get(PHOTOS).status_code == 200
        assert client.get("/media/api/v1/albums?count=1").status_code == 403
        assert client.post(f"{PHOTOS}/{first_photo(client)['UID']}/like", headers=OWN).status_code == 403


def test_only_the_chosen_actions_count_the_others_need_a_token(tmp_path):
    actions = ("photos.search", "photos.preview")
    with open_host(tmp_path / "host", principal_loader=who_signed_in, principal_actions=actions) as app:
        client = signed_in(app)
        photo = first_photo(client)
        assert client.get(f"{PHOTOS}/{photo['UID']}").status_code == 401
        assert client.get(f"{PHOTOS}/{photo['UID']}", headers={"X-Auth-Token": token_of(app)}).status_code == 200


def test_a_loader_may_leave_out_routes_by_itself(tmp_path):
    def loader():
        return who_signed_in() if request.path.endswith("/photos") else None

    with open_host(tmp_path / "host", principal_loader=loader) as app:
        client = signed_in(app)
        assert client.get(PHOTOS).status_code == 200
        assert client.get("/media/api/v1/albums?count=1").status_code == 401


def test_a_token_of_photosvc_comes_before_the_user_of_the_host(host):
    client = signed_in(host, "admin")
    assert found(client.get(PHOTOS, headers={"X-Auth-Token": token_of(host)})) == list(NAMES[:2])


def test_a_wrong_token_in_a_header_of_photosvc_is_refused_although_the_host_knows_the_user(host):
    for header in ("X-Auth-Token", "X-Session-ID"):
        assert signed_in(host, "admin").get(PHOTOS, headers={header: "0" * 48}).status_code == 401, header


@pytest.mark.parametrize("token", ["of-the-host", "0" * 48, "eyJhbGciOiJub25lIn0.eyJzdWIiOiI3In0.c2ln"])
def test_a_bearer_token_of_the_host_is_left_to_the_host_and_counts_as_no_failure(tmp_path, token):
    def loader():
        shown = request.authorization
        return HostUser(id="7") if shown and shown.token == token else None

    with open_host(tmp_path / "host", principal_loader=loader) as app:
        client, headers = app.test_client(), {"Authorization": f"Bearer {token}"}
        assert [client.get(PHOTOS, headers=headers).status_code for _ in range(70)] == [200] * 70
        assert client.get(PHOTOS, headers={"Authorization": "Bearer other"}).status_code == 401


def links(client):
    answer = client.get(PHOTOS)
    tokens = (answer.headers[name] for name in ("X-Preview-Token", "X-Download-Token"))
    return next(record["Hash"] for record in answer.json), *tokens


def status(client, path):
    with client.get(path) as answer:
        return answer.status_code


def test_thumbnails_and_originals_open_for_the_user_who_is_signed_in_and_for_nobody_else(host):
    client = signed_in(host)
    content, preview, download = links(client)
    paths = (f"/media/api/v1/t/{content}/{preview}/tile_100", f"/media/api/v1/dl/{content}?t={download}")
    assert [status(client, path) for path in paths] == [200, 200]
    for other in (signed_in(host, "viewer"), host.test_client()):
        assert [status(other, path) for path in paths] == [403, 403]
    client.post("/sign-out")
    assert [status(client, path) for path in paths] == [403, 403]


def test_a_link_is_over_when_the_role_changes(tmp_path):
    roles = ["user"]
    with open_host(tmp_path / "host", principal_loader=lambda: HostUser(id="7", role=roles[0])) as app:
        client = app.test_client()
        content, preview, _ = links(client)
        path = f"/media/api/v1/t/{content}/{preview}/tile_100"
        assert status(client, path) == 200
        roles[0] = "viewer"
        assert status(client, path) == 403


def test_links_have_nothing_of_the_users_id_in_them(tmp_path):
    with open_host(tmp_path / "host", principal_loader=lambda: HostUser(id="jane.doe@example.org")) as app:
        _, preview, download = links(app.test_client())
    assert not any("jane" in token or "@" in token for token in (preview, download))


#: Whether a request that changes something is taken, by what a browser says about where it comes from.
FROM = [
    ({"Sec-Fetch-Site": "same-origin"}, True),
    ({"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}, True),
    ({"Sec-Fetch-Site": "same-site"}, False),
    ({"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"}, False),
    ({"Sec-Fetch-Site": "none"}, False),
    ({"Origin": "http://localhost"}, True),
    ({"Origin": "http://localhost:8081"}, False),
    ({"Origin": "https://localhost"}, False),
    ({"Origin": "null"}, False),
    ({"Origin": "http://evil.example"}, False),
    ({}, False),
]


def test_other_sites_change_nothing_with_the_cookie_of_the_host(host):
    client, token = signed_in(host), token_of(host)
    like = f"{PHOTOS}/{first_photo(client)['UID']}/like"
    for headers, taken in FROM:
        assert client.post(like, headers=headers).status_code == (200 if taken else 403), headers
        assert client.get(PHOTOS, headers=headers).status_code == 200, headers
        assert client.post(like, headers={**headers, "X-Auth-Token": token}).status_code == 200, headers


def test_the_public_address_is_an_own_page_too_where_it_is_set(tmp_path):
    config = {"PHOTOSVC_BASE_URL": "https://photos.example.org/media"}
    with open_host(tmp_path / "host", principal_loader=who_signed_in, config=config) as app:
        client = signed_in(app)
        like = f"{PHOTOS}/{first_photo(client)['UID']}/like"
        assert client.post(like, headers={"Origin": "https://photos.example.org"}).status_code == 200
        assert client.post(like, headers={"Origin": "https://example.org"}).status_code == 403


def test_a_request_with_a_bearer_token_of_the_host_needs_no_origin(tmp_path):
    with open_host(tmp_path / "host", principal_loader=lambda: HostUser(id="7", role="user")) as app:
        client = app.test_client()
        like = f"{PHOTOS}/{first_photo(client)['UID']}/like"
        assert client.post(like, headers={"Authorization": "Bearer of-the-host"}).status_code == 200
        assert client.post(like, headers={"Authorization": "Basic YTpi"}).status_code == 403


def test_a_loader_may_write_into_the_database_of_the_host(tmp_path):
    def loader():
        db.session.execute(text("INSERT INTO seen VALUES (1)"))
        db.session.commit()  # would wait for a reader that is left open, without a write-ahead log
        return HostUser(id="7")

    with open_host(tmp_path / "host", principal_loader=loader) as app:
        db = app.extensions["sqlalchemy"]
        with app.app_context():
            db.session.execute(text("CREATE TABLE seen (times INTEGER)"))
            db.session.execute(text("PRAGMA busy_timeout=100"))
            db.session.commit()
        client = app.test_client()
        content, preview, _ = links(client)
        assert status(client, f"/media/api/v1/t/{content}/{preview}/tile_100") == 200
        app.extensions["photosvc"].schema_fits = False  # as in a new process, whose first request looks at the schema
        assert client.get(PHOTOS).status_code == 200
        with app.app_context():
            assert db.session.scalar(text("SELECT count(*) FROM seen")) == 3


def test_a_loader_that_gives_something_else_is_a_defect_and_lets_nobody_in(tmp_path):
    with open_host(tmp_path / "host", principal_loader=lambda: "admin") as app:
        assert app.test_client().get(PHOTOS).status_code == 500


def test_a_loader_may_refuse_by_itself(tmp_path):
    with open_host(tmp_path / "host", principal_loader=lambda: abort(403)) as app:
        assert app.test_client().get(PHOTOS).status_code == 403


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"principal_loader": "viewer"}, "principal_loader must be a function"),
        ({"principal_actions": ("photos.search",)}, "give both"),
        ({"principal_loader": who_signed_in, "principal_actions": ("photos.eat",)}, '"photos.eat" is no action'),
        ({"principal_loader": who_signed_in, "principal_actions": ("users.list",)}, '"users.list" is no action'),
    ],
)
def test_options_that_make_no_sense_are_refused_at_mount(tmp_path, options, sentence):
    app, db = new_app(tmp_path / "host")
    with pytest.raises(SettingError) as refused:
        PhotoService(app, db=db, **options)
    assert sentence in refused.value.message


def test_requests_in_one_app_context_do_not_share_a_principal(host):
    client = host.test_client()
    token = {"X-Auth-Token": token_of(host)}
    with host.app_context():
        answers = [client.get(PHOTOS, headers=headers) for headers in (token, {}, token, {"X-Auth-Token": "0" * 48})]
    assert [answer.status_code for answer in answers] == [200, 401, 200, 401]


def test_the_web_page_shows_users_of_the_host_no_log_in_of_its_own(host):
    page = signed_in(host, "viewer").get("/media/").text
    assert "Sign out" not in page
    assert "/settings/account" not in page
    assert 'href="/media/sign-in"' in host.test_client().get("/media/").text
