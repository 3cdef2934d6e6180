"""What the security log tells, and that it happened: entries live and die with the transaction they tell about."""

import logging
from contextlib import suppress

from sqlalchemy import select

from photosvc.auth.audit_log import Event
from photosvc.models import User
from photosvc.web.auditing import operating
from tests.helpers.audit_rows import rows, told
from tests.helpers.clock import NOW


def test_a_log_in_and_the_log_out_are_told_with_their_session_and_address(api, caplog):
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


def test_what_is_rolled_back_is_neither_stored_nor_logged(api, caplog):
    caplog.set_level(logging.INFO, "photosvc.security")
    with api.library.app.app_context(), suppress(KeyError), operating() as operation:
        operation.record(Event.PASSWORD_CHANGED, subject=operation.session.scalar(select(User)))
        raise KeyError
    assert told(api.library) == []
    assert caplog.messages == []
