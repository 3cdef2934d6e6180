"""The policy: one table of the rights of credentials, the only place that defines them.

A rule has three conditions, and all must hold:

- the credential is of one of `kinds`; a login session made from an app password is a kind of its own,
- its scope covers `resource`, for writing when `write` is set,
- it acts in one of `roles`, or, where `own` is set, on the account it belongs to.

Two flags add a condition each. `proof`: the password was sent within the last hour. `everything`: the principal sees
private photos, because the answer names originals and folders whether or not their photos are private.

Visitors of a public link may do the few actions that have their kind and role, download and add files only if the link
allows it, and only by views that limit themselves to what the link shares (`web.contract.for_visitors`). Guests, the
accounts that see nothing but the albums shared with them, are limited in the same way: what they may do in addition
shows no photos.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from photosvc.auth.errors import InsufficientScopeError, PasswordNeededError, ScopeTooWideError
from photosvc.auth.principal import APP_SESSION, HOST_USER, Principal
from photosvc.auth.scopes import ALL, READ, SCOPES, WRITE, Scope, is_within
from photosvc.core.accounts import ADMIN, CLIENT, GUEST, PROOF_SECONDS, USER, VIEWER, VISITOR
from photosvc.core.errors import PermissionDeniedError
from photosvc.models import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, VISIT


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the policy."""

    action: str
    resource: str
    write: bool
    kinds: frozenset[str]
    roles: frozenset[str]
    own: bool
    description: str
    proof: bool = False
    """The password must have been sent within the last hour, except for the own account where `own` is set."""
    everything: bool = False
    """The action is closed to principals that see no private photos."""

    @property
    def scope(self) -> str:
        """Return the narrowest scope that covers the action."""
        return f"{self.resource} {'write' if self.write else 'read'}"


_LOGIN = frozenset({LOGIN_SESSION})
_APP = frozenset({APP_PASSWORD})
_SESSION = frozenset({LOGIN_SESSION, APP_SESSION})
_PERSON = _SESSION | _APP
#: Log-ins, and clients that were registered for the action; not app passwords, which devices carry.
_GIVEN = frozenset({LOGIN_SESSION, CLIENT_TOKEN})
_ANY = _PERSON | {ACCESS_TOKEN, CLIENT_TOKEN, HOST_USER}
_OPEN, _READERS, _LEAVERS = (kinds | {VISIT} for kinds in (_ANY, _PERSON, _SESSION))

_ALL = frozenset({ADMIN, USER, VIEWER, CLIENT})
_SIGNED_IN = _ALL | {GUEST}
_EACH = _SIGNED_IN | {VISITOR}
_ACCOUNTS = frozenset({ADMIN, USER, VIEWER, GUEST})
_GIVERS = _ACCOUNTS | {VISITOR}
_ADMIN = frozenset({ADMIN})
_EDITORS = frozenset({ADMIN, USER})
_WRITERS = frozenset({ADMIN, USER, CLIENT})
_MONITORS = frozenset({ADMIN, CLIENT})
_NOBODY = frozenset[str]()

_R, _W = False, True
_OWN, _ = True, False
#: For `proof`.
_P = True
#: For `everything`.
_E = {"everything": True}

