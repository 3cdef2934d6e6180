"""Numbers and their nouns in sentences, names like a mistyped one, and portions of long lists."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeVar

from photosvc.core.message import Message

_Value = TypeVar("_Value")
#: Characters of a typed name that are compared.
_LONGEST: Final = 40
#: The least similarity of a suggested name, from 0 to 1, for names of up to four letters and for longer ones: one slip
#: changes more of a short name, so that `rde` suggests `red`.
_SIMILAR_SHORT: Final = 0.66
_SIMILAR: Final = 0.7
_SHORT: Final = 4
#: Values that one statement of the database takes.
_PORTION: Final = 500


def counted(number: int, what: str, many: str = "") -> str:
    """Return the number with its noun: `1 file`, `2,000 files`; `many` is a plural other than `what` with an s."""
    return f"{number:,} {what if number == 1 else many or what + 's'}"


def which(number: int, one: str, many: str) -> str:
    """Return the form of a word that agrees with the number."""
    return one if number == 1 else many


def names_like(typed: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return at most `most` known names, in lower case, that are like the typed one in any case.

    Of the most similar ones, those with the same first letter come first: it is rarely mistyped.
    """
    name = typed[:_LONGEST].lower()
    least = _SIMILAR_SHORT if len(name) <= _SHORT else _SIMILAR
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=least)
    return sorted(near, key=lambda one: one[:1] != name[:1])[:most]


def did_you_mean(message: str, typed: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return an error message that suggests the known name most like the typed one; if none is, it ends otherwise."""
    if near := names_like(typed, known):
        return Message("{message}; did you mean {name}?", message=Message(message), name=f'"{near[0]}"')
    return message + otherwise if otherwise else message


def in_portions(values: Sequence[_Value], most: int = _PORTION) -> Iterator[Sequence[_Value]]:
    """Return an iterator over the values in their order, at most `most` at a time."""
    return (values[start : start + most] for start in range(0, len(values), most))
