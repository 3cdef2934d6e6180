"""Operations on a session, without an app: of commands, of anonymous requests, and of a person who logged in."""

from functools import cache
from pathlib import Path

from photosvc.auth.audit import COMMAND_LINE, Actor
from photosvc.auth.operation import Operation
from photosvc.auth.tokens import verify
from photosvc.models import LOGIN_SESSION
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_credential
from tests.helpers.library import new_settings


def by_command(session, now=NOW, settings=None):
    """An operation of the command line, which the policy does not restrict."""
    return Operation(session=session, settings=settings or _defaults(), now=now, actor=COMMAND_LINE)


def by_anonymous(session, now=NOW, settings=None):
    """An operation of a request without a credential."""
    return Operation(session=session, settings=settings or _defaults(), now=now, actor=Actor(address="192.0.2.7"))


def by_principal(session, principal, now=NOW, settings=None):
    """An operation of the holder of a credential."""
    actor = Actor.of(principal)
    return Operation(session=session, settings=settings or _defaults(), now=now, actor=actor, principal=principal)


def by_user(session, user, scope="*"):
    """An operation with a new login session of an account, with which the password was just sent."""
    secret = add_credential(session, LOGIN_SESSION, scope=scope, user_id=user.id, proved_at=NOW)
    return by_principal(session, verify(session.connection(), secret, NOW))


@cache
def _defaults():
    return new_settings(Path("/nowhere"))
