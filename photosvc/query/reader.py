"""Readers of filter values, one for each kind, with names of countries and the states of `is` and `has`."""

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, TypeAlias

from photosvc import data
from photosvc.core.ids import ALBUM, FILE, PHOTO, SUBJECT, is_hash, is_uid
from photosvc.core.message import Message, did_you_mean, of_field
from photosvc.core.vocabulary import COLOR_NUMBERS, COLORS, TYPES
from photosvc.data.place_names import country_named, own_names
from photosvc.query import areas, values
from photosvc.query.filters import BOOLEANS, FILTERS, MOST_WILDCARDS, FilterSpec, ValueKind, is_not
from photosvc.query.fold import fold, word_line
from photosvc.query.lexer import Alternative, read_alternatives, read_models, read_place, read_term
from photosvc.query.nodes import (
    UNNAMED,
    Choice,
    Filter,
    InvalidQueryError,
    Node,
    Operand,
    Pattern,
    Range,
    Span,
    Uid,
    Value,
    conjunction,
    disjunction,
    excerpt,
    negation,
)

#: Codes of countries by further names, as folded words.
_FURTHER: Final = {
    "america": "us", "britain": "gb", "burma": "mm", "czech republic": "cz", "england": "gb", "great britain": "gb",
    "holland": "nl", "ivory coast": "ci", "scotland": "gb", "swaziland": "sz", "turkiye": "tr", "uae": "ae",
    "uk": "gb", "usa": "us", "united states of america": "us", "vatican": "va", "wales": "gb",
}  # fmt: skip
_SET, _SOME = is_not(Pattern(("",))), Choice((Range(1, None),))
#: The filter and the value for each state that `is` and `has` name: yes-or-no filters, and further properties.
STATES: Final[dict[str, tuple[str, Value]]] = {
    name: (name, True) for name, spec in FILTERS.items() if spec.kind in {ValueKind.FLAG, ValueKind.SWITCH}
} | {
    "favourite": ("favorite", True), "gps": ("geo", True), "location": ("geo", True), "place": ("geo", True),
    "album": ("unsorted", False), "faces": ("faces", _SOME), "people": ("faces", _SOME), "rating": ("rating", _SOME),
    "title": ("title", _SET), "description": ("description", _SET), "caption": ("description", _SET),
}  # fmt: skip
#: A title in quotes that may also be the names of several albums, of which each has the photo.
_TITLE_WITH_AND = re.compile(r'"([^"\\|*]*\w[^"\\|*]*&[^"\\|*]*\w[^"\\|*]*)"')
#: The extension in the name of a file.
_EXTENSION = re.compile(r"\.[a-z][a-z0-9]{1,4}\Z", re.ASCII)
#: Filters on the names of places, which are known in other languages, too.
_PLACES = frozenset(("city", "state"))
LONGEST_PATTERN = 10_000
"""The most bytes of a folded text. A character can fold to 18 letters; SQLite refuses patterns over 50,000 bytes."""
#: A function that reads an alternative as an operand, as a list of operands of which any may match, or as no value.
_Reader: TypeAlias = Callable[[Alternative, FilterSpec], Operand | list[Operand] | None]
#: Kinds with a single value, without alternatives and signs.
_SINGLE: dict[ValueKind, Callable[[str], Value | None]] = {
    ValueKind.FLAG: lambda text: BOOLEANS[text.lower()],
    ValueKind.SWITCH: lambda text: BOOLEANS[text.lower()] or None,
    ValueKind.SINCE: values.read_since,
    ValueKind.LATITUDE: areas.read_latitude,
    ValueKind.LONGITUDE: areas.read_longitude,
    ValueKind.DISTANCE: areas.read_distance,
}


def country_code(name: str) -> str | None:
    """Return the ISO 3166-1 code of a country in lower case, by its name in any language; None for other names.

    Case and accents are ignored.
    """
    folded = word_line(name)
    return country_codes().get(folded) or country_named(folded)


