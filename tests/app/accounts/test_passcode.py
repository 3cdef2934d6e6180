"""The second factor's whole life over HTTP (RFC 6238)."""

from dataclasses import replace

import pyotp
import pytest

from photosvc.web.service import current_service
from tests.app.search.limits.slow_rows import slow_rows
from tests.helpers.api_client import PASSWORD, check_error
from tests.helpers.factories.photos import add_photos


@pytest.fixture
def own(api):
    return api.session_of()


def enrol(api, own):
    """Turn it on; gives the authenticator and the recovery codes. Half a minute later codes are fresh."""
    answer = api.call("POST", api.user_path(rest="/passcode"), own, json={"password": PASSWORD})
    assert answer.status_code == 200, answer.text
    totp = pyotp.TOTP(answer.json["secret"])
    code = totp.at(api.clock())
    answer = api.call("POST", api.user_path(rest="/passcode/confirm"), own, json={"code": code})
    assert answer.status_code == 200, answer.text
    api.clock.move(minutes=5)
    return totp, answer.json["recovery_codes"]


def test_an_enrolment_asks_for_nothing_yet_and_the_first_code_turns_it_on_with_ten_recovery_codes(api, own):
    answer = api.call("POST", api.user_path(rest="/passcode"), own, json={"password": PASSWORD})
    assert set(answer.json) == {"secret", "uri", "qr_svg"}
    assert answer.headers["Cache-Control"] == "no-store"
    assert api.log_in().status_code == 200
    _, recovery = enrol(api, own)
    assert len(set(recovery)) == 10
    assert api.call("GET", api.user_path(), own).json["TwoFactor"] is True


def test_then_a_log_in_asks_for_a_code_by_number(api, own):
    totp, recovery = enrol(api, own)
    for missing in ({}, {"code": None}, {"code": ""}):
        assert check_error(api.log_in(**missing), 401, code=32)["error"] == "A passcode is required."
    for wrong in ("000000", "12345", "x" * 3000, "\0"):
        assert check_error(api.log_in(code=wrong), 401, code=33)["error"] == "Invalid passcode."
        api.clock.move(minutes=3)
    for code in (totp.at(api.clock()), recovery[0]):  # each is accepted once
        assert api.log_in(code=code).json["user"]["TwoFactor"] is True
        check_error(api.log_in(code=code), 401, code=33)
        api.clock.move(minutes=3)


def test_a_wrong_password_does_not_reveal_that_there_is_a_second_factor(api, own):
    totp, _ = enrol(api, own)
    check_error(api.log_in(password="wrong horse"), 401, code=401)
    check_error(api.log_in(password="wrong horse", code=totp.at(api.clock())), 401, code=401)
    assert api.log_in(code=totp.at(api.clock())).status_code == 200


def test_a_log_in_whose_counts_take_too_long_has_none_and_spends_its_code_for_a_session(api, own):
    totp, _ = enrol(api, own)
    with api.library.session() as session:
        add_photos(session, 60, api.clock())
    with api.library.app.app_context():
        service = current_service()
    service.limits = replace(service.limits, seconds=-1)
    with slow_rows(api.library):
        answer = api.log_in(code=totp.at(api.clock()))
        assert (answer.status_code, answer.json["config"]["years"], answer.json["config"]["count"]) == (200, [], None)
        check_error(api.call("GET", "/config", answer.json["access_token"]), 503)


def test_app_passwords_ask_for_no_code(api, own):
    app = api.app_password()
    enrol(api, own)
    assert api.is_alive(app)
    assert api.log_in(password=app).status_code == 200


def test_guessing_codes_soon_ends_in_429(api, own):
    enrol(api, own)
    statuses = [api.log_in(code="000000", address="198.51.100.9").status_code for _ in range(6)]
    assert statuses == [401, 401, 401, 429, 429, 429]


def test_turning_it_on_needs_the_password_and_the_right_code(api, own):
    begin, confirm = api.user_path(rest="/passcode"), api.user_path(rest="/passcode/confirm")
    check_error(api.call("POST", begin, own, json={"password": "wrong horse"}), 400)
    check_error(api.call("POST", confirm, own, json={"code": "000000"}), 409)
    api.call("POST", begin, own, json={"password": PASSWORD})
    check_error(api.call("POST", confirm, own, json={"code": "000000"}), 400)
    assert api.is_alive(own)
    assert api.log_in().status_code == 200


def disable(api, own, **body):
    return api.call("POST", api.user_path(rest="/passcode/disable"), own, json={"password": PASSWORD, **body})


def change_password(api, own, **body):
    new = {"old": PASSWORD, "new": "new horse battery"}
    return api.call("PUT", api.user_path(rest="/password"), own, json={**new, **body})


def fields(body):
    return [detail["field"] for detail in body["details"]]


def check_codes(api, own, send):
    """Make sure that a request without a code or with a wrong one is refused by the name of the field."""
    for body in ({}, {"code": None}, {"code": ""}, {"code": "000000"}):
        assert fields(check_error(send(api, own, **body), 400)) == ["code"], body


