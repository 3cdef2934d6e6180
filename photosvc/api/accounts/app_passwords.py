"""/users/<user_uid>/app-passwords: the app passwords of an account (spec section 5.2)."""

from typing import Any

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.auth.credentials import bearer
from photosvc.models import APP_PASSWORD
from photosvc.records.accounts import CredentialSchema, NewAppPasswordSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import MESSAGE, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import require
from photosvc.web.sessions import own_account

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
@refuses(409, 429)
def add_app_password(body: dict[str, Any], user_uid: str) -> Response:
    """Make an app password. The account's password confirms it; only this answer has the secret."""
    wanted = {"name": body["name"], "scope": body["scope"], "lifetime": body["expires"]}
    record = own_account.add_app_password(user_uid, **wanted, password=body["password"])
    return json_answer(record, 201)


@require("users.app_passwords.remove")
@answers(MESSAGE, "It is revoked.")
def remove_app_password(user_uid: str, credential: str) -> Response:
    """Revoke one of the account's app passwords, and the login sessions made from it."""
    own_account.remove_app_password(user_uid, credential)
    return json_answer({"code": 200, "message": "App password revoked."})
