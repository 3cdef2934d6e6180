"""Fixtures of the tests of accounts and credentials."""

import pytest
from sqlalchemy.orm import Session

from photosvc.models import User
from tests.helpers.api_client import HASH
from tests.helpers.factories.accounts import add_user


@pytest.fixture
def alice(session: Session) -> User:
    """A user with the password `PASSWORD` of `tests.helpers.api_client`."""
    user = add_user(session, password_hash=HASH)
    session.commit()
    return user
