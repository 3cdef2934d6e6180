"""The policy: one table of the rights of credentials, the only place that defines them.

A rule has three conditions, and all must hold:

- the credential is of one of `kinds`; a login session made from an app password is a kind of its own,
- its scope covers `scope`,
- it acts in one of `roles`, or, where `own` is set, on the account it belongs to.

Two flags add a condition each. `needs_proof`: the password was sent within the last hour. `needs_private`: the
principal sees private photos, because the answer names originals and folders whether or not their photos are private.

Visitors of a public link may do the few actions that have their kind and role. They download and add files only if the
link allows it, and only by views that limit themselves to the shared album (`web.contract.for_visitors`). Guests, who
see nothing but the albums shared with them, are limited in the same way; their further actions show no photos.
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
    scope: str
    """The narrowest scope that covers the action: a resource, and `read` or `write`."""
    kinds: frozenset[str]
    roles: frozenset[str]
    description: str
    own: bool = False
    """The action is also open to the account that it is about, whatever its role."""
    needs_proof: bool = False
    """The password must have been sent within the last hour, except for the own account where `own` is set."""
    needs_private: bool = False
    """The action is closed to principals that see no private photos."""

    @property
    def resource(self) -> str:
        """Return the resource that the scope of a credential must cover."""
        return self.scope.partition(" ")[0]

    @property
    def write(self) -> bool:
        """Return whether the scope of a credential must cover the resource for writing."""
        return self.scope.endswith(WRITE)


_LOGIN = frozenset({LOGIN_SESSION})
_APP = frozenset({APP_PASSWORD})
_SESSION = frozenset({LOGIN_SESSION, APP_SESSION})
_PERSON = _SESSION | _APP
#: Log-ins, and clients that were registered for the action; not app passwords, which devices carry.
_LOGIN_OR_CLIENT = frozenset({LOGIN_SESSION, CLIENT_TOKEN})
_ANY = _PERSON | {ACCESS_TOKEN, CLIENT_TOKEN, HOST_USER}
_ANY_OR_VISIT, _PERSON_OR_VISIT, _SESSION_OR_VISIT = (kinds | {VISIT} for kinds in (_ANY, _PERSON, _SESSION))

_MEMBERS = frozenset({ADMIN, USER, VIEWER, CLIENT})
_MEMBERS_GUESTS = _MEMBERS | {GUEST}
_EVERYONE = _MEMBERS_GUESTS | {VISITOR}
_ACCOUNTS = frozenset({ADMIN, USER, VIEWER, GUEST})
_CONTRIBUTORS = _ACCOUNTS | {VISITOR}
_ADMIN = frozenset({ADMIN})
_EDITORS = frozenset({ADMIN, USER})
_WRITERS = frozenset({ADMIN, USER, CLIENT})
_MONITORS = frozenset({ADMIN, CLIENT})
_NOBODY = frozenset[str]()

_TABLE = (
    Rule("photos.search", "photos read", _ANY_OR_VISIT, _EVERYONE, "Search photos"),
    Rule("photos.facets", "photos read", _ANY, _MEMBERS, "Count photos by filter value"),
    Rule("photos.suggest", "photos read", _ANY, _MEMBERS, "See suggestions while typing"),
    Rule("photos.timeline", "photos read", _ANY, _MEMBERS, "Lay out photos by month"),
    Rule("photos.clusters", "photos read", _ANY, _MEMBERS, "Group photos for a map"),
    Rule("photos.view", "photos read", _ANY, _MEMBERS, "See one photo"),
    Rule("photos.preview", "photos read", _ANY_OR_VISIT, _EVERYONE, "Open thumbnails and videos"),
    Rule("photos.download", "photos read", _ANY_OR_VISIT, _EVERYONE, "Open originals and archives"),
    Rule("photos.update", "photos write", _ANY, _WRITERS, "Change photos"),
    Rule("photos.delete", "photos write", _ANY, _WRITERS, "Remove photos from the library"),
    Rule("trash.view", "photos read", _ANY, _EDITORS, "List deleted originals", needs_private=True),
    Rule("trash.restore", "photos write", _ANY, _EDITORS, "Restore deleted originals", needs_private=True),
    Rule("trash.delete", "photos write", _ANY, _EDITORS, "Delete photos that one deleted for good", needs_private=True),
    Rule("trash.empty", "files write", _ANY, _ADMIN, "Empty the trash", needs_private=True),
    Rule("photos.history", "photos read", _ANY, _WRITERS, "See who changed a photo"),
    Rule("albums.search", "albums read", _ANY, _MEMBERS, "List albums"),
    Rule("albums.view", "albums read", _ANY_OR_VISIT, _EVERYONE, "See one album"),
    Rule("albums.create", "albums write", _ANY, _WRITERS, "Make albums"),
    Rule("albums.update", "albums write", _ANY, _WRITERS, "Change albums and their photos"),
    Rule("albums.delete", "albums write", _ANY, _WRITERS, "Delete albums"),
    Rule("links.list", "shares read", _ANY, _EDITORS, "See how albums are shared"),
    Rule("links.make", "shares write", _ANY, _EDITORS, "Share albums"),
    Rule("shared.list", "albums read", _PERSON, _ACCOUNTS, "List albums that others shared"),
    Rule("shared.leave", "albums write", _PERSON, _ACCOUNTS, "Leave them"),
    Rule("shared.add", "files write", _PERSON_OR_VISIT, _CONTRIBUTORS, "Add photos to them"),
    Rule("shared.remove", "albums write", _PERSON, _ACCOUNTS, "Take out one's own photos"),
    Rule("people.search", "people read", _ANY, _MEMBERS, "List people"),
    Rule("people.update", "people write", _ANY, _WRITERS, "Rename and merge people"),
    Rule("labels.search", "labels read", _ANY, _MEMBERS, "List keywords"),
    Rule("labels.update", "labels write", _ANY, _WRITERS, "Rename and remove keywords"),
    Rule("files.view", "files read", _ANY, _MEMBERS, "See one file"),
    Rule("files.upload", "files write", _PERSON, _EDITORS, "Add files to the originals"),
    Rule("files.import", "files write", _ANY, _ADMIN, "Import a folder of files"),
    Rule("files.imports", "files read", _ANY, _ADMIN, "See imports and what failed"),
    Rule("errors.view", "logs read", _ANY, _ADMIN, "See files that failed", needs_private=True),
    Rule("errors.clear", "logs write", _ANY, _ADMIN, "Clear failed imports"),
    Rule("photos.index", "photos write", _ANY, _EDITORS, "Start and stop index runs"),
    Rule("library.view", "logs read", _ANY, _ADMIN, "See disk usage", needs_private=True),
    Rule("library.tidy", "photos write", _ANY, _ADMIN, "Maintain the library", needs_private=True),
    Rule("index.view", "photos read", _ANY, _EDITORS, "See index runs", needs_private=True),
    Rule("jobs.view", "photos read", _ANY, _WRITERS, "See how far a job is"),
    Rule("folders.view", "folders read", _ANY, _MEMBERS, "List folders of the originals"),
    Rule("moments.view", "moments read", _ANY, _MEMBERS, "List the months of photos"),
    Rule("places.view", "places read", _ANY, _MEMBERS, "See photos on a map"),
    Rule("config.view", "config read", _ANY_OR_VISIT, _EVERYONE, "Read what clients need to know"),
    Rule("config.options", "config read", _ANY, _ADMIN, "Read the options", needs_private=True),
    Rule("settings.view", "settings read", _ANY, _MEMBERS, "Read the settings of interfaces"),
    Rule("services.search", "services read", _ANY, _MEMBERS, "List connected services"),
    Rule("webdav.read", "webdav read", _PERSON, _EDITORS, "Read the originals over WebDAV"),
    Rule("webdav.write", "webdav write", _PERSON, _EDITORS, "Change the originals over WebDAV"),
    Rule("metrics.view", "metrics read", _ANY, _MONITORS, "Read the monitoring figures"),
    Rule("session.create", "sessions write", _APP, _MEMBERS_GUESTS, "Exchange it for a login session"),
    Rule("session.read", "sessions read", _PERSON_OR_VISIT, _EVERYONE, "Read the own session"),
    Rule("session.end", "sessions write", _SESSION_OR_VISIT, _EVERYONE, "End the own login session"),
    Rule("session.confirm", "sessions write", _LOGIN, _MEMBERS_GUESTS, "Confirm the password"),
    Rule("users.list", "users read", _LOGIN, _ADMIN, "List accounts"),
    Rule("users.add", "users write", _LOGIN, _ADMIN, "Add an account", needs_proof=True),
    Rule("users.view", "users read", _LOGIN, _ADMIN, "See an account", own=True),
    Rule("users.change", "users write", _LOGIN, _ADMIN, "Change or disable an account", own=True, needs_proof=True),
    Rule("users.remove", "users write", _LOGIN, _ADMIN, "Remove an account", needs_proof=True),
    Rule(
        "users.password", "password write", _LOGIN, _ADMIN, "Change an account's password", own=True, needs_proof=True
    ),
    Rule("users.passcode", "passcode write", _LOGIN, _NOBODY, "Manage two-factor authentication", own=True),
    Rule("users.passcode.reset", "passcode write", _LOGIN, _ADMIN, "Reset a second factor", needs_proof=True),
    Rule("users.sessions.list", "sessions read", _LOGIN, _ADMIN, "List an account's login sessions", own=True),
    Rule("users.sessions.end", "sessions write", _LOGIN, _ADMIN, "End login sessions", own=True),
    Rule("users.app_passwords.list", "sessions read", _LOGIN, _ADMIN, "List an account's app passwords", own=True),
    Rule("users.app_passwords.add", "sessions write", _LOGIN, _NOBODY, "Create an app password", own=True),
    Rule("users.app_passwords.remove", "sessions write", _LOGIN, _ADMIN, "Revoke an app password", own=True),
    Rule("clients.list", "sessions read", _LOGIN, _ADMIN, "List OAuth2 clients"),
    Rule("clients.add", "sessions write", _LOGIN, _ADMIN, "Register an OAuth2 client", needs_proof=True),
    Rule("clients.change", "sessions write", _LOGIN, _ADMIN, "Change an OAuth2 client", needs_proof=True),
    Rule("clients.remove", "sessions write", _LOGIN, _ADMIN, "Remove an OAuth2 client", needs_proof=True),
    Rule("tokens.list", "sessions read", _LOGIN, _ADMIN, "List tokens of devices"),
    Rule("tokens.add", "sessions write", _LOGIN, _ADMIN, "Create a token for a device", needs_proof=True),
    Rule("tokens.remove", "sessions write", _LOGIN, _ADMIN, "Revoke a token of a device", needs_proof=True),
    Rule("audit.view", "logs read", _LOGIN_OR_CLIENT, _ADMIN, "Read the security log"),
    Rule("oauth.introspect", "sessions read", _ANY, _ADMIN, "Introspect tokens of others"),
)

#: The actions that a public link allows its visitors or not.
_DOWNLOAD, _ADD = "photos.download", "shared.add"
RULES: Mapping[str, Rule] = {rule.action: rule for rule in _TABLE}
#: Roles of accounts that may make public links; links of other accounts open nothing.
SHARERS: Final = RULES["links.make"].roles
#: Roles of accounts that may let visitors of their links add files, which count in the quota of the account.
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
    if rule.needs_private and not principal.sees_private:
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
    if rule.needs_proof and not owns:
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
            "credentials": _listed(rule.kinds) + (", password sent within the hour" if rule.needs_proof else ""),
            "roles": " or ".join(filter(None, (_listed(rule.roles), "the account's own user" if rule.own else "")))
            + (", if private photos are shown to them" if rule.needs_private else ""),
            "description": rule.description,
            "in_use": rule.action in mounted,
        }
        for rule in RULES.values()
    ]


def _listed(words: frozenset[str]) -> str:
    return ", ".join(sorted(words)).replace("_", " ")
