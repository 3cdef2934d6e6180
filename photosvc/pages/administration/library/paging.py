"""Numbers of pages in addresses."""

from typing import Final

from flask import request

_LAST: Final = 100_000


def page_number() -> int:
    """The number of the page that the address asks for; 1 where it names none."""
    return whole_number(request.args.get("page", ""), low=1, high=_LAST, default=1)


def whole_number(text: str, *, low: int, high: int, default: int) -> int:
    """The whole number in a text; the default when it is none, or outside of these bounds."""
    digits = text.strip()
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= len(str(high))
    return int(digits) if is_number and low <= int(digits) <= high else default
