"""/users/<user_uid>/passcode: two-factor authentication of an account."""

from typing import Any

from flask import Blueprint, Response

from photosvc.auth.accounts import second_factor, users
from photosvc.auth.audit.events import Event
from photosvc.auth.errors import OwnSecondFactorError
from photosvc.records.accounts import EnrolmentSchema, PasscodeSchema, PasswordSchema, ProofSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.auditing import record
from photosvc.web.contract import MESSAGE, NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require
from photosvc.web.sessions import own_account

_ENROLMENT = EnrolmentSchema()
_CODES = json_object("code recovery_codes", code=NUMBER, recovery_codes={"type": "array", "items": TEXT})


def add_routes(api: Blueprint) -> None:
    """Add two-factor authentication to the API."""
    api.add_url_rule("/users/<user_uid>/passcode", view_func=enrol, methods=["POST"])
    api.add_url_rule("/users/<user_uid>/passcode", view_func=reset, methods=["DELETE"])
    api.add_url_rule("/users/<user_uid>/passcode/confirm", view_func=confirm, methods=["POST"])
    api.add_url_rule("/users/<user_uid>/passcode/disable", view_func=disable, methods=["POST"])


@require("users.passcode")
@takes(PasswordSchema)
@answers(EnrolmentSchema, "The secret of the authenticator app.")
@refuses(409, 429)
def enrol(body: dict[str, Any], user_uid: str) -> Response:
    """Start to set up two-factor authentication: a secret as text, `otpauth` URI and QR code."""
    enrolment = own_account.start_second_factor(user_uid, body["password"])
    return json_answer(_ENROLMENT.dump(enrolment))


@require("users.passcode")
@takes(PasscodeSchema)
@answers(_CODES, "Two-factor authentication is on.")
@refuses(409, 429)
def confirm(body: dict[str, Any], user_uid: str) -> Response:
    """Turn two-factor authentication on with a first code; only this answer has the recovery codes.

    Other login sessions of the account end; its app passwords stay valid.
    """
    codes = own_account.confirm_second_factor(user_uid, body["code"])
    return json_answer({"code": 200, "recovery_codes": list(codes)})


@require("users.passcode")
@takes(ProofSchema)
@answers(MESSAGE, "Two-factor authentication is off.")
@refuses(429)
def disable(body: dict[str, Any], user_uid: str) -> Response:
    """Turn two-factor authentication off; the account's password and a code, or recovery code, confirm it."""
    own_account.end_second_factor(user_uid, password=body["password"], code=body["code"])
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})


@require("users.passcode.reset")
@answers(MESSAGE, "Two-factor authentication is off.")
@refuses(409)
def reset(user_uid: str) -> Response:
    """Turn it off for an account whose owner lost both the phone and the recovery codes."""
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        if user.uid == principal().user_uid:
            raise OwnSecondFactorError
        second_factor.reset(session, service.now(), user)
        record(session, Event.SECOND_FACTOR_OFF, subject=user)
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})
