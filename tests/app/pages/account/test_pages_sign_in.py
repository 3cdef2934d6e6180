"""Signing in and out in a browser without scripts."""

import gzip
import re

from sqlalchemy import select, update

from photosvc.auth import login, second_factor
from photosvc.auth.accounts import find_user
from photosvc.models import Credential, User
from tests.app.pages.browser import LOCAL, OWN, TYPED, text_of
from tests.helpers.api_client import HASH, PASSWORD, in_chunks
from tests.helpers.factories.accounts import add_user


def second_factor_of(api, name):
    """Turn two-factor authentication on; gives the time-based codes as a function, and the recovery codes."""
    import pyotp

    from photosvc.web.auditing import operating

    with api.library.app.app_context(), operating() as operation:
        user = find_user(operation.session, name)
        totp = pyotp.TOTP(second_factor.enrol(operation, user).secret)
        codes = second_factor.confirm(operation, user, code=totp.at(operation.now))
    api.clock.move(minutes=1)  # a code is accepted once
    return (lambda: totp.at(api.clock())), codes


def half_of(answer):
    return re.search(r'name="half" value="([^"]+)"', answer.text)[1]


def sessions_of(api):
    with api.library.session() as session:
        return list(session.scalars(select(Credential.uid)))


def test_name_and_password_open_the_photos(browser):
    answer = browser.sign_in()
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    answer = browser.open("/", headers=OWN)
    assert answer.status_code == 200
    assert "Sign out alice" in text_of(answer)


def test_an_app_password_signs_in_with_its_rights(browser, api):
    assert browser.sign_in(password=api.app_password(scope="photos sessions")).status_code == 303
    assert browser.open("/", headers=OWN).status_code == 200
    assert browser.open("/settings/account", headers=OWN).status_code == 403


def test_the_secret_of_a_client_is_refused_as_by_the_api(browser, api):
    answer = browser.sign_in(password=api.access_token())
    assert answer.status_code == 403
    assert "Clients and their tokens cannot log in: use the token directly." in text_of(answer)


def test_what_is_wrong_is_one_sentence_without_a_cookie(browser, api):
    with api.library.session() as session:
        add_user(session, "sleeper", password_hash=HASH, disabled=True)
    for name, password in (("alice", "wrong"), ("", ""), ("sleeper", PASSWORD), ("a\0b", "x\0"), ("é" * 2000, "x")):
        answer = browser.sign_in(name, password)
        assert answer.status_code == 403, name
        assert "Invalid credentials." in text_of(answer), name
        assert "WWW-Authenticate" not in answer.headers
        assert answer.headers["Cache-Control"] == "no-store"
        assert not browser.cookies


def test_too_many_failures_are_told_with_the_time_to_wait(browser):
    answers = [browser.sign_in(password="wrong") for _ in range(11)]
    assert [answer.status_code for answer in answers] == [403] * 10 + [429]
    seconds = answers[-1].headers["Retry-After"]
    assert f"Too many failures: try again in {seconds} s." in text_of(answers[-1])


def test_with_a_second_factor_the_code_comes_after_the_password(browser, api):
    code, _ = second_factor_of(api, "alice")
    answer = browser.sign_in(stay="1", next="/?q=lake")
    assert answer.status_code == 200
    assert "Your password is right. Now type the code" in text_of(answer)
    assert PASSWORD not in answer.text
    assert not browser.cookies
    half = half_of(answer)
    wrong = browser.send("/sign-in", {"half": half, "code": "000000", "stay": "1", "next": "/?q=lake"})
    assert wrong.status_code == 403
    assert "Invalid passcode." in text_of(wrong)
    assert half_of(wrong) == half
    done = browser.send("/sign-in", {"half": half, "code": code(), "stay": "1", "next": "/?q=lake"})
    assert (done.status_code, done.headers["Location"]) == (303, "/?q=lake")
    assert "Max-Age=1209600" in done.headers["Set-Cookie"]


def test_codes_cannot_be_guessed(browser, api):
    second_factor_of(api, "alice")
    half = half_of(browser.sign_in())
    answers = [browser.send("/sign-in", {"half": half, "code": f"{n:06}"}) for n in range(6)]
    assert answers[-1].status_code == 429


def test_the_step_between_ends_after_five_minutes_and_with_the_password(browser, api):
    _, codes = second_factor_of(api, "alice")
    half = half_of(browser.sign_in())
    api.clock.move(seconds=login.SECONDS)
    late = browser.send("/sign-in", {"half": half, "code": codes[0]})
    assert (late.status_code, "half" in late.text) == (403, False)
    half = half_of(browser.sign_in())
    with api.library.session() as session:
        session.execute(update(User).values(password_version=User.password_version + 1))
    assert browser.send("/sign-in", {"half": half, "code": codes[0]}).status_code == 403
    assert sessions_of(api) == []


def test_a_made_up_step_is_refused(browser):
    for half in ("x", ".", "1.0.99999999999.x", "é", "1.0", "a" * 5000):
        assert browser.send("/sign-in", {"half": half, "code": "000000"}).status_code == 403, half


