"""The service key is replaced in two steps; after each of them every process goes on with all secrets."""

import os

import pyotp
import pytest
from sqlalchemy import select

from photosvc.auth import second_factor, service_key
from photosvc.auth.errors import InvalidPasscodeError, OtherServiceKeyError
from photosvc.core.errors import ConflictError
from photosvc.models import User
from photosvc.settings import load_settings
from tests.helpers.clock import NOW, SECOND, MovedClock
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import new_settings
from tests.unit.auth.operations import by_command

STEP = 30 * SECOND
KEY, OTHER = "k" * 32, "o" * 40


@pytest.fixture
def settings(tmp_path):
    return load_settings(tmp_path)


def enrolled(session, settings, user):
    """The authenticator and the recovery codes of an account whose codes are fresh from now on."""
    totp = pyotp.TOTP(second_factor.enrol(by_command(session, NOW, settings), user).secret)
    session.refresh(user)
    before = NOW - 10 * STEP
    codes = second_factor.confirm(by_command(session, before, settings), user, code=totp.at(before))
    session.commit()
    return totp, codes


def works(session, settings, user, code, now=NOW):
    session.refresh(user)
    try:
        second_factor.use_passcode(by_command(session, now, settings), user, code)
    except InvalidPasscodeError:
        return False
    session.commit()
    return True


def encrypt(session, settings, **options):
    replaced = service_key.encrypt_again(session, settings, **options)
    session.commit()
    session.expire_all()
    return replaced


def replace(session, settings):
    service_key.add_key(settings)
    return encrypt(session, settings)


def test_after_each_step_old_and_new_processes_accept_codes_and_recovery_codes(session, settings, alice, tmp_path):
    totp, codes = enrolled(session, settings, alice)
    sealed, old = alice.totp_secret, settings.secret_key
    left, steps = list(codes), iter(range(1, 20))

    def check(*processes):
        for process in processes:
            now = NOW + next(steps) * STEP
            assert works(session, process, alice, totp.at(now), now)
            assert works(session, process, alice, left.pop())

    service_key.add_key(settings)
    renewed = load_settings(tmp_path)
    assert renewed.secret_key != old
    assert renewed.former_keys == (old,)
    check(settings, renewed)
    assert encrypt(session, settings) == service_key.Replaced(accounts=1, lost=0)
    assert alice.totp_secret != sealed
    check(settings, renewed)
    assert sorted(path.name for path in tmp_path.glob("secret_key*")) == ["secret_key"]
    (tmp_path / "secret_key").write_text(old)
    stale = load_settings(tmp_path)
    assert not works(session, stale, alice, totp.at(NOW + 20 * STEP), NOW + 20 * STEP)
    (tmp_path / "secret_key").write_text(renewed.secret_key)
    alone = load_settings(tmp_path)
    assert works(session, alone, alice, totp.at(NOW + 21 * STEP), NOW + 21 * STEP)
    assert not works(session, alone, alice, left.pop())  # made with the key that was taken out of the file


def test_recovery_codes_outlive_several_replacements_and_new_ones_are_made_with_the_present_key(
    session, settings, alice, tmp_path
):
    _, codes = enrolled(session, settings, alice)
    for code in codes[:3]:
        replace(session, settings)
        settings = load_settings(tmp_path)
        assert works(session, settings, alice, code)
        assert not works(session, settings, alice, code)
    second_factor.reset(by_command(session), alice)
    session.refresh(alice)
    _, fresh = enrolled(session, settings, alice)
    (tmp_path / "secret_key").write_text(settings.secret_key)
    settings = load_settings(tmp_path)
    assert works(session, settings, alice, fresh[0])
    assert not works(session, settings, alice, codes[6])


def test_the_new_key_is_readable_by_its_owner_alone_and_belongs_to_the_account_of_the_old_one(
    session, settings, tmp_path, monkeypatch
):
    (tmp_path / "secret_key.next").write_text("left by a run that was killed")
    if os.geteuid() == 0:
        os.chown(tmp_path / "secret_key", 4711, 4712)
        service_key.add_key(settings)
        status = (tmp_path / "secret_key").stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (4711, 4712, 0o600)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)  # others cannot give files away
    service_key.add_key(settings)
    status = (tmp_path / "secret_key").stat()
    assert (status.st_uid, status.st_mode & 0o777) == (os.getuid(), 0o600)


