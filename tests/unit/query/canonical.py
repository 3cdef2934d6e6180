"""Nodes to canonical text, which must parse to the same nodes: the way back of the parser, for its tests."""

import re
import unicodedata
from datetime import timedelta
from decimal import Decimal
from types import UnionType

from photosvc.core.geo import Box
from photosvc.core.vocabulary import COLORS
from photosvc.query.filter_spec import Kind
from photosvc.query.filters import FILTERS
from photosvc.query.lexer import read_models, read_term
from photosvc.query.nodes import (
    And,
    Cell,
    Choice,
    Circle,
    Days,
    Everything,
    Filter,
    Near,
    Node,
    Not,
    Operand,
    Or,
    Pattern,
    Phrase,
    PlusCode,
    Range,
    Since,
    Town,
    Uid,
    Value,
    Word,
)
from photosvc.query.parser import LITTLE_WORDS, NEGATION_WORDS, OPERATOR_WORDS
from photosvc.query.spoken import may_mean

_PLAIN = re.compile(r"[\w.][\w./-]*\Z")
_SPECIAL = re.compile(r'[\\"|&*!-]')


def canonical_text(node: Node) -> str:
    """The query as canonical text; `parse_query` makes the same nodes of it."""
    match node:
        case Everything():
            return ""
        case Word() | Phrase():
            return _term(node)
        case Filter(name, value):
            return f"{name}:{_value(name, value)}"
        case Not(part):
            return "-" + _grouped(part, And | Or)
        case And(parts):
            return " ".join(_grouped(part, Or) for part in parts)
        case Or(parts):
            return " | ".join(map(canonical_text, parts))
        case _:
            raise TypeError(node)  # only parsed queries have a text


def _grouped(part: Node, loose: type | UnionType) -> str:
    """The part, in parentheses when it is one of the kinds that bind looser than what surrounds it."""
    return f"({canonical_text(part)})" if isinstance(part, loose) else canonical_text(part)


def _term(term: Word | Phrase) -> str:
    if isinstance(term, Word) and (text := _spelled(term)) and (term.forms or _is_plain(text)):
        # In a group, a word neither begins words that mean a filter nor belongs to them.
        return text if _is_plain(text) else f"({text})"
    return _quoted(term) if isinstance(term, Phrase) or not term.prefix else f"{term.text}*"


def _is_plain(text: str) -> bool:
    """Return whether the word, written as it is, means itself beside any other."""
    reserved = OPERATOR_WORDS.keys() | LITTLE_WORDS | NEGATION_WORDS
    return text not in reserved and not may_mean(text) and not read_models(text)


def _spelled(word: Word, *, whole: bool = False) -> str:
    """The word as it is written without quotes, with the umlauts of which it has forms; empty if it cannot be."""
    spellings = [word.text]
    for at in reversed(range(len(word.text))):
        if word.forms and word.text[at] in "aou" and len(spellings) < 256:
            spellings += [text[: at + 1] + "\u0308" + text[at + 1 :] for text in spellings]
    texts = (unicodedata.normalize("NFC", text) for text in spellings)
    return next((text for text in texts if read_term(text, quoted=False, whole=whole) == word), "")


def _quoted(term: Word | Phrase, star: str = "*") -> str:
    text = " ".join(term.words) if isinstance(term, Phrase) else term.text
    return f'"{text}{star if term.prefix else ""}"'


def _value(name: str, value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case Since(moment):
            return moment.isoformat().replace("+00:00", "Z")
        case Choice(wanted, unwanted):
            return "|".join([*(_item(name, item) for item in wanted), *(f"!{_item(name, i)}" for i in unwanted)])
        case _:
            return write_number(value)


def _item(name: str, item: Operand) -> str:  # noqa: C901 - one line for each kind
    match item:
        case Word() | Phrase():
            return _word_value(item, FILTERS[name].kind)
        case Pattern((_, extension)) if name == "ext":
            return extension.removeprefix(".")
        case Pattern((name_,)) if name in {"album", "subject"}:
            return f'"{name_}"'
        case Pattern(pieces):
            return _pattern(pieces, "/" if name in {"path", "filename"} else "")
        case Range():
            return write_range(item)
        case Days(_, end) if name == "before":
            return write_days(item) if end is None else write_days(item).removeprefix("*-")
        case Days() if name == "after":
            return write_days(item).removesuffix("-*")
        case Days():
            return write_days(item)
        case Uid(text):
            return text
        case Town(_, _, km):
            text = f"{item}{_distance(km)}"
            return text if _PLAIN.match(text) else f'"{text}"'
        case Near(uid, km):
            return uid + _distance(km)
        case Circle(lat, lng, km):
            return f"{write_number(lat)},{write_number(lng)}{_distance(km)}"
        case Box(south, north, west, east):
            return ",".join(map(write_number, (north, east, south, west)))
        case Cell(token, km):
            return token + _distance(km)
        case PlusCode(code, km=km):
            return code + _distance(km)
        case int():
            return COLORS[item] if name == "color" else str(item)
        case _:
            raise TypeError(item)  # only parsed queries have a text


def _distance(km: float | None) -> str:
    return "" if km is None else f"@{write_number(km)}"


def _word_value(term: Word | Phrase, kind: Kind) -> str:
    """A term inside a value, where `and` is a word, a number could be an id, and `*` is for patterns in prose."""
    prose = kind is Kind.PROSE
    if kind is Kind.NAME:
        return "-".join(term.words) if isinstance(term, Phrase) else _spelled(term, whole=True)
    star = r"\*" if prose else "*"
    if isinstance(term, Phrase) or (term.text.isdecimal() and not prose):
        return _quoted(term, star)
    reserved = prose and term.text in {"true", "false"}
    if (text := _spelled(term, whole=kind is Kind.WHOLE_WORDS)) and not reserved:
        return text
    return f"{term.text}{star}" if term.prefix else _quoted(term)


def _pattern(pieces: tuple[str, ...], root: str) -> str:
    text = "*".join(_SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces)
    if not text:
        return root or '""'
    return text if _PLAIN.match(text) else f'"{text}"'


def write_days(value: Days) -> str:
    """The text that is read as the same days."""
    start = "*" if value.start is None else value.start.isoformat()
    end = "*" if value.end is None else (value.end - timedelta(days=1)).isoformat()
    return f"{start}-{end}"


def write_range(value: Range) -> str:
    """The text that is read as the same range."""
    low = "*" if value.low is None else write_number(value.low)
    high = "*" if value.high is None else write_number(value.high)
    return f"{low}-{high}"


def write_number(value: float) -> str:
    """The number without exponent, and without a point if it is whole."""
    return str(value) if isinstance(value, int) else format(Decimal(repr(value)), "f").removesuffix(".0")