@cache
def country_codes() -> dict[str, str]:
    """Return the codes of all countries, by the folded words of their names."""
    return _FURTHER | {word_line(name): code for code, name in data.countries().items()}


def _read_states(spec: FilterSpec, group: Sequence[Alternative], source: Span) -> Node:
    """Return the filters for the states in a group of alternatives."""
    wanted: list[Node] = []
    unwanted: list[Node] = []
    for value in group:
        state = STATES.get(value.text.lower())
        if state is None:
            unknown = Message("{name} is not a property of photos", name=excerpt(value.text))
            msg = did_you_mean(unknown, value.text, STATES, f"; it is one of {', '.join(STATES)}")
            raise _refused(spec, value, source, msg)
        (unwanted if value.negated else wanted).append(Filter(*state, source))
    return conjunction([disjunction(wanted), *map(negation, unwanted)])


class TooLongError(ValueError):
    """A text has more bytes than the databases compare."""


def _text(value: Alternative, spec: FilterSpec) -> Operand | list[Operand] | None:
    pieces = [fold(piece) for piece in value.pieces]
    pattern = _pattern(pieces, quoted=value.quoted)
    if spec.name in _PLACES and pattern and len(pattern.pieces) == 1:
        others = own_names(word_line(value.text), spec.name)
        return [pattern, *(Pattern((name,)) for name in others if name != pattern.pieces[0])]
    if pattern is None or spec.name not in {"name", "original"}:
        return pattern
    without_extension = (*pattern.pieces[:-1], _EXTENSION.sub("", pattern.pieces[-1]))
    return pattern if without_extension in {pattern.pieces, ("",)} else [pattern, Pattern(without_extension)]


def _type(value: Alternative, spec: FilterSpec) -> Operand | list[Operand] | None:
    pattern = _text(value, spec)
    if isinstance(pattern, Pattern) and not any(map(pattern.matches, TYPES)):
        raise ValueError(value.text)
    return pattern


def _prose(value: Alternative, _: FilterSpec) -> Operand | None:
    if value.pieces == ("",) or (not value.quoted and value.text.lower() in {"true", "false"}):
        return Pattern(("",))
    term = read_term(value.text, quoted=value.quoted) if len(value.pieces) == 1 else None
    return term or _pattern([fold(piece) for piece in value.pieces], quoted=value.quoted)


def _count(value: Alternative, spec: FilterSpec) -> Operand | None:
    if value.text.lower() == "new":
        return UNNAMED
    if value.text == "0" or BOOLEANS.get(value.text.lower(), True) is False:
        return Range(0, 0)
    return Range(1, None) if value.text.lower() in BOOLEANS else values.read_least(value.text, spec.least)


def _path(value: Alternative, _: FilterSpec) -> Operand | None:
    pieces = [fold(piece) for piece in value.pieces]
    dropped = "/" if value.quoted else "/ "
    pieces[0], last = pieces[0].lstrip(dropped), pieces[-1]
    pieces[-1] = pieces[-1].rstrip(dropped)
    return Pattern(("",)) if pieces == [""] and "/" in last else _pattern(pieces, quoted=value.quoted)


def _pattern(pieces: list[str], *, quoted: bool = False) -> Pattern | None:
    """Return a pattern, stripped unless it is quoted; None for a text that is empty or has only wildcards.

    Each wildcard multiplies the positions that a database tries, so their number is limited.
    """
    if not quoted:
        pieces[0] = pieces[0].lstrip()
        pieces[-1] = pieces[-1].rstrip()
    if not any(map(str.strip, pieces)):
        return None
    pattern = Pattern((*pieces[:1], *filter(None, pieces[1:-1]), *pieces[1:][-1:]))
    if len(pattern.pieces) > MOST_WILDCARDS + 1:
        raise ValueError("too many wildcards")
    if sum(map(len, map(str.encode, pattern.pieces))) > LONGEST_PATTERN:
        raise TooLongError
    return pattern