def test_signed_out_every_page_leads_to_sign_in_and_back(browser):
    for path in ("/?q=lake&page=2", "/photos/ptouqe1kbhlaydg7?q=x", "/settings/account"):
        answer = browser.open(path, headers=TYPED)
        assert answer.status_code == 303
        form = browser.open(answer.headers["Location"], headers=OWN)
        target = re.search(r'name="next" value="([^"]*)"', form.text)[1].replace("&amp;", "&")
        assert target == path
    answer = browser.sign_in(next=path)
    assert answer.headers["Location"] == path
    # The sign-in page itself then leads on.
    assert browser.open("/sign-in?next=/photos/x", headers=OWN).headers["Location"] == "/photos/x"


def test_behind_a_link_of_another_site_the_browser_asks_once_more_with_its_cookie(browser):
    for headers in ({**TYPED, "Sec-Fetch-Site": "cross-site"}, {}):
        answer = browser.open("/?q=a%26b", headers=headers)
        assert answer.status_code == 200
        assert '<meta http-equiv="refresh" content="0; url=/sign-in?next=/?q%3Da%2526b">' in answer.text
        assert '<link rel="icon"' in answer.text  # without it browsers ask for one, and log that there is none


def test_it_leads_back_to_own_pages_only(browser):
    for target in (
        "https://example.com/", "//example.com", "/\\example.com", "\\/example.com", "/\t/example.com", "javascript:1",
        "/\n", "", " /", "http:/x", "///x", "/ü", "/" + "x" * 3000, "/photos/..//example.com", "/%2E./host", "/.",
        "//[", "http://[x", "//a@b]",
    ):  # fmt: skip
        assert browser.sign_in(next=target).headers["Location"] == "/", target


def test_signing_out_ends_the_session_for_good(alice, api):
    token = alice.token
    answer = alice.send("/sign-out", {})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in")
    assert not alice.cookies
    assert not api.is_alive(token)
    assert alice.send("/sign-out", {}).status_code == 303


def test_signing_in_again_ends_the_session_before(alice, api):
    token = alice.token
    alice.sign_in("vera")
    assert not api.is_alive(token)
    assert "Sign out vera" in text_of(alice.open("/", headers=OWN))


def test_a_page_is_its_own_and_loads_nothing_from_elsewhere(alice):
    for path in ("/", "/sign-in", "/photos/none", "/none", "/settings/account"):
        answer = alice.open(path, headers=OWN)
        policy = answer.headers.get("Content-Security-Policy", "")
        if path != "/none":
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
            assert policy.endswith("frame-ancestors 'none'")
            assert answer.headers["Referrer-Policy"] == "same-origin"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Vary"] == "Cookie, Accept-Language"
        assert "unsafe" not in policy
        scripts = r"<script(?! type=\"(?:module\" src=|application/json\" id=))"  # no script is written into the page
        assert not re.search(rf"\son\w+=|\sstyle=|{scripts}|https?://", answer.text)


def test_assets_are_kept_for_good_under_their_version(browser):
    address = re.search(r'href="(/assets/[^"]+base.css)"', browser.open("/sign-in").text)[1]
    answer = browser.open(address)
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.content_type == "text/css; charset=utf-8"
    assert answer.headers["Vary"] == "Accept-Encoding"
    packed = browser.open(address, headers={"Accept-Encoding": "gzip, br"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == answer.data
    assert packed.headers["ETag"] != answer.headers["ETag"]
    assert browser.open("/assets/old/base.css").headers["Cache-Control"] == "public, no-cache"
    assert browser.open(address, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 304
    for name in ("none.css", "../__init__.py", "..%2f__init__.py", "base.css/", "/etc/passwd"):
        assert browser.open(f"/assets/old/{name}").status_code == 404


def test_an_address_that_is_nobodys_is_a_page_for_browsers_and_json_for_programs(browser):
    page = browser.open("/nothing/here", headers={"Accept": "text/html,*/*"})
    assert (page.status_code, "Not found" in text_of(page)) == (404, True)
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    for path, accept in (("/nothing", "*/*"), ("/api/v1/nothing", "text/html"), ("/.well-known/x", "text/html")):
        assert browser.open(path, headers={"Accept": accept}).json["code"] == 404
    assert browser.open("/api/v1/oauth/nothing", headers={"Accept": "text/html"}).json["error"] == "invalid_request"


def test_a_form_in_chunks_that_is_too_long_is_not_taken_for_its_beginning(browser):
    body = f"name=alice&password={PASSWORD.replace(' ', '+')}&x=".encode()
    headers = {**OWN, "Origin": LOCAL, "Content-Type": "application/x-www-form-urlencoded"}
    for length, status in ((16_384, 303), (16_385, 413)):
        answer = browser.open("/sign-in", method="POST", headers=headers, **in_chunks(body.ljust(length, b"x")))
        assert answer.status_code == status


def test_a_form_sent_after_the_session_ended_leads_back_to_its_page_and_says_that_nothing_changed(browser):
    for path, back in {
        "/albums/new": "/albums/new",
        "/albums/atox7lv7g1zu0bk5/delete": "/albums/atox7lv7g1zu0bk5",
        "/settings/account/name": "/settings/account",
        "/administration/look-alikes/archive": "/administration/look-alikes",
    }.items():
        answer = browser.send(path, {"Title": "Lake"})
        assert answer.status_code == 303, path
        page = browser.open(answer.headers["Location"], headers=OWN)
        assert "Your session has ended, and nothing was changed. Sign in, then send the form again." in text_of(page)
        assert re.search(r'name="next" value="([^"]*)"', page.text)[1] == back
    assert "Your session has ended" not in text_of(browser.open("/sign-in", headers=OWN))
