"""Administration inside a host app: below its prefix, with accounts of photosvc or with users of the host."""

import re
from html import unescape

import pytest
from sqlalchemy.orm import Session

from photosvc.models import User
from tests.app.embed.host import open_host, who_signed_in
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.clock import MovedClock
from tests.helpers.factories.accounts import add_user

OWN = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}
HERE = "/media/administration"
ACCOUNTS = ("accounts", "clients", "devices", "security-log")


def signed_in(app, base="http://localhost"):
    with app.app_context(), Session(app.extensions["photosvc"].engine()) as session:
        add_user(session, "owner", role="admin", password_hash=HASH)
        session.commit()
    client = app.test_client()
    form = {"name": "owner", "password": PASSWORD}
    answer = client.post("/media/sign-in", data=form, headers=OWN, base_url=base)
    assert answer.status_code == 303, answer.text
    return client


def addresses(page):
    return {unescape(found) for found in re.findall(r'(?:href|src|action)="([^"#]+)"', page.text)}


def test_all_addresses_are_below_the_prefix_and_the_password_page_leads_back_there(tmp_path):
    clock = MovedClock()
    with open_host(tmp_path / "host", clock=clock) as app:
        client = signed_in(app)
        for path in ACCOUNTS:
            page = client.get(f"{HERE}/{path}", headers=OWN)
            assert page.status_code == 200, path
            assert all(address.startswith("/media/") for address in addresses(page)), path
        assert "/media/api/v1/oauth/token" in client.get(f"{HERE}/clients", headers=OWN).text
        clock.move(seconds=3601)
        led = client.get(f"{HERE}/clients?q=x", headers=OWN).headers["Location"]
        assert led == f"{HERE}/confirm?next={HERE}/clients?q%3Dx"
        assert client.post(f"{HERE}/clients", headers=OWN).headers["Location"].endswith(f"next={HERE}/clients&unsent=1")
        form = {"next": f"{HERE}/clients?q=x", "password": PASSWORD}
        assert client.post(f"{HERE}/confirm", data=form, headers=OWN).headers["Location"] == form["next"]


def test_below_the_path_of_another_server_the_cookie_counts_and_the_password_page_leads_back(tmp_path):
    clock, base = MovedClock(), "http://localhost/app"
    with open_host(tmp_path / "host", clock=clock) as app:
        client = signed_in(app, base)
        (cookie,) = client._cookies.values()
        assert cookie.path == "/app/media"
        assert client.get(f"{HERE}/devices", headers=OWN, base_url=base).status_code == 200
        clock.move(seconds=3601)
        for method in ("GET", "POST"):
            led = client.open(f"{HERE}/devices", method=method, headers=OWN, base_url=base)
            assert f"next=/app{HERE}/devices" in led.headers["Location"]


@pytest.mark.parametrize("name", ["admin", "user", "viewer"])
def test_users_of_the_host_manage_no_accounts_and_need_no_password(tmp_path, name):
    clock = MovedClock()
    with open_host(tmp_path / "host", principal_loader=who_signed_in, clock=clock) as app:
        client = app.test_client()
        client.post(f"/sign-in/{name}")
        clock.move(seconds=3601)
        for path in ACCOUNTS:
            assert client.get(f"{HERE}/{path}", headers=OWN).status_code == 403, path
        links = addresses(client.get("/media/", headers=OWN))
        assert not [link for link in links if link.startswith(HERE) and link.endswith(ACCOUNTS)]
        assert (f"{HERE}/library" in links) == (name == "admin")
        assert client.get(f"{HERE}/library", headers=OWN).status_code == (200 if name == "admin" else 403)
        with app.app_context(), Session(app.extensions["photosvc"].engine()) as session:
            assert session.query(User).count() == 0
