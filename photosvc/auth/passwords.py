"""Account passwords: hashed by argon2id with the parameters of OWASP; unknown users cost the same time.

A hash takes a whole processor for about 20 ms. One thread of the process computes hashes at a time, and few wait for
their turn, so that many log-ins at once leave processors and threads to all other requests.
"""

import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore, Condition, local
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from photosvc import data
from photosvc.auth.errors import BusyError
from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message

#: In characters.
MIN_LENGTH, MAX_LENGTH = 8, 128
#: 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet).
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
#: Log-ins that may wait for a password check: by default, and at most if the server is known to have many threads.
_WAITING, _MOST_WAITING = 1, 3
#: The weight of the latest turn in the average.
_WEIGHT: Final = 0.2
#: Seconds assumed for a turn before one has been measured, and the most seconds that are counted for one turn.
_FIRST_GUESS: Final = 0.025
_LONGEST: Final = 0.1


class Turns:
    """A limit on the threads of this process that do, or wait for, something that takes a whole processor.

    Some threads may be favoured: a place is reserved for one of them, and they get the next turn.

    Args:
        at_once: turns at the same time.
        waiting: threads that may wait for a turn; the others of a server stay free for other requests.
        patience: longest wait in seconds.
        clock: of the turns and pauses.
    """

    def __init__(self, *, at_once: int, waiting: int, patience: float, clock: Clock = SYSTEM_CLOCK) -> None:
        self.clock = clock
        self._at_once = at_once
        self._free = at_once
        self._changed = Condition()
        self._favoured_waiting = 0
        self._favoured_place = BoundedSemaphore(1)
        self._patience = patience
        self._usual = _FIRST_GUESS
        self._of_thread = local()
        self.let_wait(waiting)

    def let_wait(self, waiting: int) -> None:
        """Set the number of threads that may wait; call it before the first turn."""
        self._places = BoundedSemaphore(self._at_once + waiting)
        self._pauses = BoundedSemaphore(max(1, waiting))

    @contextmanager
    def place(self, *, favoured: bool = False) -> Iterator[None]:
        """Hold a place inside the block, in which this thread can prepare for its turn, take it and go on.

        Raises:
            BusyError: all places are taken.
        """
        if getattr(self._of_thread, "has_place", False):
            yield
            return
        places = self._favoured_place if favoured else self._places
        if not places.acquire(blocking=False):
            places = self._places
            if not favoured or not places.acquire(blocking=False):
                raise BusyError
        self._of_thread.has_place, self._of_thread.favoured = True, favoured
        try:
            yield
        finally:
            self._of_thread.has_place = self._of_thread.favoured = False
            places.release()

    @contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn and hold it inside the block.

        Raises:
            BusyError: too many threads wait, or the wait was too long.
        """
        with self.place():
            self._begin(favoured=self._of_thread.favoured)
            began = self.clock.monotonic()
            try:
                yield
            finally:
                with self._changed:
                    self._free += 1
                    self._changed.notify_all()
                self._usual += _WEIGHT * (self.clock.monotonic() - began - self._usual)

    def _begin(self, *, favoured: bool) -> None:
        end = self.clock.monotonic() + self._patience
        with self._changed:
            self._favoured_waiting += favoured
            try:
                while not self._free or (self._favoured_waiting and not favoured):
                    if (left := end - self.clock.monotonic()) <= 0:
                        self._changed.notify_all()
                        raise BusyError
                    self.clock.wait(self._changed, left)
            finally:
                self._favoured_waiting -= favoured
            self._free -= 1

    def pause(self, began: float) -> None:
        """Sleep until twice the usual time of a turn, or a multiple of it, has passed since `began`.

        Threads that took a turn since then so end as late as threads that did not. Return at once when several threads
        sleep already.

        Args:
            began: the beginning, by the monotonic clock.
        """
        if self._pauses.acquire(blocking=False):
            try:
                step = 2 * min(self._usual, _LONGEST)
                self.clock.sleep(step - (self.clock.monotonic() - began) % step)
            finally:
                self._pauses.release()


#: The turns of password checks.
TURNS: Final = Turns(at_once=1, waiting=_WAITING, patience=0.3)


def check_password(password: str, *, user_name: str = "", field: str = "password") -> str:
    """Return the password if it may be set.

    Raises:
        InvalidValueError: it is shorter than 8 or longer than 128 characters, the user's name, or a common password;
            the error names `field`.
    """
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        msg: str = Message("a password has {least} to {most} characters", least=MIN_LENGTH, most=MAX_LENGTH)
    elif password.strip().lower() == user_name.lower():
        msg = "the password must not be the user name"
    elif is_common(password):
        msg = "this password is one of the most common ones, which attackers try first: choose another"
    else:
        return password
    raise InvalidValueError(msg, field=field)


def is_common(password: str) -> bool:
    """Return whether attackers try the password first (OWASP ASVS 6.2.4), in any case and width, with blanks around it.

    `photosvc/data/common_passwords.txt` has those of the 30,000 most frequent that are long enough to be set. Passwords
    are rarely set, so the file is searched rather than kept in memory.
    """
    word = unicodedata.normalize("NFKC", password).strip().casefold()
    lines = "\n" + data.COMMON_PASSWORDS.read_text("utf-8")
    return word.isprintable() and f"\n{word}\n" in lines


def hash_password(password: str) -> str:
    """Return an argon2id hash with its own salt; raise `BusyError` if too many are hashed at present."""
    with TURNS.take():
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
    stored_or_dummy, given = stored or _dummy(), _bytes(password[: MAX_LENGTH + 1])
    try:
        with TURNS.take():
            matches = _HASHER.verify(stored_or_dummy, given)
    except (VerificationError, InvalidHashError):
        return False
    return bool(stored) and matches


def let_wait(threads: int) -> None:
    """Let log-ins use at most half of the threads with which this process serves; call it before the first request."""
    TURNS.let_wait(max(0, min(_MOST_WAITING, threads // 2 - 1)))


def needs_rehash(stored: str) -> bool:
    """Return whether the hash was made with weaker parameters than the current ones."""
    return _HASHER.check_needs_rehash(stored)


def _bytes(password: str) -> bytes:
    # Keyboards differ in whether they send composed letters or combining characters (RFC 8265 section 4.2.2).
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


@cache
def _dummy() -> str:
    return hash_password("the dummy password")
