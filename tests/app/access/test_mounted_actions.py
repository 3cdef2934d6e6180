"""Scopes, policy, records and documents promise exactly what a route of the app serves."""

import json

import pytest

from photosvc.auth.policy import RULES
from photosvc.web.contract import ACTION, PUBLIC, USES, answers, mounted_actions, public, uses
from photosvc.web.parts import PARTS
from tests.helpers.api_client import open_api

SERVER, RESOURCE = "/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"
OPENID = "/.well-known/openid-configuration"


@pytest.fixture
def api(tmp_path):
    with open_api(tmp_path, parts=PARTS.keys() - {"dav"}) as api:
        yield api


def view(**_values):
    return "it"


def rows(api, name):
    key = {"scopes": "scope", "policy": "action"}[name]
    return {row[key]: row["in_use"] for row in json.loads(api.svc("show", name, "--json").stdout)}


def scopes(api, path=SERVER):
    return api.call("GET", path).json["scopes_supported"]


def headers(api):
    document = api.call("GET", "/openapi.json").json
    described = document["paths"]["/photos"]["get"]["responses"]["200"]["headers"]
    return {name: described[name]["description"] for name in ("X-Preview-Token", "X-Download-Token")}


def users(api):
    record = api.call("GET", "/users", api.session_of("ann")).json[0]
    return record["WebDAV"], api.log_in().json["user"]["WebDAV"]


def test_every_route_has_a_rule_or_is_public_and_every_rule_has_a_route_or_is_shown_as_unused(api):
    used = {action: set() for action in RULES}
    for endpoint, found in api.library.app.view_functions.items():
        actions = {getattr(found, ACTION), *getattr(found, USES, ())} - {PUBLIC}
        assert actions or getattr(found, ACTION) == PUBLIC, endpoint
        for action in actions:
            used[action].add(endpoint)
    with api.library.app.app_context():
        mounted = mounted_actions()
    assert mounted == {action for action, endpoints in used.items() if endpoints}
    assert rows(api, "policy") == {action: bool(endpoints) for action, endpoints in used.items()}


def test_a_scope_is_in_use_when_a_mounted_rule_asks_for_it(api):
    with api.library.app.app_context():
        resources = {RULES[action].resource for action in mounted_actions()}
    shown = rows(api, "scopes")
    assert {name for name, in_use in shown.items() if in_use} == {"*", "read", "write"} | resources
    for path in (SERVER, OPENID, RESOURCE):
        assert scopes(api, path) == sorted(name for name, in_use in shown.items() if in_use)
    document = api.call("GET", "/openapi.json").json["components"]["securitySchemes"]
    assert sorted(document["oauth2"]["flows"]["clientCredentials"]["scopes"]) == scopes(api)


def test_nothing_promises_webdav_until_a_route_serves_it(api):
    assert "webdav" not in scopes(api)
    assert (rows(api, "scopes")["webdav"], rows(api, "policy")["webdav.read"]) == (False, False)
    assert users(api) == (False, False)


@pytest.fixture
def webdav(tmp_path):
    with open_api(tmp_path) as api:
        yield api


def test_webdav_is_promised_where_a_route_serves_it(webdav):
    api = webdav
    assert "webdav" in scopes(api)
    assert (rows(api, "scopes")["webdav"], rows(api, "policy")["webdav.write"]) == (True, True)
    assert users(api) == (True, True)


def test_disabled_accounts_and_viewers_have_no_webdav(webdav):
    ann = webdav.session_of("ann")
    assert webdav.call("GET", webdav.user_path(), ann).json["WebDAV"] is True
    assert webdav.call("PUT", webdav.user_path(), ann, json={"Disabled": True}).json["WebDAV"] is False
    assert webdav.call("GET", webdav.user_path("vera"), ann).json["WebDAV"] is False


def test_link_tokens_describe_the_mounted_routes_that_they_open(api):
    assert headers(api) == {"X-Preview-Token": "Opens thumbnails.", "X-Download-Token": "Opens originals, for an hour."}


def test_a_link_token_is_reserved_where_no_route_reads_it(api):
    views = api.library.app.view_functions
    reads = "photos.preview"
    for endpoint in [
        name for name, view in views.items() if reads in {getattr(view, ACTION, ""), *getattr(view, USES, ())}
    ]:
        views[endpoint] = public(answers({"type": "string"}, "It.")(view))
    reserved = "Reserved: no route of this service reads it."
    assert headers(api) == {"X-Preview-Token": reserved, "X-Download-Token": "Opens originals, for an hour."}


def test_a_view_cannot_use_an_action_that_the_policy_does_not_have():
    with pytest.raises(LookupError, match=r"the policy has no action photos\.eat"):
        uses("photos.search", "photos.eat")
