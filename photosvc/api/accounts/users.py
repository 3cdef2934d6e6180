"""/users: accounts and their passwords."""

from typing import Any

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.policy import check_proof, decide, may
from photosvc.records.accounts import NewUserSchema, PasswordChangeSchema, UserChangesSchema, UserSchema
from photosvc.web import auditing
from photosvc.web.actions import roles_of
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import MESSAGE, answers, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.managing import managed_accounts
from photosvc.web.protector import principal, require
from photosvc.web.sessions import own_account

_MOST = 1000
#: What an account may do, which its own user does not change.
_RIGHTS = frozenset({"role", "disabled"})


def add_routes(api: Blueprint) -> None:
    """Add the accounts to the API."""
    api.add_url_rule("/users", view_func=list_users, methods=["GET"])
    api.add_url_rule("/users", view_func=add_user, methods=["POST"])
    api.add_url_rule("/users/<user_uid>", view_func=view_user, methods=["GET"])
    api.add_url_rule("/users/<user_uid>", view_func=change_user, methods=["PUT"])
    api.add_url_rule("/users/<user_uid>", view_func=remove_user, methods=["DELETE"])
    api.add_url_rule("/users/<user_uid>/password", view_func=change_password, methods=["PUT"])


def _schema(*, many: bool = False) -> UserSchema:
    return UserSchema(webdav_roles=roles_of("webdav.read"), many=many)


@require("users.list")
@answers(UserSchema, "The accounts.", many=True)
def list_users() -> Response:
    """All accounts by name, at most a thousand."""
    with current_service().loading() as session:
        return json_answer(_schema(many=True).dump(users.list_users(session, limit=_MOST)))


@require("users.add")
@takes(NewUserSchema)
@answers(UserSchema, "The account.", 201)
@refuses(409)
def add_user(body: dict[str, Any]) -> Response:
    """Add an account."""
    user = managed_accounts.add_account(**body)
    return json_answer(_schema().dump(user), 201)


@require("users.view")
@answers(UserSchema, "The account.")
def view_user(user_uid: str) -> Response:
    """One account."""
    with current_service().loading() as session:
        return json_answer(_schema().dump(users.find_user(session, user_uid)))


@require("users.change")
@takes(UserChangesSchema)
@answers(UserSchema, "The account.")
@refuses(409)
def change_user(changes: dict[str, Any], user_uid: str) -> Response:
    """Change an account; its own user changes the displayed name and the address only.

    The last enabled administrator stays one.
    """
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        if any(name in _RIGHTS and value != getattr(user, name) for name, value in changes.items()):
            decide(principal(), "users.change")  # not as the account's own user
            check_proof(principal(), "users.change", service.now())
        auditing.record(session, Event.USER_CHANGED, subject=user, detail=described.changes(user, changes))
        record = _schema().dump(users.change_user(session, user, service.now(), **changes))
    return json_answer(record)


@require("users.remove")
@answers(MESSAGE, "The account is removed.")
@refuses(409)
def remove_user(user_uid: str) -> Response:
    """Remove an account with all of its credentials."""
    managed_accounts.remove_account(user_uid)
    return json_answer({"code": 200, "message": "Account removed."})


@require("users.password")
@takes(PasswordChangeSchema)
@answers(MESSAGE, "The password is changed.")
@refuses(429)
def change_password(body: dict[str, Any], user_uid: str) -> Response:
    """Change a password. Other login sessions of the account end; its app passwords stay valid.

    The owner has to send the old password, and a code of the second factor if there is one; an administrator does not
    for other accounts.
    """
    who = principal()
    with current_service().loading() as session:
        user = users.find_user(session, user_uid)
    if who.user_uid != user.uid and may(who, "users.change"):
        managed_accounts.set_password(user, body["new"])
    else:
        own_account.change_own_password(user_uid, old=body["old"], new=body["new"], code=body["code"])
    return json_answer({"code": 200, "message": "Password changed."})
