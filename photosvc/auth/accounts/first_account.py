"""The first account of a library: the person who started the service makes it in a browser, with a code printed there.

The code is for typing, so that no address and no log of a proxy contains it. The instance folder keeps its digest until
there is an account; starting the service again replaces it.
"""

import hmac
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from photosvc.core import ids
from photosvc.models import User

_FILE: Final = "first_account"
#: Without letters and digits that look alike. Eight of them have 39 random bits, and failures are counted.
_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_LENGTH: Final = 8
_LONGEST: Final = 64


def has_accounts(connection: Connection | Session) -> bool:
    """Whether there is any account."""
    return connection.scalar(select(User.id).limit(1)) is not None


def offer(instance: Path) -> str:
    """A new code, which replaces the one before."""
    code = ids.random_text(_LENGTH, _ALPHABET)
    temporary = instance / f".{_FILE}.{secrets.token_hex(8)}"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(ids.digest(code))
    temporary.replace(instance / _FILE)
    return f"{code[:4]}-{code[4:]}"


def is_offered(instance: Path) -> bool:
    """Whether there is a code."""
    return (instance / _FILE).is_file()


def is_code(instance: Path, typed: str) -> bool:
    """Whether this is the code, in any case and with any blanks and dashes."""
    plain = "".join(typed[:_LONGEST].replace("-", " ").split()).upper()
    try:
        stored = (instance / _FILE).read_text("ascii").strip()
    except (OSError, ValueError):
        return False
    return hmac.compare_digest(ids.digest(plain), stored)


def withdraw(instance: Path) -> None:
    """Delete the code, if there is one."""
    with suppress(OSError):
        (instance / _FILE).unlink(missing_ok=True)
