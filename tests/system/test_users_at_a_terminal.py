"""Accounts that are added at a terminal."""

import pytest

from tests.helpers.api_client import PASSWORD
from tests.system.terminal import type_at


@pytest.fixture
def users(api):
    return lambda *arguments, stdin="": api.svc("users", *arguments, stdin=stdin)


def test_at_a_terminal_the_password_is_asked_for_twice_and_not_echoed(api):
    typed = [("User name", "bob\n"), ("Password", PASSWORD + "\n"), ("Again", PASSWORD + "\n")]
    code, out, err, shown = type_at(api.library.instance, ["users", "add"], typed)
    assert code == 0, err
    assert PASSWORD not in out + err + shown
    assert api.log_in("bob").status_code == 200
