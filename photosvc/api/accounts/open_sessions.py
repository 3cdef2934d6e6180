"""/users/<user_uid>/sessions: the open login sessions of an account."""

from flask import Blueprint, Response

from photosvc.auth.accounts import users
from photosvc.auth.credentials import open_sessions
from photosvc.records.accounts import OpenSessionSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import MESSAGE, NUMBER, TEXT, answers, json_object
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.sessions import own_account

_ENDED = json_object("code message ended", code=NUMBER, message=TEXT, ended=NUMBER)


def add_routes(api: Blueprint) -> None:
    """Add the sessions of accounts to the API."""
    path = "/users/<user_uid>/sessions"
    api.add_url_rule(path, view_func=list_open_sessions, methods=["GET"])
    api.add_url_rule(path, view_func=end_other_sessions, methods=["DELETE"])
    api.add_url_rule(f"{path}/<credential>", view_func=end_open_session, methods=["DELETE"])


@require("users.sessions.list")
@answers(OpenSessionSchema, "The login sessions, the most recently used first.", many=True)
def list_open_sessions(user_uid: str) -> Response:
    """The account's open login sessions: by which method, when and from where; at most a thousand."""
    service = current_service()
    with service.loading() as session:
        user = users.find_user(session, user_uid)
        found = open_sessions.list_sessions(session, user, service.now())
        return json_answer(OpenSessionSchema(current=principal().credential_id, many=True).dump(found))


@require("users.sessions.end")
@answers(MESSAGE, "It has ended.")
def end_open_session(user_uid: str, credential: str) -> Response:
    """End one of the account's login sessions, at once on all workers; also the one of this request."""
    own_account.end_session(user_uid, credential)
    return json_answer({"code": 200, "message": "Login session ended."})


@require("users.sessions.end")
@answers(_ENDED, "They have ended.")
def end_other_sessions(user_uid: str) -> Response:
    """End all login sessions of the account but the one of this request; app passwords stay valid."""
    ended = own_account.end_other_sessions(user_uid)
    return json_answer({"code": 200, "message": "Login sessions ended.", "ended": ended})
