"""Accounts of the API (/users), with their passwords, second factors, app passwords and login sessions."""

from typing import Any

from flask import Response

from photosvc.auth import accounts, credentials, second_factor
from photosvc.auth.accounts import find_user
from photosvc.auth.passwords import new_hash
from photosvc.auth.policy import may
from photosvc.core.errors import ConflictError
from photosvc.models import APP_PASSWORD, LOGIN_SESSION
from photosvc.records.accounts import (
    CredentialSchema,
    EnrolmentSchema,
    NewAppPasswordSchema,
    NewUserSchema,
    OpenSessionSchema,
    PasscodeSchema,
    PasswordChangeSchema,
    PasswordSchema,
    ProofSchema,
    UserChangesSchema,
    UserSchema,
)
from photosvc.web import own_account
from photosvc.web.auditing import operating
from photosvc.web.contract import MESSAGE, NUMBER, TEXT, answers, json_object, outcome, roles_of, takes
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer
from photosvc.web.service import current_service

users = OwnBlueprint("users", __name__)

_MOST = 1000
_ENROLMENT = EnrolmentSchema()
_CREDENTIAL, _CREDENTIALS = CredentialSchema(), CredentialSchema(many=True)
_CREATED = {"allOf": [{"$ref": "#/components/schemas/Credential"}, json_object(secret=TEXT)]}


def _schema(*, many: bool = False) -> UserSchema:
    return UserSchema(webdav_roles=roles_of("webdav.read"), many=many)


@users.get("/users")
@require("users.list")
@answers(UserSchema, "The accounts.", many=True)
def list_users() -> Response:
    """List the accounts by name, at most a thousand."""
    with current_service().reading(orm=True) as session:
        return json_answer(_schema(many=True).dump(accounts.list_users(session, limit=_MOST)))


@users.post("/users")
@require("users.add")
@takes(NewUserSchema)
@answers(UserSchema, "The account.", 201, refuses=(409,))
def add_user(body: dict[str, Any]) -> Response:
    """Add an account."""
    user = accounts.new_user(current_service().now(), **body)
    with operating() as operation:
        return json_answer(_schema().dump(accounts.add(operation, user)), 201)


@users.get("/users/<user_uid>")
@require("users.view")
@answers(UserSchema, "The account.")
def view_user(user_uid: str) -> Response:
    """Show an account."""
    with current_service().reading(orm=True) as session:
        return json_answer(_schema().dump(find_user(session, user_uid)))


@users.put("/users/<user_uid>")
@require("users.change")
@takes(UserChangesSchema)
@answers(UserSchema, "The account.", refuses=(409,))
def change_user(changes: dict[str, Any], user_uid: str) -> Response:
    """Change an account; its own user may change only the displayed name and the address.

    The last enabled administrator cannot lose that role or be disabled.
    """
    with operating() as operation:
        return json_answer(_schema().dump(accounts.change(operation, user_uid, **changes)))


@users.delete("/users/<user_uid>")
@require("users.remove")
@answers(MESSAGE, "The account is removed.", refuses=(409,))
def remove_user(user_uid: str) -> Response:
    """Remove an account with all of its credentials."""
    with operating() as operation:
        accounts.remove(operation, user_uid)
    return json_answer({"code": 200, "message": "Account removed."})


@users.put("/users/<user_uid>/password")
@require("users.password")
@takes(PasswordChangeSchema)
@answers(MESSAGE, "The password is changed.", refuses=(429,))
def change_password(body: dict[str, Any], user_uid: str) -> Response:
    """Change a password. Other login sessions of the account end; its app passwords stay valid.

    The owner sends the old password, and a code of the second factor if there is one. An administrator sends neither
    for other accounts.
    """
    who = principal()
    with current_service().reading(orm=True) as session:
        user = find_user(session, user_uid)
    if who.user_uid != user.uid and may(who, "users.change"):
        fresh = new_hash(body["new"], user_name=user.name, field="new")
        with operating() as operation:
            accounts.set_password(operation, user.uid, fresh)
    else:
        own_account.change_password(user_uid, old=body["old"], new=body["new"], code=body["code"])
    return json_answer({"code": 200, "message": "Password changed."})


@users.post("/users/<user_uid>/passcode")
@require("users.passcode")
@takes(PasswordSchema)
@answers(EnrolmentSchema, "The secret of the authenticator app.", refuses=(409, 429))
def enrol(body: dict[str, Any], user_uid: str) -> Response:
    """Start to set up two-factor authentication: a secret as text, `otpauth` URI and QR code."""
    enrolment = own_account.with_password(user_uid, body["password"], second_factor.enrol)
    return json_answer(_ENROLMENT.dump(enrolment))


