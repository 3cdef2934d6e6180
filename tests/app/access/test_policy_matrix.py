"""Every route with every kind of credential: broken authorization of objects and functions (OWASP API1 and API5).

The table is written by hand and not derived from that of the code; a route that is missing here fails.
"""

from dataclasses import dataclass

import pytest

from photosvc.auth.errors import InsufficientScopeError
from photosvc.auth.policy import RULES, decide
from photosvc.auth.scopes import SCOPES
from photosvc.auth.tokens import verify
from photosvc.core import ids
from photosvc.core.errors import PermissionDeniedError
from photosvc.dav.blueprint import BLUEPRINT as WEBDAV
from photosvc.models import CLIENT_TOKEN, LOGIN_SESSION, Credential, User
from photosvc.pages import BLUEPRINT as PAGES
from photosvc.web.contract import ACTION, PUBLIC
from tests.helpers.api_client import HASH, ROLES, check_error, open_api
from tests.helpers.clock import NOW
from tests.helpers.factories.accounts import add_client, add_credential, add_user

OWN, OTHER, UNKNOWN_UID = "own", "otto", "unobody0000000000"

ANYTHING = {"login", "child", "app", "access", "client"}
PERSON = {"login", "child", "app"}
SESSION = {"login", "child"}
LOGIN = {"login"}

EVERYBODY = {"admin", "user", "viewer", "client"}
ACCOUNTS = {"admin", "user", "viewer"}
WRITERS = {"admin", "user", "client"}
EDITORS = {"admin", "user"}
ADMIN = {"admin"}
ONLY_OWN = set()


@dataclass(frozen=True)
class Row:
    """Who may call a route, and the answer to `body` for those who may."""

    status: int
    resource: str = ""
    mode: str = "read"
    kinds: frozenset = frozenset()
    roles: frozenset = frozenset()
    own: bool = False
    body: object = None
    only_own: bool = False
    """Also those roles may call it for their own account only."""
    link: bool = False
    """Opened by a link token in the path; headers are not looked at."""
    any_scope: bool = False
    """Open to every valid token, and to no other request."""


def row(status, scope, kinds, roles, *, own=False, body=None, only_own=False):
    resource, mode = scope.split()
    return Row(status, resource, mode, frozenset(kinds), frozenset(roles), own, body, only_own)


READ_SESSION = row(200, "sessions read", PERSON, EVERYBODY)
END_SESSION = row(200, "sessions write", SESSION, EVERYBODY)
LOG_IN = Row(400, body=[])
TURNED = {"Orientation": 6}
BATCH_VERBS = ("archive", "restore", "approve", "private", "edit", "stack", "undo", "delete")
SESSIONS = ("/session", "/sessions", "/session/<session_id>", "/sessions/<session_id>")
#: Routes that answer less, but no error, without a credential.
ANONYMOUS = {"GET /config"}
DOCUMENTS = ("jwks.json", "oauth-authorization-server", "oauth-protected-resource", "openid-configuration")
PLACEHOLDER = Row(501)
APP_PASSWORDS = "/users/<user_uid>/app-passwords"
PASSCODE = "/users/<user_uid>/passcode"

