import itertools
from datetime import timedelta

import pytest

from photosvc.auth.errors import InsufficientScopeError, PasswordNeededError, ScopeTooWideError
from photosvc.auth.policy import (
    RULES,
    check_grantable,
    check_proof,
    check_recent_proof,
    decide,
    may,
    policy_table,
    scopes_in_use,
)
from photosvc.auth.principal import HOST_USER, Principal
from photosvc.auth.scopes import parse_scope
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION
from tests.helpers.clock import NOW, SECOND


def principal(kind=LOGIN_SESSION, role="user", scope="*", **values):
    values = {
        "user_uid": "u1" if kind in {LOGIN_SESSION, APP_PASSWORD} else None,
        "sees_private": role in {"admin", "user"},
        **values,
    }
    return Principal(
        kind=kind,
        credential_id=1,
        credential_uid="sess00000000",
        credential_name="",
        scope=parse_scope(scope),
        role=role,
        created_at=NOW,
        expires_at=None,
        **values,
    )


def allowed(**values):
    return {action for action in RULES if may(principal(**values), action)}


ROLES = {"admin", "user", "viewer", "guest", "client"}
LOGIN, APP_LOGIN, APP = (LOGIN_SESSION, None), (LOGIN_SESSION, 5), (APP_PASSWORD, None)
PERSON = {LOGIN, APP_LOGIN, APP}
#: Each kind of credential, with its app password where it was made from one.
KINDS = PERSON | {(ACCESS_TOKEN, None), (CLIENT_TOKEN, None), (HOST_USER, None)}
VERBS = ("create", "read", "write", "list", "leave", "add", "remove")
#: Actions without a route in the table of `tests/app/access/test_policy_matrix.py`: kinds and roles that may do them.
WITHOUT_ROUTE = {
    "library.view": (KINDS, {"admin"}),
    "library.tidy": (KINDS, {"admin"}),
    "webdav.read": (PERSON, {"admin", "user"}),
    "webdav.write": (PERSON, {"admin", "user"}),
    "session.create": ({APP}, ROLES),
    "clients.list": ({LOGIN}, {"admin"}),
    "clients.add": ({LOGIN}, {"admin"}),
    "clients.change": ({LOGIN}, {"admin"}),
    "clients.remove": ({LOGIN}, {"admin"}),
    "tokens.list": ({LOGIN}, {"admin"}),
    "tokens.add": ({LOGIN}, {"admin"}),
    "tokens.remove": ({LOGIN}, {"admin"}),
    "oauth.introspect": (KINDS, {"admin"}),
}


def test_actions_without_a_route_are_open_to_exactly_these_kinds_and_roles():
    for action, (kinds, roles) in WITHOUT_ROUTE.items():
        for (kind, parent), role in itertools.product(KINDS, ROLES):
            expected = (kind, parent) in kinds and role in roles
            assert may(principal(kind, role, parent_id=parent), action) is expected, (action, kind, parent, role)


@pytest.mark.parametrize("role", ["admin", "user", "viewer"])
def test_users_of_a_host_app_have_the_rights_of_an_app_password_of_their_role_except_accounts_and_files(role):
    closed = {f"{name}.{verb}" for name, verb in itertools.product(["session", "shared", "webdav"], VERBS)}
    assert allowed(kind=HOST_USER, role=role) == allowed(kind=APP_PASSWORD, role=role) - closed - {"files.upload"}


def test_guests_see_albums_shared_with_them_and_manage_their_session():
    shared, session = ("list", "leave", "add", "remove"), ("read", "end", "confirm")
    pictures = {"photos.search", "photos.preview", "photos.download", "albums.view", "config.view"}
    assert allowed(role="guest") == pictures | {f"shared.{v}" for v in shared} | {f"session.{v}" for v in session}


def test_actions_that_name_originals_are_closed_without_sight_of_private_photos():
    unseeing = {"kind": HOST_USER, "role": "admin", "sees_private": False}
    closed = {
        "trash.view",
        "trash.restore",
        "trash.delete",
        "trash.empty",
        "errors.view",
        "library.view",
        "library.tidy",
    }
    closed |= {"index.view", "config.options"}
    assert allowed(kind=HOST_USER, role="admin") - allowed(**unseeing) == closed


