"""Long lists in portions, because statements and transactions are bounded."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Value = TypeVar("_Value")


def in_portions(values: Sequence[_Value], most: int) -> Iterator[Sequence[_Value]]:
    """The values in their order, at most `most` at a time."""
    return (values[start : start + most] for start in range(0, len(values), most))
