"""The words for what a picture shows, with the classes of the model that find them, from `subjects.txt`."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_TABLE: Final = Path(__file__).with_name("subjects.txt")


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of pictures, such as a dog or a beach."""

    word: str
    """The English word, which is also its key."""
    words: tuple[str, ...]
    """The word in all languages, the English one first, without repetitions."""
    shown_from: float
    """The least score, 0 to 1, with which a picture is said to show it."""
    classes: tuple[int, ...]
    """Numbers of the classes of the model whose probabilities add up to its score."""


@cache
def subjects() -> dict[str, Subject]:
    """Return all subjects by their English words."""
    lines = [line.split("\t") for line in _TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    return {word: _subject(word, *fields) for word, *fields in lines}


def _subject(word: str, german: str, spanish: str, french: str, percent: str, classes: str) -> Subject:
    numbers: list[int] = []
    for part in classes.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    words = tuple(dict.fromkeys((word, german, spanish, french)))
    return Subject(word, words, int(percent) / 100, tuple(numbers))
