"""A password that was checked is still the one when something is changed by it."""

import pytest

from photosvc.auth.accounts import remove, set_password
from photosvc.auth.errors import InvalidCredentialsError
from photosvc.auth.second_factor import find_proven, prove_password
from tests.helpers.api_client import PASSWORD
from tests.helpers.operations import by_command


@pytest.fixture
def proven(session, alice):
    """The account as it was when its password was checked."""
    prove_password(alice, PASSWORD)
    session.expunge(alice)
    return alice


def test_the_account_is_found_again(session, proven):
    assert find_proven(session, proven).name == "alice"


@pytest.mark.parametrize("field", ["password", "old"])
def test_a_password_that_was_changed_meanwhile_proves_nothing(session, proven, field):
    set_password(by_command(session), find_proven(session, proven).uid, "another")
    with pytest.raises(InvalidCredentialsError) as caught:
        find_proven(session, proven, field=field)
    assert caught.value.field == field


def test_a_removed_account_proves_nothing(session, proven):
    remove(by_command(session), find_proven(session, proven).uid)
    with pytest.raises(InvalidCredentialsError):
        find_proven(session, proven)
