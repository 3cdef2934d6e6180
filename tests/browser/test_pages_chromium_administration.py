"""Administration in Chromium: by keyboard alone, with the password again, and as wide as any screen."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from photosvc.models import Credential
from tests.browser.chromium import enter, open_page, tab_to
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

HOSTILE = '"><img src=x onerror=alert(1)>'


@pytest.fixture
def served_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("administration")) as api:
        api.library.clock.present = datetime.now(UTC)  # that of the server, which is a process of its own
        yield api


@pytest.fixture
def base(served_api):
    with serve(served_api.library.instance, workers=1, threads=8) as address:
        yield address


def type_into(page, selector, text):
    tab_to(page, selector)
    page.keyboard.type(text)


def test_accounts_clients_devices_and_the_log_are_managed_by_keyboard_alone(chromium, served_api, base):
    with open_page(chromium, base, name="ann") as page:
        enter(page, "a[href='/administration/accounts']", then="h1:has-text('Accounts')")
        enter(page, "details.new > summary", then="#name")
        type_into(page, "#name", "bob")
        type_into(page, "#password", "a long password")
        type_into(page, "#again", "a long password")
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Account created.")
        assert served_api.log_in("bob", "a long password").status_code == 200
        enter(page, "a[href$='/delete']", then="h1:has-text('Delete bob?')")
        enter(page, "main button.danger", then="text=Account deleted.")
        assert served_api.log_in("bob", "a long password").status_code == 401

        enter(page, "a[href='/administration/clients']", then="h1:has-text('Clients')")
        enter(page, "details.new > summary", then="#name")
        type_into(page, "#name", "Backup")
        enter(page, "main form[method=post] button.primary", then=".fresh")
        form = {"grant_type": "client_credentials", "client_id": page.input_value("#client_id")}
        form["client_secret"] = page.input_value("#secret")
        assert served_api.call("POST", "/oauth/token", data=form).status_code == 200
        enter(page, "[data-copy=secret]", then="button:has-text('Copied')")
        enter(page, "main li a", then="h1:has-text('Backup')")
        enter(page, "summary.danger", then="text=It gets no tokens until")
        enter(page, "form[action$='/disable'] button", then="text=Client disabled")
        assert served_api.call("POST", "/oauth/token", data=form).status_code == 401

        enter(page, "a[href='/administration/devices']", then="h1:has-text('Devices')")
        enter(page, "details.new > summary", then="#name")
        type_into(page, "#name", "Hall frame")
        enter(page, "main form[method=post] button.primary", then=".fresh .qr svg")
        secret = page.input_value("#secret")
        assert served_api.is_alive(secret)
        enter(page, ".sure > summary", then="text=Devices that use it are refused at once.")
        enter(page, "form[action$='/revoke'] button", then="text=Token revoked.")
        assert not served_api.is_alive(secret)

        enter(page, "a[href='/administration/security-log']", then="h1:has-text('Security log')")
        type_into(page, "#event", "Changes")
        enter(page, ".filters button", then="h2:has-text('App password or token revoked')")
        assert "event=changes" in page.url
        assert "Signed in" not in page.text_content(".log")


def test_the_password_is_asked_for_again_and_the_page_opens(chromium, served_api, base):
    with open_page(chromium, base, name="ann") as page:
        page.goto(f"{base}/administration/accounts")
        with served_api.library.session() as session:
            earlier = datetime.now(UTC) - timedelta(hours=2)
            session.execute(update(Credential).values(created_at=earlier, proved_at=None))
            session.commit()
        page.click("nav a:has-text('Security log')")
        page.wait_for_selector("h1:has-text('Confirm your password')")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_selector("h1:has-text('Security log')")
        assert page.url == f"{base}/administration/security-log"


def test_on_a_phone_more_has_the_places_that_are_not_in_the_bar(chromium, base):
    with open_page(chromium, base, name="ann", width=390, height=844, has_touch=True) as page:
        page.tap(".more summary")
        page.tap("main")
        page.wait_for_selector(".more:not([open])")
        page.tap(".more summary")
        page.tap(".more a:has-text('Administration')")
        page.wait_for_selector("h1:has-text('Accounts')")
        assert re.search("here", page.get_attribute(".more summary", "class"))
