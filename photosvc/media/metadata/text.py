"""Text from files, made safe to store and to show."""

import re
import unicodedata
from collections.abc import Iterable

# Limits of texts in characters, and of the number of keywords.
TITLE = 200
DESCRIPTION = 4096
KEYWORD = 64
KEYWORDS = 256
LINE = 255

# C0, DEL, C1 and every Unicode space become one blank.
_BLANKS = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
# Zero-width and bidi marks, overrides and isolates (with them a text can imitate another one), BOM, lone surrogates.
# ZWNJ and ZWJ are kept: Persian, Indic scripts and emoji need them.
_INVISIBLE = re.compile(r"[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_SEPARATORS = re.compile(r"[,;]")


def clean(value: str | bytes, limit: int = LINE) -> str:
    """One line of NFC text without control, bidi or surrogate characters, at most `limit` characters long.

    Bytes are decoded as UTF-8, or else as Latin-1, which old cameras write. Everything after a NUL is dropped.
    """
    # UTF-8 needs at most four bytes a character; the rest leaves room for blanks and invisible characters.
    value = value[: limit * 16]
    text = _decoded(value) if isinstance(value, bytes) else value.partition("\0")[0]
    text = _BLANKS.sub(" ", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text).strip()[:limit].rstrip()


def keywords(values: Iterable[str | bytes], *, split: bool = False) -> tuple[str, ...]:
    """The first `KEYWORDS` clean keywords in their order; those that differ only in case count as one.

    Args:
        values: raw keywords.
        split: split each value at commas and semicolons.

    """
    found: dict[str, str] = {}
    for value in values:
        whole = clean(value, DESCRIPTION if split else KEYWORD)
        for part in _SEPARATORS.split(whole) if split else (whole,):
            if word := clean(part, KEYWORD):
                found.setdefault(word.casefold(), word)
            if len(found) == KEYWORDS:
                return tuple(found.values())
    return tuple(found.values())


def _decoded(value: bytes) -> str:
    value = value.partition(b"\0")[0]
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        # An invalid byte near the end of UTF-8 text is a truncated character; after ASCII alone, more likely Latin-1.
        if error.start >= len(value) - 3 and not value[: error.start].isascii():
            return value.decode(errors="ignore")
        return value.decode("latin-1")