# fmt: off
_TABLE = (
    #     action                        resource    write kinds     roles      own
    Rule("photos.search",              "photos",   _R,   _OPEN,    _EACH,     _,    "Search photos"),
    Rule("photos.facets",              "photos",   _R,   _ANY,     _ALL,      _,    "Count photos by filter value"),
    Rule("photos.suggest",             "photos",   _R,   _ANY,     _ALL,      _,    "See suggestions while typing"),
    Rule("photos.timeline",            "photos",   _R,   _ANY,     _ALL,      _,    "Lay out photos by month"),
    Rule("photos.clusters",            "photos",   _R,   _ANY,     _ALL,      _,    "Group photos for a map"),
    Rule("photos.view",                "photos",   _R,   _ANY,     _ALL,      _,    "See one photo"),
    Rule("photos.preview",             "photos",   _R,   _OPEN,    _EACH,     _,    "Open thumbnails and videos"),
    Rule("photos.download",            "photos",   _R,   _OPEN,    _EACH,     _,    "Open originals and archives"),
    Rule("photos.update",              "photos",   _W,   _ANY,     _WRITERS, _,    "Change photos"),
    Rule("photos.delete",              "photos",   _W,   _ANY,     _WRITERS,  _,    "Remove photos from the library"),
    Rule("trash.view",                 "photos",   _R,   _ANY,     _EDITORS, _,    "List deleted originals", **_E),
    Rule("trash.restore",              "photos",   _W,   _ANY,     _EDITORS, _,  "Restore deleted originals", **_E),
    Rule("trash.empty",                "files",    _W,   _ANY,     _ADMIN,   _,    "Empty the trash", **_E),
    Rule("photos.history",             "photos",   _R,   _ANY,     _WRITERS,  _,    "See who changed a photo"),
    Rule("albums.search",              "albums",   _R,   _ANY,     _ALL,      _,    "List albums"),
    Rule("albums.view",                "albums",   _R,   _OPEN,    _EACH,     _,    "See one album"),
    Rule("albums.create",              "albums",   _W,   _ANY,     _WRITERS,  _,    "Make albums"),
    Rule("albums.update",              "albums",   _W,   _ANY,     _WRITERS,  _,    "Change albums and their photos"),
    Rule("albums.delete",              "albums",   _W,   _ANY,     _WRITERS,  _,    "Delete albums"),
    Rule("links.list",                 "shares",   _R,   _ANY,     _EDITORS,  _,    "See how albums are shared"),
    Rule("links.make",                 "shares",   _W,   _ANY,     _EDITORS,  _,    "Share albums"),
    Rule("shared.list",                "albums",   _R,   _PERSON,  _ACCOUNTS, _,    "List albums that others shared"),
    Rule("shared.leave",               "albums",   _W,   _PERSON,  _ACCOUNTS, _,    "Leave them"),
    Rule("shared.add",                 "files",    _W,   _READERS, _GIVERS,   _,    "Add photos to them"),
    Rule("shared.remove",              "albums",   _W,   _PERSON,  _ACCOUNTS, _,    "Take out one's own photos"),
    Rule("people.search",              "people",   _R,   _ANY,     _ALL,      _,    "List people"),
    Rule("people.update",              "people",   _W,   _ANY,     _WRITERS,  _,    "Rename and merge people"),
    Rule("labels.search",              "labels",   _R,   _ANY,     _ALL,      _,    "List keywords"),
    Rule("labels.update",              "labels",   _W,   _ANY,     _WRITERS, _,    "Rename and remove keywords"),
    Rule("files.view",                 "files",    _R,   _ANY,     _ALL,      _,    "See one file"),
    Rule("files.upload",               "files",    _W,   _PERSON,  _EDITORS,  _,    "Add files to the originals"),
    Rule("files.import",               "files",    _W,   _ANY,     _ADMIN,    _,    "Import a folder of files"),
    Rule("files.imports",              "files",    _R,   _ANY,     _ADMIN,    _,    "See imports and what failed"),
    Rule("errors.view",                "logs",     _R,   _ANY,     _ADMIN,    _,    "See files that failed", **_E),
    Rule("errors.clear",               "logs",     _W,   _ANY,     _ADMIN,    _,    "Clear failed imports"),
    Rule("photos.index",               "photos",   _W,   _ANY,     _EDITORS,  _,    "Start and stop index runs"),
    Rule("library.view",               "logs",     _R,   _ANY,     _ADMIN,   _,    "See disk usage", **_E),
    Rule("library.tidy",               "photos",   _W,   _ANY,     _ADMIN,   _,  "Maintain the library", **_E),
    Rule("index.view",                 "photos",   _R,   _ANY,     _EDITORS,  _,    "See index runs", **_E),
    Rule("jobs.view",                  "photos",   _R,   _ANY,     _WRITERS,  _,    "See how far a job is"),
    Rule("folders.view",               "folders",  _R,   _ANY,     _ALL,      _,    "List folders of the originals"),
    Rule("moments.view",               "moments",  _R,   _ANY,     _ALL,      _,    "List the months of photos"),
    Rule("places.view",                "places",   _R,   _ANY,     _ALL,      _,    "See photos on a map"),
    Rule("config.view",                "config",   _R,   _ANY,     _ALL,      _,    "Read what clients need to know"),
    Rule("config.options",             "config",   _R,   _ANY,     _ADMIN,   _,   "Read the options", **_E),
    Rule("settings.view",              "settings", _R,   _ANY,     _ALL,      _,    "Read the settings of interfaces"),
    Rule("services.search",            "services", _R,   _ANY,     _ALL,      _,    "List connected services"),
    Rule("webdav.read",                "webdav",   _R,   _PERSON,  _EDITORS,  _,    "Read the originals over WebDAV"),
    Rule("webdav.write",               "webdav",   _W,   _PERSON,  _EDITORS,  _,    "Change the originals over WebDAV"),
    Rule("metrics.view",               "metrics",  _R,   _ANY,     _MONITORS, _,    "Read the monitoring figures"),
    Rule("session.create",             "sessions", _W,   _APP,     _SIGNED_IN, _,   "Exchange it for a login session"),
    Rule("session.read",               "sessions", _R,   _READERS, _EACH,     _,    "Read the own session"),
    Rule("session.end",                "sessions", _W,   _LEAVERS, _EACH,     _,    "End the own login session"),
    Rule("session.confirm",            "sessions", _W,   _LOGIN,   _SIGNED_IN, _,   "Confirm the password"),
    Rule("users.list",                 "users",    _R,   _LOGIN,   _ADMIN,    _,    "List accounts"),
    Rule("users.add",                  "users",    _W,   _LOGIN,   _ADMIN,    _,    "Add an account", _P),
    Rule("users.view",                 "users",    _R,   _LOGIN,   _ADMIN,    _OWN, "See an account"),
    Rule("users.change",               "users",    _W,   _LOGIN,   _ADMIN,    _OWN, "Change or disable an account", _P),
    Rule("users.remove",               "users",    _W,   _LOGIN,   _ADMIN,    _,    "Remove an account", _P),
    Rule("users.password",             "password", _W,   _LOGIN,   _ADMIN,    _OWN, "Change an account's password", _P),
    Rule("users.passcode",             "passcode", _W,   _LOGIN,   _NOBODY,   _OWN, "Manage two-factor authentication"),
    Rule("users.passcode.reset",       "passcode", _W,   _LOGIN,   _ADMIN,    _,    "Reset a second factor", _P),
    Rule("users.sessions.list",        "sessions", _R,   _LOGIN,   _ADMIN,    _OWN, "List an account's login sessions"),
    Rule("users.sessions.end",         "sessions", _W,   _LOGIN,   _ADMIN,    _OWN, "End login sessions"),
    Rule("users.app_passwords.list",   "sessions", _R,   _LOGIN,   _ADMIN,    _OWN, "List an account's app passwords"),
    Rule("users.app_passwords.add",    "sessions", _W,   _LOGIN,   _NOBODY,   _OWN, "Create an app password"),
    Rule("users.app_passwords.remove", "sessions", _W,   _LOGIN,   _ADMIN,    _OWN, "Revoke an app password"),
    Rule("clients.list",               "sessions", _R,   _LOGIN, _ADMIN,    _,    "List OAuth2 clients"),
    Rule("clients.add",                "sessions", _W,   _LOGIN, _ADMIN,    _,    "Register an OAuth2 client", _P),
    Rule("clients.change",             "sessions", _W,   _LOGIN, _ADMIN,    _,    "Change an OAuth2 client", _P),
    Rule("clients.remove",             "sessions", _W,   _LOGIN, _ADMIN,    _,    "Remove an OAuth2 client", _P),
    Rule("tokens.list",                "sessions", _R,   _LOGIN, _ADMIN,    _,    "List tokens of devices"),
    Rule("tokens.add",                 "sessions", _W,   _LOGIN, _ADMIN,    _,    "Create a token for a device", _P),
    Rule("tokens.remove",              "sessions", _W,   _LOGIN, _ADMIN,    _,    "Revoke a token of a device", _P),
    Rule("audit.view",                 "logs",     _R,   _GIVEN,   _ADMIN,    _,    "Read the security log"),
    Rule("oauth.introspect",           "sessions", _R,   _ANY,     _ADMIN,    _,    "Introspect tokens of others"),
)
# fmt: on

