"""Operations of the current request or command, and records of the security log: their actor, events and refusals.

An operation records its event in the write transaction of the change, so that neither is stored without the other:

    with operating() as operation:
        accounts.set_password(operation, user_uid, password_hash)
"""

import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from flask import g, has_request_context, request
from sqlalchemy import Select, bindparam, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from photosvc.auth import audit
from photosvc.auth.audit import COMMAND_LINE, Actor, Event, Named, new_entry
from photosvc.auth.errors import (
    ClientLoginError,
    ExpiredTokenError,
    InsufficientScopeError,
    InvalidPasscodeError,
    InvalidTokenError,
    LoginError,
    PasscodeRequiredError,
    ThrottledError,
)
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.throttle import network_of
from photosvc.core import ids
from photosvc.core.accounts import is_name, normal_name
from photosvc.core.errors import PermissionDeniedError, SchemaError
from photosvc.models import Client, User
from photosvc.web.proxies import client_address, is_behind_proxy
from photosvc.web.service import current_service

_LOG = logging.getLogger("photosvc")

#: Reasons of refused log-ins; empty if name or password was wrong, or the account is disabled.
_REASONS: dict[type[Exception], str] = {
    PasscodeRequiredError: "right password, no code",
    InvalidPasscodeError: "right password, wrong code",
    ClientLoginError: "secret of a client",
    InsufficientScopeError: "app password without the scope sessions",
}


_USER = select(User.name, User.uid).where(User.name == bindparam("shown"))
_CLIENT = select(Client.name, Client.uid).where(Client.uid == bindparam("shown"))


#: The form of an id that a proxy gives to a request.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}\Z")


@contextmanager
def operating() -> Iterator[Operation]:
    """Open a write transaction as `Service.writing` does, for an operation of the current request or command."""
    with current_service().writing() as session:
        yield operation_in(session)


def operation_in(session: Session) -> Operation:
    """Return the operation of the current request or command in a transaction of `Service.writing`."""
    service = current_service()
    who: Principal | None = g.get("photosvc_principal") if has_request_context() else None
    return Operation(session=session, settings=service.settings, now=service.now(), actor=actor(), principal=who)


def record_alone(event: Event, *, target: str = "", detail: str = "") -> None:
    """Record an event outside of the database in a transaction of its own; only log it if the database fails."""
    service = current_service()
    try:
        service.require_schema()
        with operating() as operation:
            operation.record(event, target=target, detail=detail)
    except (SchemaError, SQLAlchemyError):
        audit.log([new_entry(service.now(), event, actor(), target=target, detail=detail)])
        _LOG.warning("the database has no entry of the security log for this: %s", event)


def refuse(event: Event, *, subject: Named | None = None, detail: str = "") -> None:
    """Record a refusal outside of any transaction, unless others write for long; log it if it is a new entry.

    This never raises an error, so that the request is still answered with its refusal.

    Args:
        subject: the account or client of the name that was shown; None if there is none. That name is not recorded:
            people type passwords into fields for names.
    """
    service = current_service()
    g.photosvc_refusal_recorded = True
    by = actor()
    entry = new_entry(service.now(), event, replace(by, address=network_of(by.address)), subject=subject, detail=detail)
    added = True

    def write(session: Session) -> None:
        nonlocal added
        added = audit.add_refusal(session, entry, keep=service.settings.audit_entries)

    try:
        # The commit does not wait for the disk, so that a flood of refusals cannot slow it down.
        service.write_if_free(write, lasting=False)
    except (SQLAlchemyError, RuntimeError):  # the request is refused even if the database fails
        _LOG.exception("the security log cannot be written")
    if added:
        audit.log([entry])


@contextmanager
def refusing_login(username: str) -> Iterator[None]:
    """Wrap a log-in: record the reason if it is refused."""
    try:
        yield
    except (LoginError, ThrottledError, PermissionDeniedError) as error:
        name = normal_name(username)
        subject = _find(_USER, name) if is_name(name) else None
        if isinstance(error, ThrottledError):
            refuse(Event.THROTTLED, subject=subject, detail="login")
        else:
            refuse(Event.LOGIN_REFUSED, subject=subject, detail=_REASONS.get(type(error), ""))
        raise


def refuse_client(client_id: str) -> None:
    """Record that a client of this id was refused."""
    subject = _find(_CLIENT, client_id) if ids.is_uid(client_id, ids.CLIENT) else None
    refuse(Event.CLIENT_REFUSED, subject=subject)


def refuse_for(error: Exception, action: str) -> None:
    """Record the refusal that an error stands for, unless it was recorded where it was raised.

    `action` is the action of the policy that the view requires; empty if none.
    """
    if g.get("photosvc_refusal_recorded"):
        return
    match error:
        case ThrottledError():
            refuse(Event.THROTTLED, detail=action)
        case ExpiredTokenError():
            refuse(Event.TOKEN_REFUSED, detail="expired")
        case InvalidTokenError() if error.shown:
            refuse(Event.TOKEN_REFUSED)
        case PermissionDeniedError():
            refuse(Event.ACCESS_REFUSED, detail=action)


def actor() -> Actor:
    """Return the actor of the current request, who may be unknown, or the command line."""
    if not has_request_context():
        return COMMAND_LINE
    who: Principal | None = g.get("photosvc_principal") or g.get("photosvc_refused")
    address = client_address(request)
    if who is None:
        return Actor(address=address, request_id=request_id())
    return Actor.of(who, address=address, request_id=request_id())


def request_id() -> str:
    """Return the id of the current request: the one in `X-Request-ID` from a proxy, or else a random one."""
    known: str | None = g.get("photosvc_request_id")
    if known is None:
        by_proxy = request.headers.get("X-Request-ID", "") if is_behind_proxy(request) else ""
        g.photosvc_request_id = known = by_proxy if _REQUEST_ID.match(by_proxy) else secrets.token_hex(8)
    return known


def shown_id() -> str | None:
    """Return the request's id if the security log may contain it; refused clients are shown it, to ask about."""
    known: str | None = g.get("photosvc_request_id")
    return known


def _find(query: Select[Any, Any], shown: str) -> Named | None:
    named: Named | None = None
    with suppress(SQLAlchemyError), current_service().reading() as connection:  # else the entry has no subject
        row: Any = connection.execute(query, {"shown": shown}).first()
        named = row
    return named
