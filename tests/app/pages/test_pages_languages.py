"""Pages in the language of the browser, or in the chosen one; English where none of them is known."""

import re

import pytest

from photosvc.pages.language import COOKIE
from tests.app.pages.browser import OWN, text_of
from tests.helpers.api_client import PASSWORD
from tests.helpers.pictures import exif, jpeg

SIGN_IN = {
    "de": "Angemeldet bleiben",
    "en": "Stay signed in",
    "es": "Mantener la sesión iniciada",
    "fr": "Rester connecté",
}


def asking(language):
    return {**OWN, "Accept-Language": language}


@pytest.mark.parametrize("language", SIGN_IN)
def test_a_page_is_in_the_language_of_the_browser(browser, language):
    page = browser.open("/sign-in", headers=asking(language))
    assert SIGN_IN[language] in text_of(page)
    assert f'<html lang="{language}">' in page.text
    assert page.headers["Vary"] == "Cookie, Accept-Language"


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("", "en"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr-CH, en;q=0.9", "fr"),
        ("it,nl;q=0.9", "en"),
        ("it, es-419;q=0.5, en;q=0.4", "es"),
        ("de;q=0, fr", "fr"),
        ("en-GB,de;q=0.9", "en"),
        ("*", "en"),
        ("DE", "de"),
        ("german, ../../etc/passwd, de_DE;q=x", "en"),
        ("x" * 400 + ",de" * 2000, "en"),
        ("ſ,\x7f,%(name)s", "en"),
    ],
)
def test_the_first_known_language_counts_and_hostile_ones_do_not(browser, asked, language):
    page = browser.open("/sign-in", headers=asking(asked.encode("utf-8", "ignore").decode("latin-1")))
    assert (page.status_code, SIGN_IN[language] in text_of(page)) == (200, True)


def test_a_language_chosen_in_the_settings_comes_before_that_of_the_browser(alice):
    answer = alice.send("/settings/account/language", {"language": "fr"})
    assert (answer.status_code, answer.location) == (303, "/settings/account?done=language")
    (cookie,) = [one for one in answer.headers.getlist("Set-Cookie") if one.startswith(COOKIE)]
    assert re.fullmatch(rf"{COOKIE}=fr; .*Max-Age=31536000; HttpOnly; Path=/; SameSite=Lax", cookie)
    page = alice.open(answer.location, headers=asking("de"))
    assert "La langue est enregistrée dans ce navigateur." in text_of(page)
    assert '<option value="fr" lang="fr" selected>Français</option>' in page.text
    alice.send("/settings/account/language", {"language": ""})
    assert "Die Sprache ist in diesem Browser gespeichert." in text_of(
        alice.open(answer.location, headers=asking("de"))
    )


@pytest.mark.parametrize("language", ["it", "../de", "de" * 500, "DE"])
def test_a_language_that_is_not_there_is_none(alice, language):
    alice.send("/settings/account/language", {"language": language})
    assert COOKIE not in alice.cookies
    alice.client.set_cookie(COOKIE, language)
    assert "Paramètres" in text_of(alice.open("/", headers=asking("fr")))


def test_plurals_follow_the_rules_of_each_language(api, alice):
    def totals(path="/"):
        pages = [alice.open(path, headers=asking(language)).text for language in ("de", "en", "es", "fr")]
        return [re.search(r'class="total" role="status"><span>([^<]*)', page)[1].strip() for page in pages]

    assert totals() == ["0 Fotos", "0 photos", "0 fotos", "0 photo"]
    api.library.put("1.jpg", jpeg(80, 60))
    api.library.index()
    assert totals() == ["1 Foto", "1 photo", "1 foto", "1 photo"]
    api.library.put("2.jpg", jpeg(90, 60))
    api.library.index()
    assert totals() == ["2 Fotos", "2 photos", "2 fotos", "2 photos"]


def test_dates_and_numbers_have_the_form_of_the_language(api, alice):
    api.library.put("1.jpg", jpeg(80, 60, exif=exif({}, {0x9003: "2023:05:01 10:00:00"})))
    api.library.index()
    months = {"de": "Mai 2023", "en": "May 2023", "es": "mayo de 2023", "fr": "mai 2023"}
    for language, month in months.items():
        assert month in text_of(alice.open("/albums?type=month", headers=asking(language))), language


def test_examples_in_fields_are_in_the_language_too(api, alice):
    assert '"keywordsExample":"See, Boot"' in alice.open("/", headers=asking("de")).text


def test_values_in_translated_sentences_are_escaped(api, alice):
    page = alice.open("/albums?q=<i>%25s", headers=asking("de"))
    assert "Kein Titel enthält „<bdi>&lt;i&gt;%s</bdi>“." in page.text


def test_errors_are_in_the_language_of_the_page_and_of_the_api_in_english(api, browser):
    answer = browser.send(
        "/sign-in", {"name": "alice", "password": "wrong"}, headers={**asking("de"), "Origin": browser.base}
    )
    assert "Ungültige Zugangsdaten." in text_of(answer)
    login = {"username": "alice", "password": "wrong"}
    refused = browser.open("/api/v1/session", method="POST", json=login, headers={"Accept-Language": "de"})
    assert refused.json["error"] == "Invalid credentials."
    missing = browser.open("/photos/none", headers=asking("de"))
    assert missing.status_code in {303, 200}


def test_the_language_of_one_request_does_not_stay_for_the_next(browser):
    for language in ("de", "fr", "en", "de"):
        with browser.api.library.app.app_context():
            assert SIGN_IN[language] in text_of(browser.open("/sign-in", headers=asking(language)))


def test_signing_in_works_in_every_language(browser):
    for language in SIGN_IN:
        form = {"name": "alice", "password": PASSWORD}
        assert browser.send("/sign-in", form, headers={**asking(language), "Origin": browser.base}).status_code == 303


def test_visitors_of_public_links_read_their_language(browser):
    page = browser.open("/s/abcdefghij", headers=asking("de"))
    assert page.status_code == 404
    assert '<html lang="de">' in page.text
    assert "Den Link gibt es nicht, oder er ist beendet: bitte um einen neuen." in text_of(page)
