"""The catalogues of the pages' languages: each text of the pages is in each, translated, with its values and marks."""

import re
from collections import Counter
from functools import cache
from string import Formatter

import pytest
from babel.messages.pofile import read_po

from photosvc.pages.language import FOLDER, LANGUAGES
from tools.translations import extracted, packed, updated

OTHERS = sorted(set(LANGUAGES) - {"en"})
_VALUE = re.compile(r"%\((\w+)\)s")
_MARK = re.compile(r"<[^>]*>|&\w+;")


@cache
def marked():
    """The texts of the pages, which are looked for once for all languages."""
    return extracted()


@cache
def catalogue(language):
    with (FOLDER / f"{language}.po").open("rb") as file:
        return [message for message in read_po(file, locale=language, abort_invalid=True) if message.id]


def forms(message):
    """Pairs of an English text and its translation; the forms of a plural one by one."""
    if message.pluralizable:
        return list(zip(message.id, message.string, strict=True))
    return [(message.id, message.string)]


@pytest.mark.parametrize("language", OTHERS)
def test_each_catalogue_has_just_the_texts_of_the_pages(language):
    assert (FOLDER / f"{language}.po").read_bytes() == updated(language, marked()), "run make translations"


@pytest.mark.parametrize("language", OTHERS)
def test_the_service_reads_each_catalogue_as_it_is_written(language):
    assert (FOLDER / f"{language}.mo").read_bytes() == packed((FOLDER / f"{language}.po").read_bytes(), language), (
        "run make translations"
    )


@pytest.mark.parametrize("language", OTHERS)
def test_each_text_is_translated_and_reviewed(language):
    missing = [message.id for message in catalogue(language) if not all(text for _, text in forms(message))]
    assert missing == []
    assert [message.id for message in catalogue(language) if message.fuzzy] == []


@pytest.mark.parametrize("language", OTHERS)
def test_translations_have_the_values_and_the_html_of_their_text(language):
    for message in catalogue(language):
        for text, translated in forms(message):
            # The singular of a plural may write the number as a word.
            assert set(_VALUE.findall(translated)) - {"num"} == set(_VALUE.findall(text)) - {"num"}, text
            assert Counter(_MARK.findall(translated)) == Counter(_MARK.findall(text)), text
            assert ("<" in _MARK.sub("", translated)) == ("<" in _MARK.sub("", text)), text
            rest = _VALUE.sub("", translated)
            assert "%" not in rest.replace("%%", "") or "%(" not in text, text
            assert list(Formatter().parse(translated)) or not translated


@pytest.mark.parametrize("language", OTHERS)
def test_translations_begin_and_end_as_their_text(language):
    for message in catalogue(language):
        for text, translated in forms(message):
            assert text.endswith("…") == translated.endswith("…"), text
            assert text.endswith(".") == translated.endswith("."), text
            assert text == text.strip()
            assert translated == translated.strip(), text


@pytest.mark.parametrize("language", OTHERS)
def test_french_and_german_and_spanish_quotes_are_their_own(language):
    for message in catalogue(language):
        for _, translated in forms(message):
            text = _MARK.sub("", translated)
            assert '"' not in text, translated
            assert not (language == "es" and re.search("[“”„]", text)), translated
            assert not (language == "fr" and re.search("[“”„']", text)), translated
            assert not (language == "de" and re.search("[”«»']", text)), translated


def test_french_marks_have_a_narrow_space_before_them_that_never_breaks():
    for message in catalogue("fr"):
        for _, translated in forms(message):
            text = _MARK.sub("", translated)
            assert not re.search("[^\u202f][;!?»]|«[^\u202f]|[ \u00a0]:", text), translated


def test_templates_translate_literal_texts_as_html_and_values_as_plain_text():
    for path in (FOLDER.parent / "templates").rglob("*.html"):
        for name, first in re.findall(r"(?<![\w.])(_|ngettext)\((.)", path.read_text("utf-8")):
            assert first in "\"'", f"{path.name}: {name}({first}… takes a literal text; use label_text for a value"
