"""Who may open which page. The table is written by hand; a page that is missing here fails."""

import pytest

from photosvc.auth.policy import RULES
from photosvc.pages import BLUEPRINT
from photosvc.web.protector import ACTION, PUBLIC
from photosvc.web.same_origin import Place
from photosvc.web.session_cookie import PLACE
from tests.api_client import PASSWORD
from tests.pages.browser import OWN, Browser

PERSON, EVERYBODY, LOG_IN = "log-ins and app passwords", "everybody", "log-ins"
TABLE = {
    "GET /": EVERYBODY,
    "GET /photos/<uid>": EVERYBODY,
    "GET /settings/account": LOG_IN,
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
        assert getattr(view, PLACE, None) is Place.PAGE or route.startswith("GET /assets")


def test_each_page_opens_for_those_of_its_row_and_for_nobody_without_a_session(api):
    browsers = {"login": Browser(api), "app": Browser(api), "narrow": Browser(api), None: Browser(api)}
    passwords = {"login": PASSWORD, "app": api.app_password(), "narrow": api.app_password(scope="sessions albums")}
    for kind, password in passwords.items():
        assert browsers[kind].sign_in(password=password).status_code == 303
    for route, who in TABLE.items():
        method, path = route.split()
        if method != "GET" or who == PUBLIC:
            continue
        path = path.replace("<uid>", "ptouqe1kbhlaydg7")
        for kind, browser in browsers.items():
            status = browser.open(path, headers=OWN).status_code
            allowed = kind in {EVERYBODY: {"login", "app"}, LOG_IN: {"login"}}[who]
            assert status == (303 if kind is None else 403 if not allowed else 404 if "photos" in path else 200), route


@pytest.mark.parametrize("route", [route for route in TABLE if route.startswith("POST")])
def test_no_form_of_another_site_is_taken(api, route):
    alice = Browser(api)
    alice.sign_in()
    path = route.split()[1].replace("<uid>", "x")
    answer = alice.open(path, method="POST", headers={"Origin": "https://example.com"})
    assert answer.status_code == 403
    assert alice.open("/", headers=OWN).status_code == 200
