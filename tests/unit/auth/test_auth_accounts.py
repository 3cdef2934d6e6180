import pytest

from photosvc.auth import accounts
from photosvc.auth.errors import InvalidCredentialsError
from photosvc.auth.passwords import new_hash, verify_password
from photosvc.auth.second_factor import find_proven, prove_password
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import User
from tests.helpers.clock import NOW
from tests.unit.auth.operations import by_anonymous, by_command

PASSWORD = "correct horse"


def add(session, name="alice", **values):
    user = accounts.add(by_command(session), accounts.new_user(NOW, name=name, **values))
    session.commit()
    return user


def test_a_new_account_has_the_values_of_its_arguments(session):
    user = add(session, " Alice ", password=PASSWORD, role="viewer", display_name=" Alice Ö. ", email="a@example.org")
    assert (user.name, user.role, user.display_name, user.email) == ("alice", "viewer", "Alice Ö.", "a@example.org")
    assert verify_password(PASSWORD, user.password_hash)
    assert (user.uid[0], len(user.uid), user.disabled, user.password_version) == ("u", 16, False, 1)
    assert accounts.find_user(session, "ALICE") is accounts.find_user(session, user.uid) is user


def test_a_value_unfit_for_an_account_is_refused_by_name(session):
    bad = {
        "name": ("", "a" * 65, "a:b", "a b", ".a", "аlice", "a\0", "\ud800"),
        "role": ("root", "client"),
        "password": ("short", "Alice.Smith"),
        "display_name": ("a\nb",),
        "email": ("a" * 256, "a.example.org"),
    }
    for field, value in ((field, value) for field, values in bad.items() for value in values):
        with pytest.raises(InvalidValueError) as caught:
            accounts.add(by_command(session), accounts.new_user(NOW, **{"name": "alice.smith", field: value}))
        assert caught.value.field == field, value
    assert accounts.list_users(session) == []


def test_names_have_letters_digits_and_a_few_signs(session):
    for name in ("a", "7", "a" * 64, "anna.b-c_d@example.org"):
        assert add(session, name).name == name


def test_an_unknown_account_is_not_found(session):
    add(session)
    for identifier in ("bob", "", "\ud800", "%"):
        with pytest.raises(NotFoundError):
            accounts.find_user(session, identifier)


def test_accounts_are_listed_by_name_and_found_by_prefix_or_role(session):
    names = ["carol", "alice", "bob"]
    for name, role in zip(names, ["user", "admin", "viewer"], strict=True):
        add(session, name, role=role)
    assert [user.name for user in accounts.list_users(session)] == ["alice", "bob", "carol"]
    assert [user.name for user in accounts.list_users(session, limit=1)] == ["alice"]
    assert [user.name for user in accounts.list_users(session, search="CA")] == ["carol"]
    assert [user.name for user in accounts.list_users(session, search="viewer")] == ["bob"]
    assert list(accounts.list_users(session, search="%")) == []


def test_an_account_that_was_removed_meanwhile_is_not_found(session):
    user = add(session)
    stale = User(id=user.id, uid=user.uid)
    accounts.remove(by_anonymous(session), user.uid)
    session.commit()
    for change in (
        lambda: accounts.remove(by_anonymous(session), stale.uid),
        lambda: accounts.change(by_command(session), stale.uid, email="x@example.org"),
    ):
        with pytest.raises(NotFoundError):
            change()
    with pytest.raises(InvalidCredentialsError):
        find_proven(session, stale)


def test_a_password_can_be_taken_away(session):
    user = add(session, password=PASSWORD)
    accounts.set_password(by_command(session), user.uid, new_hash(None, user_name=user.name))
    session.commit()
    assert (user.password_hash, user.password_version) == ("", 2)
    with pytest.raises(InvalidCredentialsError):
        prove_password(user, "")