#: The actions that a public link allows its visitors or not.
_DOWNLOAD, _ADD = "photos.download", "shared.add"
RULES: Mapping[str, Rule] = {rule.action: rule for rule in _TABLE}
#: Roles whose accounts may make public links; links of others open nothing.
SHARERS: Final = RULES["links.make"].roles
#: Roles of accounts in whose quota visitors of their links may add files.
UPLOADERS: Final = RULES["files.upload"].roles


def decide(principal: Principal, action: str, *, owner_uid: str | None = None) -> Rule:
    """Return the rule that lets `principal` do `action`.

    Args:
        action: a key of `RULES`.
        owner_uid: the UID of the user account that is acted on, where there is one.

    Raises:
        InsufficientScopeError: only the scope is missing; the error names the scope needed.
        PermissionDeniedError: this kind of credential or this role may never do it.
    """
    rule = RULES[action]
    owns = rule.own and owner_uid is not None and owner_uid == principal.user_uid
    if principal.standing not in rule.kinds or not (principal.role in rule.roles or owns):
        raise PermissionDeniedError
    if rule.everything and not principal.sees_private:
        raise PermissionDeniedError
    if action == _DOWNLOAD and principal.shared is not None and not principal.shared.downloads:
        raise PermissionDeniedError
    by_link = principal.shared if principal.standing == VISIT else None
    if action == _ADD and by_link is not None and by_link.uploads_for is None:
        raise PermissionDeniedError
    if not principal.scope.covers(rule.resource, write=rule.write):
        raise InsufficientScopeError(rule.scope)
    return rule


