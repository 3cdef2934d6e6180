"""User names: their stored form and their rules."""

import re

from photosvc.core.errors import InvalidValueError

MAX_LENGTH = 64
# ASCII only, so that no two names look the same; no colon, which separates Basic credentials (RFC 7617 section 2).
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}\Z")


def normal_name(text: str) -> str:
    """Return the stored form of a name: trimmed and in lower case."""
    return text.strip().lower()


def is_name(text: str) -> bool:
    """Return whether `text` is the stored form of a valid name."""
    return bool(_NAME.match(text))


def check_user_name(text: str) -> str:
    """Return the stored form of a name for an account.

    Raises:
        InvalidValueError: the name is not valid; the message says why.

    """
    name = normal_name(text)
    if not name:
        msg = "a user name is needed"
    elif len(name) > MAX_LENGTH:
        msg = f"a user name has at most {MAX_LENGTH} characters"
    elif not is_name(name):
        msg = "a user name has letters a to z, digits and . _ - @ only, and begins with a letter or a digit"
    else:
        return name
    raise InvalidValueError(msg, field="name")
