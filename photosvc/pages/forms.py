"""The fields of forms and the query strings of links, checked."""

import re
from typing import Final

from flask import request

from photosvc.core.errors import InvalidValueError
from photosvc.core.text import parse_digits
from photosvc.pages.language import N_, _
from photosvc.web.contract import read_body

#: The most bytes of a form.
MAX_FORM: Final = 16 * 1024
_LONGEST: Final = 1000
#: The highest page number: no list has so many pages.
_LAST_PAGE: Final = 9_999_999
_NUMBER: Final = re.compile(r"-?[0-9]{1,10}", re.ASCII)


def read_form(*, longest: int = _LONGEST, most: int = MAX_FORM) -> dict[str, str]:
    """Return the fields of the request's form, cut to `longest` characters; of a repeated field the first.

    Raises:
        RequestEntityTooLarge: the form has more than `most` bytes.
    """
    read_body(most)
    request.max_form_memory_size = most
    # PostgreSQL refuses texts with NUL. A part whose header is damaged may have no name.
    return {name: value.replace("\0", "")[:longest] for name, value in request.form.items() if name}


def chosen(name: str, most: int) -> list[str]:
    """Return at most `most` values of a repeated field, each once; call `read_form` first."""
    return list(dict.fromkeys(request.form.getlist(name)))[:most]


def page_number(parameter: str = "page") -> int:
    """Return the page number in the query string; 1 without a valid number."""
    return whole_number(request.args.get(parameter, ""), low=1, high=_LAST_PAGE, default=1)


def whole_number(text: str, *, low: int, high: int, default: int) -> int:
    """Return the whole number in a text; the default for other texts and for numbers outside `low` to `high`."""
    number = parse_digits(text.strip(), longest=len(str(high)))
    return default if number is None or not low <= number <= high else number


def sentence(message: str) -> str:
    """Return the message of an error as a sentence: the API begins most of its messages in lower case."""
    return message[:1].upper() + message[1:] + ("" if message.endswith((".", "?")) else ".")


def typed_twice(form: dict[str, str], field: str = "password") -> str:
    """Return the new password in `field`, or raise `InvalidValueError` if that in `again` differs."""
    if form.get(field, "") != form.get("again", ""):
        raise InvalidValueError(N_("The passwords do not match."), field="again")
    return form.get(field, "")


def read_number(form: dict[str, str], field: str, *, empty: int | None = None) -> int:
    """Return the whole number in a field, of at most ten digits; `empty` where nothing was typed.

    Raises:
        InvalidValueError: it is not a whole number.
    """
    text = form.get(field, "").strip()
    if not text and empty is not None:
        return empty
    if not _NUMBER.fullmatch(text):
        raise InvalidValueError(_("%(field)s: a whole number", field=field), field=field)
    return int(text)
