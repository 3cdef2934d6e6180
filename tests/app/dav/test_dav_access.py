"""The accounts and credentials that may open the originals over WebDAV."""

import base64

import pytest

from photosvc.auth import passwords
from photosvc.auth.throttle import TOKEN_BY_ADDRESS
from photosvc.core import ids
from photosvc.models import LOGIN_SESSION, Credential, User
from photosvc.web.parts import PARTS
from tests.app.dav.dav_client import READING, WRITING, DavClient
from tests.helpers.api_client import HASH, PASSWORD, check_error, open_api
from tests.helpers.factories.accounts import add_client, add_credential, add_user

ALL = {*READING, *WRITING}
CHALLENGES = ['Basic realm="photosvc", charset="UTF-8"', 'Bearer realm="photosvc"']


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        api.library.put("lake.jpg", b"a lake")
        yield api


@pytest.fixture(scope="module")
def dav(api):
    return DavClient(api)


def basic(text):
    return {"Authorization": "Basic " + base64.b64encode(text.encode() if isinstance(text, str) else text).decode()}


def log_in(dav, text, **options):
    """The answer to a request with these Basic credentials."""
    return dav.call("GET", "/lake.jpg", token=None, headers=basic(text), **options)


def opened(dav, token):
    """The methods that a token may use: those that are not refused for missing rights."""
    return {method for method in ALL if dav.call(method, "/none/x", token=token).status_code != 403}


def test_an_app_password_opens_it_as_a_token_and_beside_the_name_of_its_user(dav):
    secret = dav.token
    assert dav.call("GET", "/lake.jpg", token=secret).data == b"a lake"
    assert dav.call("GET", "/lake.jpg", token=None, headers={"X-Auth-Token": secret}).data == b"a lake"
    for name in ("alice", "Alice ", "ALICE"):
        assert log_in(dav, f"{name}:{secret}").data == b"a lake", name
    lower = {"Authorization": basic(f"alice:{secret}")["Authorization"].replace("Basic", "bAsIc")}
    assert dav.call("GET", "/lake.jpg", token=None, headers=lower).status_code == 200
    check_error(log_in(dav, f"ann:{secret}"), 401)
    assert dav.call("GET", "/lake.jpg?logout").status_code == 200  # the word means nothing


def test_it_opens_it_also_with_two_factor_log_in_and_after_a_new_password(tmp_path):
    with open_api(tmp_path) as api:
        dav = DavClient(api)
        with api.library.session() as session:
            user = session.query(User).filter_by(name="alice").one()
            user.totp_secret, user.totp_confirmed = "x", True
            user.password_version += 1
        assert dav.call("PROPFIND", "/", headers={"Depth": "0"}).status_code == 207


def test_a_login_session_opens_it_as_a_token_only(dav, api):
    session = api.session_of()
    assert dav.call("GET", "/lake.jpg", token=session).status_code == 200
    assert log_in(dav, f"alice:{session}").status_code == 401


def test_the_password_of_the_account_is_refused_without_being_hashed(dav, monkeypatch):
    monkeypatch.setattr(passwords, "_HASHER", None)
    for word in (PASSWORD, "wrong"):
        assert check_error(log_in(dav, f"alice:{word}"), 401)["error"] == (
            "Log in with your user name and an app password; WebDAV does not accept the password of the account."
        )


def test_credentials_that_cannot_be_read_are_401(dav):
    texts = ("alice", b"al\xffice:x", "", ":", "alice:")
    headers = ("Basic", "Basic !!!", "Basic YQ", "Basic =", "Digest x", "Bearer", "x" * 5000)
    for given in (*map(basic, texts), *({"Authorization": header} for header in headers)):
        answer = dav.call("PROPFIND", "/", token=None, headers=given)
        assert answer.status_code == 401, given
        check_error(answer, 401)


def test_a_request_without_a_credential_is_asked_for_one_of_either_kind(dav):
    answer = dav.call("PROPFIND", "/", token=None)
    check_error(answer, 401)
    found = answer.headers.getlist("WWW-Authenticate")
    assert [challenge.partition(", resource")[0] for challenge in found] == CHALLENGES
    assert answer.headers["Connection"] == "close"


