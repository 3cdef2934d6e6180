"""A person who had the old password gains nothing by a request that was under way when the owner changed it."""

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


def test_nothing_is_changed_by_a_password_that_is_not_valid_any_more(api, monkeypatch):
    verify = second_factor.verify_password
    for change, (method, path, body, field) in CHANGES.items():
        own = api.session_of()

        def meanwhile(password, stored):
            with api.library.session() as session:
                accounts.set_password(by_command(session, api.clock()), "alice", HASH)
            return verify(password, stored)

        with monkeypatch.context() as patch:
            patch.setattr(second_factor, "verify_password", meanwhile)
            answer = api.call(method, path.format(api.uids["alice"]), own, json=body)
        assert answer.status_code == 400, change
        assert [detail["field"] for detail in check_error(answer, 400)["details"]] == [field], change
        assert api.log_in().status_code == 200, change
        assert api.svc("auth", "ls", "app_password", "--json").stdout == "[]\n", change