#: Asks for the password of the last hour, whether or not for the own account.
ASKING = {
    "users.add": (True, True),
    "users.change": (True, False),
    "users.remove": (True, True),
    "users.password": (True, False),
    "users.passcode.reset": (True, True),
    "clients.add": (True, True),
    "clients.change": (True, True),
    "clients.remove": (True, True),
    "tokens.add": (True, True),
    "tokens.remove": (True, True),
}


def test_exactly_changes_of_accounts_ask_for_the_password_of_the_last_hour():
    hour = timedelta(hours=1)
    late = NOW + hour + SECOND
    who, proved = principal(role="admin"), principal(role="admin", proved_at=late)

    def asks(who, action, now, owner="u2"):
        try:
            check_proof(who, action, now, owner_uid=owner)
        except PasswordNeededError:
            return True
        return False

    for action in RULES:
        assert (asks(who, action, late), asks(who, action, late, "u1")) == ASKING.get(action, (False, False)), action
        assert not asks(who, action, NOW + hour), action
        assert not asks(proved, action, late + hour), action
        assert asks(proved, action, late + hour + SECOND) == (action in ASKING), action
        assert not asks(proved, action, NOW), action


@pytest.mark.parametrize(
    ("who", "asked"),
    [
        ({}, True),
        ({"role": "admin"}, True),
        ({"scope": "photos"}, False),  # it could not send the password
        ({"parent_id": 5}, False),
        ({"kind": HOST_USER, "role": "admin"}, False),
    ],
)
def test_pages_ask_for_the_password_again_if_the_principal_has_one(who, asked):
    late = NOW + timedelta(hours=1)
    check_recent_proof(principal(**who), late)
    check_recent_proof(principal(**who, proved_at=late), late + SECOND)
    if asked:
        with pytest.raises(PasswordNeededError):
            check_recent_proof(principal(**who), late + SECOND)
    else:
        check_recent_proof(principal(**who), late + SECOND)


def test_an_account_that_does_not_exist_has_no_owner_and_a_credential_without_an_account_owns_nothing():
    assert not may(principal(ACCESS_TOKEN, "client", user_uid=None), "users.view", owner_uid=None)
    assert not may(principal(LOGIN_SESSION, user_uid=None), "users.passcode", owner_uid=None)


def test_an_account_owns_itself_and_no_other_one():
    for owner in ("u1", "u2", "u3"):
        assert may(principal(LOGIN_SESSION, user_uid="u2"), "users.passcode", owner_uid=owner) == (owner == "u2")


def test_an_error_of_the_scope_names_the_needed_scope():
    with pytest.raises(InsufficientScopeError) as caught:
        decide(principal(scope="albums"), "photos.search")
    assert (caught.value.scope, caught.value.status) == ("photos read", 403)
    assert may(principal(scope=caught.value.scope), "photos.search")


def test_no_credential_makes_a_wider_credential():
    check_grantable(principal(scope="photos albums"), parse_scope("photos read"))
    with pytest.raises(ScopeTooWideError):
        check_grantable(principal(scope="photos read"), parse_scope("photos"))


def test_scopes_in_use_open_a_mounted_action():
    assert set(scopes_in_use(RULES)) == {"*", "read", "write"} | {rule.resource for rule in RULES.values()}
    assert scopes_in_use({"photos.search", "metrics.view"}) == ["*", "read", "metrics", "photos"]
    assert scopes_in_use({"webdav.write"}) == ["*", "write", "webdav"]
    assert scopes_in_use(()) == ["*"]


def test_the_policy_can_be_printed():
    rows = policy_table({"photos.search"})
    assert [row["action"] for row in rows if row["in_use"]] == ["photos.search"]
    assert [row["action"] for row in rows] == list(RULES)
    by_action = {row["action"]: row for row in rows}
    assert by_action["users.password"]["roles"] == "admin or the account's own user"
    assert by_action["users.passcode"]["roles"] == "the account's own user"
    assert by_action["webdav.write"]["credentials"] == "app password, app session, login session"
