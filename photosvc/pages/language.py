"""The language of a page: chosen in the settings, else the browser's, else English; its texts, numbers and dates.

Texts are marked in English with `_` and `ngettext`, in templates and in modules, and `N_` where a table holds them that
outlives a request. The catalogues in `languages/` are for people to write (`.po`) and as they are read (`.mo`). Only
pages are translated: the API, the command line and the log speak English. Nothing of a host app is used or changed.
"""

from collections.abc import Mapping
from datetime import date
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from types import MappingProxyType
from typing import Final

from flask import Response, request, url_for
from markupsafe import Markup
from werkzeug.datastructures import LanguageAccept
from werkzeug.http import parse_accept_header

from photosvc.data.place_names import country_in
from photosvc.index.gazetteer import country_name
from photosvc.web.cookie import is_secure
from photosvc.web.service import current_service

ENGLISH: Final = "en"
#: The languages of the pages, each by its own name.
LANGUAGES: Final = MappingProxyType({"de": "Deutsch", ENGLISH: "English", "es": "Español", "fr": "Français"})
FOLDER: Final = Path(__file__).with_name("languages")
#: The cookie of the chosen language; it tells nothing else of its browser.
COOKIE: Final = "photosvc-language"
_YEAR: Final = 365 * 86_400
#: Characters of `Accept-Language` that are read: browsers send less, and parsing takes time.
_LONGEST: Final = 400
_NOTED: Final = "photosvc.language"
#: The forms of dates; English ones begin with the day.
_DATES: Final = {
    "long": {
        "de": "{day}. {month} {year}",
        "en": "{day} {month} {year}",
        "es": "{day} de {month} de {year}",
        "fr": "{day} {month} {year}",
    },
    "month": {"de": "{month} {year}", "en": "{month} {year}", "es": "{month} de {year}", "fr": "{month} {year}"},
}
_MONTHS: Final = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "en": "January February March April May June July August September October November December",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
#: The characters between thousands; in French a narrow space at which no line ends.
_SEPARATORS: Final = {"de": ".", "en": ",", "es": ".", "fr": "\u202f"}
#: Spanish does not group numbers of four digits.
_UNGROUPED: Final = {"es": 9_999}


def language() -> str:
    """Return the language of the current request; English outside of requests."""
    try:
        environ = request.environ
    except RuntimeError:  # outside of a request
        return ENGLISH
    noted: str | None = environ.get(_NOTED)
    if noted is None:
        environ[_NOTED] = noted = chosen_language() or _of_browser()
    return noted


def chosen_language() -> str:
    """Return the language chosen in this browser; empty if its own language is used."""
    name = request.cookies.get(COOKIE, "")
    return name if name in LANGUAGES else ""


def _of_browser() -> str:
    for tag, quality in parse_accept_header(_accepted(), LanguageAccept):
        primary = tag.partition("-")[0].lower()
        if quality > 0 and primary in LANGUAGES:
            return primary
    return ENGLISH


def languages() -> list[str]:
    """Return the tags of preferred languages: the chosen one, then the languages of the browser."""
    return [*filter(None, [chosen_language()]), *(tag for tag, _ in parse_accept_header(_accepted(), LanguageAccept))]


def country_label(code: str) -> str:
    """Return the name of a country in a language that the reader prefers, else in English."""
    return country_in(languages(), code) or country_name(code)


def _accepted() -> str:
    return request.headers.get("Accept-Language", "")[:_LONGEST]


def choose_language(answer: Response, name: str) -> None:
    """Store the chosen language in a cookie of this browser; without a language of the pages delete the cookie."""
    answer.set_cookie(
        COOKIE,
        name if name in LANGUAGES else "",
        max_age=_YEAR if name in LANGUAGES else 0,
        path=url_for("photosvc_pages.photos"),
        secure=is_secure(request, current_service()),
        httponly=True,
        samesite="Lax",
    )


@cache
def catalogue(name: str) -> NullTranslations:
    """Read the texts of a language, once in a process."""
    if name == ENGLISH:
        return NullTranslations()
    with (FOLDER / f"{name}.mo").open("rb") as file:
        return GNUTranslations(file)


def N_(text: str) -> str:  # noqa: N802 - as gettext's tools know it
    """Mark a text for translation, and return it as it is: `_` translates it where it is shown."""
    return text


def P_(one: str, many: str) -> tuple[str, str]:  # noqa: N802
    """Mark both forms of a text for translation, and return them: `ngettext` translates them where they are shown."""
    return one, many


def _(text: str, /, **values: object) -> str:
    """Return a text in the language of the request; `%(name)s` stands for a value, and beside values `%%` for `%`."""
    translated = catalogue(language()).gettext(text) if text else ""
    return translated % values if values else translated


def pgettext(context: str, text: str) -> str:
    """Return the translation of an ambiguous English text, whose context names its meaning, such as `action`."""
    return catalogue(language()).pgettext(context, text)


def NP_(context: str, text: str) -> str:  # noqa: N802, ARG001
    """Mark a text with a context for translation, and return it: `pgettext` translates it where it is shown."""
    return text


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """Return the form of a text for a number, which `%(num)s` stands for."""
    return catalogue(language()).ngettext(one, many, number) % {"num": grouped(number), **values}


def grouped(number: int) -> str:
    """Return a number with its thousands separated."""
    text, name = f"{number:,}", language()
    if name == ENGLISH:
        return text
    return text.replace(",", _SEPARATORS[name]) if abs(number) > _UNGROUPED.get(name, 0) else str(number)


def decimal(number: float, digits: int) -> str:
    """Return a number with this number of decimals."""
    text = f"{number:.{digits}f}"
    return text if language() == ENGLISH else text.replace(".", ",")


def date_text(day: date, form: str = "long") -> str:
    """Return a date, such as `3 March 2027`; `month`: without the day."""
    name = language()
    return _DATES[form][name].format(day=day.day, month=_MONTHS[name].split()[day.month - 1], year=day.year)


def month_names() -> Mapping[int, str]:
    """Return the names of the months, from 1 for January."""
    return dict(enumerate(_MONTHS[language()].split(), 1))


def _marked(text: str, /, **values: object) -> Markup:
    """Return a text of a template. The text may contain HTML; its values are escaped."""
    translated = Markup(catalogue(language()).gettext(text) if text else "")  # noqa: S704  # nosec B704
    return translated % values if values else translated


def _marked_plural(one: str, many: str, number: int, /, **values: object) -> Markup:
    translated = Markup(catalogue(language()).ngettext(one, many, number))  # noqa: S704  # nosec B704
    return translated % {"num": grouped(number), **values}


#: The names of these functions in templates: `_` and `ngettext` take literal texts alone, which may contain HTML;
#: `label_text` translates a value, which is escaped.
IN_TEMPLATES: Final = {
    "_": _marked, "label_text": _, "ngettext": _marked_plural, "pgettext": pgettext, "grouped": grouped,
    "date_text": date_text, "language": language,
}  # fmt: skip
