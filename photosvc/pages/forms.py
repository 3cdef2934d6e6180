"""What forms of pages send."""

from typing import Final

from flask import request

from photosvc.core.errors import InvalidValueError

#: Bytes of a form.
MAX_FORM: Final = 16 * 1024
_LONGEST: Final = 1000


def read_form() -> dict[str, str]:
    """The fields of the request's form, each at most a thousand characters; of a repeated one the first.

    Raises:
        RequestEntityTooLarge: the form is longer than `MAX_FORM`.

    """
    request.max_content_length = MAX_FORM
    # PostgreSQL refuses texts with NUL.
    return {name: value.replace("\0", "")[:_LONGEST] for name, value in request.form.items()}


def typed_twice(form: dict[str, str], field: str = "password") -> str:
    """The new password of a form, which asks for it in `field` and `again`.

    Raises:
        InvalidValueError: they differ.

    """
    if form.get(field, "") != form.get("again", ""):
        msg = "The password was typed in two ways."
        raise InvalidValueError(msg, field="again")
    return form.get(field, "")