# fmt: off
BY_PATH = {
    **dict.fromkeys((f"GET /.well-known/{name}" for name in DOCUMENTS), Row(200)),
    "POST /oauth/token": Row(400),
    "POST /oauth/revoke": Row(400),
    "POST /oauth/introspect": Row(400),
    "GET POST /oauth/authorize": PLACEHOLDER,
    "GET POST /oauth/userinfo": PLACEHOLDER,
    "GET /photos": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/facets": row(400, "photos read", ANYTHING, EVERYBODY),
    "GET /suggest": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/state": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/timeline": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/timeline/months/<month>": row(400, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/timeline/between/<first>/<last>": row(400, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/timeline/months/<month>/photos": row(400, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/clusters": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /memories": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /places/named": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/sequence": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/view": row(200, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/<photo_uid>": row(404, "photos read", ANYTHING, EVERYBODY),
    "GET /photos/<photo_uid>/yaml": row(404, "photos read", ANYTHING, EVERYBODY),
    "DELETE /photos/<photo_uid>": row(404, "photos write", ANYTHING, WRITERS),
    "GET /files/<content_hash>": row(404, "files read", ANYTHING, EVERYBODY),
    "POST /users/<user_uid>/upload/<token>": row(400, "files write", PERSON, EDITORS, only_own=True),
    "PUT /users/<user_uid>/upload/<token>": row(200, "files write", PERSON, EDITORS, only_own=True, body={}),
    "POST /uploads": row(412, "files write", PERSON, EDITORS),
    "PATCH DELETE /uploads/<token>": row(412, "files write", PERSON, EDITORS),
    "POST /index": row(400, "photos write", ANYTHING, EDITORS, body={"path": ".."}),
    "GET /index": row(200, "photos read", ANYTHING, EDITORS),
    "DELETE /index": row(200, "photos write", ANYTHING, EDITORS),
    "GET /jobs/<int:job_id>": row(404, "photos read", ANYTHING, WRITERS),
    "POST /import": row(400, "files write", ANYTHING, ADMIN, body={"path": ".."}),
    "POST /import/<path:folder>": row(404, "files write", ANYTHING, ADMIN, body={}),
    "GET /import": row(200, "files read", ANYTHING, ADMIN),
    "GET /trash": row(200, "photos read", ANYTHING, EDITORS),
    "GET /trash/photos": row(200, "photos read", ANYTHING, EDITORS),
    "POST /trash/delete": row(400, "photos write", ANYTHING, EDITORS, body={}),
    "POST /trash/restore": row(400, "photos write", ANYTHING, EDITORS, body={}),
    "DELETE /trash": row(400, "files write", ANYTHING, ADMIN, body={}),
    "GET /errors": row(200, "logs read", ANYTHING, ADMIN),
    "DELETE /errors": row(200, "logs write", ANYTHING, ADMIN),
    "DELETE /import": row(200, "files write", ANYTHING, ADMIN),
    "GET /geo/view": row(200, "places read", ANYTHING, EVERYBODY),
    "GET /geo": row(200, "places read", ANYTHING, EVERYBODY),
    "GET /folders/originals": row(200, "folders read", ANYTHING, EVERYBODY),
    "GET /folders/originals/<path:folder>": row(404, "folders read", ANYTHING, EVERYBODY),
    "GET /folders/import": row(404, "files read", ANYTHING, ADMIN),
    "GET /folders/import/<path:folder>": row(404, "files read", ANYTHING, ADMIN),
    "GET /moments/time": row(200, "moments read", ANYTHING, EVERYBODY),
    "GET /config": row(200, "config read", ANYTHING, EVERYBODY),
    "GET /config/options": row(200, "config read", ANYTHING, ADMIN),
    "GET /settings": row(200, "settings read", ANYTHING, EVERYBODY),
    "GET /services": row(200, "services read", ANYTHING, EVERYBODY),
    "PUT PATCH /photos/<photo_uid>": row(404, "photos write", ANYTHING, WRITERS, body={}),
    "POST DELETE /photos/<photo_uid>/like": row(404, "photos write", ANYTHING, WRITERS),
    "POST /photos/<photo_uid>/approve": row(404, "photos write", ANYTHING, WRITERS),
    "GET /photos/<photo_uid>/history": row(404, "photos read", ANYTHING, WRITERS),
    "POST /photos/<photo_uid>/history/<number>/undo": row(404, "photos write", ANYTHING, WRITERS),
    **{f"POST /batch/photos/{verb}": row(400, "photos write", ANYTHING, WRITERS, body={}) for verb in BATCH_VERBS},
    "POST /photos/<photo_uid>/files/<file_uid>/primary": row(404, "photos write", ANYTHING, WRITERS),
    "POST /photos/<photo_uid>/files/<file_uid>/unstack": row(404, "photos write", ANYTHING, WRITERS),
    "PUT /photos/<photo_uid>/files/<file_uid>/orientation": row(404, "photos write", ANYTHING, WRITERS, body=TURNED),
    "DELETE /photos/<photo_uid>/files/<file_uid>": row(404, "photos write", ANYTHING, WRITERS),
    "GET /photos/<photo_uid>/dl": row(404, "photos read", ANYTHING, EVERYBODY),
    "GET /dl/<content_hash>": row(404, "photos read", ANYTHING, EVERYBODY),
    "GET /t/<content_hash>/<token>/<size>": Row(403, link=True),
    "GET /trash/t/<content_hash>/<token>/<size>": Row(403, link=True),
    "GET /albums/<uid>/t/<token>/<size>": Row(403, link=True),
    "GET /folders/t/<uid>/<token>/<size>": Row(403, link=True),
    "GET /labels/<uid>/t/<token>/<size>": Row(403, link=True),
    "GET /videos/<content_hash>/<token>/<video_format>": Row(403, link=True),
    "GET /subjects": row(200, "people read", ANYTHING, EVERYBODY),
    "GET /subjects/<subject_uid>": row(404, "people read", ANYTHING, EVERYBODY),
    "PUT /subjects/<subject_uid>": row(400, "people write", ANYTHING, WRITERS, body={}),
    "POST DELETE /subjects/<subject_uid>/like": row(404, "people write", ANYTHING, WRITERS),
    "POST /markers": row(400, "people write", ANYTHING, WRITERS, body={}),
    "GET /markers/<marker_uid>": row(404, "people read", ANYTHING, EVERYBODY),
    "PUT /markers/<marker_uid>": row(400, "people write", ANYTHING, WRITERS, body={}),
    "DELETE /markers/<marker_uid>/subject": row(404, "people write", ANYTHING, WRITERS),
    "GET /labels": row(200, "labels read", ANYTHING, EVERYBODY),
    "PUT /labels/<label_uid>": row(400, "labels write", ANYTHING, WRITERS, body={}),
    "POST DELETE /labels/<label_uid>/like": row(404, "labels write", ANYTHING, WRITERS),
    "POST DELETE /labels/<label_uid>/favorite": row(404, "labels write", ANYTHING, WRITERS),
    "POST /batch/labels/delete": row(400, "labels write", ANYTHING, WRITERS, body={}),
    "POST /photos/<photo_uid>/label": row(400, "photos write", ANYTHING, WRITERS, body={}),
    "PUT /photos/<photo_uid>/label/<label_id>": row(404, "photos write", ANYTHING, WRITERS, body={}),
    "DELETE /photos/<photo_uid>/label/<label_id>": row(404, "photos write", ANYTHING, WRITERS),
    "GET /faces": row(200, "people read", ANYTHING, EVERYBODY),
    "GET /albums": row(200, "albums read", ANYTHING, EVERYBODY),
    "POST /albums": row(400, "albums write", ANYTHING, WRITERS, body={}),
    "GET /albums/<album_uid>": row(404, "albums read", ANYTHING, EVERYBODY),
    "PUT PATCH /albums/<album_uid>": row(404, "albums write", ANYTHING, WRITERS, body={}),
    "DELETE /albums/<album_uid>": row(404, "albums write", ANYTHING, WRITERS),
    "POST DELETE /albums/<album_uid>/like": row(404, "albums write", ANYTHING, WRITERS),
    "POST /albums/<album_uid>/clone": row(400, "albums write", ANYTHING, WRITERS, body={}),
    "GET /albums/<album_uid>/photos": row(404, "albums read", ANYTHING, EVERYBODY),
    "POST PUT DELETE /albums/<album_uid>/photos": row(400, "albums write", ANYTHING, WRITERS, body={}),
    "POST /batch/albums/delete": row(400, "albums write", ANYTHING, WRITERS, body={}),
    "GET /albums/<album_uid>/links": row(404, "shares read", ANYTHING, EDITORS),
    "POST /albums/<album_uid>/links": row(404, "shares write", ANYTHING, EDITORS),
    "PUT /albums/<album_uid>/links/<link_uid>": row(404, "shares write", ANYTHING, EDITORS, body={}),
    "DELETE /albums/<album_uid>/links/<link_uid>": row(404, "shares write", ANYTHING, EDITORS),
    "GET /albums/<album_uid>/accounts": row(404, "shares read", ANYTHING, EDITORS),
    "POST /albums/<album_uid>/accounts": row(404, "shares write", ANYTHING, EDITORS, body={"Account": "otto"}),
    "PUT /albums/<album_uid>/accounts/<account_uid>": row(404, "shares write", ANYTHING, EDITORS, body={}),
    "DELETE /albums/<album_uid>/accounts/<account_uid>": row(404, "shares write", ANYTHING, EDITORS),
    "GET /shared": row(200, "albums read", PERSON, ACCOUNTS),
    "DELETE /shared/<album_uid>": row(404, "albums write", PERSON, ACCOUNTS),
    "POST /shared/<album_uid>/photos": row(404, "files write", PERSON, ACCOUNTS),
    "DELETE /shared/<album_uid>/photos": row(404, "albums write", PERSON, ACCOUNTS, body={"photos": []}),
    "GET /albums/<album_uid>/dl": row(404, "photos read", ANYTHING, EVERYBODY),
    "POST /zip": row(400, "photos read", ANYTHING, EVERYBODY, body={}),
    "GET /zip/<name>": row(404, "photos read", ANYTHING, EVERYBODY),
    "GET /metrics": row(200, "metrics read", ANYTHING, {"admin", "client"}),
    "GET /status": Row(200),
    "GET /healthz": Row(200),
    "GET /credential": Row(204, any_scope=True),
    "GET /readyz": Row(200),
    "GET /openapi.json": Row(200),
    **dict.fromkeys(("POST /session", "POST /sessions"), LOG_IN),
    **dict.fromkeys((f"GET {path}" for path in SESSIONS), READ_SESSION),
    **dict.fromkeys((f"DELETE {path}" for path in SESSIONS), END_SESSION),
    "POST /session/confirm": row(400, "sessions write", LOGIN, EVERYBODY, body={}),
    "GET /audit": row(200, "logs read", {"login", "client"}, ADMIN),
    "GET /users": row(200, "users read", LOGIN, ADMIN),
    "POST /users": row(400, "users write", LOGIN, ADMIN, body={}),
    "GET /users/<user_uid>": row(200, "users read", LOGIN, ADMIN, own=True),
    "PUT /users/<user_uid>": row(200, "users write", LOGIN, ADMIN, own=True, body={}),
    "DELETE /users/<user_uid>": row(404, "users write", LOGIN, ADMIN),
    "PUT /users/<user_uid>/password": row(400, "password write", LOGIN, ADMIN, own=True, body={}),
    "GET /users/<user_uid>/sessions": row(200, "sessions read", LOGIN, ADMIN, own=True),
    "DELETE /users/<user_uid>/sessions": row(404, "sessions write", LOGIN, ADMIN),
    "DELETE /users/<user_uid>/sessions/<credential>": row(404, "sessions write", LOGIN, ADMIN, own=True),
    f"GET {APP_PASSWORDS}": row(200, "sessions read", LOGIN, ADMIN, own=True),
    f"POST {APP_PASSWORDS}": row(400, "sessions write", LOGIN, ONLY_OWN, own=True, body={}),
    f"DELETE {APP_PASSWORDS}/<credential>": row(404, "sessions write", LOGIN, ADMIN, own=True),
    f"POST {PASSCODE}": row(400, "passcode write", LOGIN, ONLY_OWN, own=True, body={}),
    f"POST {PASSCODE}/confirm": row(400, "passcode write", LOGIN, ONLY_OWN, own=True, body={}),
    f"POST {PASSCODE}/activate": row(409, "passcode write", LOGIN, ONLY_OWN, own=True),
    f"POST {PASSCODE}/disable": row(400, "passcode write", LOGIN, ONLY_OWN, own=True, body={}),
    f"POST {PASSCODE}/deactivate": row(400, "passcode write", LOGIN, ONLY_OWN, own=True, body={}),
    f"DELETE {PASSCODE}": row(404, "passcode write", LOGIN, ADMIN),
}
# fmt: on
#: Method and path -> row.
TABLE = {
    f"{method} {path}": found
    for key, found in BY_PATH.items()
    for *methods, path in [key.split()]
    for method in methods
}

NARROW = [item.name for item in SCOPES] + ["photos read", "photos write", "sessions read", "sessions write"]


def opens(scope, resource, mode):
    """Return whether a scope covers a route: one resource, one mode, or both."""
    words = set(scope.split())
    names, modes = words - {"read", "write", "*"}, words & {"read", "write"}
    return (not modes or mode in modes) and (resource in names or not names)


@dataclass(frozen=True)
class Caller:
    """A credential of some kind, role and scope."""

    kind: str
    role: str
    scope: str = "*"

    @property
    def name(self):
        return {role: name for name, role in ROLES.items()}.get(self.role) if self.kind in PERSON else None

    def credential(self, api):
        """A fresh secret of this caller."""
        with api.library.session() as session:
            if self.kind == "access":
                return add_credential(session, "access_token", self.scope)
            if self.kind == "client":
                client = add_client(session, role=self.role, scope=self.scope)
                return add_credential(session, CLIENT_TOKEN, self.scope, client_id=client.id)
            user = session.query(User).filter_by(name=self.name).one()
            if self.kind == "login":
                return add_credential(session, LOGIN_SESSION, self.scope, user_id=user.id)
            app = ids.new_app_password()
            add_credential(session, "app_password", self.scope, app, user_id=user.id)
            if self.kind == "app":
                return app
            parent = session.query(Credential).filter_by(digest=ids.digest(app)).one()
            return add_credential(session, LOGIN_SESSION, self.scope, user_id=user.id, parent_id=parent.id)


CALLERS = [
    *(Caller(kind, role) for kind in ("login", "child", "app") for role in ("admin", "user", "viewer")),
    Caller("access", "client"),
    Caller("client", "client"),
    Caller("client", "admin"),
    *(Caller(kind, "admin", scope) for kind in ("app", "child", "client") for scope in NARROW),
    *(Caller("access", "client", scope) for scope in NARROW),
]


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("matrix")) as api:
        with api.library.session() as session:
            api.uids[OTHER] = add_user(session, OTHER, password_hash=HASH).uid
        yield api


@pytest.fixture(scope="module")
def refused(api):
    """Tokens that are worth nothing, by why."""
    with api.library.session() as session:
        sleeper = add_user(session, "sleeper", "admin", password_hash=HASH, disabled=True)
        stopped = add_client(session, "stopped", "admin", enabled=False)
        orphan = add_client(session, "orphan", "admin", user_id=sleeper.id)
        app = ids.new_app_password()
        found = {
            "garbage": "garbage",
            "an unknown access token": ids.new_access_token(),
            "an unknown app password": ids.new_app_password(),
            "expired": add_credential(session, "access_token", expires_at=api.clock()),
            "idle for too long": add_credential(
                session, LOGIN_SESSION, user_id=1, idle_seconds=60, created_at=api.clock().replace(hour=11)
            ),
            "a disabled user's session": add_credential(session, LOGIN_SESSION, user_id=sleeper.id),
            "a disabled user's app password": add_credential(session, "app_password", "*", app, user_id=sleeper.id),
            "a disabled client's token": add_credential(session, CLIENT_TOKEN, client_id=stopped.id),
            "the token of a disabled user's client": add_credential(session, CLIENT_TOKEN, client_id=orphan.id),
            "a client's secret": ids.new_client_secret(),
        }
    for kind in ("login", "child", "app", "access", "client"):
        token = Caller(kind, "client" if kind in {"access", "client"} else "admin").credential(api)
        assert api.is_alive(token)
        with api.library.session() as session:
            session.query(Credential).filter_by(digest=ids.digest(token)).delete()
        found[f"revoked: {kind}"] = token
    return found


@pytest.fixture(scope="module")
def secrets(api):
    """A secret of each caller; the routes that end a session take fresh ones."""
    return {caller: caller.credential(api) for caller in CALLERS}


def routes(api):
    """Method and rule of every route -> its view; tests/app/dav and tests/app/pages have those of theirs."""
    app = api.library.app
    return {
        f"{method} {rule.rule.removeprefix('/api/v1')}": app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if not rule.endpoint.startswith((WEBDAV, PAGES))
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def uid_of(api, route, target):
    """The UID of an account, or an unknown one where an allowed removal would affect the other tests."""
    found = TABLE[route]
    return UNKNOWN_UID if found.status == 404 and not found.own else api.uids[target]


def call(api, route, token, target=OTHER, *, address="192.0.2.7", method=None):
    found = TABLE[route]
    verb, _, rule = route.partition(" ")
    path = (
        rule.replace("<user_uid>", uid_of(api, route, target))
        .replace("<credential>", "sess00000000")
        .replace("<int:job_id>", "1")
    )
    path = path.replace("<session_id>", ids.digest(token or "")).replace("<token>", token or "x")
    path = (
        path.replace("<photo_uid>", "ptouqe1kbhlaydg7").replace("<content_hash>", "0" * 40).replace("<size>", "fit_720")
    )
    return api.call(method or verb, path, token, json=found.body, address=address)


def demanded(route, caller, *, own):
    """The status that the table demands, and whether only the scope was wanting."""
    found = TABLE[route]
    if not found.kinds:
        return found.status, False
    if caller.kind not in found.kinds or not (caller.role in found.roles or (found.own and own)):
        return 403, False
    if not opens(caller.scope, found.resource, found.mode):
        return 403, True
    if found.only_own and not own:
        return 403, False
    return found.status, False


def test_every_route_has_an_action_a_rule_and_a_row_in_this_table(api):
    found = routes(api)
    assert sorted(found) == sorted(TABLE)
    for route, view in found.items():
        action = getattr(view, ACTION, None)
        assert action == PUBLIC or action in RULES, f"{route} is not protected"
        assert (action == PUBLIC) == (not TABLE[route].kinds and not TABLE[route].link), route


def test_the_policy_decides_about_each_route_as_the_table_for_each_kind_role_and_scope(api, secrets):
    with api.library.session() as session:
        principals = {caller: verify(session.connection(), secret, NOW) for caller, secret in secrets.items()}
    for route, view in routes(api).items():
        if not TABLE[route].kinds:
            continue
        for caller, who in principals.items():
            for target in {OTHER, caller.name or OTHER}:
                # The view itself keeps uploads to the own account.
                own = target == caller.name or TABLE[route].only_own
                status, scope_only = demanded(route, caller, own=own)
                refusal = None
                try:
                    decide(who, getattr(view, ACTION), owner_uid=uid_of(api, route, target))
                except PermissionDeniedError as error:
                    refusal = type(error)
                expected = InsufficientScopeError if scope_only else PermissionDeniedError if status == 403 else None
                assert refusal is expected, (route, caller, target)


def test_each_route_lets_in_whom_the_table_allows_and_refuses_all_others(api, secrets):
    """One caller for each outcome that the table has for a route, another one from route to route."""
    for number, route in enumerate(TABLE):
        callers = {}
        for caller in (*CALLERS[number % len(CALLERS) :], *CALLERS[: number % len(CALLERS)]):
            for target in {OTHER, caller.name or OTHER} if "<user_uid>" in route else {OTHER}:
                own = target == caller.name
                callers.setdefault((*demanded(route, caller, own=own), own), (caller, target))
        for (status, scope_only, _own), (caller, target) in callers.items():
            check_caller(api, secrets, route, caller, target, status, scope_only=scope_only)
    with api.library.session() as session:
        stored = {digest for (digest,) in session.query(Credential.digest)}
    assert {ids.digest(secret) for secret in secrets.values()} <= stored


def check_caller(api, secrets, route, caller, target, status, *, scope_only):
    case, ends = (route, caller, target), route.startswith("DELETE /session")
    token = caller.credential(api) if ends else secrets[caller]
    answer = call(api, route, token, target)
    assert answer.status_code == status, (case, answer.text)
    if status >= 400 and "/oauth/" not in route:
        check_error(answer, status)
    challenge = answer.headers.get("WWW-Authenticate", "")
    assert ('error="insufficient_scope", scope=' in challenge) == scope_only, (case, challenge)
    if answer.status_code == 403:  # RFC 6750 section 3
        assert challenge.startswith('Bearer realm="photosvc"'), (case, challenge)
    assert not ends or api.is_alive(token) == (status != 200), case


def test_without_a_valid_token_all_routes_but_public_ones_answer_401(api, refused):
    """Each route without a token and with another one by turns; an address each, because failures are counted."""
    reasons, number = list(refused), 0
    for position, (route, found) in enumerate(TABLE.items()):
        for reason in (None, reasons[position % len(reasons)]):
            number += 1
            case, token = (route, reason), refused.get(reason)
            answer = call(api, route, token, address=f"198.18.{number // 256}.{number % 256}")
            if not found.kinds and not found.any_scope:
                assert answer.status_code == found.status, case
                continue
            if route in ANONYMOUS and token is None:
                assert answer.status_code == 200, case
                continue
            assert answer.status_code == 401, case
            check_error(answer, 401)
            expected = 'Bearer realm="photosvc"' + (', error="invalid_token"' if token else "")
            assert answer.headers["WWW-Authenticate"].startswith(expected), case


def test_the_table_tells_wide_scopes_from_narrow_ones():
    assert opens("*", "photos", "write")
    assert opens("read", "photos", "read")
    assert not opens("read", "photos", "write")
    assert opens("photos", "photos", "write")
    assert not opens("photos read", "photos", "write")
    assert not opens("albums", "photos", "read")
