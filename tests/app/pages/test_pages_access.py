"""Who may open which page. The table is written by hand; a page that is missing here fails."""

from photosvc.auth.policy import RULES
from photosvc.pages import BLUEPRINT
from photosvc.web.browser_origin import CookiePlace
from photosvc.web.contract import ACTION, PUBLIC
from photosvc.web.cookie import PLACE
from tests.app.pages.browser import OWN, Browser
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.factories.accounts import add_user

EVERYBODY, LOG_IN = "everybody", "log-ins"
#: Administrators who signed in by their password.
ADMIN = "administrators"
#: With a scope for albums, which `narrow` has; to change them, also with another role than `viewer`, which `app` has.
EDITORS = "editors with scopes photos and albums"
#: Or with the scopes of labels and of people: `app` has all of them, and `narrow` none.
PHOTOS, PHOTO_EDITORS = "scope photos", "editors with scope photos"
LINK_EDITORS = "editors with the scope shares"
ALBUMS, ALBUM_EDITORS = "scope albums", "editors with scope albums"
OPENED = {
    EVERYBODY: {"login", "admin", "app"},
    LOG_IN: {"login", "admin"},
    ADMIN: {"admin"},
    EDITORS: {"login", "admin"},
    PHOTOS: {"login", "admin", "app"},
    PHOTO_EDITORS: {"login", "admin"},
    LINK_EDITORS: {"login", "admin"},
    ALBUMS: {"login", "admin", "app", "narrow"},
    ALBUM_EDITORS: {"login", "admin", "narrow"},
}
TABLE = {
    "GET /": EVERYBODY,
    "GET /favorites": EVERYBODY,
    "GET /archive": EVERYBODY,
    "GET /review": EVERYBODY,
    "GET /filters": EVERYBODY,
    "GET /folders": PHOTOS,
    "GET /folders/<path:folder>": PHOTOS,
    "GET /labels": PHOTOS,
    "GET /labels/<uid>": PHOTO_EDITORS,
    "POST /labels/<uid>": PHOTO_EDITORS,
    "POST /labels/<uid>/remove": PHOTO_EDITORS,
    "GET /people": PHOTOS,
    "GET /people/<uid>": PHOTO_EDITORS,
    "POST /people/<uid>": PHOTO_EDITORS,
    "POST /people/<uid>/hide": PHOTO_EDITORS,
    "GET /photos/<uid>": EVERYBODY,
    "GET /api-docs": PUBLIC,
    "GET /api-docs/<name>": PUBLIC,
    "GET /upload": LOG_IN,
    "POST /upload/shared": PUBLIC,
    "GET /trash": PHOTO_EDITORS,
    "GET /places": EVERYBODY,
    "GET /albums": ALBUMS,
    "GET /albums/<uid>": EVERYBODY,
    "GET /albums/<uid>/photos": EDITORS,
    "POST /albums/<uid>/photos": EDITORS,
    "GET /albums/new": ALBUM_EDITORS,
    "POST /albums/new": ALBUM_EDITORS,
    "GET /albums/<uid>/edit": ALBUM_EDITORS,
    "POST /albums/<uid>/edit": ALBUM_EDITORS,
    "POST /albums/<uid>/favorite": ALBUM_EDITORS,
    "POST /albums/<uid>/delete": ALBUM_EDITORS,
    "POST /albums/<uid>/restore": ALBUM_EDITORS,
    "GET /albums/<uid>/links": LINK_EDITORS,
    "POST /albums/<uid>/links": LINK_EDITORS,
    "POST /albums/<uid>/links/<link>/change": LINK_EDITORS,
    "POST /albums/<uid>/links/<link>/end": LINK_EDITORS,
    "GET /s/<link_token>": PUBLIC,
    "POST /s/<link_token>": PUBLIC,
    "GET /s/<link_token>/<slug>": PUBLIC,
    "POST /s/<link_token>/<slug>": PUBLIC,
    "GET /s/<link_token>/picture/<uid>": PUBLIC,
    "GET /s/<link_token>/pictures.zip": PUBLIC,
    "POST /s/<link_token>/pictures.zip": PUBLIC,
    "GET /s/<link_token>/photos/sequence": PUBLIC,
    "GET /s/<link_token>/original/<content_hash>": PUBLIC,
    "GET /s/<link_token>/pictures/add": PUBLIC,
    "POST /s/<link_token>/pictures/add": PUBLIC,
    "POST /albums/<uid>/accounts": LINK_EDITORS,
    "POST /albums/<uid>/accounts/<account>/change": LINK_EDITORS,
    "POST /albums/<uid>/accounts/<account>/remove": LINK_EDITORS,
    "GET /shared": ALBUMS,
    "GET /shared/<uid>": ALBUMS,
    "GET /shared/<uid>/picture/<photo>": ALBUMS,
    "POST /shared/<uid>/picture/<photo>/take-out": ALBUMS,
    "GET /shared/<uid>/pictures.zip": ALBUMS,
    "POST /shared/<uid>/pictures.zip": ALBUMS,
    "GET /shared/<uid>/photos/sequence": ALBUMS,
    "GET /shared/<uid>/original/<content_hash>": ALBUMS,
    "POST /shared/<uid>/leave": ALBUMS,
    "POST /shared/<uid>/pictures": EVERYBODY,
    "GET /settings": LOG_IN,
    "GET /settings/account": LOG_IN,
    "POST /settings/account/language": LOG_IN,
    "POST /settings/account/name": LOG_IN,
    "POST /settings/account/password": LOG_IN,
    "GET /settings/account/apps": LOG_IN,
    "POST /settings/account/apps": LOG_IN,
    "POST /settings/account/apps/<credential>/revoke": LOG_IN,
    "POST /settings/account/sessions/<credential>/end": LOG_IN,
    "POST /settings/account/sessions/end-others": LOG_IN,
    "GET /settings/account/two-factor": LOG_IN,
    "GET /settings/data": LOG_IN,
    "POST /settings/account/two-factor/start": LOG_IN,
    "POST /settings/account/two-factor/confirm": LOG_IN,
    "POST /settings/account/two-factor/end": LOG_IN,
    "GET /administration/confirm": LOG_IN,
    "POST /administration/confirm": LOG_IN,
    "GET /administration/accounts": ADMIN,
    "POST /administration/accounts": ADMIN,
    "GET /administration/accounts/<account>": ADMIN,
    "POST /administration/accounts/<account>/change": ADMIN,
    "POST /administration/accounts/<account>/disable": ADMIN,
    "POST /administration/accounts/<account>/enable": ADMIN,
    "POST /administration/accounts/<account>/password": ADMIN,
    "POST /administration/accounts/<account>/two-factor/reset": ADMIN,
    "POST /administration/accounts/<account>/sessions/end": ADMIN,
    "POST /administration/accounts/<account>/sessions/<credential>/end": ADMIN,
    "POST /administration/accounts/<account>/apps/<credential>/revoke": ADMIN,
    "GET /administration/accounts/<account>/delete": ADMIN,
    "POST /administration/accounts/<account>/delete": ADMIN,
    "GET /administration/clients": ADMIN,
    "POST /administration/clients": ADMIN,
    "GET /administration/clients/<client>": ADMIN,
    "POST /administration/clients/<client>/change": ADMIN,
    "POST /administration/clients/<client>/disable": ADMIN,
    "POST /administration/clients/<client>/enable": ADMIN,
    "POST /administration/clients/<client>/secret": ADMIN,
    "POST /administration/clients/<client>/delete": ADMIN,
    "GET /administration/devices": ADMIN,
    "POST /administration/devices": ADMIN,
    "POST /administration/devices/<credential>/revoke": ADMIN,
    "GET /administration/security-log": ADMIN,
    "GET /administration/library": ADMIN,
    "POST /administration/library/index": ADMIN,
    "POST /administration/library/index/stop": ADMIN,
    "POST /administration/library/labels": ADMIN,
    "POST /administration/library/thumbnails": ADMIN,
    "GET /administration/library/failures": ADMIN,
    "POST /administration/library/failures/forget": ADMIN,
    "GET /administration/library/trash": ADMIN,
    "POST /administration/library/trash/restore": ADMIN,
    "POST /administration/library/trash/restore-all": ADMIN,
    "GET /administration/library/trash/empty": ADMIN,
    "POST /administration/library/trash/empty": ADMIN,
    "GET /administration/look-alikes": ADMIN,
    "POST /administration/look-alikes/look": ADMIN,
    "POST /administration/look-alikes/archive": ADMIN,
    "POST /administration/look-alikes/restore": ADMIN,
    "POST /administration/look-alikes/apart": ADMIN,
    "POST /administration/look-alikes/together": ADMIN,
    "GET /administration/statistics": ADMIN,
    "GET /welcome": PUBLIC,
    "POST /welcome": PUBLIC,
    "GET /sign-in": PUBLIC,
    "POST /sign-in": PUBLIC,
    "POST /sign-out": PUBLIC,
    "GET /assets/<version>/<path:name>": PUBLIC,
}


