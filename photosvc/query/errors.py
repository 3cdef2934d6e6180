"""The one error of the search language."""

from collections.abc import Iterable
from difflib import get_close_matches

from photosvc.core.errors import InvalidValueError

_SHOWN = 40


class InvalidQueryError(InvalidValueError):
    """The search query is not valid.

    Args:
        message: what is wrong and what would be valid.
        field: the request parameter with the error: `q`, `filter` or the name of a filter.
        position: the number of characters before the error in the text of the field, if it has a position.

    """

    def __init__(self, message: str | None = None, *, field: str | None = None, position: int | None = None) -> None:
        if position is not None:
            message = f"{message} (character {position + 1})"
        super().__init__(message, field=field)
        self.position = position


def shown(text: str) -> str:
    """`text` as a message quotes it: short and printable."""
    clipped = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return '"' + "".join(c if c.isprintable() else "�" for c in clipped) + '"'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the known name nearest to `name`; empty when none is near."""
    near = get_close_matches(name[:_SHOWN].lower(), list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""
