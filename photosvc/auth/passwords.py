"""Account passwords: hashed by argon2id with the parameters of OWASP; unknown users cost the same time.

A hash takes a whole processor for about 20 ms. One thread of the process computes hashes at a time, and few wait for
their turn, so that many log-ins at once leave processors and threads to all other requests.
"""

import unicodedata
from contextlib import AbstractContextManager
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from photosvc.auth.common_passwords import is_common
from photosvc.auth.turns import Turns
from photosvc.core.errors import InvalidValueError

#: In characters.
MIN_LENGTH, MAX_LENGTH = 8, 128
#: 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet).
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
#: Log-ins that may wait for a password check: by default, and at most if the server is known to have many threads.
_WAITING, _MOST_WAITING = 1, 3
_TURNS = Turns(at_once=1, waiting=_WAITING, patience=0.3)


def check_password(password: str, *, user_name: str = "", field: str = "password") -> str:
    """Return the password if it may be set.

    Raises:
        InvalidValueError: it is shorter than 8 or longer than 128 characters, the user's name, or a common password;
            the error names `field`.

    """
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        msg = f"a password has {MIN_LENGTH} to {MAX_LENGTH} characters"
    elif password.strip().lower() == user_name.lower():
        msg = "the password must not be the user name"
    elif is_common(password):
        msg = "this password is one of the most common ones, which attackers try first: choose another"
    else:
        return password
    raise InvalidValueError(msg, field=field)


def hash_password(password: str) -> str:
    """Return an argon2id hash with its own salt.

    Raises:
        BusyError: too many passwords are hashed at present.

    """
    with _TURNS.take():
        return _HASHER.hash(_bytes(password))


def new_hash(password: str | None, *, user_name: str, field: str = "password") -> str:
    """Return the hash to store for a new password, "" for None.

    This takes about 20 ms: call it before a write transaction.

    Raises:
        InvalidValueError: `check_password` refuses the password; the error names `field`.
        BusyError: too many passwords are hashed at present.

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
        with _TURNS.take():
            matches = _HASHER.verify(stored_or_dummy, given)
    except (VerificationError, InvalidHashError):
        return False
    return bool(stored) and matches


def let_wait(threads: int) -> None:
    """Let log-ins use at most half of the threads with which this process serves; call it before the first request."""
    _TURNS.let_wait(max(0, min(_MOST_WAITING, threads // 2 - 1)))


def place(*, favoured: bool = False) -> AbstractContextManager[None]:
    """Hold, inside the block, one of the few places of threads that prepare, do and follow up a password check.

    One more place is reserved for favoured threads, whose password is checked next.

    Raises:
        BusyError: all places are taken; raised on entering the block.

    """
    return _TURNS.place(favoured=favoured)


def pause(began: float) -> None:
    """Sleep until the answer takes as long as a password check that began at `began` (`time.perf_counter`).

    Return at once when several threads sleep already.
    """
    _TURNS.pause(began)


def needs_rehash(stored: str) -> bool:
    """Return whether the hash was made with weaker parameters than the current ones."""
    return _HASHER.check_needs_rehash(stored)


def _bytes(password: str) -> bytes:
    # Keyboards differ in whether they send composed letters or combining characters (RFC 8265 section 4.2.2).
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")


@cache
def _dummy() -> str:
    return hash_password("the dummy password")
