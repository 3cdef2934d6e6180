"""Changes of access are logged: over the API with the account, by commands as changes of the command line."""

import json
import logging
from contextlib import suppress

import pyotp
from sqlalchemy import select

from photosvc.auth.audit import Event
from photosvc.models import User
from photosvc.web.auditing import operating
from tests.app.audit.audit_rows import logged, rows
from tests.app.oauth.oauth_client import basic
from tests.helpers.api_client import PASSWORD
from tests.helpers.clock import NOW

NEW = "new horse battery"


def changes(library):
    """Return the entries of `logged` without everyday acts of the holders of credentials."""
    with_part = zip(logged(library), rows(library), strict=True)
    return [entry for entry, row in with_part if row.part == "changes"]


def test_changes_of_accounts_by_an_administrator(api):
    ann = api.session_of("ann")
    bob = api.call("POST", "/users", ann, json={"Name": "bob", "Password": NEW, "Role": "viewer"}).json["UID"]
    body = {"Role": "user", "Email": "bob@example.org", "Disabled": True, "DisplayName": ""}
    assert api.call("PUT", f"/users/{bob}", ann, json=body).status_code == 200
    assert api.call("PUT", f"/users/{bob}/password", ann, json={"new": PASSWORD}).status_code == 200
    assert api.call("DELETE", f"/users/{bob}/passcode", ann).status_code == 200
    assert api.call("DELETE", f"/users/{bob}", ann).status_code == 200
    assert changes(api.library) == [
        ("user.added", "ann", "bob", "role viewer"),
        ("user.changed", "ann", "bob", "role viewer to user, email, disabled"),
        ("password.changed", "ann", "bob", ""),
        ("second_factor.off", "ann", "bob", ""),
        ("user.removed", "ann", "bob", ""),
    ]
    about_bob = [row for row in rows(api.library) if row.part == "changes"]
    assert {(row.subject_uid, row.address) for row in about_bob} == {(bob, "192.0.2.7")}


def test_a_refused_change_of_an_account_is_not_logged_as_a_change(api):
    ann = api.session_of("ann")
    assert api.call("PUT", api.user_path("ann"), ann, json={"Role": "viewer"}).status_code == 409
    assert api.call("DELETE", api.user_path("ann"), ann).status_code == 409
    assert changes(api.library) == []


def test_changes_of_the_own_password_codes_and_app_passwords_are_logged(api):
    own, path = api.session_of("alice"), api.user_path
    secret = api.call("POST", path(rest="/passcode"), own, json={"password": PASSWORD}).json["secret"]
    code = pyotp.TOTP(secret).at(api.clock())
    assert api.call("POST", path(rest="/passcode/confirm"), own, json={"code": code}).status_code == 200
    api.clock.move(minutes=1)
    body = {"password": PASSWORD, "code": pyotp.TOTP(secret).at(api.clock())}
    assert api.call("POST", path(rest="/passcode/disable"), own, json=body).status_code == 200
    body = {"name": "frame", "scope": "photos sessions", "password": PASSWORD}
    made = api.call("POST", path(rest="/app-passwords"), own, json=body).json
    assert api.call("DELETE", path(rest=f"/app-passwords/{made['id']}"), own).status_code == 200
    assert api.call("PUT", path(rest="/password"), own, json={"old": PASSWORD, "new": NEW}).status_code == 200
    app = "app password 'frame', scope photos sessions"
    assert changes(api.library) == [
        ("second_factor.started", "alice", "alice", ""),
        ("second_factor.on", "alice", "alice", ""),
        ("second_factor.off", "alice", "alice", ""),
        ("credential.made", "alice", "alice", app),
        ("credential.ended", "alice", "alice", app),
        ("password.changed", "alice", "alice", ""),
    ]
    assert [row.target for row in rows(api.library) if row.event.startswith("credential.")] == [made["id"]] * 2


def test_tokens_of_clients_granted_and_revoked(api):
    client = json.loads(api.svc("clients", "add", "-n", "robot", "-s", "photos metrics", "--json").stdout)
    shown = {"Authorization": basic(client["client_id"], client["client_secret"])}
    form = {"grant_type": "client_credentials", "scope": "photos"}
    token = api.call("POST", "/oauth/token", data=form, headers=shown).json["access_token"]
    assert api.call("POST", "/oauth/revoke", data={"token": token}, headers=shown).status_code == 200
    assert logged(api.library) == [
        ("client.added", "command line", "robot", "role client, scope metrics photos"),
        ("token.granted", "robot", "", "scope photos"),
        ("token.revoked", "robot", "", ""),
    ]
    _, granted, revoked = rows(api.library)
    assert (granted.actor_kind, granted.actor_uid) == ("client", client["client_id"])
    assert granted.target == revoked.target != ""


