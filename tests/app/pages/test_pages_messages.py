"""Errors of the packages below in the language of a page, and answers of the API to its scripts."""

import html
import re

import pytest
from babel.messages.pofile import read_po

from photosvc.core.problems import Problem, Reason
from photosvc.pages import messages
from photosvc.pages.language import FOLDER
from photosvc.pages.messages import message_text
from tests.helpers.browser import OWN
from tests.helpers.pictures import jpeg

SCRIPT = {"X-Photosvc": "1", "Sec-Fetch-Site": "same-origin", "Accept": "application/json"}


def said(api, message, language="de"):
    with api.library.app.test_request_context("/", headers={"Accept-Language": language}):
        return message_text(message)


@pytest.mark.parametrize(
    ("message", "german"),
    [
        ("Invalid credentials.", "Ungültige Zugangsdaten."),
        ("The password must not be the user name.", "Das Passwort darf nicht der Benutzername sein."),
        ("The database is damaged; the operator must restore it.",
         "Die Datenbank ist beschädigt; der Betreiber muss sie wiederherstellen."),
        ("at most 1,000 printable characters", "höchstens 1.000 druckbare Zeichen"),
        ("Title: an album needs a title", "Title: ein Album braucht einen Titel"),
        ('unknown filter "yaer"; did you mean "year"? (character 1)',
         'unbekannter Filter "yaer"; meintest du "year"? (Zeichen 1)'),
        ('country: "x" is not two letters, such as de, or the name of a country (character 9)',
         'country: "x" passt hier nicht; erwartet wird: zwei Buchstaben wie de oder der Name eines Landes (Zeichen 9)'),
        ('near: there is no place "Atlantis"', 'near: den Ort "Atlantis" gibt es nicht'),
        (Problem.of(Reason.WRONG_CONTENT, "picture or video").sentence, "der Inhalt ist kein Bild oder Video"),
        (Problem.of(Reason.TOO_LARGE, 300).sentence, "die Datei ist größer als 300 MB"),
    ],
)  # fmt: skip
def test_messages_are_translated_with_the_values_in_them(api, message, german):
    assert said(api, message) == german
    assert said(api, message, "en") == message


@pytest.mark.parametrize(
    "message", ["", "strange", "iso: strange", "a%sb %(x)s", "x" * 100_000, ("a is not " * 40)[:390], "a: " * 130]
)
def test_messages_that_nobody_knows_stay_as_they_are(api, message):
    assert said(api, message) == message


def test_a_message_that_many_texts_fit_is_compared_with_few_of_them(api, monkeypatch):
    compared, translated = [], messages._translated
    monkeypatch.setattr(messages, "_translated", lambda *given: compared.append(given) or translated(*given))
    message = "a: " * 8 + "strange" + " (character 1)" * 6  # in 3003 orders
    assert said(api, message) == message
    assert len(compared) == 2**6 - 1


@pytest.mark.parametrize("language", ["de", "es", "fr"])
def test_the_sentences_of_problems_keep_their_details(language):
    with (FOLDER / f"{language}.po").open("rb") as file:
        catalogue = read_po(file, locale=language)
    for reason in Reason:
        details = re.compile(r"\{\d?\}")
        translated = catalogue.get(reason.template).string
        assert details.findall(translated) == details.findall(reason.template), reason


def test_errors_of_the_api_are_in_the_language_of_the_page_for_its_scripts_alone(alice):
    def error(headers):
        answer = alice.open("/api/v1/photos/pnone", headers={**headers, "Accept-Language": "fr"})
        return answer.status_code, answer.json["error"]

    assert error(SCRIPT) == (404, "cette photo n’existe pas")
    assert error({"Authorization": f"Bearer {alice.api.app_password()}"}) == (404, "there is no such photo")


def test_details_of_errors_are_too(alice):
    answer = alice.open(
        "/api/v1/albums", method="POST", json={"Title": ""}, headers={**SCRIPT, "Accept-Language": "de"}
    )
    assert (answer.status_code, answer.json["error"]) == (400, "Title: ein Album braucht einen Titel")


def test_suggestions_explain_filters_in_the_language_of_the_page_and_no_copy_in_another_one_counts(api, alice):
    api.library.put("1.jpg", jpeg(80, 60))
    api.library.index()

    def ask(language, **headers):
        asked = {**SCRIPT, "Accept-Language": language, **headers}
        return alice.open("/api/v1/suggest?q=iso&at=3", headers=asked)

    english = ask("en")
    assert english.json["suggestions"][0]["help"] == "Light sensitivity."
    tag = {"If-None-Match": english.headers["ETag"]}
    assert ask("en", **tag).status_code == 304
    german = ask("de", **tag)
    assert (german.status_code, german.json["suggestions"][0]["help"]) == (200, "Lichtempfindlichkeit.")
    assert ("ETag" in german.headers, german.headers["Cache-Control"]) == (False, "no-store")
    types = alice.open("/api/v1/suggest?q=type:&at=5", headers={**SCRIPT, "Accept-Language": "de"})
    assert [(one["text"], one["label"]) for one in types.json["suggestions"]] == [("image", "Bilder")]


def test_a_wrong_search_is_explained_in_the_language_of_the_page(alice):
    page = alice.open("/?q=yaer:2023", headers={**OWN, "Accept-Language": "fr"})
    wrong = html.unescape(page.text)
    assert 'filtre inconnu "yaer"\u202f; vouliez-vous dire "year"\u202f? (caractère 1)' in wrong


def test_the_untitled_is_not_called_unknown_in_english(api, alice):
    api.library.put("---.jpg", jpeg(80, 60))
    api.library.index()
    page = alice.open("/", headers={**OWN, "Accept-Language": "de"})
    assert 'alt="Unknown"' not in page.text
    assert 'alt="Foto"' in page.text
