"""Texts of files and of people, made safe to store and to show: one line, or a text of several lines.

Both cleaners return the same for a text that they returned, so that a text which is sent back unchanged is no edit.
"""

import re
import unicodedata
from typing import Final

#: C0, DEL, C1 and every Unicode space.
_BLANKS: Final = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
#: Ends of a line: CR LF, a lone CR of old programs, vertical tab and form feed, NEL, and those of Unicode.
_ENDS: Final = re.compile(r"\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
#: Control characters other than tab and line feed.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Zero-width and bidi marks, overrides and isolates (with them a text can imitate another one), BOM, lone surrogates.
# ZWNJ and ZWJ are kept: Persian, Indic scripts and emoji need them.
_INVISIBLE: Final = re.compile(
    r"[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def clean_line(text: str) -> str:
    """Return a text as one line of NFC: runs of blanks, control characters and line breaks are one blank each."""
    return unicodedata.normalize("NFC", _BLANKS.sub(" ", _INVISIBLE.sub("", text))).strip()


def clean_lines(text: str) -> str:
    """Return a text of NFC with its blanks, tabs and line breaks, each a line feed, without control characters."""
    return unicodedata.normalize("NFC", _CONTROL.sub("", _ENDS.sub("\n", _INVISIBLE.sub("", text)))).strip()
