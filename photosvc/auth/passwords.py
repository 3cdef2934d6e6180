"""Account passwords: hashed by argon2id with the parameters of OWASP; unknown users cost the same time.

A hash takes a whole processor for about 20 ms. One thread of the process computes hashes at a time, and few wait for
their turn, so that many log-ins at once leave processors and threads to all other requests.
"""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from photosvc import data
from photosvc.auth.errors import BusyError
from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message
from photosvc.core.slots import Slots
from photosvc.records.limits import LONGEST_PASSWORD, SHORTEST_PASSWORD

#: 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet).
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
#: Log-ins that may wait for a password check: by default, and at most if the server is known to have many threads.
_WAITING, _MOST_WAITING = 1, 3
#: Threads that may wait for a hash, and for how many seconds.
_QUEUE, _PATIENCE = 6, 1.0
#: The steps, in seconds, in which log-ins end that are refused before or after a hash.
_STEP: Final = 0.2


class Hashing:
    """The limits of password checks: one hash at a time, few log-ins at once, and few pauses.

    Args:
        clock: of the waits and pauses.
    """

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self._turns = Slots(1, waiting=_QUEUE, clock=clock)
        self._log_ins, self._pauses = Slots(1), Slots(1)
        self.let_wait(_WAITING)

    def let_wait(self, waiting: int) -> None:
        """Set the number of log-ins that may wait; call it before the first one."""
        self._log_ins.limit(1 + waiting, 1 + waiting, reserved=1)
        self._pauses.limit(max(1, waiting))

    @contextmanager
    def log_in(self, *, is_known: bool) -> Iterator[None]:
        """Hold a place for a log-in inside the block; one more is reserved for accounts known at their address.

        Raises:
            BusyError: all places are taken.
        """
        with self._log_ins.holding("" if is_known else "guess") as held:
            if not held:
                raise BusyError
            yield

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn to hash, and hold it inside the block.

        Raises:
            BusyError: too many threads wait, or the wait was too long.
        """
        with self._turns.holding("", patience=_PATIENCE) as held:
            if not held:
                raise BusyError
            yield

    def pause(self, began: float) -> None:
        """Sleep until the next full step since `began`, by the monotonic clock, unless several threads sleep already.

        The time of an answer then does not show whether a hash was computed.
        """
        with self._pauses.holding("") as held:
            if held:
                self.clock.sleep(_STEP - (self.clock.monotonic() - began) % _STEP)


#: The limits of this process.
HASHING: Final = Hashing()


def check_password(password: str, *, user_name: str = "", field: str = "password") -> str:
    """Return the password if it may be set.

    Raises:
        InvalidValueError: it is shorter than 8 or longer than 128 characters, the user's name, or a common password;
            the error names `field`.
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        msg: str = Message(
            "a password has {least} to {most} characters", least=SHORTEST_PASSWORD, most=LONGEST_PASSWORD
        )
    elif password.strip().lower() == user_name.lower():
        msg = "the password must not be the user name"
    elif is_common(password):
        msg = "this password is one of the most common ones, which attackers try first: choose another"
    else:
        return password
    raise InvalidValueError(msg, field=field)


def is_common(password: str) -> bool:
    """Return whether attackers try the password first (OWASP ASVS 6.2.4), in any case and width, with blanks around it.

    `photosvc/data/common_passwords.txt` has the 30,000 most frequent passwords, without those that are too short to be
    set. Passwords are rarely set, so the file is searched on each call and not held in memory.
    """
    word = unicodedata.normalize("NFKC", password).strip().casefold()
    lines = "\n" + data.COMMON_PASSWORDS.read_text("utf-8")
    return word.isprintable() and f"\n{word}\n" in lines


def hash_password(password: str) -> str:
    """Return an argon2id hash with its own salt; raise `BusyError` if too many are hashed at present."""
    with HASHING.turn():
        return _HASHER.hash(_bytes(password))


def new_hash(password: str | None, *, user_name: str, field: str = "password") -> str:
    """Return the hash of a new password, "" for None, or raise an error of `check_password` or `hash_password`.

    This takes about 20 ms: call it before a write transaction.
    """
    return "" if password is None else hash_password(check_password(password, user_name=user_name, field=field))


def verify_password(password: str, stored: str) -> bool:
    """Return whether `password` is the one that was hashed.

    Without a stored hash a dummy hash is verified, so that answers take as long for unknown users (ASVS 6.3.8).

    Raises:
        BusyError: too many passwords are hashed at present.
    """
    stored_or_dummy, typed = stored or _dummy(), _bytes(password[: LONGEST_PASSWORD + 1])
    try:
        with HASHING.turn():
            matches = _HASHER.verify(stored_or_dummy, typed)
    except (VerificationError, InvalidHashError):
        return False
    return bool(stored) and matches


def let_wait(threads: int) -> None:
    """Let log-ins use at most half of the threads with which this process serves; call it before the first request."""
    HASHING.let_wait(max(0, min(_MOST_WAITING, threads // 2 - 1)))


def needs_rehash(stored: str) -> bool:
    """Return whether the hash was made with weaker parameters than the current ones."""
    return _HASHER.check_needs_rehash(stored)


def _bytes(password: str) -> bytes:
    # Keyboards differ in whether they send composed letters or combining characters (RFC 8265 section 4.2.2).
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


@cache
def _dummy() -> str:
    return hash_password("the dummy password")
