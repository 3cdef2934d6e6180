"""Numbers and their nouns in sentences, and portions of long lists."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


def counted(number: int, what: str, many: str = "") -> str:
    """Return the number with its noun: `1 file`, `2,000 files`; `many` is a plural other than `what` with an s."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def which(number: int, one: str, many: str) -> str:
    """Return the form of a word that agrees with the number."""
    return one if number == 1 else many


def in_portions(values: Sequence[_Value], most: int) -> Iterator[Sequence[_Value]]:
    """Return an iterator over the values in their order, at most `most` at a time."""
    return (values[start : start + most] for start in range(0, len(values), most))
