"""The revocation and introspection of clients' tokens, and their end with the client."""

import pytest
from sqlalchemy import func, select

from photosvc.auth.clients import change, remove, remove_all
from photosvc.auth.scopes import parse_scope
from photosvc.auth.tokens import verify
from photosvc.models import Client, Credential
from tests.app.oauth.oauth_client import Pair, check_oauth_error
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_token, add_user
from tests.unit.auth.operations import by_command


@pytest.fixture
def client(oauth):
    return oauth.register()


def test_a_client_revokes_its_token_by_either_method(oauth, client):
    for form, shown in (({}, client), (client.form, None)):
        token = oauth.token(client)
        answer = oauth.post("/revoke", {"token": token, **form}, shown)
        assert (answer.status_code, answer.json) == (200, {})
        assert answer.headers["Cache-Control"] == "no-store"
        assert not oauth.is_alive(token)


def test_any_holder_of_a_token_can_revoke_it(oauth, client):
    token, other = oauth.token(client), oauth.token(client)
    assert oauth.post("/revoke", {"token": token, "client_id": client.client_id}).status_code == 200
    assert not oauth.is_alive(token)
    assert oauth.is_alive(other)


def test_access_tokens_and_app_passwords_can_be_revoked_too(oauth):
    with oauth.library.session() as session:
        user = add_user(session)
        secrets = [add_token(session, NOW, user=owner) for owner in (None, user)]
    for secret in secrets:
        assert oauth.is_alive(secret)
        assert oauth.post("/revoke", {"token": secret}).status_code == 200
        assert not oauth.is_alive(secret)


def test_hints_are_not_needed_and_revoking_twice_is_fine(oauth, client):
    for hint in ("access_token", "refresh_token", "session_id", "é", ""):
        token = oauth.token(client)
        for _ in range(2):
            assert oauth.post("/revoke", {"token": token, "token_type_hint": hint}, client).status_code == 200, hint
        assert not oauth.is_alive(token), hint


def test_an_unknown_token_is_as_good_as_revoked(oauth, client):
    for token in ("x", "0" * 48, "é\x00", "a.b.c", "eyJh.eyJi.c", "sess12345678"):
        for shown in (client, None):
            answer = oauth.post("/revoke", {"token": token}, shown)
            assert (answer.status_code, answer.json) == (200, {}), token


def test_the_id_that_lists_show_revokes_nothing(oauth, client):
    token = oauth.token(client)
    with oauth.library.session() as session:
        uid = verify(session.connection(), token, NOW).credential_uid
    assert oauth.post("/revoke", {"token": uid}).status_code == 200
    assert oauth.is_alive(token)


def test_another_clients_token_is_refused_and_lives(oauth, client):
    token = oauth.token(client)
    check_oauth_error(oauth.post("/revoke", {"token": token}, oauth.register()), 400, "invalid_grant")
    assert oauth.is_alive(token)


def test_a_client_that_shows_a_wrong_secret_revokes_nothing(oauth, client):
    token = oauth.token(client)
    check_oauth_error(oauth.post("/revoke", {"token": token}, Pair(client.client_id, "x")), 401, "invalid_client")
    assert oauth.is_alive(token)


def test_a_token_must_be_named_once_in_a_form(oauth, client):
    for path in ("/revoke", "/introspect"):
        for form, options in (
            ({}, {}),
            ({"token": ""}, {}),
            ("token=a&token=b", {}),
            ({}, {"query_string": {"token": "x"}}),
            ('{"token": "x"}', {"content_type": "application/json"}),
        ):
            answer = oauth.post(path, form, client, **options)
            assert answer.status_code == 400, (path, form, options)
            check_oauth_error(answer, 400, "invalid_request")


def test_a_client_looks_into_its_own_token(oauth, client):
    now = int(oauth.library.clock().timestamp())
    token = oauth.token(client, scope="photos")
    answer = oauth.post("/introspect", {"token": token, "token_type_hint": "nonsense"}, client)
    assert answer.status_code == 200
    assert answer.json == {
        "active": True,
        "token_type": "Bearer",
        "scope": "photos",
        "client_id": client.client_id,
        "sub": client.client_id,
        "iss": "https://photos.example.org",
        "aud": "https://photos.example.org",
        "iat": now,
        "exp": now + 86400,
    }


