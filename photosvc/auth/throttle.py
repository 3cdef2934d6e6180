"""The throttle of failed attempts, which are counted by address and by account and slowed down (ASVS 6.3.1).

The counts are leaky buckets of one row each, which all workers share through the database: a failure postpones the time
at which the bucket is empty again. A bucket lets a burst of failures through, then one per fixed number of seconds. An
attempt is charged before it is made and given back unless it failed, so simultaneous attempts cannot exceed the
allowance. Charges:

- a log-in with an account password: its address and its account. If one of the two allowances is used up, an account
  that has logged in from that address within the last 30 days has a further allowance there. So neither neighbours
  behind one address nor a distributed attack keep its owner out. From new addresses the owner waits like the attacker.
- a check of the password or passcode of a logged-in user: the credential of the request, so that a stolen one cannot
  guess from many addresses, and failures of others do not keep the owner from changing the password.
- a wrong code for the first account: its address. It is counted apart from log-ins, or failures of log-ins would lock
  the owner out.
- an unknown app password or token: its address, with a large allowance: their 137 bits cannot be guessed.

Failures beyond the allowance of the address or account get the same answer after the same time, whether or not an
allowance of the account at that address was used, so that no client learns which accounts log in there. Valid tokens
and app passwords are never charged or blocked. Names are stored as digests: people type passwords into name fields.
"""

import ipaddress
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, case, delete, select, update
from sqlalchemy.orm import Session

from photosvc.auth.errors import InvalidCredentialsError, InvalidPasscodeError, ThrottledError
from photosvc.auth.passwords import HASHING
from photosvc.core import ids
from photosvc.core.accounts import normal_name
from photosvc.models import ThrottleBucket
from photosvc.models.engine import MOST_SWEPT
from photosvc.models.statements import insert_into

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KNOWN_ADDRESS_DAYS = 30
#: A wrong passcode counts as this many wrong passwords: there are only a million passcodes. An attempt with one is
#: charged so much beforehand; later there may be no room, and only one unit of each attempt would count.
_PASSCODE_COST = 3
Write = Callable[[Session], object]
#: A function that counts an attempt as successful, in the write transaction of the session.
Settle = Callable[[Session], None]


@dataclass(frozen=True, slots=True)
class Allowance:
    """The number of failures that pass at once (`burst`), and the seconds after which one more passes."""

    name: str
    burst: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Charge:
    """One failure against the allowance of one address, account or credential."""

    allowance: Allowance
    subject: str
    times: int = 1
    """The number of units that are taken together; at most `burst`."""

    @property
    def key(self) -> str:
        """Return the bucket's primary key."""
        return f"{self.allowance.name}:{self.subject}"

    @property
    def cost(self) -> int:
        """Return the milliseconds by which the charge fills the bucket."""
        return self.allowance.seconds * 1000 * self.times

    @property
    def capacity(self) -> int:
        """Return the milliseconds that the bucket holds."""
        return self.allowance.seconds * 1000 * self.allowance.burst


def take(session: Session, charge: Charge, now: datetime) -> int:
    """Count one failure and return 0; if the allowance is used up, count nothing and return the seconds to wait."""
    moment, cost, capacity = _milliseconds(now), charge.cost, charge.capacity
    full_at = ThrottleBucket.full_at
    # A time beyond the capacity was written before the clock was set back; such a bucket counts as empty.
    level = case(((full_at > moment) & (full_at <= moment + capacity), full_at), else_=moment)
    insert = insert_into(ThrottleBucket, session).values(key=charge.key, full_at=moment + cost)
    taken = insert.on_conflict_do_update(
        index_elements=[ThrottleBucket.key], set_={"full_at": level + cost}, where=level + cost <= moment + capacity
    ).returning(full_at)
    if session.execute(taken).first() is not None:
        return 0
    return max(1, seconds_to_wait(session, charge, now))


def seconds_to_wait(connection: Session | Connection, charge: Charge, now: datetime) -> int:
    """Return the seconds until `take` would count a failure; 0 if it would count one now."""
    moment, cost, capacity = _milliseconds(now), charge.cost, charge.capacity
    held = connection.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == charge.key))
    if held is None or not moment < held <= moment + capacity or held + cost <= moment + capacity:
        return 0
    return max(1, -((moment + capacity - held - cost) // 1000))


def units_left(connection: Session | Connection, charge: Charge, now: datetime) -> int:
    """Return the number of units that `take` would count now, whatever the size of this charge."""
    moment, capacity = _milliseconds(now), charge.capacity
    held = connection.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == charge.key))
    level = held - moment if held is not None and moment < held <= moment + capacity else 0
    return (capacity - level) // (charge.allowance.seconds * 1000)