def _name(value: Alternative, spec: FilterSpec) -> Operand | None:
    pattern = _pattern([_spaced(piece) for piece in value.pieces])
    if pattern is None or len(pattern.pieces) > 1:
        return pattern
    (name,) = pattern.pieces
    if spec.name == "album" and is_uid(name, ALBUM):
        return Uid(name, spec.columns[0])
    if value.quoted or (spec.name != "album" and is_uid(name, SUBJECT)):
        return pattern
    return Pattern((name, "")) if spec.name == "album" else read_term(name, quoted=False, whole=True)


def _spaced(piece: str) -> str:
    """Return the words of a piece of a name, with blanks beside a wildcard, because they separate words."""
    body = word_line(piece)
    return f"{' ' * piece[0].isspace()}{body}{' ' * piece[-1].isspace()}" if body else ""


def _words(value: Alternative, spec: FilterSpec) -> Operand | list[Operand] | None:
    term = read_term(value.text, quoted=value.quoted, whole=spec.kind is ValueKind.WHOLE_WORDS)
    if spec.name != "place" or term is None or len(value.pieces) > 1:
        return term
    return [term, *read_place(word_line(value.text))]


def _id_or_words(value: Alternative, _: FilterSpec) -> Operand | list[Operand] | None:
    if not value.quoted and re.fullmatch(r"\d{1,9}", value.text, re.ASCII):
        return int(value.text) or None
    term = read_term(value.text, quoted=value.quoted)
    models = [] if value.quoted else read_models(value.text)
    return [term, *models] if term and models else term


def _uid(value: Alternative, _: FilterSpec) -> Operand:
    text = value.text.lower()
    if is_hash(text):
        return Uid(text, "hash")
    if is_uid(text, PHOTO):
        return Uid(text, "photo_uid")
    if is_uid(text, FILE):
        return Uid(text, "file_uid")
    raise ValueError(text)


def _photo(value: Alternative, spec: FilterSpec) -> Operand:
    text = value.text.lower()
    if not is_uid(text, PHOTO):
        raise ValueError(text)
    return Uid(text, spec.columns[0])


def _country(value: Alternative, _: FilterSpec) -> Operand:
    code = country_code(value.text) or value.text.lower()
    if not re.fullmatch(r"[a-z]{2}|0", code):  # some clients send 0 for no country, in which no photo is
        raise ValueError(code)
    return Pattern((code,))


def _extension(value: Alternative, _: FilterSpec) -> Operand:
    extension = fold(value.text).removeprefix(".")
    if not re.fullmatch(r"\w{1,16}", extension):
        raise ValueError(extension)
    return Pattern(("", f".{extension}"))


_ITEMS: dict[ValueKind, _Reader] = {
    ValueKind.TEXT: _text,
    ValueKind.TYPE: _type,
    ValueKind.PATH: _path,
    ValueKind.PROSE: _prose,
    ValueKind.NAME: _name,
    ValueKind.WORDS: _words,
    ValueKind.WHOLE_WORDS: _words,
    ValueKind.ID_OR_WORDS: _id_or_words,
    ValueKind.UID: _uid,
    ValueKind.PHOTO: _photo,
    ValueKind.EXTENSION: _extension,
    ValueKind.COUNTRY: _country,
    ValueKind.COLOR: lambda value, _: COLOR_NUMBERS[value.text.lower()],
    ValueKind.INTEGER: lambda value, spec: values.read_range(value.text, spec.least),
    ValueKind.SIGNED: lambda value, _: [*values.read_signed(value.text)],
    ValueKind.BYTES: lambda value, spec: values.read_bytes(value.text, spec.least),
    ValueKind.CALENDAR: lambda value, spec: values.read_calendar(value.text, spec.least),
    ValueKind.MONTH: lambda value, spec: values.read_month(value.text, spec.least),
    ValueKind.WEEKDAY: lambda value, spec: values.read_weekday(value.text, spec.least),
    ValueKind.AT_LEAST: lambda value, spec: values.read_least(value.text, spec.least),
    ValueKind.COUNT: _count,
    ValueKind.ABSENT: _text,
    ValueKind.CHROMA: lambda value, spec: values.read_chroma(value.text, spec.least),
    ValueKind.DECIMAL: lambda value, spec: values.read_decimal(value.text, spec.least),
    ValueKind.TAKEN: lambda value, _: values.read_days(value.text),
    ValueKind.BEFORE: lambda value, _: values.read_before(value.text),
    ValueKind.AFTER: lambda value, _: values.read_after(value.text),
    ValueKind.NEAR: lambda value, _: areas.read_near(value.text),
    ValueKind.BOX: lambda value, _: areas.read_box(value.text),
    ValueKind.CELL: lambda value, _: areas.read_cell(value.text),
    ValueKind.PLUS_CODE: lambda value, _: areas.read_plus_code(value.text),
}