def pages(api):
    app = api.library.app
    return {
        f"{method} {rule.rule}": app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith(BLUEPRINT)
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }


def test_every_page_has_a_rule_and_a_row_in_this_table(api):
    found = pages(api)
    assert sorted(found) == sorted(TABLE)
    for route, view in found.items():
        action = getattr(view, ACTION)
        assert (action == PUBLIC) == (TABLE[route] == PUBLIC), route
        assert action == PUBLIC or action in RULES
        assert getattr(view, PLACE, None) is CookiePlace.PAGE or route.startswith("GET /assets")


def test_each_page_opens_for_those_of_its_row_and_for_nobody_without_a_session(api):
    kinds = ("login", "admin", "app", "narrow", None)
    browsers = {kind: Browser(api) for kind in kinds}
    # Of several accounts, because some pages end other sessions of the account.
    passwords = {
        "login": ("alice", PASSWORD),
        "admin": ("anna", PASSWORD),
        "app": ("vera", api.app_password("vera")),
        "narrow": ("ann", api.app_password("ann", scope="sessions albums")),
    }
    with api.library.session() as session:
        add_user(session, name="anna", role="admin", password_hash=HASH)
        session.commit()
    for kind, (name, password) in passwords.items():
        assert browsers[kind].sign_in(name, password).status_code == 303
    for route, who in TABLE.items():
        if who == PUBLIC:
            continue
        for kind, browser in browsers.items():
            allowed = kind in OPENED[who]
            answer = open_route(browser, route)
            if kind is None:
                assert (answer.status_code, answer.headers["Location"][:8]) == (303, "/sign-in"), route
            else:
                assert (answer.status_code == 403) == (not allowed), (route, kind)
                assert allowed or "Permission denied" in answer.text
                assert answer.status_code < 500


def open_route(browser, route):
    method, path = route.split()
    path = path.replace("<uid>", "ptouqe1kbhlaydg7").replace("<credential>", "sess00000000")
    path = path.replace("<account>", "unobody000000000").replace("<client>", "cnobody000000000")
    return browser.open(path, headers=OWN) if method == "GET" else browser.send(path, {})


def test_no_form_of_another_site_is_taken(alice):
    for path in (route.split()[1].replace("<uid>", "x") for route in TABLE if route.startswith("POST")):
        answer = alice.open(path, method="POST", headers={"Origin": "https://example.com"})
        assert answer.status_code == 403, path
        assert alice.open("/", headers=OWN).status_code == 200, path
