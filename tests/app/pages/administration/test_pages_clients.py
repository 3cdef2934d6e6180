"""Administration > Clients in a browser without scripts: the OAuth2 clients."""

import json
import re

from sqlalchemy import update

from photosvc.models import Credential
from tests.app.pages.browser import OWN, text_of

CLIENTS = "/administration/clients"
SEE = "albums config files folders labels moments people photos places read"


def make(ann, **form):
    given = {"name": "Backup", "scope": SEE, "role": "client", "lifetime": "86400", "limit": "10"}
    return ann.send(CLIENTS, {**given, "token_format": "opaque", "owner": "", **form})


def made(answer):
    """ID and secret that a page shows."""
    assert answer.status_code == 200, text_of(answer)
    return re.search(r'id="client_id"[^>]*>(\w+)<', answer.text)[1], secret_of(answer)


def secret_of(answer):
    return re.search(r'id="secret"[^>]*>(\w+)<', answer.text)[1]


def token(api, client, secret, **form):
    sent = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret, **form}
    return api.call("POST", "/oauth/token", data=sent)


def follow(ann, answer):
    assert answer.status_code == 303, text_of(answer)
    return text_of(ann.open(answer.headers["Location"], headers=OWN))


def test_a_client_is_made_gets_tokens_and_its_secret_is_shown_once(ann, api):
    answer = make(ann)
    client, secret = made(answer)
    assert "style=" not in answer.text
    given = token(api, client, secret).json
    assert (given["scope"].split(), given["expires_in"]) == (SEE.split(), 86_400)
    assert api.call("GET", "/photos", given["access_token"]).status_code == 200
    later = ann.open(CLIENTS, headers=OWN)
    assert secret not in later.text
    assert f"Backup See photos {client} · created just now" in text_of(later)
    assert "1 live token, used just now · created just now" in text_of(ann.open(f"{CLIENTS}/{client}", headers=OWN))


def test_all_properties_of_a_new_client_are_taken(ann, api):
    form = {"scope": "typed", "scopes": "photos logs", "role": "admin", "lifetime": "3600", "limit": ""}
    client, _secret = made(make(ann, **form, token_format="jwt", owner="ALICE"))
    row = json.loads(api.svc("clients", "show", client, "--json").stdout)
    assert (row["scope"], row["role"], row["expires"], row["tokens"], row["token_format"]) == (
        "logs photos",
        "admin",
        3600,
        -1,
        "jwt",
    )
    text = text_of(ann.open(CLIENTS, headers=OWN))
    assert "Backup All rights Read and change logs and photos · belongs to alice" in text


def test_what_is_wrong_with_a_client_is_told_and_nothing_is_made_or_changed(ann):
    wrong = (
        ({"name": "x\u202ey"}, "printable"),
        ({"scope": "typed", "scopes": "photoz"}, 'did you mean "photos"?'),
        ({"lifetime": "9" * 500}, "lifetime: a whole number"),
        ({"limit": "٣"}, "limit: a whole number"),
        ({"owner": "\x00'"}, "no such user"),
    )
    for form, message in wrong:
        answer = make(ann, **form)
        assert (answer.status_code, message in text_of(answer)) == (400, True), form
    assert "Backup" not in ann.open(CLIENTS, headers=OWN).text.partition("<ul")[2]
    client, _secret = made(make(ann))
    values = {"name": "Backup", "scope": SEE, "role": "client", "lifetime": "86400", "limit": "10"}
    for form, message in wrong:
        answer = ann.send(f"{CLIENTS}/{client}/change", {**values, "token_format": "opaque", "owner": "", **form})
        assert (answer.status_code, message in text_of(answer)) == (400, True), form
    assert 'name="name" value="Backup"' in ann.open(f"{CLIENTS}/{client}", headers=OWN).text


def test_a_client_is_changed_and_loses_the_tokens_that_it_could_not_get_any_more(ann, api):
    client, secret = made(make(ann, owner="vera"))
    narrow, wide = (
        token(api, client, secret, scope=scope).json["access_token"] for scope in ("photos read", "albums read")
    )
    sent = {"name": "Frame", "scope": "typed", "scopes": "photos", "role": "client", "lifetime": "60", "limit": "3"}
    done = ann.send(f"{CLIENTS}/{client}/change", {**sent, "token_format": "opaque", "owner": ""})
    assert "Client saved." in follow(ann, done)
    page = ann.open(f"{CLIENTS}/{client}", headers=OWN).text
    assert 'value="60" selected>60 seconds' in page
    assert 'value="typed" checked' in page
    assert (api.is_alive(narrow), api.is_alive(wide)) == (True, False)
    assert token(api, client, secret).json["expires_in"] == 60
    entry = next(
        one for one in api.call("GET", "/audit", api.session_of("ann")).json if one["event"] == "client.changed"
    )
    detail = f"name, scope {SEE} to photos, lifetime 86400 to 60, limit 10 to 3, user"
    assert (entry["actor"], entry["subject_uid"], entry["detail"]) == ("ann", client, detail)


def test_a_client_is_disabled_enabled_gets_a_new_secret_and_is_deleted(ann, api):
    client, old = made(make(ann))
    alive = token(api, client, old).json["access_token"]
    assert "The client is disabled" in follow(ann, ann.send(f"{CLIENTS}/{client}/disable", {}))
    assert (token(api, client, old).status_code, api.is_alive(alive)) == (401, False)
    assert "Backup Disabled" in text_of(ann.open(CLIENTS, headers=OWN))
    assert "Client enabled." in follow(ann, ann.send(f"{CLIENTS}/{client}/enable", {}))
    new = secret_of(ann.send(f"{CLIENTS}/{client}/secret", {}))
    assert [token(api, client, secret).status_code for secret in (old, new)] == [401, 200]
    assert new not in ann.open(f"{CLIENTS}/{client}", headers=OWN).text
    assert "Client deleted" in follow(ann, ann.send(f"{CLIENTS}/{client}/delete", {}))
    assert token(api, client, new).status_code == 401
    for rest in ("/change", "/disable", "/enable", "/secret", "/delete"):
        answer = ann.send(f"{CLIENTS}/{client}{rest}", {"lifetime": "60", "scope": "photos", "role": "client"})
        assert answer.status_code == 404, rest


def test_clients_are_found_by_the_beginning_of_their_name(ann):
    make(ann)
    make(ann, name="Frame")
    text = text_of(ann.open(f"{CLIENTS}?q=fra", headers=OWN))
    assert ("Frame See photos" in text, "Backup See" in text) == (True, False)
    assert "No matching clients." in text_of(ann.open(f"{CLIENTS}?q=%00%25", headers=OWN))


def test_a_session_of_narrow_scope_makes_no_client_beyond_itself(ann, api):
    with api.library.session() as session:
        session.execute(update(Credential).values(scope="sessions photos users config"))
        session.commit()
    refused = make(ann, scope="*")
    assert (refused.status_code, "with more rights than its own" in text_of(refused)) == (400, True)
