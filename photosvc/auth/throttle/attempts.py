"""Failures are counted, by address and by account, and slow down who makes many (ASVS 6.3.1).

A bucket lets a burst of failures through, then one each so many seconds. An attempt is charged before it is made and
given back unless it failed, so attempts at the same time cannot slip past. What is charged:

- a log-in with an account password: its address, and its account, unless the account has logged in from that address
  within the last 30 days. A flood against an account from everywhere so never keeps out its owner where they usually
  are, nor any session or app password they hold; elsewhere they wait like everybody.
- a check of the password of somebody logged in: the address, and the credential they are logged in with. Whoever
  stole one cannot guess on with it from everywhere, and whoever fails to log in elsewhere keeps no owner from changing
  their password.
- a log-in with an app password, or an unknown token: its address, generously. Guessing 137 bits leads nowhere.

Valid tokens are never charged and never blocked. Names are kept as digests: people type passwords into name fields.
"""

import ipaddress
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy.orm import Session

from photosvc.auth.accounts.user_names import normal_name
from photosvc.auth.errors import InvalidCredentialsError, InvalidPasscodeError, ThrottledError
from photosvc.core import ids
from photosvc.models.database import write_if_free

KNOWN_ADDRESS_DAYS = 30
#: A wrong passcode counts like so many wrong passwords: there are only a million.
_PASSCODE_COST = 3


@dataclass(frozen=True, slots=True)
class Allowance:
    """A burst of failures, then one each so many seconds."""

    name: str
    burst: int
    seconds: int


LOGIN_BY_ADDRESS = Allowance("login-address", burst=10, seconds=60)
LOGIN_BY_ACCOUNT = Allowance("login-account", burst=20, seconds=60)
CHECK_BY_CREDENTIAL = Allowance("check-credential", burst=20, seconds=60)
TOKEN_BY_ADDRESS = Allowance("token-address", burst=60, seconds=10)


@dataclass(frozen=True, slots=True)
class Charge:
    """One failure against the allowance of one address, account or credential."""

    allowance: Allowance
    subject: str

    @property
    def key(self) -> str:
        """What it is counted under."""
        return f"{self.allowance.name}:{self.subject}"


class FailureStore(Protocol):
    """Where failures are counted; every operation is atomic."""

    def take(self, session: Session, charge: Charge, now: datetime) -> int:
        """Count one failure; 0, or the seconds to wait when the allowance is used up and nothing was counted."""

    def give_back(self, session: Session, charge: Charge, now: datetime) -> None:
        """Undo one `take`."""

    def remember(self, session: Session, key: str, until: datetime, now: datetime) -> None:
        """Know `key` until then."""

    def remembers(self, session: Session, key: str, now: datetime) -> bool:
        """Whether `key` is known."""


def by_address(allowance: Allowance, address: str) -> Charge:
    """A charge against where something comes from; of IPv6 the /64, which one customer has to themselves."""
    return Charge(allowance, network_of(address))


def by_account(allowance: Allowance, username: str) -> Charge:
    """A charge against an account, whether or not it exists."""
    return Charge(allowance, _subject(username))


def network_of(address: str) -> str:
    """The address itself, the /64 of an IPv6 address, or `unknown`."""
    try:
        parsed = ipaddress.ip_address(address.strip().partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False).network_address) + "/64"


@contextmanager
def login_attempt(
    store: FailureStore, session: Session, now: datetime, *, username: str, password: str, address: str
) -> Iterator[None]:
    """Wrap a log-in. Commits before and after it: a count must outlive the refusal that rolls back the rest.

    Raises:
        ThrottledError: too many failures lately; nothing was tried.

    """
    if ids.is_app_password(password):
        charges, known = [by_address(TOKEN_BY_ADDRESS, address)], ""
    else:
        charges, known = [by_address(LOGIN_BY_ADDRESS, address)], f"known:{_subject(username)}:{network_of(address)}"
        if not store.remembers(session, known, now):
            charges.append(by_account(LOGIN_BY_ACCOUNT, username))
    with guarded(store, session, now, charges):
        yield
        if known:
            store.remember(session, known, now + timedelta(days=KNOWN_ADDRESS_DAYS), now)


@contextmanager
def password_check(
    store: FailureStore, session: Session, now: datetime, *, credential_uid: str, address: str
) -> Iterator[None]:
    """Wrap a check of the password or passcode of somebody who is logged in. Commits before and after it.

    Raises:
        ThrottledError: too many failures lately; nothing was tried.

    """
    charges = [by_address(LOGIN_BY_ADDRESS, address), Charge(CHECK_BY_CREDENTIAL, credential_uid)]
    with guarded(store, session, now, charges):
        yield


def count_unknown_token(store: FailureStore, session: Session, now: datetime, *, address: str) -> None:
    """Count a token that is not valid, after it was looked up. Commits; while others write for long, counts nothing.

    Raises:
        ThrottledError: instead of a 401, when the address showed too many.

    """
    charges = [by_address(TOKEN_BY_ADDRESS, address)]
    write_if_free(session, lambda spare: _take_all(store, spare, now, charges))


@contextmanager
def guarded(store: FailureStore, session: Session, now: datetime, charges: Sequence[Charge]) -> Iterator[None]:
    """Charge an attempt; give it back unless its password or passcode is wrong. Commits before and after it.

    Raises:
        ThrottledError: an allowance is used up; nothing was tried.

    """
    _take_all(store, session, now, charges)
    try:
        yield
    except InvalidPasscodeError:
        session.rollback()
        for charge in list(charges) * (_PASSCODE_COST - 1):
            store.take(session, charge, now)
        session.commit()
        raise
    except InvalidCredentialsError:
        session.rollback()
        raise
    except BaseException:
        session.rollback()
        _give_back(store, session, now, charges)
        raise
    _give_back(store, session, now, charges)


def _take_all(store: FailureStore, session: Session, now: datetime, charges: Sequence[Charge]) -> None:
    for count, charge in enumerate(charges):
        wait = store.take(session, charge, now)
        if wait:
            _give_back(store, session, now, charges[:count])
            raise ThrottledError(wait)
    session.commit()


def _give_back(store: FailureStore, session: Session, now: datetime, charges: Sequence[Charge]) -> None:
    for charge in charges:
        store.give_back(session, charge, now)
    session.commit()


def _subject(username: str) -> str:
    return ids.digest(normal_name(username))[:32]
