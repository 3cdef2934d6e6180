"""What forms of pages send."""

from typing import Final

from flask import request

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
