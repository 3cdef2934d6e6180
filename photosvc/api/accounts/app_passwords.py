"""/users/<user_uid>/app-passwords: the app passwords of an account (spec section 5.2)."""

from typing import Any

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.auth.accounts.proof import find_proven, prove_password
from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.credentials import bearer, open_sessions
from photosvc.auth.policy import check_grantable
from photosvc.auth.scopes import parse_scope
from photosvc.models import APP_PASSWORD
from photosvc.records.accounts import CredentialSchema, NewAppPasswordSchema
from photosvc.web import auditing
from photosvc.web.answer import json_answer
from photosvc.web.contract import MESSAGE, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, proving, require

_CREDENTIAL, _CREDENTIALS = CredentialSchema(), CredentialSchema(many=True)
_MOST = 1000

_CREATED = {"allOf": [{"$ref": "#/components/schemas/Credential"}, json_object("secret", secret=TEXT)]}


def add_routes(api: Blueprint) -> None:
    """Add app passwords to the API."""
    api.add_url_rule("/users/<user_uid>/app-passwords", view_func=list_app_passwords, methods=["GET"])
    api.add_url_rule("/users/<user_uid>/app-passwords", view_func=add_app_password, methods=["POST"])
    api.add_url_rule("/users/<user_uid>/app-passwords/<credential>", view_func=remove_app_password, methods=["DELETE"])


@require("users.app_passwords.list")
@answers(CredentialSchema, "The app passwords.", many=True)
def list_app_passwords(user_uid: str) -> Response:
    """The account's app passwords, without their secrets."""
    with current_service().loading() as session:
        user = users.find_user(session, user_uid)
        found = bearer.list_credentials(session, user=user, kinds=[APP_PASSWORD], limit=_MOST)
        return json_answer(_CREDENTIALS.dump(found))


@require("users.app_passwords.add")
@takes(NewAppPasswordSchema)
@answers(_CREATED, "The app password and its secret.", 201)
@refuses(429)
def add_app_password(body: dict[str, Any], user_uid: str) -> Response:
    """Make an app password. The account's password confirms it; only this answer has the secret."""
    service = current_service()
    scope = parse_scope(body["scope"])
    check_grantable(principal(), scope)
    with service.loading() as session:
        user = users.find_user(session, user_uid)
    wanted = {"name": body["name"], "scope": scope, "lifetime": body["expires"]}
    with proving():
        prove_password(user, body["password"])
        with service.writing() as session:
            user = find_proven(session, user)
            issued = bearer.issue(session, service.now(), user=user, **wanted)
            made = issued.credential
            detail = described.credential(made)
            auditing.record(session, Event.CREDENTIAL_MADE, subject=user, target=made.uid, detail=detail)
            record = {**_CREDENTIAL.dump(made), "secret": issued.secret}
    return json_answer(record, 201)


@require("users.app_passwords.remove")
@answers(MESSAGE, "It is revoked.")
def remove_app_password(user_uid: str, credential: str) -> Response:
    """Revoke one of the account's app passwords, and the login sessions made from it."""
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        found = open_sessions.find_owned(session, user, APP_PASSWORD, credential)
        auditing.record(
            session, Event.CREDENTIAL_ENDED, subject=user, target=found.uid, detail=described.credential(found)
        )
        bearer.revoke(session, found.id)
    return json_answer({"code": 200, "message": "App password revoked."})
