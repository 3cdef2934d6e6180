"""Rows of a database dump as text: of mysqldump and mariadb-dump, and of the command `.dump` of SQLite.

The text is read as a sequence of tokens, and nothing in it is run. Memory and the length of each value are bounded.
"""

import re
from collections.abc import Collection, Iterator
from typing import Final, TextIO

#: Characters that are read at once, and the most of one token.
_PIECE: Final = 1 << 16
_LONGEST: Final = 1 << 24
#: Columns of a table.
_MOST_COLUMNS: Final = 500
_STRING: Final = {False: r"'(?:[^'\\]++|\\.|'')*+'", True: r"'(?:[^']++|'')*+'"}
_OTHER: Final = r"""|`[^`]*+`|"[^"]*+"|[\w.$+-]++|/(?!\*)|[^'`"/\w.$+-]"""
_BLANK: Final = r"\s++|--[^\n]*+(?:\n|\Z)|/\*.*?\*/"
#: Words with which a line of CREATE TABLE begins that is no column.
_KEYS: Final = frozenset(("PRIMARY", "KEY", "UNIQUE", "CONSTRAINT", "INDEX", "FULLTEXT", "SPATIAL", "CHECK", "FOREIGN"))
_ESCAPE: Final = re.compile(r"\\(.)|''", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "Z": "\x1a", "b": "\b"}
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2})*")
_UNICODE: Final = re.compile(r"\\u([0-9a-fA-F]{4})")


class DumpSyntaxError(ValueError):
    """The text is no such dump."""


def read_rows(file: TextIO, tables: Collection[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the table and the values of each row of these tables by the names of the columns, without NULL.

    Raises:
        DumpSyntaxError: it is no dump, or a value is too long.
    """
    tokens = _Tokens(file)
    columns: dict[str, list[str]] = {}
    while (word := tokens.read()) is not None:
        keyword = word.upper()
        if keyword == "CREATE":
            name = _table(tokens)
            if name in tables:
                columns[name] = list(_columns(tokens))
        elif keyword == "INSERT":
            name = _table(tokens)
            if name in tables:
                yield from ((name, row) for row in _inserted(tokens, columns.get(name)))
        if tokens.last != ";":
            tokens.skip_statement()


class _Tokens:
    """The tokens of a text, without blanks and comments."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._buffer = file.read(_PIECE)
        self._at = 0
        self._is_whole = False
        self.is_sqlite = "PRAGMA " in self._buffer[:4096] or "BEGIN TRANSACTION" in self._buffer[:4096]
        self._token = re.compile(f"({_BLANK})|{_STRING[self.is_sqlite]}{_OTHER}", re.DOTALL)
        self.last: str | None = ";"

    def read(self) -> str | None:
        """Return the next token; None at the end."""
        while True:
            match = self._token.match(self._buffer, self._at)
            if (match is None or match.end() == len(self._buffer)) and self._fill():
                continue
            if match is None:
                if self._at < len(self._buffer):
                    raise DumpSyntaxError
                self.last = None
                return None
            self._at = match.end()
            if match[1] is None:
                self.last = match[0]
                return self.last

    def need(self) -> str:
        """Return the next token; raise `DumpSyntaxError` at the end."""
        word = self.read()
        if word is None:
            raise DumpSyntaxError
        return word

    def skip_statement(self) -> None:
        """Read up to the next semicolon."""
        while self.read() not in (";", None):
            pass

    def _fill(self) -> bool:
        """Read more, as much again as a long token has already; return whether there is more."""
        if self._is_whole:
            return False
        self._buffer = self._buffer[self._at :]
        self._at = 0
        if len(self._buffer) > _LONGEST:
            raise DumpSyntaxError
        more = self._file.read(max(_PIECE, len(self._buffer)))
        self._buffer += more
        self._is_whole = not more
        return True


def _name(word: str) -> str:
    return word[1:-1] if word[0] in "`\"'" else word


def _table(tokens: _Tokens) -> str:
    """Return the name of the table of CREATE TABLE or INSERT INTO."""
    word = tokens.need()
    while word.upper() in ("TABLE", "TEMPORARY", "IF", "NOT", "EXISTS", "INTO", "IGNORE"):
        word = tokens.need()
    return _name(word)


def _columns(tokens: _Tokens) -> Iterator[str]:
    """Yield the columns in the parentheses of CREATE TABLE."""
    if tokens.need() != "(":
        raise DumpSyntaxError
    depth, is_first = 1, True
    while depth:
        word = tokens.need()
        if is_first and (word[0] in '`"' or word.upper() not in _KEYS):
            yield _name(word)
        depth += (word == "(") - (word == ")")
        is_first = word == "," and depth == 1


def _inserted(tokens: _Tokens, columns: list[str] | None) -> Iterator[dict[str, str]]:
    word = tokens.need()
    if word == "(":
        columns = []
        while (word := tokens.need()) != ")":
            if word != ",":
                columns.append(_name(word))
        word = tokens.need()
    if word.upper() != "VALUES" or not columns or len(columns) > _MOST_COLUMNS:
        raise DumpSyntaxError
    while tokens.need() == "(":
        values = list(_values(tokens))
        if len(values) != len(columns):
            raise DumpSyntaxError
        yield {name: value for name, value in zip(columns, values, strict=True) if value is not None}
        if tokens.need() == ";":
            return


def _values(tokens: _Tokens) -> Iterator[str | None]:
    """Yield the values of a row, whose opening parenthesis is read already."""
    parts: list[str] = []
    depth, number = 1, 0
    while depth and number <= _MOST_COLUMNS:
        word = tokens.need()
        depth += (word == "(") - (word == ")")
        if depth == 0 or (word == "," and depth == 1):
            yield _value(parts, is_sqlite=tokens.is_sqlite)
            parts = []
            number += 1
        elif len(parts) < 32:
            parts.append(word)


def _value(parts: list[str], *, is_sqlite: bool) -> str | None:
    """Return the text of a value: `'x'`, `-1`, `_binary 'x'`, `0x78`, `X'78'`, or `replace('x', …)` for line breaks."""
    text = next((part[1:-1] for part in parts if part[0] == "'"), None)
    first = parts[0].lower() if parts else "null"
    if first == "x" or (text is None and first.startswith("0x")):
        digits = text or first[2:]
        return bytes.fromhex(digits).decode(errors="replace") if _HEX.fullmatch(digits) else None
    if text is None:
        return None if first == "null" else parts[0]
    if not is_sqlite:
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[1]) if found[1] else "'", text)
    text = text.replace("''", "'")
    if first == "replace":
        return text.replace("\\r", "\r").replace("\\n", "\n")
    if first == "unistr":
        return _UNICODE.sub(lambda found: chr(int(found[1], 16)), text).replace("\\\\", "\\")
    return text
