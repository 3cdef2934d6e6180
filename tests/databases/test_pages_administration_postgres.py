"""Administration on PostgreSQL, which refuses texts and ids that SQLite takes."""

import re

from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import PASSWORD, open_api

HERE = "/administration"
HOSTILE = "%00", "%ff", "%ED%A0%80", "'", "%25", "9" * 300, "\u202e"


def test_all_of_it_works_on_postgresql_with_hostile_texts_too(tmp_path, new_postgres):
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        ann = Browser(api)
        assert ann.sign_in("ann").status_code == 303

        def told(path, form, text):
            answer = ann.send(f"{HERE}/{path}", form)
            if answer.status_code == 303:
                answer = ann.open(answer.headers["Location"], headers=OWN)
            assert text in text_of(answer), text_of(answer)
            return answer.text

        new = {"name": "bob", "role": "user", "password": PASSWORD + "!", "again": PASSWORD + "!"}
        bob = re.search(r"accounts/(u\w+)/change", told("accounts", new, "Account created."))[1]
        told("accounts", new, "A user of this name exists already.")
        told("accounts", {**new, "name": "b\0b "}, "name")
        told(f"accounts/{bob}/change", {"role": "viewer"}, "Account saved.")
        told(f"accounts/{bob}/disable", {}, "The account is disabled")
        told(f"accounts/{bob}/delete", {}, "Account deleted.")

        client = {
            "name": "c",
            "scope": "photos",
            "role": "client",
            "lifetime": "60",
            "limit": "",
            "token_format": "opaque",
        }
        page = told("clients", client, "can ask for tokens now")
        uid, secret = (re.search(rf'id="{name}"[^>]*>(\w+)<', page)[1] for name in ("client_id", "secret"))
        form = {"grant_type": "client_credentials", "client_id": uid, "client_secret": secret}
        token = api.call("POST", "/oauth/token", data=form).json["access_token"]
        assert api.is_alive(token)
        assert "1 live token, used just now" in text_of(ann.open(f"{HERE}/clients/{uid}", headers=OWN))
        told(f"clients/{uid}/change", {**client, "scope": "albums"}, "Client saved.")
        assert not api.is_alive(token)
        told(f"clients/{uid}/secret", {}, "Its new secret")
        told(f"clients/{uid}/delete", {}, "Client deleted")

        page = told("devices", {"name": "d", "scope": "photos", "lifetime": "60"}, "has access now")
        credential = re.search(r"/devices/(\w+)/revoke", page)[1]
        told(f"devices/{credential}/revoke", {}, "Token revoked.")

        log = "security-log?user=bob&event=changes&from=2026-03-01&to=2026-03-01"
        assert ann.open(f"{HERE}/{log}", headers=OWN).text.count("<h2>") == 4
        for text in HOSTILE:
            for path in ("accounts?q=", "clients?q=", "devices?q=", "security-log?user=", "security-log?before="):
                assert ann.open(f"{HERE}/{path}{text}", headers=OWN).status_code == 200, (path, text)
            for path in ("accounts/", "clients/"):
                assert ann.open(f"{HERE}/{path}{text}", headers=OWN).status_code == 404, (path, text)
            for path in (f"devices/{text}/revoke", f"clients/{text}/delete", f"accounts/ann/apps/{text}/revoke"):
                assert ann.send(f"{HERE}/{path}", {}).status_code == 404, path