def test_options_are_the_same_for_everybody_and_every_path(dav):
    for path in ("", "/", "/lake.jpg", "/no/such"):
        for token in ("", None):
            answer = dav.call("OPTIONS", path, token=token)
            given = {name: answer.headers[name] for name in ("DAV", "MS-Author-Via", "Allow")}
            allowed = ", ".join(("OPTIONS", *READING, *WRITING))
            assert (answer.status_code, given) == (200, {"DAV": "1, 2", "MS-Author-Via": "DAV", "Allow": allowed}), path


def test_credentials_without_an_account_are_refused_whatever_their_scope(dav, api):
    with api.library.session() as session:
        client_id = add_client(session, role="admin", scope="*").uid
        secret = ids.new_client_secret()
    for token in (api.access_token("*"), api.access_token("webdav"), api.client_token("*", "admin")):
        assert opened(dav, token) == set()
        assert "needs a user account" in dav.call("GET", "/lake.jpg", token=token).json["error"]
        assert log_in(dav, f"alice:{token}").status_code == 401
    assert dav.call("GET", "/lake.jpg", token=secret).status_code == 401
    assert log_in(dav, f"{client_id}:{secret}").status_code == 401


def test_the_scope_of_an_app_password_and_of_its_sessions_says_which_methods_it_opens(dav, api):
    for scope, methods in {
        "*": ALL, "webdav": ALL, "webdav photos": ALL, "webdav read": {*READING}, "read": {*READING},
        "webdav write": {*WRITING}, "photos files": set(), "* webdav:false": set(),
    }.items():  # fmt: skip
        assert opened(dav, api.app_password(scope=scope)) == methods, scope
    for scope, methods in {"webdav read": {*READING}, "photos": set()}.items():
        with api.library.session() as session:
            user = session.query(User).filter_by(name="alice").one()
            secret = ids.new_app_password()
            add_credential(session, "app_password", "*", secret, user_id=user.id)
            parent = session.query(Credential).filter_by(digest=ids.digest(secret)).one()
            child = add_credential(session, LOGIN_SESSION, scope, user_id=user.id, parent_id=parent.id)
        assert opened(dav, child) == methods, scope


def test_administrators_and_users_may_change_it_and_viewers_may_not_open_it(dav, api):
    # The folder contains private photos and files that no search shows.
    for name, methods in {"ann": ALL, "alice": ALL, "vera": set()}.items():
        assert opened(dav, api.app_password(name)) == opened(dav, api.session_of(name)) == methods, name


def test_revoked_and_expired_credentials_and_disabled_accounts_end_at_once(dav, api):
    with api.library.session() as session:
        add_user(session, "sleeper", "user", password_hash=HASH)
    for end in ("revoke", "expire", "disable"):
        secret = api.app_password("sleeper", "webdav")
        assert dav.call("GET", "/lake.jpg", token=secret).status_code == 200
        with api.library.session() as session:
            found = session.query(Credential).filter_by(digest=ids.digest(secret)).one()
            if end == "revoke":
                session.delete(found)
            elif end == "expire":
                found.expires_at = api.clock()
            else:
                session.query(User).filter_by(name="sleeper").one().disabled = True
        assert dav.call("GET", "/lake.jpg", token=secret).status_code == 401, end


def test_unknown_app_passwords_are_throttled_by_address_and_valid_ones_are_not(dav):
    wrong, address = f"alice:{ids.new_app_password()}", "198.51.100.9"
    statuses = [log_in(dav, wrong, address=address).status_code for _ in range(TOKEN_BY_ADDRESS.burst + 1)]
    assert statuses == [401] * TOKEN_BY_ADDRESS.burst + [429]
    assert dav.call("GET", "/lake.jpg", address=address).status_code == 200


def test_a_host_may_leave_it_out(tmp_path):
    with open_api(tmp_path, parts=PARTS.keys() - {"dav"}) as api:
        assert DavClient(api).call("OPTIONS", "/", token=None).status_code == 404
