"""What accounts, clients and credentials may be: roles, formats, lifetimes in seconds, and limits.

Models, records, services and commands take these from here, so that their defaults and choices agree.
"""

#: Roles of user accounts (ADMIN also of clients), and of clients.
ADMIN, USER, VIEWER = "admin", "user", "viewer"
CLIENT = "client"
USER_ROLES = (ADMIN, USER, VIEWER)
CLIENT_ROLES = (CLIENT, ADMIN)

#: How a login session was opened; the second and third after the password.
BY_PASSWORD, BY_PASSCODE, BY_RECOVERY_CODE, BY_APP_PASSWORD = "password", "passcode", "recovery_code", "app_password"

#: Seconds for which a password that was sent counts as proof of who acts.
PROOF_SECONDS = 3600

#: Formats of a client's access tokens; a JWT can be read by others (RFC 9068).
OPAQUE, JWT = "opaque", "jwt"
TOKEN_FORMATS = (OPAQUE, JWT)

#: As a lifetime or as a number of tokens.
NO_LIMIT = -1

#: Of app passwords and access tokens (spec section 5.4). Beyond a hundred years, some time types overflow.
CREDENTIAL_LIFETIME, MAX_CREDENTIAL_LIFETIME = 31_536_000, 3_155_760_000

#: Of each token that a client gets (spec section 5.5): a day, and at most 31 days.
CLIENT_TOKEN_LIFETIME, MAX_CLIENT_TOKEN_LIFETIME = 86_400, 2_678_400

#: Live tokens of a client.
CLIENT_TOKENS, MAX_CLIENT_TOKENS = 10, 1_000_000

#: Bytes of the public keys of a client.
MOST_KEY_BYTES = 16 * 1024
