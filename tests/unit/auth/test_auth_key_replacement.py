"""The service key is replaced in three steps; after each of them every process goes on with all secrets."""

import os

import pyotp
import pytest
from sqlalchemy import select

from photosvc.auth import keys, second_factor
from photosvc.auth import keys as replacement
from photosvc.auth.errors import InvalidPasscodeError, OtherServiceKeyError
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.models import User
from photosvc.settings import load_settings
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import new_settings
from tests.helpers.operations import by_command

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


def prepare(session, settings, given=None):
    return replacement.prepare(settings, keys.stored_fingerprint(session), given)


def encrypt(session, settings, fresh, **options):
    replaced = replacement.encrypt_again(session, settings, fresh, **options)
    session.commit()
    session.expire_all()
    return replaced


def replace(session, settings):
    fresh = prepare(session, settings)
    replaced = encrypt(session, settings, fresh)
    replacement.put_in_place(settings)
    return replaced


def test_after_each_step_old_and_new_processes_accept_codes_and_recovery_codes(session, settings, alice, tmp_path):
    totp, codes = enrolled(session, settings, alice)
    sealed, old = alice.totp_secret, settings.secret_key
    left, steps = list(codes), iter(range(1, 20))

    def check(*processes):
        for process in processes:
            now = NOW + next(steps) * STEP
            assert works(session, process, alice, totp.at(now), now)
            assert works(session, process, alice, left.pop())

    fresh = prepare(session, settings)
    assert (fresh != old, load_settings(tmp_path).secret_key) == (True, old)
    check(settings, load_settings(tmp_path))
    assert encrypt(session, settings, fresh) == replacement.Replaced(accounts=1, lost=0)
    assert alice.totp_secret != sealed
    check(settings, load_settings(tmp_path))
    replacement.put_in_place(settings)
    renewed = load_settings(tmp_path)
    assert renewed.secret_key == fresh
    check(settings, renewed)
    assert sorted(path.name for path in tmp_path.glob("secret_key*")) == ["secret_key"]
    (tmp_path / "secret_key").write_text(old)
    stale = load_settings(tmp_path)
    assert not works(session, stale, alice, totp.at(NOW + 20 * STEP), NOW + 20 * STEP)
    assert not works(session, stale, alice, left.pop())


def test_recovery_codes_outlive_several_replacements_and_new_ones_are_made_with_the_present_key(
    session, settings, alice, tmp_path
):
    _, codes = enrolled(session, settings, alice)
    for code in codes[:3]:
        replace(session, settings)
        settings = load_settings(tmp_path)
        assert works(session, settings, alice, code)
    assert works(session, settings, alice, codes[5])
    assert not works(session, settings, alice, codes[5])
    second_factor.reset(by_command(session), alice)
    session.refresh(alice)
    _, fresh = enrolled(session, settings, alice)
    assert alice.recovery_key == ""
    assert works(session, settings, alice, fresh[0])
    assert not works(session, settings, alice, codes[6])


def test_a_replacement_that_was_killed_is_finished_with_the_key_that_waits(session, settings, alice, tmp_path):
    totp, _ = enrolled(session, settings, alice)
    fresh = prepare(session, settings)
    encrypt(session, settings, fresh)
    again = load_settings(tmp_path)
    assert prepare(session, again) == fresh
    bob = add_user(session, "bob")
    bobs, codes = enrolled(session, again, bob)  # meanwhile, by an old process
    assert bob.recovery_key == ""
    assert encrypt(session, again, fresh) == replacement.Replaced(accounts=2, lost=0)
    replacement.put_in_place(again)
    renewed = load_settings(tmp_path)
    assert works(session, renewed, alice, totp.at(NOW))
    assert works(session, renewed, bob, bobs.at(NOW))
    assert works(session, renewed, bob, codes[0])


def test_another_key_does_not_replace_the_one_that_waits(session, settings, alice):
    enrolled(session, settings, alice)
    encrypt(session, settings, prepare(session, settings, KEY))
    with pytest.raises(InvalidValueError, match="finish it without --key-stdin"):
        prepare(session, settings, OTHER)
    assert prepare(session, settings, KEY) == KEY


@pytest.mark.parametrize("left", ["half", "x" * 64, ""])
def test_a_key_of_a_run_that_was_killed_before_it_encrypted_anything_is_thrown_away(
    session, settings, alice, tmp_path, left
):
    totp, _ = enrolled(session, settings, alice)
    (tmp_path / "secret_key.next").write_text(left)
    fresh = prepare(session, settings)
    assert fresh != left
    encrypt(session, settings, fresh)
    replacement.put_in_place(settings)
    assert works(session, load_settings(tmp_path), alice, totp.at(NOW))


def test_the_new_key_is_readable_by_nobody_else_from_the_start(session, settings, tmp_path):
    prepare(session, settings)
    assert (tmp_path / "secret_key.next").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_leaves_the_new_key_to_the_account_of_the_old_one(session, settings, tmp_path):
    os.chown(tmp_path / "secret_key", 4711, 4712)
    prepare(session, settings)
    status = (tmp_path / "secret_key.next").stat()
    assert (status.st_uid, status.st_gid) == (4711, 4712)


