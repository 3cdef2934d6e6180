"""The one error of the search language."""

from collections.abc import Iterable

from photosvc.core.errors import InvalidValueError

_SHOWN = 40
#: Letters of a name in which only one slip is likely.
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
    """`text` as a message quotes it: short and printable."""
    clipped = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return '"' + "".join(c if c.isprintable() else "�" for c in clipped) + '"'


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the known name nearest to `name`; empty when none is near."""
    near = nearest(name, known)
    return f'; did you mean "{near}"?' if near else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name that `name` is with one or two slips, in any case; empty when there is none."""
    typed = name[:_SHOWN].lower()
    most = 1 if len(typed) <= _SHORT else 2
    likely = [one for one in known if abs(len(one) - len(typed)) <= most]
    slips, near = min(((_slips(typed, one), one) for one in likely), default=(most + 1, ""))
    return near if slips <= most and slips < len(typed) - 1 else ""


def _slips(typed: str, meant: str) -> int:
    """How many letters were left out, added, mistaken or swapped with the next one."""
    before: list[int] = []
    row = list(range(len(meant) + 1))
    for at, letter in enumerate(typed, 1):
        before, last, row = row, before, [at]
        for to, other in enumerate(meant, 1):
            slips = min(before[to] + 1, row[-1] + 1, before[to - 1] + (letter != other))
            if last and to > 1 and letter == meant[to - 2] and typed[at - 2] == other:
                slips = min(slips, last[to - 2] + 1)
            row.append(slips)
    return row[-1]