def test_commands_are_logged_without_an_account(api):
    for command in (
        ["users", "mod", "alice", "--role", "viewer", "--disable-2fa"],
        ["users", "rm", "alice", "--yes"],
        ["users", "reset", "--yes"],
        ["auth", "reset", "--yes"],
        ["clients", "reset", "--yes"],
    ):
        assert api.svc(*command).returncode == 0, command
    assert logged(api.library) == [
        ("user.changed", "command line", "alice", "role user to viewer"),
        ("second_factor.off", "command line", "alice", ""),
        ("user.removed", "command line", "alice", ""),
        ("user.removed", "command line", "", "all 2 accounts"),
        ("credential.ended", "command line", "", "all 0 credentials"),
        ("client.removed", "command line", "", "all 0 clients"),
    ]
    assert {row.actor_kind for row in rows(api.library)} == {"command line"}


def test_passwords_and_credentials_of_the_command_line(api):
    assert api.svc("passwd", "alice", "--password-stdin", stdin=NEW).returncode == 0
    app = json.loads(api.svc("auth", "add", "alice", "-n", "frame", "-s", "*", "--json").stdout)
    token = json.loads(api.svc("auth", "add", "-n", "report", "-s", "photos", "--json").stdout)
    for made in (app, token):
        assert api.svc("auth", "rm", made["id"], "--yes").returncode == 0
    assert [(row.event, row.subject, row.target, row.detail) for row in rows(api.library)] == [
        ("password.changed", "alice", "", ""),
        ("credential.made", "alice", app["id"], "app password 'frame', scope *"),
        ("credential.made", "", token["id"], "access token 'report', scope photos"),
        ("credential.ended", "alice", app["id"], "app password 'frame', scope *"),
        ("credential.ended", "", token["id"], "access token 'report', scope photos"),
    ]


def test_changes_of_a_client(api):
    made = json.loads(api.svc("clients", "add", "-n", "robot", "-s", "photos", "--json").stdout)["client_id"]
    options = ["--scope", "photos albums", "--tokens", "3", "--user", "alice", "--disable", "--regenerate"]
    assert api.svc("clients", "mod", made, *options).returncode == 0
    assert api.svc("clients", "rm", made, "--yes").returncode == 0
    what = "limit 10 to 3, not enabled, scope photos to albums photos, user, new secret"
    assert logged(api.library)[1:] == [
        ("client.changed", "command line", "robot", what),
        ("client.removed", "command line", "robot", ""),
    ]


def test_a_new_signing_key(api):
    done = api.svc("keys", "rotate", "--json")
    (row,) = rows(api.library)
    assert (row.event, row.actor, row.detail) == ("key.rotated", "command line", "signing key")
    assert row.target == json.loads(done.stdout)["kid"]


def test_a_secret_that_could_not_be_shown_is_logged_as_ended(api, monkeypatch):
    def fail(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("photosvc.cli.auth.print_record", fail)
    monkeypatch.setattr("photosvc.cli.clients.print_record", fail)
    assert api.svc("auth", "add", "-n", "report", "-s", "photos").returncode == 1
    assert api.svc("clients", "add", "-n", "robot", "-s", "photos").returncode == 1
    events = [row.event for row in rows(api.library)]
    assert events == ["credential.made", "credential.ended", "client.added", "client.removed"]


def test_a_log_in_and_the_log_out_are_logged_with_their_session_and_address(api, caplog):
    caplog.set_level(logging.INFO, "photosvc.security")
    token = api.session_of("alice")
    api.call("DELETE", "/session", token, address="192.0.2.9")
    login, logout = rows(api.library)
    assert (login.event, login.actor, login.actor_uid) == ("login", "alice", api.uids["alice"])
    assert (login.address, login.detail, login.times, login.created_at) == ("192.0.2.7", "login session", 1, NOW)
    assert login.credential == login.target == logout.target
    assert (logout.event, logout.address) == ("logout", "192.0.2.9")
    assert len({login.request_id, logout.request_id}) == 2
    who = f"actor_kind=user actor=alice actor_uid={api.uids['alice']} credential={login.credential}"
    request = f'detail="login session" request_id={login.request_id}'
    assert caplog.messages == [
        f"event=login {who} address=192.0.2.7 target={login.credential} {request}",
        f"event=logout {who} address=192.0.2.9 target={login.credential} request_id={logout.request_id}",
    ]


def test_entries_of_a_rollback_are_neither_stored_nor_logged(api, caplog):
    caplog.set_level(logging.INFO, "photosvc.security")
    with api.library.app.app_context(), suppress(KeyError), operating() as operation:
        operation.record(Event.PASSWORD_CHANGED, subject=operation.session.scalar(select(User)))
        raise KeyError
    assert logged(api.library) == []
    assert caplog.messages == []


def test_a_log_that_is_set_to_higher_levels_gets_fewer_lines(api, caplog):
    for level, lines in ((logging.WARNING, 1), (logging.ERROR, 0)):
        caplog.clear()
        with caplog.at_level(level, "photosvc.security"):
            api.session_of("alice")
            api.log_in("alice", "wrong")
        assert len(caplog.messages) == lines, level
