"""The error of the search language, and typed text in its messages."""

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
    """Quote `text` for a message: short and printable."""
    clipped = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return '"' + "".join(c if c.isprintable() else "�" for c in clipped) + '"'
