"""What people type to log in."""

import re

from photosvc.core.errors import InvalidValueError

MAX_LENGTH = 64

# ASCII only: no two names look the same, and a colon would split Basic credentials (RFC 7617 section 2).
_NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,63}\Z")


def normal_name(text: str) -> str:
    """The name as it is stored: trimmed and in lower case."""
    return text.strip().lower()


def is_name(text: str) -> bool:
    """Whether `text` is a normal name that an account can have."""
    return bool(_NAME.match(text))


def check_user_name(text: str) -> str:
    """The normal form of a name fit for an account.

    Raises:
        InvalidValueError: the sentence says what is wrong with it.

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
