import pyotp
import pytest
from sqlalchemy import select

from photosvc.auth import passwords, second_factor
from photosvc.auth.accounts import set_password
from photosvc.auth.credentials import issue
from photosvc.auth.errors import InvalidCredentialsError, PasscodeRequiredError
from photosvc.auth.login import log_out
from photosvc.auth.principal import Origin
from photosvc.auth.scopes import parse_scope
from photosvc.auth.tokens import verify
from photosvc.core import ids
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import LOGIN_SESSION, Credential, User
from photosvc.models.engine import begin_write
from tests.helpers.api_client import PASSWORD
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_user, log_in
from tests.helpers.operations import by_anonymous, by_command


def test_a_log_in_gives_a_session_with_all_rights_of_its_user(session, settings, alice):
    origin = Origin.of("192.0.2.7", "Frame\0/1.0")
    login = log_in(session, settings, NOW, username=" ALICE ", password=PASSWORD, origin=origin)
    assert ids.is_access_token(login.secret)
    principal = verify(session.connection(), login.secret, NOW)
    assert principal == login.principal
    assert (principal.kind, principal.standing, str(principal.scope)) == (LOGIN_SESSION, LOGIN_SESSION, "*")
    assert principal.expires_in(NOW) == 1_209_600
    row = session.scalars(select(Credential)).one()
    assert (row.last_ip, row.user_agent) == ("192.0.2.7", "Frame/1.0")
    assert session.get(User, alice.id).login_at == NOW


def test_names_that_do_not_exist_cost_the_same_hash(session, settings, alice, service_hasher, monkeypatch):
    begin_write(session)
    alice.password_hash = stored_hash = passwords.hash_password(PASSWORD)
    hashed = []
    verify_hash = passwords._HASHER.verify
    monkeypatch.setattr(
        type(passwords._HASHER),
        "verify",
        lambda self, stored, given: hashed.append(stored) or verify_hash(stored, given),
    )
    add_user(session, "carol", password_hash=stored_hash, disabled=True)
    add_user(session, "dave", password_hash="")
    for name in ("alice", "bob", "carol", "dave", "no such name!"):
        with pytest.raises(InvalidCredentialsError):
            log_in(session, settings, NOW, username=name, password="wrong horse")
    assert len(hashed) == 5
    assert {stored.split("$")[1:4][2] for stored in hashed} == {"m=19456,t=2,p=1"}


def with_second_factor(session, settings, alice):
    enrolment = second_factor.enrol(by_command(session, NOW, settings), alice)
    totp = pyotp.TOTP(enrolment.secret)
    before = NOW - 60 * SECOND
    codes = second_factor.confirm(by_command(session, before, settings), alice, code=totp.at(before))
    session.commit()
    return totp, codes


def test_a_password_changed_in_the_middle_of_a_log_in_ends_it(session, settings, alice, monkeypatch):
    real = passwords.needs_rehash

    def meanwhile(stored):
        session.rollback()
        set_password(by_command(session), alice.uid, passwords.hash_password("another horse"))
        session.commit()
        return real(stored)

    monkeypatch.setattr(passwords, "needs_rehash", meanwhile)
    with pytest.raises(InvalidCredentialsError):
        log_in(session, settings, NOW, username="alice", password=PASSWORD)


def test_a_weaker_hash_is_replaced_at_log_in(session, settings, alice, service_hasher):
    from argon2 import PasswordHasher

    begin_write(session)
    alice.password_hash = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD.encode())
    version = alice.password_version
    session.commit()
    log_in(session, settings, NOW, username="alice", password=PASSWORD)
    assert "m=19456,t=2,p=1" in alice.password_hash
    assert alice.password_version == version
    log_in(session, settings, NOW, username="alice", password=PASSWORD)


def test_an_app_password_cannot_be_logged_out(session, settings, alice):
    app = issue(by_command(session), name="frame", scope=parse_scope("*"), user=alice)
    with pytest.raises(PermissionDeniedError):
        log_out(by_anonymous(session), verify(session.connection(), app.secret, NOW))
    log_out(by_anonymous(session), log_in(session, settings, NOW, username="alice", password=app.secret).principal)
    verify(session.connection(), app.secret, NOW)


def test_a_second_factor_turned_on_in_the_middle_of_a_log_in_is_asked_for(session, settings, alice, monkeypatch):
    def meanwhile(stored):
        session.rollback()
        with_second_factor(session, settings, session.get(User, alice.id))
        return False

    monkeypatch.setattr(passwords, "needs_rehash", meanwhile)
    with pytest.raises(PasscodeRequiredError):
        log_in(session, settings, NOW, username="alice", password=PASSWORD)