def give_back(session: Session, charge: Charge) -> None:
    """Undo one `take`."""
    session.execute(
        update(ThrottleBucket)
        .where(ThrottleBucket.key == charge.key)
        .values(full_at=ThrottleBucket.full_at - charge.cost)
        .execution_options(synchronize_session=False)
    )


def remember(session: Session, key: str, until: datetime) -> None:
    """Store `key` until this time."""
    moment = _milliseconds(until)
    insert = insert_into(ThrottleBucket, session).values(key=key, full_at=moment)
    session.execute(insert.on_conflict_do_update(index_elements=[ThrottleBucket.key], set_={"full_at": moment}))


def is_known_pair(session: Session | Connection, key: str, now: datetime) -> bool:
    """Return whether `key` is stored and has not expired."""
    return bool(remembered_until(session, key, now))


def remembered_until(session: Session | Connection, key: str, now: datetime) -> int:
    """Return when `key` expires, in milliseconds since 1970; 0 if it is not stored or has expired."""
    until = session.scalar(select(ThrottleBucket.full_at).where(ThrottleBucket.key == key))
    return until if until is not None and until > _milliseconds(now) else 0


def sweep(session: Session, now: datetime, *, most: int = MOST_SWEPT) -> int:
    """Delete at most `most` empty buckets and expired keys; return their number."""
    over = select(ThrottleBucket.key).where(ThrottleBucket.full_at <= _milliseconds(now)).limit(most)
    swept = delete(ThrottleBucket).where(ThrottleBucket.key.in_(over)).returning(ThrottleBucket.key)
    return len(session.execute(swept).all())


def _milliseconds(moment: datetime) -> int:
    return int((moment - _EPOCH).total_seconds() * 1000)


LOGIN_BY_ADDRESS = Allowance("login-address", burst=10, seconds=60)
LOGIN_BY_ACCOUNT = Allowance("login-account", burst=20, seconds=60)
LOGIN_BY_PAIR = Allowance("login-pair", burst=10, seconds=60)
CHECK_BY_CREDENTIAL = Allowance("check-credential", burst=10, seconds=60)
FIRST_ACCOUNT_BY_ADDRESS = Allowance("first-account-address", burst=10, seconds=60)
TOKEN_BY_ADDRESS = Allowance("token-address", burst=60, seconds=10)


