"""/users/<user_uid>/passcode: two-factor authentication of an account."""

from flask import Blueprint, Response

from photosvc.auth.accounts import second_factor
from photosvc.records.user import EnrolmentSchema, PasscodeSchema, PasswordSchema
from photosvc.web.accounts import find_account, find_account_to_change, proving
from photosvc.web.answer import json_answer
from photosvc.web.body import read_json
from photosvc.web.current import current_service
from photosvc.web.protector import require

_ENROLMENT, _PASSWORD, _CODE = EnrolmentSchema(), PasswordSchema(), PasscodeSchema()


def add_routes(api: Blueprint) -> None:
    """Hang the second factor on the API."""
    api.add_url_rule("/users/<user_uid>/passcode", view_func=enrol, methods=["POST"])
    api.add_url_rule("/users/<user_uid>/passcode", view_func=reset, methods=["DELETE"])
    api.add_url_rule("/users/<user_uid>/passcode/confirm", view_func=confirm, methods=["POST"])
    api.add_url_rule("/users/<user_uid>/passcode/disable", view_func=disable, methods=["POST"])


@require("users.passcode")
def enrol(user_uid: str) -> Response:
    """Begin: a secret for an authenticator app, as text, `otpauth` URI and QR code."""
    body = read_json(_PASSWORD)
    service = current_service()
    user = find_account(user_uid)
    session, now = service.session, service.now()
    with proving():
        enrolment = second_factor.enrol(session, service.settings, now, user, password=body["password"])
        session.commit()
    return json_answer(_ENROLMENT.dump(enrolment))


@require("users.passcode")
def confirm(user_uid: str) -> Response:
    """Turn it on with a first code; the recovery codes are in this answer and nowhere else."""
    body = read_json(_CODE)
    service = current_service()
    session, now = service.session, service.now()
    with proving():
        user = find_account_to_change(user_uid)
        codes = second_factor.confirm(session, service.settings, now, user, code=body["code"])
        session.commit()
    return json_answer({"code": 200, "recovery_codes": list(codes)})


@require("users.passcode")
def disable(user_uid: str) -> Response:
    """Turn it off; the account's password confirms it."""
    body = read_json(_PASSWORD)
    service = current_service()
    user = find_account(user_uid)
    with proving():
        second_factor.disable(service.session, service.now(), user, password=body["password"])
        service.session.commit()
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})


@require("users.passcode.reset")
def reset(user_uid: str) -> Response:
    """Take it off an account whose owner lost both phone and recovery codes."""
    service = current_service()
    second_factor.reset(service.session, service.now(), find_account_to_change(user_uid))
    service.session.commit()
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})
