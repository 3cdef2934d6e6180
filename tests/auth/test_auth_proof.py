"""A password that was checked is still the one when something is changed by it."""

import pytest

from photosvc.auth.errors import InvalidCredentialsError
from photosvc.auth.second_factor import find_proven, prove_password
from photosvc.auth.users import remove_user, set_password
from tests.support.api_client import PASSWORD
from tests.support.clock import NOW


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
    set_password(session, find_proven(session, proven), NOW, "another")
    with pytest.raises(InvalidCredentialsError) as caught:
        find_proven(session, proven, field=field)
    assert caught.value.field == field


def test_a_removed_account_proves_nothing(session, proven):
    remove_user(session, find_proven(session, proven), keep_admin=False)
    with pytest.raises(InvalidCredentialsError):
        find_proven(session, proven)