def test_looking_into_tokens_takes_a_client(oauth, client):
    token = oauth.token(client)
    check_oauth_error(oauth.post("/introspect", {"token": token}), 401, "invalid_client")
    check_oauth_error(oauth.post("/introspect", {"token": token}, Pair(client.client_id, "x")), 401, "invalid_client")


def test_tokens_of_others_are_inactive_to_a_client(oauth, client):
    token = oauth.token(client)
    for other in (oauth.register("*"), oauth.register("photos", role="admin"), oauth.register("sessions write")):
        assert oauth.post("/introspect", {"token": token}, other).json == {"active": False}


def test_an_administrating_client_for_sessions_looks_into_all_tokens(oauth, client):
    admin = oauth.register("sessions read", role="admin")
    assert oauth.post("/introspect", {"token": oauth.token(client)}, admin).json["client_id"] == client.client_id
    with oauth.library.session() as session:
        user = add_user(session, "nora")
        uid = user.uid
        secret = add_token(session, NOW, "photos", lifetime=-1, user=user)
    introspected = oauth.post("/introspect", {"token": secret}, admin).json
    assert (introspected["active"], introspected["sub"], introspected["username"]) == (True, uid, "nora")
    assert "exp" not in introspected
    assert "client_id" not in introspected


def test_ended_tokens_are_inactive(oauth, client):
    revoked, old = oauth.token(client), oauth.token(client)
    oauth.post("/revoke", {"token": revoked}, client)
    oauth.library.clock.move(days=1)
    for token in (revoked, old, "x", "0" * 48, "é"):
        assert oauth.post("/introspect", {"token": token}, client).json == {"active": False}


def act(oauth, function, *arguments, **options):
    with oauth.library.session() as session:
        return function(by_command(session, oauth.library.clock()), *arguments, **options)


def test_every_end_of_a_client_ends_its_tokens_at_once(oauth):
    ends = [
        lambda client: act(oauth, remove, client.client_id),
        lambda client: act(oauth, change, client.client_id, {"enabled": False}),
        lambda client: act(oauth, change, client.client_id, {}, new_secret=True),
        lambda client: act(oauth, change, client.client_id, {"scope": parse_scope("metrics")}),
        lambda client: act(oauth, remove_all),
    ]
    for end in ends:
        client = oauth.register("photos metrics")
        token = oauth.token(client)
        assert oauth.is_alive(token)
        end(client)
        assert not oauth.is_alive(token)


def test_a_client_enabled_again_gets_new_tokens_and_not_its_old_ones(oauth, client):
    token = oauth.token(client)
    for enabled in (False, True):
        act(oauth, change, client.client_id, {"enabled": enabled})
    assert not oauth.is_alive(token)
    assert oauth.is_alive(oauth.token(client))


def test_the_oldest_token_gives_way_to_a_new_one_and_to_a_lower_limit(oauth):
    client = oauth.register(limit=3)
    tokens = [oauth.token(client) for _ in range(5)]
    assert [oauth.is_alive(token) for token in tokens] == [False, False, True, True, True]
    act(oauth, change, client.client_id, {"limit": 2})
    assert [oauth.is_alive(token) for token in tokens] == [False, False, False, True, True]
    oauth.token(client)
    assert oauth.live_tokens(client) == 2


def test_expired_tokens_do_not_count_and_do_not_stay(oauth):
    client = oauth.register(limit=2, lifetime=60)
    early = oauth.token(client)
    oauth.library.clock.move(seconds=30)
    late = oauth.token(client)
    oauth.library.clock.move(seconds=30)
    newest = oauth.token(client)
    assert [oauth.is_alive(token) for token in (early, late, newest)] == [False, True, True]
    oauth.library.clock.move(seconds=-31)
    assert not oauth.is_alive(early)


def test_without_a_limit_all_tokens_live_and_new_tokens_delete_expired_ones(oauth):
    client, other = oauth.register(limit=-1, lifetime=60), oauth.register(limit=1)
    mine = oauth.token(other)
    assert all(oauth.is_alive(token) for token in [oauth.token(client) for _ in range(30)])
    assert oauth.is_alive(mine)
    oauth.library.clock.move(seconds=60)
    for _ in range(2):
        oauth.token(client)
    with oauth.library.session() as session:
        tokens = select(func.count(Credential.id)).join(Client).where(Client.uid == client.client_id)
        assert session.scalar(tokens) == 2
