"""Changes of accounts by administrators, who have shown their right to them: from the API or the web page."""

from photosvc.auth.accounts import passwords, second_factor, users
from photosvc.auth.audit import described
from photosvc.auth.audit.events import Event
from photosvc.auth.errors import OwnSecondFactorError
from photosvc.models import User
from photosvc.web.auditing import record
from photosvc.web.current import current_service
from photosvc.web.protector import principal


def add_account(*, name: str, role: str, display_name: str, email: str, password: str | None) -> User:
    """Make an account; without a password it has app passwords only.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        UserExistsError: the name is taken.

    """
    service = current_service()
    user = users.new_user(
        service.now(), name=name, role=role, display_name=display_name, email=email, password=password
    )
    with service.writing() as session:
        users.add_user(session, user)
        record(session, Event.USER_ADDED, subject=user, detail=f"role {user.role}")
        session.refresh(user)
        session.expunge(user)
    return user


def change_account(
    user_uid: str,
    *,
    role: str | None = None,
    display_name: str | None = None,
    email: str | None = None,
    disabled: bool | None = None,
) -> None:
    """Change the given values of an account; the last enabled administrator stays one.

    Raises:
        InvalidValueError: a value is not valid; `field` says which.
        LastAdminError: no enabled administrator would be left.
        NotFoundError: there is no such account.

    """
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        changes = {"role": role, "display_name": display_name, "email": email, "disabled": disabled}
        record(session, Event.USER_CHANGED, subject=user, detail=described.changes(user, changes))
        users.change_user(
            session, user, service.now(), role=role, display_name=display_name, email=email, disabled=disabled
        )


def remove_account(user_uid: str) -> None:
    """Remove an account with all of its credentials.

    Raises:
        LastAdminError: no enabled administrator would be left.
        NotFoundError: there is no such account.

    """
    with current_service().writing() as session:
        user = users.find_user(session, user_uid)
        record(session, Event.USER_REMOVED, subject=user)
        users.remove_user(session, user)


def set_password(user: User, new: str, *, field: str = "new") -> None:
    """Give an account another password: its login sessions end, its app passwords stay valid.

    Raises:
        InvalidValueError: the password will not do; the error names `field`.

    """
    service = current_service()
    fresh = passwords.new_hash(new, user_name=user.name, field=field)
    with service.writing() as session:
        users.set_password(session, user, service.now(), fresh)
        record(session, Event.PASSWORD_CHANGED, subject=user)


def reset_second_factor(user_uid: str) -> None:
    """Turn two-factor log-in off for an account whose owner lost both the phone and the recovery codes.

    Raises:
        NotFoundError: there is no such account.
        OwnSecondFactorError: it is the own account.

    """
    service = current_service()
    with service.writing() as session:
        user = users.find_user(session, user_uid)
        if user.uid == principal().user_uid:
            raise OwnSecondFactorError
        second_factor.reset(session, service.now(), user)
        record(session, Event.SECOND_FACTOR_OFF, subject=user)