def check_proof(principal: Principal, action: str, now: datetime, *, owner_uid: str | None = None) -> None:
    """Raise `PasswordNeededError` if `action` needs a password sent within the last hour and the principal's is older.

    A log-in counts. Views ask for the password themselves where owners change their own account.
    """
    rule = RULES[action]
    owns = rule.own and owner_uid is not None and owner_uid == principal.user_uid
    if rule.proof and not owns:
        _check_hour(principal, now)


def check_recent_proof(principal: Principal, now: datetime) -> None:
    """Raise `PasswordNeededError` if the principal's password was sent over an hour ago.

    A log-in counts. Users of a host app and sessions made from app passwords have no password to send: the policy alone
    decides on them.
    """
    if may(principal, "session.confirm"):
        _check_hour(principal, now)


def _check_hour(principal: Principal, now: datetime) -> None:
    proved = principal.proved_at or principal.created_at
    if now > proved + timedelta(seconds=PROOF_SECONDS):
        raise PasswordNeededError(field="password")


def may(principal: Principal, action: str, *, owner_uid: str | None = None) -> bool:
    """Return whether `decide` would allow the action."""
    try:
        decide(principal, action, owner_uid=owner_uid)
    except PermissionDeniedError:
        return False
    return True


def check_grantable(principal: Principal, scope: Scope) -> None:
    """Raise `ScopeTooWideError` if a new credential would have a wider scope than the one that makes it."""
    if not is_within(scope, principal.scope):
        raise ScopeTooWideError("a credential cannot create one with more rights than its own", field="scope")


def scopes_in_use(actions: Collection[str]) -> list[str]:
    """Return the names of the scopes that open one of `actions`, in the order of `SCOPES`."""
    rules = [RULES[action] for action in actions]
    used = {ALL, *(rule.resource for rule in rules), *(WRITE if rule.write else READ for rule in rules)}
    return [scope.name for scope in SCOPES if scope.name in used]


def policy_table(mounted: Collection[str]) -> list[dict[str, str | bool]]:
    """Return the policy as plain rows for documentation; `mounted` are the actions that a route uses."""
    return [
        {
            "action": rule.action,
            "scope": rule.scope,
            "credentials": _listed(rule.kinds) + (", password sent within the hour" if rule.proof else ""),
            "roles": " or ".join(filter(None, (_listed(rule.roles), "the account's own user" if rule.own else "")))
            + (", if private photos are shown to them" if rule.everything else ""),
            "description": rule.description,
            "in_use": rule.action in mounted,
        }
        for rule in RULES.values()
    ]


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words)).replace("_", " ")
