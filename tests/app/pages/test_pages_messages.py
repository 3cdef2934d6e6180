"""Errors of the packages below in the language of a page, and answers of the API to its scripts."""

import ast
import html
import json
import pickle
import re
from pathlib import Path

import pytest
from babel.messages.pofile import read_po
from marshmallow import validate

import photosvc
from photosvc.core.message import Message, did_you_mean, of_field
from photosvc.core.problems import Problem, Reason
from photosvc.pages import messages
from photosvc.pages.language import FOLDER
from photosvc.pages.messages import message_text
from photosvc.query.filters import ValueKind
from tests.app.pages.browser import OWN
from tests.helpers.pictures import jpeg

PACKAGE = Path(photosvc.__file__).parent
SCRIPT = {"X-Photosvc": "1", "Sec-Fetch-Site": "same-origin", "Accept": "application/json"}


def test_messages_are_translated_with_the_values_in_them(api):
    wrong = did_you_mean(Message("unknown filter {name}", name='"yaer"'), "yaer", ["year"])
    country = Message("{name} is not {message}", name='"x"', message=Message(ValueKind.COUNTRY.expected))
    atlantis = Message("there is no place {name}", name='"Atlantis"')
    cases = {
        "Invalid credentials.": "Ungültige Zugangsdaten.",
        Message("at most {most} printable characters", most=1000): "höchstens 1.000 druckbare Zeichen",
        of_field("Title", "an album needs a title"): "Title: ein Album braucht einen Titel",
        Message("{message} (character {position})", message=wrong, position=1):
            'unbekannter Filter "yaer"; meintest du "year"? (Zeichen 1)',
        of_field("country", country):
            'country: "x" passt hier nicht; erwartet wird: zwei Buchstaben wie de oder der Name eines Landes',
        of_field("near", atlantis): 'near: den Ort "Atlantis" gibt es nicht',
        Problem.of(Reason.WRONG_CONTENT, "picture or video").sentence: "der Inhalt ist kein Bild oder Video",
        Problem.of(Reason.TOO_LARGE, 300).sentence: "die Datei ist größer als 300 MB",
        "strange {0}%s": "strange {0}%s",  # has no translation
    }  # fmt: skip
    for message, german in cases.items():
        for language, wanted in (("de", german), ("en", message)):
            with api.library.app.test_request_context("/", headers={"Accept-Language": language}):
                assert message_text(message) == wanted
        assert message_text(pickle.loads(pickle.dumps(message))) == message  # outside of a request: in English


def test_a_message_keeps_its_code_and_values_when_it_is_pickled():
    message = Message(
        "{message} (character {position})", message=Message("more than {most} terms", most=2000), position=3
    )
    copy = pickle.loads(pickle.dumps(message))
    assert copy == "more than 2,000 terms (character 3)"
    assert (copy.code, copy.named) == (message.code, message.named)
    assert Message("{name} is not a scope", name="{0}%s") == "{0}%s is not a scope"


def test_each_listed_message_is_one_of_the_package():
    sources = [path for path in PACKAGE.rglob("*.py") if path != Path(messages.__file__)]
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text()))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    texts |= {(ast.get_docstring(node) or "").split("\n")[0] for node in nodes if isinstance(node, ast.ClassDef)}
    of_marshmallow = {validate.Length.message_max, validate.Length.message_all}
    assert set(messages.MESSAGES) - texts - of_marshmallow == set()


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


def test_the_texts_of_scripts_have_the_meaning_of_suggested_filters_and_values(alice):
    def texts(language):
        page = alice.open("/", headers={**OWN, "Accept-Language": language}).text
        return json.loads(re.search(r'id="texts"[^>]*>(.*?)</script>', page)[1])

    names = ("filter:iso", "type:image", "color:gold")
    assert [texts("de").get(name) for name in names] == ["Lichtempfindlichkeit.", "Bilder", "Gold"]
    assert [texts("en").get(name) for name in names] == [None] * 3  # as the API suggests them


def test_a_wrong_search_is_explained_in_the_language_of_the_page(alice):
    page = alice.open("/?q=yaer:2023", headers={**OWN, "Accept-Language": "fr"})
    wrong = html.unescape(page.text)
    assert 'filtre inconnu "yaer"\u202f; vouliez-vous dire "year"\u202f? (caractère 1)' in wrong


def test_the_untitled_is_not_called_unknown_in_english(api, alice):
    api.library.put("---.jpg", jpeg(80, 60))
    api.library.index()
    page = html.unescape(alice.open("/?order=name", headers={**OWN, "Accept-Language": "de"}).text)
    (photo,) = json.loads(re.search("data-first='([^']+)'", page)[1])["photos"]
    assert photo[-1] == ""  # the script names it in the language of the page
