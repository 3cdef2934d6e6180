from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.orm import Session

from photosvc.auth import accounts
from photosvc.auth.credentials import issue
from photosvc.auth.errors import InvalidCredentialsError, InvalidTokenError, LastAdminError, UserExistsError
from photosvc.auth.passwords import new_hash, verify_password
from photosvc.auth.scopes import EVERYTHING
from photosvc.auth.second_factor import prove_password
from photosvc.auth.tokens import verify
from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.models import CLIENT_TOKEN, User
from photosvc.models.engine import write_session
from tests.helpers.clock import NOW, SECOND
from tests.helpers.factories.accounts import add_client, add_credential
from tests.helpers.library import new_engine
from tests.helpers.operations import by_anonymous, by_command, by_user

PASSWORD = "correct horse"


def add(session, name="alice", **values):
    user = accounts.add(by_command(session), accounts.new_user(NOW, name=name, **values))
    session.commit()
    return user


def alive(session, secret):
    try:
        verify(session.connection(), secret, NOW)
    except InvalidTokenError:
        return False
    return True


def test_an_account_is_made_of_what_is_given(session):
    user = add(session, " Alice ", password=PASSWORD, role="viewer", display_name=" Alice Ö. ", email="a@example.org")
    assert (user.name, user.role, user.display_name, user.email) == ("alice", "viewer", "Alice Ö.", "a@example.org")
    assert verify_password(PASSWORD, user.password_hash)
    assert (user.uid[0], len(user.uid), user.disabled, user.password_version) == ("u", 16, False, 1)
    assert accounts.find_user(session, "ALICE") is accounts.find_user(session, user.uid) is user


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a" * 65}, "name"),
        ({"name": "a:b"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": ".a"}, "name"),
        ({"name": "аlice"}, "name"),
        ({"name": "a\0"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"role": "root"}, "role"),
        ({"role": "client"}, "role"),
        ({"password": "short"}, "password"),
        ({"name": "alice.smith", "password": "Alice.Smith"}, "password"),
        ({"display_name": "a\nb"}, "display_name"),
        ({"email": "a" * 256}, "email"),
        ({"email": "a.example.org"}, "email"),
    ],
)
def test_a_value_unfit_for_an_account_is_refused_by_name(session, values, field):
    with pytest.raises(InvalidValueError) as caught:
        accounts.add(by_command(session), accounts.new_user(NOW, **{"name": "alice", **values}))
    assert caught.value.field == field
    assert accounts.list_users(session) == []


@pytest.mark.parametrize("name", ["a", "7", "a" * 64, "anna.b-c_d@example.org"])
def test_names_have_letters_digits_and_a_few_signs(session, name):
    assert add(session, name).name == name


def test_a_name_is_given_once(session):
    add(session)
    with pytest.raises(UserExistsError) as caught:
        accounts.add(by_command(session), accounts.new_user(NOW, name="ALICE"))
    assert caught.value.status == 409


@pytest.mark.parametrize("identifier", ["bob", "", "\ud800", "%"])
def test_who_is_not_there_is_not_found(session, identifier):
    add(session)
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


def test_a_change_touches_what_is_given_and_nothing_else(session):
    user = add(session, password=PASSWORD, email="a@example.org")
    changed = accounts.change(by_command(session, NOW + SECOND), user.uid, display_name="Alice")
    assert (changed.display_name, changed.email, changed.role) == ("Alice", "a@example.org", "user")
    assert (changed.created_at, changed.updated_at) == (NOW, NOW + SECOND)
    with pytest.raises(InvalidValueError):
        accounts.change(by_command(session), user.uid, role="root")


@pytest.mark.parametrize("change", [{"role": "user"}, {"disabled": True}, {"role": "viewer", "disabled": True}])
def test_the_last_enabled_administrator_stays_one(session, change):
    admin = add(session, "root", role="admin")
    add(session, "old", role="admin")
    accounts.change(by_command(session), "old", disabled=True)
    session.commit()
    with pytest.raises(LastAdminError) as caught:
        accounts.change(by_user(session, admin), admin.uid, **change)
    assert caught.value.status == 409
    session.rollback()
    assert (admin.role, admin.disabled) == ("admin", False)
    accounts.change(by_command(session), "old", disabled=False)
    accounts.change(by_user(session, admin), admin.uid, **change)


def test_the_last_enabled_administrator_is_not_removed_but_by_who_owns_the_machine(session):
    admin = add(session, "root", role="admin")
    add(session)
    accounts.change(by_user(session, admin), admin.uid, email="r@example.org", role="admin", disabled=False)
    with pytest.raises(LastAdminError):
        accounts.remove(by_anonymous(session), admin.uid)
    session.rollback()
    accounts.remove(by_anonymous(session), "alice")
    accounts.remove(by_command(session), admin.uid)
    assert accounts.list_users(session) == []


def test_two_administrators_cannot_remove_each_other_at_once(tmp_path):
    for round_number in range(5):
        engine = new_engine(tmp_path, f"{round_number}.db")
        with Session(engine) as session:
            for name in ("one", "two", "three"):
                add(session, name, role="admin")

        def remove(name, engine=engine):
            try:
                with write_session(engine) as session:
                    accounts.remove(by_anonymous(session), name)
            except LastAdminError:
                return 0
            return 1

        with ThreadPoolExecutor(3) as pool:
            assert sum(pool.map(remove, ["one", "two", "three"])) == 2
        engine.dispose()


def test_who_was_removed_meanwhile_is_not_found(session):
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


def test_removing_an_account_ends_its_credentials_and_stops_its_clients(session):
    user, other = add(session), add(session, "bob")
    app = issue(by_command(session), name="x", scope=EVERYTHING, user=user).secret
    kept = issue(by_command(session), name="x", scope=EVERYTHING, user=other).secret
    client = add_client(session, user_id=user.id)
    token = add_credential(session, CLIENT_TOKEN, client_id=client.id)
    session.commit()
    accounts.remove(by_anonymous(session), user.uid)
    session.commit()
    assert [alive(session, secret) for secret in (app, token, kept)] == [False, False, True]
    assert (client.enabled, client.user_id) == (False, None)


def test_all_accounts_can_be_removed_at_once(session):
    add(session, "root", role="admin")
    client = add_client(session, user_id=add(session).id)
    session.commit()
    assert accounts.remove_all(by_command(session)) == 2
    session.commit()
    assert not client.enabled


def test_a_password_can_be_taken_away(session):
    user = add(session, password=PASSWORD)
    accounts.set_password(by_command(session), user.uid, new_hash(None, user_name=user.name))
    session.commit()
    assert (user.password_hash, user.password_version) == ("", 2)
    with pytest.raises(InvalidCredentialsError):
        prove_password(user, "")
