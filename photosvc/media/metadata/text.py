"""Clean text: what a picture says, made safe to store and show."""

import re
import unicodedata
from collections.abc import Iterable

TITLE = 200
DESCRIPTION = 4096
KEYWORD = 64
KEYWORDS = 256
LINE = 255

# C0, DEL, C1 and every Unicode space become one blank.
_BLANKS = re.compile(r"[\x00-\x20\x7f-\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
# Zero-width and bidi marks, overrides and isolates (they let a text pose as another one), BOM, lone surrogates.
# ZWNJ and ZWJ stay: Persian, Indic scripts and emoji need them.
_INVISIBLE = re.compile(r"[\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]")
_SEPARATORS = re.compile(r"[,;]")


def clean(value: str | bytes, limit: int = LINE) -> str:
    """One line of NFC text without control, bidi or surrogate characters, at most `limit` characters long.

    Bytes are UTF-8; where they are not, Latin-1, the habit of old cameras. Everything after a NUL is dropped.
    """
    # Four bytes a character is the most UTF-8 needs; blanks and invisible characters may take the rest.
    value = value[: limit * 16]
    text = _decoded(value) if isinstance(value, bytes) else value.partition("\0")[0]
    text = _BLANKS.sub(" ", _INVISIBLE.sub("", text))
    return unicodedata.normalize("NFC", text).strip()[:limit].rstrip()


def keywords(values: Iterable[str | bytes], *, split: bool = False) -> tuple[str, ...]:
    """Distinct clean keywords in their order (case ignored), at most `KEYWORDS` of them.

    Args:
        values: raw keywords.
        split: take each value apart at commas and semicolons.

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
        # Cut in the middle of a character, by us or by the camera; a lone last byte is more likely Latin-1.
        if error.start >= len(value) - 3 and not value[: error.start].isascii():
            return value.decode(errors="ignore")
        return value.decode("latin-1")
