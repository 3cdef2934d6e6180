"""/users/<user_uid>/passcode: two-factor authentication of an account."""

from typing import Any

from flask import Blueprint, Response

from photosvc.records.accounts import EnrolmentSchema, PasscodeSchema, PasswordSchema, ProofSchema
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import MESSAGE, NUMBER, TEXT, answers, json_object, refuses, takes
from photosvc.web.managing import managed_accounts
from photosvc.web.protector import require
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
    managed_accounts.reset_second_factor(user_uid)
    return json_answer({"code": 200, "message": "Two-factor authentication is off."})
