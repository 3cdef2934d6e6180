"""Administration > Devices in a browser without scripts: access tokens that belong to no account."""

import re

import pytest

from photosvc.models import Credential
from tests.app.pages.browser import OWN, text_of

DEVICES = "/administration/devices"
SEE = "albums config files folders labels moments people photos places read"


def make(ann, **form):
    return ann.send(DEVICES, {"name": "Hall frame", "scope": SEE, "lifetime": "2592000", **form})


def secret_of(answer):
    assert answer.status_code == 200, text_of(answer)
    return re.search(r'id="secret"[^>]*>(\w+)<', answer.text)[1]


def test_a_token_is_shown_once_works_and_is_revoked(ann, api):
    answer = make(ann)
    secret = secret_of(answer)
    assert "<svg" in answer.text.partition('class="qr"')[2]
    assert "style=" not in answer.text
    assert api.call("GET", "/photos", secret).status_code == 200
    assert api.call("POST", "/albums", secret, json={"Title": "x"}).status_code == 403
    later = ann.open(DEVICES, headers=OWN)
    assert secret not in later.text
    assert "Hall frame See photos Used just now from 192.0.2.7 · ends 31 March 2026" in text_of(later)
    credential = re.search(r"/devices/([^/\"]+)/revoke", later.text)[1]
    assert ann.send(f"{DEVICES}/{secret}/revoke", {}).status_code == 404
    done = ann.send(f"{DEVICES}/{credential}/revoke", {})
    assert "Token revoked." in text_of(ann.open(done.headers["Location"], headers=OWN))
    assert not api.is_alive(secret)
    assert ann.send(f"{DEVICES}/{credential}/revoke", {}).status_code == 404
    events = [entry["event"] for entry in api.call("GET", "/audit", api.session_of("ann")).json]
    assert {"credential.made", "credential.ended"} <= set(events)


@pytest.mark.parametrize(
    ("scope", "opened", "closed"),
    [
        (SEE, "GET /albums", "POST /albums"),
        (SEE.removesuffix(" read"), "POST /albums", "GET /metrics"),
        ("metrics", "GET /metrics", "GET /photos"),
        ("*", "POST /albums", "GET /users"),
    ],
)
def test_each_choice_opens_what_it_says(ann, api, scope, opened, closed):
    assert f'value="{scope}"' in ann.open(DEVICES, headers=OWN).text
    secret = secret_of(make(ann, scope=scope))
    for route in (opened, closed):
        method, path = route.split()
        status = api.call(method, path, secret, json={"Title": "x"} if method == "POST" else None).status_code
        assert (status == 403) == (route == closed), route


def test_app_passwords_and_sessions_are_neither_listed_nor_revoked_here(ann, api):
    secret = api.app_password()
    with api.library.session() as session:
        uids = [uid for (uid,) in session.query(Credential.uid)]
    page = ann.open(DEVICES, headers=OWN).text
    assert len(uids) == 2
    for uid in uids:
        assert uid not in page
        assert ann.send(f"{DEVICES}/{uid}/revoke", {}).status_code == 404
    assert api.is_alive(secret)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"name": ""}, "a name has 1 to 160 printable characters"),
        ({"scope": "typed", "scopes": "photoz"}, 'did you mean "photos"?'),
        ({"scope": ""}, "the scope covers nothing"),
        ({"lifetime": "0"}, "a lifetime is 1 to"),
        ({"lifetime": ""}, "lifetime: a whole number"),
        ({"lifetime": "9999999999"}, "a lifetime is 1 to"),
    ],
)
def test_what_is_wrong_with_a_token_is_told_and_nothing_is_made(ann, form, message):
    answer = make(ann, **form)
    assert (answer.status_code, message in text_of(answer)) == (400, True)
    assert "/revoke" not in ann.open(DEVICES, headers=OWN).text


def test_tokens_are_found_by_the_beginning_of_their_name_and_markup_is_text(ann):
    make(ann, name='"><img src=x onerror=alert(1)>')
    make(ann)
    text = text_of(ann.open(f"{DEVICES}?q=HALL", headers=OWN))
    assert ("Hall frame See photos" in text, "onerror" in text) == (True, False)
    page = ann.open(DEVICES, headers=OWN).text
    assert ("<img src=x" in page, "&lt;img src=x" in page) == (False, True)
    assert "No matching tokens." in text_of(ann.open(f"{DEVICES}?q=%00%25", headers=OWN))
