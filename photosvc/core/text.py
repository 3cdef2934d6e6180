"""Texts of people and of files, without control characters: one line, or a text of several lines.

Both cleaners return a text that they returned as it is, so that a text which is sent back unchanged is no edit.
"""

import re
from typing import Final

#: C0, DEL, C1 and every Unicode space.
BLANKS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_BREAK: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
#: Ends of a line: CR LF, a lone CR of old programs, vertical tab and form feed, NEL, and those of Unicode.
_ENDS: Final = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
#: Control characters other than tab and line feed.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")


def clean_line(text: str) -> str:
    """Return a text as one line; where it has line breaks or control characters, runs of blanks become one."""
    return (BLANKS.sub(" ", text) if _BREAK.search(text) else text).strip()


def clean_lines(text: str) -> str:
    """Return a text with its blanks, tabs and line breaks, each a line feed, without control characters."""
    return _CONTROL.sub("", _ENDS.sub("\n", text)).strip()
