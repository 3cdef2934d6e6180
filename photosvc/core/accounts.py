"""Roles, formats and lifetimes (in seconds) of accounts, clients and credentials, and the rule for names of accounts.

Models, records, services and commands share them, so that their defaults and choices agree.
"""

import re
from typing import Final, Literal, TypeAlias, get_args

from photosvc.core.errors import InvalidValueError
from photosvc.core.message import Message

#: Roles of user accounts, then the role of clients. Clients may also have the role ADMIN.
ADMIN, USER, VIEWER = "admin", "user", "viewer"
#: The role of accounts that see only albums shared with them.
GUEST = "guest"
CLIENT = "client"
#: The role of people without an account who opened a public link.
VISITOR = "visitor"
USER_ROLES = (ADMIN, USER, VIEWER, GUEST)
#: Roles of users of a host app. They have no account, so that no album can be shared with them.
HostRole: TypeAlias = Literal["admin", "user", "viewer"]
HOST_ROLES: tuple[HostRole, ...] = get_args(HostRole)
#: Roles of accounts that never see private photos.
WITHOUT_PRIVATE = (VIEWER, GUEST)
CLIENT_ROLES = (CLIENT, ADMIN)
#: Roles of accounts in an album that is shared with them.
CONTRIBUTOR = "contributor"
SHARE_ROLES = (VIEWER, CONTRIBUTOR)

#: Methods by which a login session is opened; the second and third are used after the password.
BY_PASSWORD, BY_PASSCODE, BY_RECOVERY_CODE, BY_APP_PASSWORD = "password", "passcode", "recovery_code", "app_password"

#: Seconds for which a sent password proves that the owner of the account acts.
PROOF_SECONDS = 3600

#: Lifetime of a visit by a public link.
VISIT_SECONDS = 86_400

#: Formats of a client's access tokens; a JWT can be read by others (RFC 9068).
OPAQUE, JWT = "opaque", "jwt"
TOKEN_FORMATS = (OPAQUE, JWT)

#: A lifetime or a number of tokens without a limit.
NO_LIMIT = -1

#: Default and longest lifetime of app passwords and access tokens. Beyond a hundred years, some time types overflow.
CREDENTIAL_LIFETIME, MAX_CREDENTIAL_LIFETIME = 31_536_000, 3_155_760_000

#: Default and longest lifetime of a token of a client: a day, and 31 days.
CLIENT_TOKEN_LIFETIME, MAX_CLIENT_TOKEN_LIFETIME = 86_400, 2_678_400

#: Default and highest limit for the live tokens of a client.
CLIENT_TOKENS, MAX_CLIENT_TOKENS = 10, 1_000_000

_LONGEST_NAME: Final = 64
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
    elif len(name) > _LONGEST_NAME:
        msg = Message("a user name has at most {most} characters", most=_LONGEST_NAME)
    elif not is_name(name):
        msg = "a user name has letters a to z, digits and . _ - @ only, and begins with a letter or a digit"
    else:
        return name
    raise InvalidValueError(msg, field="name")