def read_filter(spec: FilterSpec, raw: str, source: Span) -> Node:
    """Read a value of the filter `spec`, and return the condition; `Everything` if there is no value.

    Args:
        raw: its value as written, with quotes and operators, as `lexer` describes it.

    Raises:
        InvalidQueryError: the value is not valid for this filter.
    """
    groups = read_alternatives(raw, spec.operators, empties=spec.kind is ValueKind.PROSE)
    if spec.kind is ValueKind.STATE:
        return conjunction(_read_states(spec, group, source) for group in groups)
    if spec.kind in _SINGLE:
        operands = [_read_single(spec, group[0], source) for group in groups]
    else:
        operands = [_read_choice(spec, group, source) for group in groups]
    filters: list[Node] = [Filter(spec.name, operand, source) for operand in operands if operand is not None]
    node = filters[0] if len(filters) == 1 else conjunction(filters)
    if spec.name == "album" and (title := _TITLE_WITH_AND.fullmatch(raw)):
        return disjunction([Filter(spec.name, Choice((Pattern((word_line(title[1]),)),)), source), node])
    return node


def _read_single(spec: FilterSpec, value: Alternative, source: Span) -> Value | None:
    try:
        return _SINGLE[spec.kind](value.text)
    except (KeyError, ValueError) as error:
        raise _unreadable(spec, value, source, error) from error


def _read_choice(spec: FilterSpec, group: list[Alternative], source: Span) -> Choice | None:
    read = _ITEMS[spec.kind]
    wanted: list[Operand] = []
    unwanted: list[Operand] = []
    spellings: list[Operand] = []
    for value in group:
        try:
            item = read(value, spec)
        except (KeyError, ValueError) as error:
            raise _unreadable(spec, value, source, error) from error
        means_any = spec.kind is ValueKind.PROSE and not value.quoted and value.text.lower() == "true"
        chosen = unwanted if value.negated != means_any else wanted  # any text is the opposite of no text
        operands = item if isinstance(item, list) else [item] if item is not None else []
        if operands and operands[0] not in spellings:  # beside `img_1.jpg`, `img_1` adds nothing
            chosen += operands
            spellings += operands[1:]
    return Choice(tuple(wanted), tuple(unwanted)) if wanted or unwanted else None


def _unreadable(spec: FilterSpec, value: Alternative, source: Span, error: Exception) -> InvalidQueryError:
    name = excerpt(value.text)
    if isinstance(error, TooLongError):
        msg = Message(
            "{name} has more than {most} bytes when it is folded", name=excerpt(value.text), most=LONGEST_PATTERN
        )
        return _refused(spec, value, source, msg)
    msg = Message("{name} is not {message}", name=name, message=Message(spec.kind.expected))
    known = {ValueKind.COLOR: COLORS, ValueKind.TYPE: TYPES, ValueKind.COUNTRY: country_codes()}.get(spec.kind, ())
    return _refused(spec, value, source, did_you_mean(msg, value.text, known))


def _refused(spec: FilterSpec, value: Alternative, source: Span, why: str) -> InvalidQueryError:
    msg = of_field(spec.name, why)
    return InvalidQueryError(msg, field=source.field, position=source.start + value.start)