def test_turning_it_off_needs_the_password_and_a_code(api, own):
    totp, recovery = enrol(api, own)
    wrong = disable(api, own, password="wrong horse", code=totp.at(api.clock()))
    assert fields(check_error(wrong, 400)) == ["password"]
    check_codes(api, own, disable)
    check_error(api.log_in(), 401, code=32)
    assert disable(api, own, code=totp.at(api.clock())).status_code == 200
    assert api.log_in().status_code == 200
    enrol(api, own)
    check_error(api.log_in(code=recovery[2]), 401, code=33)


def test_where_it_is_off_no_code_is_needed_to_turn_it_off_or_to_change_the_password(api, own):
    assert disable(api, own).status_code == 200
    assert change_password(api, own, code="000000").status_code == 200


def make_app_password(api, own, **body):
    frame = {"name": "frame", "scope": "photos", "password": PASSWORD, **body}
    return api.call("POST", api.user_path(rest="/app-passwords"), own, json=frame)


def test_a_new_app_password_needs_a_code_where_there_is_a_second_factor(api, own):
    assert make_app_password(api, own).status_code == 201
    totp, recovery = enrol(api, own)
    check_codes(api, own, make_app_password)
    code = totp.at(api.clock())
    assert fields(check_error(make_app_password(api, own, name="", code=code), 400)) == ["name"]
    assert api.is_alive(make_app_password(api, own, code=code).json["secret"])
    assert fields(check_error(make_app_password(api, own, code=code), 400)) == ["code"]
    api.clock.move(minutes=5)
    assert make_app_password(api, own, code=recovery[0]).status_code == 201


def test_a_new_password_needs_a_code_where_there_is_a_second_factor(api, own):
    totp, recovery = enrol(api, own)
    check_codes(api, own, change_password)
    code = totp.at(api.clock())
    assert fields(check_error(change_password(api, own, old="wrong horse", code=code), 400)) == ["old"]
    assert change_password(api, own, code=code).status_code == 200
    api.clock.move(minutes=5)
    used = change_password(api, own, old="new horse battery", new="newer horse battery", code=code)
    assert fields(check_error(used, 400)) == ["code"]
    again = {"old": "new horse battery", "new": "newer horse battery", "code": recovery[0]}
    assert change_password(api, own, **again).status_code == 200
    assert api.log_in(password="newer horse battery", code=recovery[1]).status_code == 200


@pytest.mark.parametrize("send", [disable, change_password, make_app_password])
def test_with_the_password_and_a_stolen_session_codes_are_not_guessed(api, own, send):
    enrol(api, own)
    statuses = [send(api, own, code=f"{number:06}").status_code for number in range(6)]
    assert statuses == [400, 400, 400, 429, 429, 429]
    check_error(api.log_in(), 401, code=32)


def test_turning_it_on_ends_the_other_log_ins_at_once_and_keeps_this_one_and_app_passwords(api, own):
    other, app, strangers = api.session_of(), api.app_password(), api.session_of("ann")
    child = api.session_of(password=app)
    enrol(api, own)
    tokens = (own, other, app, child, strangers)
    assert [api.is_alive(token) for token in tokens] == [True, False, True, True, True]


def test_a_session_says_that_a_code_or_a_recovery_code_opened_it(api, own):
    totp, recovery = enrol(api, own)
    for code in (totp.at(api.clock()), recovery[0]):
        assert api.log_in(code=code).status_code == 200
    found = api.call("GET", api.user_path(rest="/sessions"), own).json
    assert sorted(one["method"] for one in found) == ["passcode", "password", "recovery_code"]


def test_an_administrator_without_a_code_does_not_take_off_the_own_one(api):
    admin = api.session_of("ann")
    begin = api.call("POST", api.user_path("ann", "/passcode"), admin, json={"password": PASSWORD})
    code = pyotp.TOTP(begin.json["secret"]).at(api.clock())
    confirm = api.user_path("ann", "/passcode/confirm")
    assert api.call("POST", confirm, admin, json={"code": code}).status_code == 200
    for path in (api.user_path("ann", "/passcode"), "/users/ann/passcode"):
        check_error(api.call("DELETE", path, admin), 409)
    check_error(api.log_in("ann"), 401, code=32)


def test_an_administrator_takes_it_off_and_can_do_no_more(api, own):
    enrol(api, own)
    admin = api.session_of("ann")
    check_error(api.call("POST", api.user_path(rest="/passcode"), admin, json={"password": PASSWORD}), 403)
    check_error(api.call("POST", api.user_path(rest="/passcode/disable"), admin, json={"password": PASSWORD}), 403)
    check_error(api.call("DELETE", api.user_path(rest="/passcode"), own), 403)
    assert api.call("DELETE", api.user_path(rest="/passcode"), admin).status_code == 200
    assert api.log_in().status_code == 200
