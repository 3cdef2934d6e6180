"""The login session of the caller, at /session and /sessions: log-in, confirmation of the password, log-out."""

from types import SimpleNamespace
from typing import Any, Final

from flask import Response, request, url_for

from photosvc.auth.accounts import find_user
from photosvc.auth.login import Login
from photosvc.auth.login import log_out as end_session
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.accounts import PROOF_SECONDS, VISITOR
from photosvc.core.errors import InvalidValueError, PermissionDeniedError
from photosvc.models import LOGIN_SESSION, VISIT, User
from photosvc.records.accounts import LoginSchema, LoginSessionSchema, PasswordSchema
from photosvc.web import own_account
from photosvc.web.auditing import operating
from photosvc.web.client_config import session_config
from photosvc.web.contract import (
    NUMBER,
    TEXT,
    answers,
    for_visitors,
    json_object,
    outcome,
    public,
    roles_of,
    takes,
    uses,
)
from photosvc.web.own_account import log_in as log_in_account
from photosvc.web.own_account import log_in_by_token, sweep_sessions
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require, token_of
from photosvc.web.responses import json_answer
from photosvc.web.service import Service, current_service
from photosvc.web.visits import begin_visit

session: OwnBlueprint = OwnBlueprint("session", __name__)

_PROVIDERS: Final = {LOGIN_SESSION: "local", VISIT: "link"}


@session.post("/session", endpoint="log_in_session")
@session.post("/sessions", endpoint="log_in_sessions")
@public
@uses("session.create")
@takes(LoginSchema, any_type=True)  # three known clients send another Content-Type, or none at all
@answers(LoginSessionSchema, "The login session.", refuses=(401, 403, 404, 429))
def log_in(body: dict[str, Any]) -> Response:
    """Exchange a password, or an app password, for a login session.

    Without a name and a password, an app password is read from `authToken` or from the header of the request. With
    them, a token in the request is ignored. The token of a public link, in `token` and without a name, opens a session
    of a day for its visitor, who sees the photos of the link.
    """
    service = current_service()
    link_token = body["link_token"]
    if link_token and not body["username"] and isinstance(link_token, str):
        return _answer_login(service, begin_visit(service, link_token, body["password"]))
    token = None if body["username"] or body["password"] else body["token"] or token_of(request)
    if token is None:
        login = log_in_account(service, body["username"], body["password"], body["code"])
    else:
        login = log_in_by_token(service, token)
    return _answer_login(service, login)


@session.get("/session", endpoint="read_session")
@session.get("/session/<session_id>", endpoint="read_one_session")
@session.get("/sessions", endpoint="read_sessions")
@session.get("/sessions/<session_id>", endpoint="read_one_sessions")
@require("session.read")
@answers(LoginSessionSchema, "The login session.")
@for_visitors
def read(session_id: str | None = None) -> Response:
    """Show the login session of the token in the request."""
    return _answer(current_service(), principal(), _own_token(session_id))


@session.delete("/session", endpoint="log_out_session")
@session.delete("/session/<session_id>", endpoint="log_out_one_session")
@session.delete("/sessions", endpoint="log_out_sessions")
@session.delete("/sessions/<session_id>", endpoint="log_out_one_sessions")
@require("session.end")
@answers(json_object(code=NUMBER, status=TEXT, session_id=TEXT), "The login session has ended.")
@for_visitors
def log_out(session_id: str | None = None) -> Response:
    """End the login session of the token in the request, at once on all workers."""
    token = _own_token(session_id)
    with operating() as operation:
        end_session(operation, principal())
    return json_answer({"code": 200, "status": "deleted", "session_id": ids.digest(token)})


@session.post("/session/confirm")
@require("session.confirm")
@takes(PasswordSchema)
@answers(outcome(confirmed_for=NUMBER), "The password is right.", refuses=(429,))
def confirm_session(body: dict[str, Any]) -> Response:
    """Confirm the account's password: for an hour from now on, an administrator may change other accounts."""
    own_account.confirm_password(principal().user_uid or "", body["password"])
    return json_answer({"code": 200, "message": "Password confirmed.", "confirmed_for": PROOF_SECONDS})


def _own_token(session_id: str | None) -> str:
    """Return the token of the request, whose session the path may name.

    Clients end a session by the `id` of the answer to the log-in, which is the token. Otherwise a path that contains
    it is refused, because servers and proxies log addresses.
    """
    token = token_of(request) or ""
    if session_id is not None:
        if session_id == token:
            if request.method == "DELETE":
                return token
            msg = "session_id: an address must not contain a token; leave it out, or send the id of the session"
            raise InvalidValueError(msg, field="session_id")
        if session_id not in (ids.digest(token), principal().credential_uid):
            raise PermissionDeniedError("This is not your own session.")
    return token


def _answer_login(service: Service, login: Login) -> Response:
    answer = _answer(service, login.principal, login.secret)
    sweep_sessions(service)
    return answer


def _answer(service: Service, who: Principal, token: str) -> Response:
    if who.kind == VISIT:
        texts = dict.fromkeys(("uid", "name", "display_name", "email", "password_hash"), "")
        user = User(role=VISITOR, created_at=who.created_at, updated_at=who.created_at, **texts)
    else:
        with service.reading(orm=True) as session:
            user = find_user(session, who.user_uid or "")
    view = SimpleNamespace(
        access_token=token,
        session_id=ids.digest(token),
        expires_in=who.expires_in(service.now()),
        provider=_PROVIDERS.get(who.standing, "application"),
        scope=str(who.scope),
        user=user,
        config=session_config(service, who, url_for(".log_in_session").removesuffix("/session")),
    )
    answer = json_answer(LoginSessionSchema(webdav_roles=roles_of("webdav.read")).dump(view))
    answer.headers["X-Session-ID"] = token
    answer.headers["X-Auth-Token"] = token
    return answer