@users.post("/users/<user_uid>/passcode/confirm")
@require("users.passcode")
@takes(PasscodeSchema)
@answers(
    json_object(code=NUMBER, recovery_codes={"type": "array", "items": TEXT}),
    "Two-factor authentication is on.",
    refuses=(409, 429),
)
def confirm(body: dict[str, Any], user_uid: str) -> Response:
    """Turn two-factor authentication on with a first code; only this answer has the recovery codes.

    Other login sessions of the account end; its app passwords stay valid.
    """
    codes = own_account.confirm_second_factor(user_uid, body["code"])
    return json_answer({"code": 200, "recovery_codes": list(codes)})


@users.post("/users/<user_uid>/passcode/activate")
@require("users.passcode")
@answers(MESSAGE, "Two-factor authentication is on.", refuses=(409,))
def activate(user_uid: str) -> Response:
    """Make sure that two-factor authentication is on, for clients that send this after the first code."""
    with current_service().reading(orm=True) as session:
        if not find_user(session, user_uid).totp_confirmed:
            raise ConflictError("confirm two-factor authentication with a first code, by POST to passcode/confirm")
    return json_answer({"code": 200, "message": "Two-factor authentication is on."})


@users.post("/users/<user_uid>/passcode/disable", endpoint="disable")
@users.post("/users/<user_uid>/passcode/deactivate", endpoint="deactivate")
@require("users.passcode")
@takes(ProofSchema)
@answers(MESSAGE, "Two-factor authentication is off.", refuses=(429,))
def disable(body: dict[str, Any], user_uid: str) -> Response:
    """Turn two-factor authentication off; the account's password and a code, or recovery code, confirm it."""
    own_account.end_second_factor(user_uid, password=body["password"], code=body["code"])
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})


@users.delete("/users/<user_uid>/passcode")
@require("users.passcode.reset")
@answers(MESSAGE, "Two-factor authentication is off.", refuses=(409,))
def reset(user_uid: str) -> Response:
    """Turn two-factor authentication off for an account whose owner lost the phone and the recovery codes."""
    with operating() as operation:
        second_factor.reset(operation, find_user(operation.session, user_uid))
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})


@users.get("/users/<user_uid>/app-passwords")
@require("users.app_passwords.list")
@answers(CredentialSchema, "The app passwords.", many=True)
def list_app_passwords(user_uid: str) -> Response:
    """List the account's app passwords, without their secrets."""
    with current_service().reading(orm=True) as session:
        user = find_user(session, user_uid)
        app_passwords = credentials.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_MOST)
        return json_answer(_CREDENTIALS.dump(app_passwords))


@users.post("/users/<user_uid>/app-passwords")
@require("users.app_passwords.add")
@takes(NewAppPasswordSchema)
@answers(_CREATED, "The app password and its secret.", 201, refuses=(409, 429))
def add_app_password(body: dict[str, Any], user_uid: str) -> Response:
    """Create an app password; only this answer has the secret.

    The account's password confirms it, and a code of the second factor if there is one.
    """
    wanted = {"name": body["name"], "scope": body["scope"], "lifetime": body["expires"]}
    record = own_account.add_app_password(user_uid, **wanted, password=body["password"], code=body["code"])
    return json_answer(record, 201)


@users.delete("/users/<user_uid>/app-passwords/<credential>")
@require("users.app_passwords.remove")
@answers(MESSAGE, "App password revoked.")
def remove_app_password(user_uid: str, credential: str) -> Response:
    """Revoke one of the account's app passwords, and the login sessions made from it."""
    with operating() as operation:
        user = find_user(operation.session, user_uid)
        credentials.revoke_owned(operation, user, APP_PASSWORD, credential)
    return json_answer({"code": 200, "message": "App password revoked."})


@users.get("/users/<user_uid>/sessions")
@require("users.sessions.list")
@answers(OpenSessionSchema, "The login sessions, the most recently used first.", many=True)
def list_open_sessions(user_uid: str) -> Response:
    """List the account's open login sessions with their method, times and addresses; at most a thousand."""
    service = current_service()
    with service.reading(orm=True) as session:
        user = find_user(session, user_uid)
        open_sessions = credentials.list_sessions(session, user, service.now())
        return json_answer(OpenSessionSchema(current=principal().credential_id, many=True).dump(open_sessions))


@users.delete("/users/<user_uid>/sessions/<credential>")
@require("users.sessions.end")
@answers(MESSAGE, "The login session has ended.")
def end_open_session(user_uid: str, credential: str) -> Response:
    """End one of the account's login sessions, at once on all workers; also the one of this request."""
    with operating() as operation:
        user = find_user(operation.session, user_uid)
        credentials.revoke_owned(operation, user, LOGIN_SESSION, credential)
    return json_answer({"code": 200, "message": "Login session ended."})


@users.delete("/users/<user_uid>/sessions")
@require("users.sessions.end")
@answers(outcome(ended=NUMBER), "The login sessions have ended.")
def end_other_sessions(user_uid: str) -> Response:
    """End all login sessions of the account except the one of this request; app passwords stay valid."""
    with operating() as operation:
        ended = credentials.end_sessions(operation, find_user(operation.session, user_uid))
    return json_answer({"code": 200, "message": "Login sessions ended.", "ended": ended})
