"""What forms and links of pages send."""

import re
from typing import Final

from flask import request

from photosvc.core.errors import InvalidValueError

#: Bytes of a form.
MAX_FORM: Final = 16 * 1024
_LONGEST: Final = 1000
#: No list has as many pages.
_LAST_PAGE: Final = 9_999_999
_NUMBER: Final = re.compile(r"-?[0-9]{1,10}", re.ASCII)


def read_form(*, longest: int = _LONGEST, most: int = MAX_FORM) -> dict[str, str]:
    """The fields of the request's form; of a repeated one the first.

    Args:
        longest: characters of a field; those behind are left out.
        most: bytes of the form.

    Raises:
        RequestEntityTooLarge: the form is longer.

    """
    request.max_content_length = request.max_form_memory_size = most
    # PostgreSQL refuses texts with NUL. A part whose header is damaged may have no name.
    return {name: value.replace("\0", "")[:longest] for name, value in request.form.items() if name}


def chosen(name: str, most: int) -> list[str]:
    """The values of a repeated field of the form that `read_form` has read, each once; at most so many."""
    return list(dict.fromkeys(request.form.getlist(name)))[:most]


def page_number() -> int:
    """The number of the page in the query string; 1 when there is none, or what is there is no number."""
    return whole_number(request.args.get("page", ""), low=1, high=_LAST_PAGE, default=1)


def whole_number(text: str, *, low: int, high: int, default: int) -> int:
    """The whole number in a text; the default when it is none, or outside of these bounds."""
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(high))
    return int(digits) if is_number and low <= int(digits) <= high else default


def typed_twice(form: dict[str, str], field: str = "password") -> str:
    """The new password of a form, which asks for it in `field` and `again`.

    Raises:
        InvalidValueError: they differ.

    """
    if form.get(field, "") != form.get("again", ""):
        msg = "The password was typed in two ways."
        raise InvalidValueError(msg, field="again")
    return form.get(field, "")


def read_number(form: dict[str, str], field: str, *, empty: int | None = None) -> int:
    """The whole number of a field, of at most ten digits; `empty` where nothing was typed.

    Raises:
        InvalidValueError: it is none.

    """
    text = form.get(field, "").strip()
    if not text and empty is not None:
        return empty
    if not _NUMBER.fullmatch(text):
        msg = f"{field}: a whole number"
        raise InvalidValueError(msg, field=field)
    return int(text)
