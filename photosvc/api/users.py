"""/users: accounts and their passwords."""

from typing import Any

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.auth.policy import may
from photosvc.records.user import NewUserSchema, PasswordChangeSchema, UserChangesSchema, UserSchema
from photosvc.web.accounts import find_account, find_account_to_change, proving
from photosvc.web.answer import json_answer
from photosvc.web.contract import MESSAGE, answers, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import is_mounted, principal, require

_MOST = 1000


def add_routes(api: Blueprint) -> None:
    """Hang the accounts on the API."""
    api.add_url_rule("/users", view_func=list_users, methods=["GET"])
    api.add_url_rule("/users", view_func=add_user, methods=["POST"])
    api.add_url_rule("/users/<user_uid>", view_func=view_user, methods=["GET"])
    api.add_url_rule("/users/<user_uid>", view_func=change_user, methods=["PUT"])
    api.add_url_rule("/users/<user_uid>", view_func=remove_user, methods=["DELETE"])
    api.add_url_rule("/users/<user_uid>/password", view_func=change_password, methods=["PUT"])


def _schema(*, many: bool = False) -> UserSchema:
    return UserSchema(has_webdav=is_mounted("webdav.read"), many=many)


@require("users.list")
@answers(UserSchema, "The accounts.", many=True)
def list_users() -> Response:
    """All accounts by name, at most a thousand."""
    return json_answer(_schema(many=True).dump(users.list_users(current_service().session, limit=_MOST)))


@require("users.add")
@takes(NewUserSchema)
@answers(UserSchema, "The account.", 201)
@refuses(409)
def add_user(body: dict[str, Any]) -> Response:
    """Add an account."""
    service = current_service()
    user = users.add_user(service.session, service.now(), **body)
    service.session.commit()
    return json_answer(_schema().dump(user), 201)


@require("users.view")
@answers(UserSchema, "The account.")
def view_user(user_uid: str) -> Response:
    """One account."""
    return json_answer(_schema().dump(find_account(user_uid)))


@require("users.change")
@takes(UserChangesSchema)
@answers(UserSchema, "The account.")
@refuses(409)
def change_user(changes: dict[str, Any], user_uid: str) -> Response:
    """Change an account; the last enabled administrator stays one."""
    service = current_service()
    user = find_account_to_change(user_uid)
    users.change_user(service.session, user, service.now(), **changes)
    service.session.commit()
    return json_answer(_schema().dump(user))


@require("users.remove")
@answers(MESSAGE, "It is gone.")
@refuses(409)
def remove_user(user_uid: str) -> Response:
    """Remove an account with all of its credentials."""
    service = current_service()
    users.remove_user(service.session, find_account_to_change(user_uid))
    service.session.commit()
    return json_answer({"code": 200, "message": "Account removed."})


@require("users.password")
@takes(PasswordChangeSchema)
@answers(MESSAGE, "It is changed.")
@refuses(429)
def change_password(body: dict[str, Any], user_uid: str) -> Response:
    """Change a password. Other login sessions of the account end; its app passwords live on.

    The owner proves to know the old one; an administrator need not for other accounts.
    """
    service, who = current_service(), principal()
    user = find_account(user_uid)
    keep = who.credential_id
    if who.user_uid != user.uid and may(who, "users.change"):
        users.set_password(service.session, user, service.now(), body["new"])
        service.session.commit()
    else:
        with proving():
            users.change_password(service.session, user, service.now(), old=body["old"], new=body["new"], keep=keep)
            service.session.commit()
    return json_answer({"code": 200, "message": "Password changed."})
