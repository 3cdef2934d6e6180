"""The code with which the person who started the service makes the first account in a browser.

It is printed where the service was started, and typed, so that no address and no log of a proxy contains it. The
instance folder keeps its digest until there is an account.
"""

import hmac
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from photosvc.core import ids
from photosvc.core.files import flush_folder, write_private

_FILE: Final = "first_account"
#: No letters and digits that look alike. Eight characters have 39 random bits, and failures are counted.
_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
_LENGTH: Final = 8
#: The longest typed text that is read, in characters.
_LONGEST: Final = 64


def offer(instance: Path) -> str:
    """Make and return a new code, which replaces the previous one."""
    code = ids.random_text(_LENGTH, _ALPHABET)
    temporary = instance / f".{_FILE}.{secrets.token_hex(8)}"
    write_private(temporary, ids.digest(code).encode())
    temporary.replace(instance / _FILE)
    flush_folder(instance)
    return f"{code[:4]}-{code[4:]}"


def is_offered(instance: Path) -> bool:
    """Return whether a code is stored."""
    return (instance / _FILE).is_file()


def is_code(instance: Path, typed: str) -> bool:
    """Return whether `typed` is the code, in any case and with any blanks and dashes."""
    plain = "".join(typed[:_LONGEST].replace("-", " ").split()).upper()
    try:
        stored = (instance / _FILE).read_text("ascii").strip()
    except (OSError, ValueError):
        return False
    return hmac.compare_digest(ids.digest(plain), stored)


def withdraw(instance: Path) -> None:
    """Delete the code if there is one."""
    with suppress(OSError):
        (instance / _FILE).unlink(missing_ok=True)
