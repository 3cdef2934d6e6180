"""The password of an account, sent again to confirm a change.

As a log-in, a proof has two steps: `prove_password` does the slow hashing, outside of any write transaction; then
`find_proven` makes sure, inside the one that changes something, that the password is still the one that was checked.
"""

from sqlalchemy.orm import Session

from photosvc.auth.accounts.passwords import verify_password
from photosvc.auth.errors import InvalidCredentialsError
from photosvc.models import User


def prove_password(user: User, password: str, *, field: str = "password") -> None:
    """Make sure that `password` is the account's. Takes about 20 ms: call it before a write transaction.

    Raises:
        InvalidCredentialsError: it is not; the error names `field`.

    """
    if not verify_password(password, user.password_hash):
        raise InvalidCredentialsError(field=field)


def find_proven(session: Session, proven: User, *, field: str = "password") -> User:
    """The account whose password was checked, locked until the session's write transaction ends.

    Raises:
        InvalidCredentialsError: the password was changed, or the account removed, meanwhile; the error names `field`.

    """
    user = session.get(User, proven.id, with_for_update=True, populate_existing=True)
    if user is None or user.password_version != proven.password_version:
        raise InvalidCredentialsError(field=field)
    return user
