"""A person who had the old password gains nothing by a request that was under way when the owner changed it."""

import pytest

from photosvc.auth import accounts, second_factor
from tests.helpers.api_client import HASH, PASSWORD, check_error
from tests.helpers.operations import by_command

ALICE = "/users/{}"
CHANGES = {
    "password": ("PUT", ALICE + "/password", {"old": PASSWORD, "new": "new horse battery"}, "old"),
    "start": ("POST", ALICE + "/passcode", {"password": PASSWORD}, "password"),
    "disable": ("POST", ALICE + "/passcode/disable", {"password": PASSWORD}, "password"),
    "app password": ("POST", ALICE + "/app-passwords", {"name": "x", "scope": "*", "password": PASSWORD}, "password"),
    "confirm": ("POST", "/session/confirm", {"password": PASSWORD}, "password"),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_changed_by_a_password_that_is_not_valid_any_more(api, monkeypatch, change):
    method, path, body, field = CHANGES[change]
    own = api.session_of()
    verify = second_factor.verify_password

    def meanwhile(password, stored):
        with api.library.session() as session:
            accounts.set_password(by_command(session, api.clock()), "alice", HASH)
        return verify(password, stored)

    monkeypatch.setattr(second_factor, "verify_password", meanwhile)
    refusal = check_error(api.call(method, path.format(api.uids["alice"]), own, json=body), 400)
    assert [detail["field"] for detail in refusal["details"]] == [field]
    monkeypatch.undo()
    assert api.log_in().status_code == 200
    assert api.svc("auth", "ls", "app_password", "--json").stdout == "[]\n"
