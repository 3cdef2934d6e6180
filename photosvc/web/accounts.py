"""The account a path names; the resource protector has decided before that the request may touch it."""

from photosvc.auth import users
from photosvc.models import User
from photosvc.models.database import begin_write
from photosvc.web.current import current_service


def find_account(user_uid: str) -> User:
    """The account with this UID.

    Raises:
        NotFoundError: there is none.

    """
    return users.find_user(current_service().session, user_uid)


def find_account_to_change(user_uid: str) -> User:
    """The same, inside a transaction that will write."""
    begin_write(current_service().session)
    return find_account(user_uid)
