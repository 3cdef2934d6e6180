"""The error of the search language, and the hints in its messages."""

from collections.abc import Iterable

from photosvc.core.errors import InvalidValueError

_SHOWN = 40
#: Names of at most this many letters may have only one slip.
_SHORT = 5


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


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the known name nearest to `name`; empty if none is near."""
    near = nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known name nearest to `name`, with at most two slips and in any case; empty if there is none."""
    typed = name[:_SHOWN].lower()
    most = 1 if len(typed) <= _SHORT else 2
    letters = frozenset(typed)  # a slip loses at most one of them: this excludes most of thousands of names quickly
    likely = (one for one in known if abs(len(one) - len(typed)) <= most and len(letters.difference(one)) <= most)
    slips, near = min(((_slips(typed, one, most), one) for one in likely), default=(most + 1, ""))
    return near if slips <= most and slips < len(typed) - 1 else ""


def _slips(typed: str, meant: str, most: int) -> int:
    """Count letters left out, added, mistaken or swapped with the next one; a number above `most` may be inexact."""
    width = len(meant)
    before: list[int] = []
    row = list(range(width + 1))
    for at, letter in enumerate(typed, 1):
        before, last, row = row, before, [at, *[most + 1] * width]
        for to in range(max(1, at - most), min(width, at + most) + 1):  # further off, there are too many slips
            other = meant[to - 1]
            slips = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != other))
            if last and to > 1 and letter == meant[to - 2] and typed[at - 2] == other:
                slips = min(slips, last[to - 2] + 1)
            row[to] = slips
        if min(row) > most and min(before) > most:  # a swap goes back by two letters
            return most + 1
    return row[-1]