def test_anybody_else_writes_the_new_key_as_their_own(session, settings, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    prepare(session, settings)
    assert (tmp_path / "secret_key.next").stat().st_uid == os.getuid()


def test_a_linked_key_is_replaced_where_it_is(session, alice, tmp_path):
    place = tmp_path / "secrets"
    place.mkdir()
    settings = load_settings(tmp_path)
    (tmp_path / "secret_key").rename(place / "the_key")
    (tmp_path / "secret_key").symlink_to(place / "the_key")
    enrolled(session, settings, alice)
    replace(session, settings)
    assert (tmp_path / "secret_key").is_symlink()
    assert load_settings(tmp_path).secret_key == (place / "the_key").read_text() != settings.secret_key


def test_a_key_that_is_a_setting_is_replaced_by_a_given_one(session, alice, tmp_path):
    old = new_settings(tmp_path)
    totp, codes = enrolled(session, old, alice)
    with pytest.raises(InvalidValueError, match=r"PHOTOSVC_SECRET_KEY is set \(app\): give the new key"):
        prepare(session, old)
    with replacement.replacing(old):
        encrypt(session, old, prepare(session, old, OTHER))
    replacement.put_in_place(old)
    assert not works(session, old, alice, totp.at(NOW))
    renewed = new_settings(tmp_path, secret_key=OTHER)
    assert works(session, renewed, alice, totp.at(NOW))
    assert works(session, renewed, alice, codes[0])
    assert not list(tmp_path.glob("secret_key*"))


@pytest.mark.parametrize("given", ["", "short", " " * 40])
def test_a_given_key_that_is_too_short_changes_nothing(session, settings, tmp_path, given):
    with pytest.raises(InvalidValueError) as caught:
        prepare(session, settings, given)
    assert caught.value.field == "key"
    assert not (tmp_path / "secret_key.next").exists()


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
        replacement.encrypt_again(session, wrong, "n" * 32)
    session.rollback()
    assert works(session, right, alice, totp.at(NOW))


def test_a_lost_key_is_given_up_on_demand_and_the_secrets_are_left_as_they_are(session, alice, tmp_path):
    right, wrong = new_settings(tmp_path), new_settings(tmp_path, secret_key=OTHER)
    enrolled(session, right, alice)
    sealed, fresh = alice.totp_secret, "n" * 32
    assert encrypt(session, wrong, fresh, lost=True) == replacement.Replaced(accounts=0, lost=1)
    assert alice.totp_secret == sealed
    bob = add_user(session, "bob")
    renewed = new_settings(tmp_path, secret_key=fresh)
    totp, _ = enrolled(session, renewed, bob)
    assert works(session, renewed, bob, totp.at(NOW))


def test_an_account_whose_recovery_key_is_damaged_is_left_as_it_is(session, settings, alice):
    totp, codes = enrolled(session, settings, alice)
    alice.recovery_key = "damaged"
    session.commit()
    assert not works(session, settings, alice, codes[0])
    assert encrypt(session, settings, prepare(session, settings)) == replacement.Replaced(accounts=0, lost=1)
    assert works(session, settings, alice, totp.at(NOW))


def test_recovery_codes_without_a_secret_are_kept(session, settings, alice, tmp_path):
    _, codes = enrolled(session, settings, alice)
    alice.totp_secret = ""
    session.commit()
    assert replace(session, settings).accounts == 1
    assert works(session, load_settings(tmp_path), alice, codes[0])


def test_accounts_without_a_second_factor_are_not_touched(session, settings, alice):
    before = session.execute(select(User.updated_at, User.totp_secret, User.recovery_key)).all()
    assert replace(session, settings) == replacement.Replaced(accounts=0, lost=0)
    assert session.execute(select(User.updated_at, User.totp_secret, User.recovery_key)).all() == before


def test_two_replacements_at_once_are_one(settings):
    with replacement.replacing(settings), pytest.raises(ConflictError, match="replaced already"):
        replacement.replacing(settings).__enter__()


def test_the_fingerprint_fits_a_column_and_does_not_tell_the_key():
    found = {keys.fingerprint(key) for key in (KEY, OTHER)}
    assert len(found) == 2
    assert all(0 <= number < 2**63 for number in found)


def test_a_process_with_another_key_stops_and_says_where_the_right_one_belongs(session, settings, tmp_path, caplog):
    stored = keys.claim(session, settings, exclusive=False)
    keys.check_key(settings, stored)
    assert not caplog.records
    with pytest.raises(OtherServiceKeyError, match="put the right one into PHOTOSVC_SECRET_KEY") as by_setting:
        keys.check_key(new_settings(tmp_path, secret_key="x" * 32), stored)
    (tmp_path / "secret_key").write_text("y" * 64)
    with pytest.raises(OtherServiceKeyError, match="into the file secret_key of the instance folder"):
        keys.check_key(load_settings(tmp_path), stored)
    assert "x" * 32 not in by_setting.value.message


def test_a_start_between_the_steps_of_a_replacement_says_that_it_was_not_finished(session, settings, alice, caplog):
    enrolled(session, settings, alice)
    encrypt(session, settings, prepare(session, settings))
    keys.check_key(settings, keys.stored_fingerprint(session))
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "run svc keys rotate --service again" in caplog.text
    assert settings.secret_key not in caplog.text


def test_a_key_that_is_put_in_place_between_two_reads_is_known(session, settings, monkeypatch):
    fresh = prepare(session, settings, OTHER)
    read_key, put = keys.read_key, iter([True])

    def read(file):
        found = read_key(file)
        if next(put, False):
            replacement.put_in_place(settings)
        return found

    monkeypatch.setattr(keys, "read_key", read)
    assert keys.known_keys(settings) == [settings.secret_key, fresh]
