"""Texts of people and of files without control characters, numbers in texts, and names like a mistyped one.

Cleaning a clean text changes nothing, so that a text which a client sends back unchanged is no edit.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Final

#: C0, DEL, C1 and every Unicode space.
BLANKS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_BREAK: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
#: Ends of a line: CR LF, a lone CR of old programs, vertical tab, form feed, NEL, and two separators of Unicode.
_ENDS: Final = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
#: Control characters other than tab and line feed.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
#: Characters of a typed name that are compared.
_LONGEST: Final = 40
#: The least similarity of a suggested name, from 0 to 1, for names of up to four letters and for longer ones: one slip
#: changes more of a short name, so that `rde` suggests `red`.
_SIMILAR_SHORT: Final = 0.66
_SIMILAR: Final = 0.7
_SHORT: Final = 4


def clean_line(text: str) -> str:
    """Return a text as one line; if it has line breaks or control characters, each run of blanks becomes one blank."""
    return (BLANKS.sub(" ", text) if _BREAK.search(text) else text).strip()


def clean_lines(text: str) -> str:
    """Return a text without control characters; blanks and tabs stay, and each line break becomes a line feed."""
    return _CONTROL.sub("", _ENDS.sub("\n", text)).strip()


def parse_digits(text: str, longest: int = 18) -> int | None:
    """Return the number that a text of at most `longest` ASCII digits is; None for any other text.

    `int` would also take signs, blanks, underscores and digits of other scripts, and minutes for a very long text.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= longest else None


def storable(text: str) -> str:
    """Return a text without characters that databases refuse: NUL (PostgreSQL) and lone surrogates (not UTF-8).

    Command lines may hold lone surrogates, and addresses NUL.
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def names_like(typed: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return at most `most` of the known names, which are in lower case, that are like the typed one in any case.

    Of the most similar names, those with the same first letter come first: it is rarely mistyped.
    """
    name = typed[:_LONGEST].lower()
    least = _SIMILAR_SHORT if len(name) <= _SHORT else _SIMILAR
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=least)
    return sorted(near, key=lambda candidate: candidate[:1] != name[:1])[:most]