def test_a_linked_key_is_replaced_where_it_is(session, tmp_path):
    place = tmp_path / "secrets"
    place.mkdir()
    settings = load_settings(tmp_path)
    (tmp_path / "secret_key").rename(place / "the_key")
    (tmp_path / "secret_key").symlink_to(place / "the_key")
    replace(session, settings)
    assert (tmp_path / "secret_key").is_symlink()
    assert (place / "the_key").read_text().split() == [load_settings(tmp_path).secret_key, settings.secret_key]


def test_with_another_key_than_the_databases_nothing_is_enrolled_confirmed_or_replaced(session, alice, tmp_path):
    right, wrong = new_settings(tmp_path), new_settings(tmp_path, secret_key=OTHER)
    totp, _ = enrolled(session, right, alice)
    bob = add_user(session, "bob")
    session.commit()
    with pytest.raises(OtherServiceKeyError):
        second_factor.enrol(by_command(session, NOW, wrong), bob)
    with pytest.raises(OtherServiceKeyError):
        second_factor.confirm(by_command(session, NOW, wrong), bob, code="123456")
    with pytest.raises(OtherServiceKeyError):
        service_key.encrypt_again(session, wrong)
    session.rollback()
    assert works(session, right, alice, totp.at(NOW))


def test_a_lost_key_is_abandoned_on_demand_and_the_secrets_stay_unchanged(session, alice, tmp_path):
    right, wrong = new_settings(tmp_path), new_settings(tmp_path, secret_key=OTHER)
    enrolled(session, right, alice)
    sealed = alice.totp_secret
    assert encrypt(session, wrong, lost=True) == service_key.Replaced(accounts=0, lost=1)
    assert alice.totp_secret == sealed
    bob = add_user(session, "bob")
    totp, _ = enrolled(session, wrong, bob)
    assert works(session, wrong, bob, totp.at(NOW))


def test_accounts_without_a_second_factor_are_not_touched(session, settings, alice):
    before = session.execute(select(User.updated_at, User.totp_secret)).all()
    assert replace(session, settings) == service_key.Replaced(accounts=0, lost=0)
    assert session.execute(select(User.updated_at, User.totp_secret)).all() == before


def test_two_replacements_at_once_are_one(settings):
    with service_key.replacing(settings), pytest.raises(ConflictError, match="replaced already"):
        service_key.replacing(settings).__enter__()


def test_the_fingerprint_fits_a_column_and_does_not_tell_the_key():
    found = {service_key.fingerprint(key) for key in (KEY, OTHER)}
    assert len(found) == 2
    assert all(0 <= number < 2**63 for number in found)


def test_a_process_with_another_key_stops_and_says_where_the_right_one_belongs(session, settings, tmp_path, caplog):
    stored = service_key.claim(session, settings)
    service_key.check_key(settings, stored)
    assert not caplog.records
    with pytest.raises(OtherServiceKeyError, match="put the right one into PHOTOSVC_SECRET_KEY") as by_setting:
        service_key.check_key(new_settings(tmp_path, secret_key="x" * 32), stored)
    (tmp_path / "secret_key").write_text("y" * 64)
    with pytest.raises(OtherServiceKeyError, match="into the file secret_key of the instance folder"):
        service_key.check_key(load_settings(tmp_path), stored)
    assert "x" * 32 not in by_setting.value.message


def test_a_start_between_the_steps_of_a_replacement_says_that_it_was_not_finished(session, settings, tmp_path, caplog):
    stored = service_key.claim(session, settings)
    service_key.add_key(settings)
    service_key.check_key(load_settings(tmp_path), stored)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "run svc keys rotate --service" in caplog.text
    assert settings.secret_key not in caplog.text


def test_the_file_of_the_key_is_read_again_only_when_it_was_replaced(tmp_path):
    clock = MovedClock(NOW)
    file = tmp_path / "secret_key"
    file.write_text("a" * 32)
    watched = service_key.KeyFile(file, clock)
    assert [watched.read_new(), watched.read_new()] == [["a" * 32], []]
    fresh = tmp_path / "fresh"
    fresh.write_text("b" * 32 + "\n" + "a" * 32)
    fresh.replace(file)
    assert watched.read_new(seldom=True) == []
    assert watched.read_new() == ["b" * 32, "a" * 32]
    file.write_text("cut")
    assert watched.read_new() == []
    file.unlink()
    assert watched.read_new() == []
    assert service_key.KeyFile(None, clock).read_new() == []