class Throttle:
    """A counter of failures with short write transactions of its own, so that a count outlives the refused request.

    Its context managers wrap an attempt: they commit before the wrapped code begins and after it ends, so the wrapped
    code must open and end its own transactions.
    """

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Connection]],
        writing: Callable[[], AbstractContextManager[Session]],
        write_if_free: Callable[[Write], object],
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._write_if_free = write_if_free

    @contextmanager
    def login_attempt(
        self, now: datetime, *, username: str, password: str, address: str, has_code: bool = False
    ) -> Iterator[Settle]:
        """Wrap a log-in by account password; yield a function that counts it as successful in a write of the caller.

        Args:
            now: the present.
            username: the name of the account, whether or not it exists.
            password: the password, or empty if it was right before.
            address: the address of the client.
            has_code: a passcode may be checked.

        Raises:
            ThrottledError: an allowance is used up; the wrapped code did not run, or failed on the last allowance.
            BusyError: too many log-ins are under way.
        """
        if ids.is_app_password(password):  # a wrong app password; right ones are found before
            with self.guarded(now, [by_address(TOKEN_BY_ADDRESS, address)]) as settle:
                yield settle
            return
        pair = f"{_subject(username)}:{network_of(address)}"
        known = f"known:{pair}"
        times = _PASSCODE_COST if has_code else 1
        charges = [by_address(LOGIN_BY_ADDRESS, address, times), by_account(LOGIN_BY_ACCOUNT, username, times)]
        began = HASHING.clock.monotonic()
        with self._reading() as connection:  # a flood of refused attempts must not wait for the write lock
            wait = max(seconds_to_wait(connection, charge, now) for charge in charges)
            is_known = is_known_pair(connection, known, now)
        if wait and not is_known:
            HASHING.pause(began)
            raise ThrottledError(wait)
        with HASHING.log_in(is_known=is_known):
            with self._writing() as session:
                wait = _take_all(session, now, charges)
                may_try = not wait
                if wait and is_known:
                    charges = [Charge(LOGIN_BY_PAIR, pair, times)]
                    may_try = not _take_all(session, now, charges)
            if may_try:
                try:
                    with self._charged(now, charges, known) as settle:
                        yield settle
                except InvalidCredentialsError:
                    if not wait:
                        raise
                else:
                    return
        # The answer and its time are the same for both allowances: they must not show which accounts log in here.
        HASHING.pause(began)
        raise ThrottledError(wait)

    def password_check(
        self, now: datetime, *, credential_uid: str, has_code: bool = False
    ) -> AbstractContextManager[Settle]:
        """Wrap a check of the password of a logged-in user, and of a passcode if there is one, as `guarded` does."""
        return self.guarded(now, [Charge(CHECK_BY_CREDENTIAL, credential_uid, _PASSCODE_COST if has_code else 1)])

    def count_unknown_token(self, now: datetime, *, address: str) -> None:
        """Count a token or client secret that was looked up and is not valid; count nothing while others hold the lock.

        Raises:
            ThrottledError: the address showed too many; the answer is then not 401.
        """
        self._write_if_free(lambda session: _require_all(session, now, [by_address(TOKEN_BY_ADDRESS, address)]))

    @contextmanager
    def guarded(self, now: datetime, charges: Sequence[Charge]) -> Iterator[Settle]:
        """Charge an attempt; give the charges back unless its password or passcode is wrong.

        Of a charge for several units, a wrong password costs one.

        Raises:
            ThrottledError: an allowance is used up; the wrapped code did not run.
        """
        with self._writing() as session:
            _require_all(session, now, charges)
        with self._charged(now, charges) as settle:
            yield settle

    @contextmanager
    def _charged(self, now: datetime, charges: Sequence[Charge], known: str = "") -> Iterator[Settle]:
        """Give the charges of an attempt back unless its password or passcode is wrong; store `known` after success.

        The wrapped code can settle a successful attempt in its own transaction. Otherwise this opens another one, which
        may have to wait for other writers.
        """
        settled = False

        def settle(session: Session) -> None:
            nonlocal settled
            _give_back(session, charges, known, now + timedelta(days=KNOWN_ADDRESS_DAYS))
            settled = True

        try:
            yield settle
        except InvalidPasscodeError:
            raise
        except InvalidCredentialsError:
            if beyond := [replace(charge, times=charge.times - 1) for charge in charges if charge.times > 1]:
                with self._writing() as session:
                    _give_back(session, beyond, "", now)
            raise
        except BaseException:
            with self._writing() as session:
                _give_back(session, charges, "", now)
            raise
        if not settled:
            with self._writing() as session:
                settle(session)


def by_address(allowance: Allowance, address: str, times: int = 1) -> Charge:
    """Return a charge against the network of an address."""
    return Charge(allowance, network_of(address), times)


def by_account(allowance: Allowance, username: str, times: int = 1) -> Charge:
    """Return a charge against an account, whether or not it exists."""
    return Charge(allowance, _subject(username), times)


def network_of(address: str) -> str:
    """Return the IPv4 address, the /64 of an IPv6 address (one customer usually holds a whole /64), or `unknown`."""
    try:
        parsed = ipaddress.ip_address(address.strip().partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((parsed, 64), strict=False).network_address) + "/64"


def _take_all(session: Session, now: datetime, charges: Sequence[Charge]) -> int:
    """Take all charges and return 0, or take none and return the seconds until all can be taken."""
    waits = [take(session, charge, now) for charge in charges]
    if any(waits):
        for charge, wait in zip(charges, waits, strict=True):
            if not wait:
                give_back(session, charge)
    return max(waits)


def _require_all(session: Session, now: datetime, charges: Sequence[Charge]) -> None:
    if wait := _take_all(session, now, charges):
        raise ThrottledError(wait)


def _give_back(session: Session, charges: Sequence[Charge], known: str, until: datetime) -> None:
    for charge in charges:
        give_back(session, charge)
    if known:
        remember(session, known, until)


def _subject(username: str) -> str:
    return ids.digest(normal_name(username))[:32]
