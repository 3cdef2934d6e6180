"""Roles, formats, lifetimes in seconds and limits of accounts, clients and credentials.

Models, records, services and commands share these constants, so that their defaults and choices agree.
"""

#: Roles of user accounts, then the role of clients. Clients may also have the role ADMIN.
ADMIN, USER, VIEWER = "admin", "user", "viewer"
#: The role of accounts that see the albums shared with them and nothing else.
GUEST = "guest"
CLIENT = "client"
#: The role of people without an account who opened a public link.
VISITOR = "visitor"
USER_ROLES = (ADMIN, USER, VIEWER, GUEST)
#: Roles of users of a host app, with whom no album can be shared: they have no account.
HOST_ROLES = (ADMIN, USER, VIEWER)
#: Roles of accounts to which private photos are never shown.
WITHOUT_PRIVATE = (VIEWER, GUEST)
CLIENT_ROLES = (CLIENT, ADMIN)
#: Roles of accounts in an album that is shared with them.
CONTRIBUTOR = "contributor"
SHARE_ROLES = (VIEWER, CONTRIBUTOR)

#: Methods by which a login session is opened; the second and third are used after the password.
BY_PASSWORD, BY_PASSCODE, BY_RECOVERY_CODE, BY_APP_PASSWORD = "password", "passcode", "recovery_code", "app_password"

#: Seconds for which a password, once sent, proves that the account's owner acts.
PROOF_SECONDS = 3600

#: Lifetime of a visit by a public link.
VISIT_SECONDS = 86_400
#: Highest number of visits to which a public link may be limited, and characters of its note.
MAX_LINK_VISITS, MAX_LINK_COMMENT = 1_000_000, 500

#: Formats of a client's access tokens; a JWT can be read by others (RFC 9068).
OPAQUE, JWT = "opaque", "jwt"
TOKEN_FORMATS = (OPAQUE, JWT)

#: A lifetime or a number of tokens without a limit.
NO_LIMIT = -1

#: Default and longest lifetime of app passwords and access tokens. Beyond a hundred years, some time types overflow.
CREDENTIAL_LIFETIME, MAX_CREDENTIAL_LIFETIME = 31_536_000, 3_155_760_000

#: Default and longest lifetime of each token that is issued to a client: a day, and 31 days.
CLIENT_TOKEN_LIFETIME, MAX_CLIENT_TOKEN_LIFETIME = 86_400, 2_678_400

#: Default and highest limit for the live tokens of a client.
CLIENT_TOKENS, MAX_CLIENT_TOKENS = 10, 1_000_000
