import re

import pyotp
import pytest
from sqlalchemy import func, select

from photosvc.auth import second_factor
from photosvc.auth.errors import InvalidPasscodeError, SecondFactorStateError
from photosvc.models import RecoveryCode
from tests.helpers.api_client import HASH
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import new_settings
from tests.unit.auth.operations import by_command

STEP = 30 * SECOND


@pytest.fixture
def settings(tmp_path):
    return new_settings(tmp_path, site_name="Our photos")


def enrolled(session, settings, user):
    """Confirmed five minutes ago; gives the authenticator and the recovery codes."""
    enrolment = second_factor.enrol(by_command(session, NOW, settings), user)
    totp = pyotp.TOTP(enrolment.secret)
    codes = second_factor.confirm(by_command(session, NOW - 10 * STEP, settings), user, code=totp.at(NOW - 10 * STEP))
    session.commit()
    return totp, codes


def works(session, settings, user, code, now=NOW):
    try:
        second_factor.use_passcode(by_command(session, now, settings), user, code)
    except InvalidPasscodeError:
        return False
    return True


def codes_left(session):
    return session.scalar(select(func.count()).select_from(RecoveryCode))


def test_an_authenticator_reads_an_enrolment(session, settings, alice):
    enrolment = second_factor.enrol(by_command(session, NOW, settings), alice)
    assert enrolment.uri == f"otpauth://totp/Our%20photos:alice?secret={enrolment.secret}&issuer=Our%20photos"
    assert re.fullmatch(r"[A-Z2-7]{32}", enrolment.secret)
    assert enrolment.qr_svg.startswith("<svg ")
    assert not alice.totp_confirmed


def test_the_secret_is_stored_encrypted_for_its_owner_only(session, settings, alice):
    enrolment = second_factor.enrol(by_command(session, NOW, settings), alice)
    session.refresh(alice)
    assert enrolment.secret not in alice.totp_secret
    bob = add_user(session, "bob", totp_secret=alice.totp_secret, totp_confirmed=True)
    assert not works(session, settings, bob, pyotp.TOTP(enrolment.secret).at(NOW))
    assert works(session, settings, alice, pyotp.TOTP(enrolment.secret).at(NOW))


@pytest.mark.parametrize(("steps", "accepted"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_codes_of_one_step_before_and_after_are_accepted(session, settings, alice, steps, accepted):
    totp, _ = enrolled(session, settings, alice)
    assert works(session, settings, alice, totp.at(NOW + steps * STEP)) is accepted


def test_a_code_works_once_and_so_does_none_before_it(session, settings, alice):
    totp, _ = enrolled(session, settings, alice)
    assert works(session, settings, alice, totp.at(NOW))
    assert not works(session, settings, alice, totp.at(NOW))
    assert not works(session, settings, alice, totp.at(NOW - STEP))
    assert not works(session, settings, alice, totp.at(NOW), now=NOW - 3600 * SECOND)
    assert works(session, settings, alice, totp.at(NOW + STEP))


def test_the_code_that_confirms_cannot_log_in_too(session, settings, alice):
    secret = second_factor.enrol(by_command(session, NOW, settings), alice).secret
    code = pyotp.TOTP(secret).at(NOW)
    second_factor.confirm(by_command(session, NOW, settings), alice, code=code)
    assert not works(session, settings, alice, code)


@pytest.mark.parametrize("code", ["", "12345", "1234567", "١٢٣٤٥٦", "\ud800", "a" * 10**5, "000000\0", "0" * 16])
def test_texts_that_are_no_codes_are_refused(session, settings, alice, code):
    enrolled(session, settings, alice)
    assert not works(session, settings, alice, code)


def test_codes_may_be_typed_in_groups(session, settings, alice):
    totp, codes = enrolled(session, settings, alice)
    code = totp.at(NOW)
    assert works(session, settings, alice, f" {code[:3]} {code[3:]} ")
    assert works(session, settings, alice, codes[0].upper().replace("-", " "))


def test_each_of_ten_recovery_codes_works_once(session, settings, alice):
    _, codes = enrolled(session, settings, alice)
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"[0-9a-z]{4}(-[0-9a-z]{4}){3}", code) for code in codes)
    stored = session.scalars(select(RecoveryCode.digest)).all()
    assert not {code.replace("-", "") for code in codes} & set(stored)
    for used, code in enumerate(codes, start=1):
        assert works(session, settings, alice, code)
        assert not works(session, settings, alice, code)
        assert codes_left(session) == 10 - used


def test_recovery_codes_are_of_their_owner_only(session, settings, alice):
    bob = add_user(session, "bob", password_hash=HASH)
    _, codes = enrolled(session, settings, alice)
    enrolled(session, settings, bob)
    assert not works(session, settings, bob, codes[0])


def test_an_active_second_factor_is_not_replaced_or_confirmed_again(session, settings, alice):
    totp, _ = enrolled(session, settings, alice)
    with pytest.raises(SecondFactorStateError):
        second_factor.enrol(by_command(session, NOW, settings), alice)
    with pytest.raises(SecondFactorStateError):
        second_factor.confirm(by_command(session, NOW, settings), alice, code=totp.at(NOW))
    assert works(session, settings, alice, totp.at(NOW))
