"""What decides under concurrency decides on PostgreSQL too."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import unquote

import pyotp
import pytest
from sqlalchemy import create_engine, delete, select, text, update
from sqlalchemy.orm import Session

from photosvc.auth import accounts, second_factor, service_key, throttle
from photosvc.auth.credentials import issue, sweep
from photosvc.auth.errors import InvalidPasscodeError, LastAdminError
from photosvc.auth.principal import Origin
from photosvc.auth.scopes import EVERYTHING
from photosvc.auth.service_key import add_key, encrypt_again
from photosvc.auth.throttle import LOGIN_BY_ADDRESS, Charge
from photosvc.auth.tokens import touch, verify
from photosvc.models import LibraryState, User
from photosvc.models.engine import write_if_free
from photosvc.settings import load_settings
from tests.helpers.api_client import open_api
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_user, log_in
from tests.helpers.library import new_settings
from tests.unit.auth.operations import by_anonymous, by_command

PASSWORD = "correct horse"


@pytest.fixture(scope="module")
def engine(new_postgres):
    engine = create_engine(new_postgres())
    yield engine
    engine.dispose()


@pytest.fixture
def session(engine):
    with Session(engine) as session:
        session.execute(delete(User))
        session.execute(delete(LibraryState).where(LibraryState.name == "service_key"))
        session.commit()
        yield session


def test_texts_that_postgresql_cannot_store_are_no_tokens_names_or_accounts(new_postgres, tmp_path):
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        admin = api.session_of("ann")
        for number, text in enumerate(("%00", "a%00b", "%ff%fe", "%ed%a0%80", "%F0%9F%93%B7")):
            for method, path, body in (
                ("GET", f"/users/{text}", None),
                ("PUT", f"/users/{text}/password", {"new": "new horse battery"}),
                ("DELETE", api.user_path("ann", f"/app-passwords/{text}"), None),
            ):
                answer = api.call(method, path, admin, json=body)
                assert answer.status_code == 404, (method, path, answer.text)
            raw = unquote(text, "latin-1")
            for field in ("username", "password", "code"):
                sent = {"username": "alice", "password": "wrong horse", field: raw}
                answer = api.call("POST", "/session", json=sent, address=f"10.0.{number}.{len(field)}")
                assert answer.status_code == 401, (field, raw, answer.text)
            answer = api.call("GET", "/photos", environ_overrides={"HTTP_X_AUTH_TOKEN": f"0{raw}"})
            assert answer.status_code == 401, (raw, answer.text)


def at_once(engine, act, arguments):
    def one(argument):
        with Session(engine) as session:
            done = act(session, argument)
            session.commit() if done else session.rollback()
            return done

    with ThreadPoolExecutor(6) as pool:
        return sum(pool.map(one, arguments))


def test_failures_never_exceed_the_burst(engine, session):
    charge = Charge(LOGIN_BY_ADDRESS, "pg")
    assert at_once(engine, lambda session, _: throttle.take(session, charge, NOW) == 0, range(40)) == 10
    throttle.remember(session, "known:x", NOW)
    assert not throttle.is_known_pair(session, "known:x", NOW)
    assert throttle.sweep(session, NOW.replace(year=2027)) == 2


def test_a_code_is_accepted_once(engine, session, tmp_path):
    settings = new_settings(tmp_path)
    user = accounts.add(by_command(session), accounts.new_user(NOW, name="alice", password=PASSWORD))
    totp = pyotp.TOTP(second_factor.enrol(by_command(session, NOW, settings), user).secret)
    before = NOW.replace(minute=0, hour=11)
    codes = second_factor.confirm(by_command(session, before, settings), user, code=totp.at(before))
    session.commit()

    def spend(session, code):
        try:
            second_factor.use_passcode(by_command(session, NOW, settings), session.scalars(select(User)).one(), code)
        except InvalidPasscodeError:
            return False
        return True

    assert at_once(engine, spend, [totp.at(NOW)] * 18) == 1
    assert at_once(engine, spend, [codes[5]] * 18) == 1


def test_codes_are_accepted_and_second_factors_set_up_while_the_service_key_is_replaced(engine, session, tmp_path):
    """Both lock rows; in different orders, one would fail for the other."""
    settings = load_settings(tmp_path)
    names = [f"user{number}" for number in range(12)]
    made = {name: accounts.add(by_command(session), accounts.new_user(NOW, name=name)) for name in names}
    command = by_command(session, NOW, settings)
    totps = {name: pyotp.TOTP(second_factor.enrol(command, made[name]).secret) for name in names}
    session.commit()
    before = NOW.replace(minute=0, hour=11)

    def act(session, name):
        if name is None:
            add_key(settings)
            encrypt_again(session, settings)
            return True
        user = accounts.find_user(session, name)
        codes = second_factor.confirm(by_command(session, before, settings), user, code=totps[name].at(before))
        session.commit()
        user = session.get(User, user.id, with_for_update=True, populate_existing=True)
        second_factor.use_passcode(by_command(session, NOW, settings), user, codes[0])
        return True

    assert at_once(engine, act, [*names[:6], None, *names[6:]]) == 13
    for name in names:
        user = accounts.find_user(session, name)
        second_factor.use_passcode(by_command(session, NOW, load_settings(tmp_path)), user, totps[name].at(NOW))


def test_a_second_factor_that_is_set_up_again_while_the_service_key_is_replaced_stays(
    engine, session, tmp_path, monkeypatch
):
    settings = load_settings(tmp_path)
    user = accounts.add(by_command(session), accounts.new_user(NOW, name="alice"))
    second_factor.enrol(by_command(session, NOW, settings), user)
    session.commit()
    box, again = service_key._box, []

    def meanwhile(*arguments):
        monkeypatch.setattr(service_key, "_box", box)
        with Session(engine) as other:
            again.append(second_factor.enrol(by_command(other, NOW, settings), other.get(User, user.id)).secret)
            other.commit()
        return box(*arguments)

    monkeypatch.setattr(service_key, "_box", meanwhile)
    add_key(settings)
    encrypt_again(session, settings)
    session.commit()
    session.refresh(user)
    second_factor.use_passcode(by_command(session, NOW, settings), user, pyotp.TOTP(again[0]).at(NOW))


def test_the_last_administrator_stays(engine, session):
    for name in ("one", "two", "three"):
        add_user(session, name, role="admin")
    session.commit()

    def remove(session, name):
        try:
            accounts.remove(by_anonymous(session), name)
        except LastAdminError:
            return False
        return True

    assert at_once(engine, remove, ["one", "two", "three"]) == 2


def test_credentials_live_and_die_the_same(session, tmp_path):
    user = accounts.add(by_command(session), accounts.new_user(NOW, name="alice", password=PASSWORD))
    app = issue(by_command(session), name="frame", scope=EVERYTHING, lifetime=60, user=user)
    login = log_in(session, new_settings(tmp_path), NOW, username="alice", password=PASSWORD)
    child = log_in(session, new_settings(tmp_path), NOW, username="alice", password=app.secret)
    session.commit()
    assert verify(session.connection(), child.secret, NOW).parent_id == app.credential.id
    assert touch(session, verify(session.connection(), app.secret, NOW), NOW, Origin.of("192.0.2.7", ""))
    session.commit()
    assert sweep(session, NOW.replace(minute=1)) == 2
    assert verify(session.connection(), login.secret, NOW.replace(minute=1)).user_name == "alice"


def test_a_note_does_not_wait_for_a_row_that_another_holds(engine, session):
    alice = add_user(session)
    session.commit()
    change = update(User).where(User.id == alice.id)
    session.rollback()
    with Session(engine) as other:
        other.execute(change.values(email="held"))
        write_if_free(engine, lambda own: own.execute(change.values(email="left out")))
        other.commit()
    write_if_free(engine, lambda own: own.execute(change.values(display_name="noted")))
    session.refresh(alice)
    assert (alice.email, alice.display_name) == ("held", "noted")
    assert session.scalar(text("SHOW lock_timeout")) == "0"
