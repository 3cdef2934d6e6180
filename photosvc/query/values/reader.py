"""Readers of filter values: from text to operands, one reader for each kind."""

import re
from collections.abc import Callable
from typing import TypeAlias

from photosvc.core.ids import ALBUM, FILE, PHOTO, is_hash, is_uid
from photosvc.core.values.colors import COLOR_NUMBERS, COLORS
from photosvc.query.errors import InvalidQueryError, did_you_mean, shown
from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.fold import fold, words
from photosvc.query.nodes import Filter, Node, Source, conjunction
from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Range, Uid, Value, Word
from photosvc.query.values.alternatives import Alternative, UnclosedQuoteError, read_groups
from photosvc.query.values.areas import (
    read_box,
    read_cell,
    read_distance,
    read_latitude,
    read_longitude,
    read_near,
    read_plus_code,
)
from photosvc.query.values.countries import country_code, country_codes
from photosvc.query.values.days import read_after, read_before, read_days, read_since
from photosvc.query.values.expected import BOOLEANS, EXPECTED, MOST_WILDCARDS
from photosvc.query.values.ranges import (
    read_bytes,
    read_calendar,
    read_chroma,
    read_decimal,
    read_least,
    read_month,
    read_range,
    read_signed,
)
from photosvc.query.values.states import read_states
from photosvc.query.values.terms import read_term

#: What asks for any text or none, where a text is compared.
_HAS_ANY = frozenset(("true", "false"))

LONGEST_PATTERN = 10_000
"""Bytes of a folded text; one sign can fold to 18 letters, and SQLite refuses patterns of more than 50,000 bytes."""


class TooLongError(ValueError):
    """A text has more bytes than databases compare."""


#: Reads an alternative as one operand, as a list of which any may match, or as None: it is not set.
_Reader: TypeAlias = Callable[[Alternative, FilterSpec], Operand | list[Operand] | None]


def _text(found: Alternative, _: FilterSpec) -> Operand | None:
    return _pattern([fold(piece) for piece in found.pieces], quoted=found.quoted)


def _prose(found: Alternative, spec: FilterSpec) -> Operand | None:
    if found.pieces == ("",) or (not found.quoted and found.text.lower() in _HAS_ANY):
        return Pattern(("",))
    term = read_term(found.text, quoted=found.quoted) if len(found.pieces) == 1 else None
    return term or _text(found, spec)


def _count(found: Alternative, spec: FilterSpec) -> Operand | None:
    if found.text == "0" or BOOLEANS.get(found.text.lower(), True) is False:
        return Range(0, 0)
    return Range(1, None) if found.text.lower() in BOOLEANS else read_least(found.text, spec.least)


def _path(found: Alternative, _: FilterSpec) -> Operand | None:
    pieces = [fold(piece) for piece in found.pieces]
    dropped = "/" if found.quoted else "/ "
    pieces[0], last = pieces[0].lstrip(dropped), pieces[-1]
    pieces[-1] = pieces[-1].rstrip(dropped)
    return Pattern(("",)) if pieces == [""] and "/" in last else _pattern(pieces, quoted=found.quoted)


def _pattern(pieces: list[str], *, quoted: bool = False) -> Pattern | None:
    """A pattern without blanks around it unless it is quoted; None for an empty text and for wildcards: not set.

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


def _name(found: Alternative, spec: FilterSpec) -> Operand | None:
    pattern = _pattern([_spaced(piece) for piece in found.pieces])
    if spec.name == "album" and pattern and len(pattern.pieces) == 1 and is_uid(pattern.pieces[0], ALBUM):
        return Uid(pattern.pieces[0], spec.columns[0])
    return pattern


def _spaced(piece: str) -> str:
    """The words of a piece of a name; blanks beside a wildcard are kept, because they separate words."""
    body = " ".join(words(piece))
    return f"{' ' * piece[0].isspace()}{body}{' ' * piece[-1].isspace()}" if body else ""


def _words(found: Alternative, spec: FilterSpec) -> Word | Phrase | None:
    return read_term(found.text, quoted=found.quoted, whole=spec.kind is Kind.WHOLE_WORDS)


def _id_or_words(found: Alternative, spec: FilterSpec) -> Operand | None:
    if not found.quoted and re.fullmatch(r"\d{1,9}", found.text, re.ASCII):
        return int(found.text) or None
    return _words(found, spec)


def _uid(found: Alternative, _: FilterSpec) -> Operand:
    text = found.text.lower()
    if is_hash(text):
        return Uid(text, "hash")
    if is_uid(text, PHOTO):
        return Uid(text, "photo_uid")
    if is_uid(text, FILE):
        return Uid(text, "file_uid")
    raise ValueError(text)


def _photo(found: Alternative, spec: FilterSpec) -> Operand:
    text = found.text.lower()
    if not is_uid(text, PHOTO):
        raise ValueError(text)
    return Uid(text, spec.columns[0])


def _country(found: Alternative, _: FilterSpec) -> Operand:
    code = country_code(found.text) or found.text.lower()
    if not re.fullmatch(r"[a-z]{2}", code):
        raise ValueError(code)
    return Pattern((code,))


def _extension(found: Alternative, _: FilterSpec) -> Operand:
    extension = fold(found.text).removeprefix(".")
    if not re.fullmatch(r"\w{1,16}", extension):
        raise ValueError(extension)
    return Pattern(("", f".{extension}"))


def _color(found: Alternative, _: FilterSpec) -> Operand:
    return COLOR_NUMBERS[found.text.lower()]


_ITEMS: dict[Kind, _Reader] = {
    Kind.TEXT: _text,
    Kind.PATH: _path,
    Kind.PROSE: _prose,
    Kind.NAME: _name,
    Kind.WORDS: _words,
    Kind.WHOLE_WORDS: _words,
    Kind.ID_OR_WORDS: _id_or_words,
    Kind.UID: _uid,
    Kind.PHOTO: _photo,
    Kind.EXTENSION: _extension,
    Kind.COUNTRY: _country,
    Kind.COLOR: _color,
    Kind.INTEGER: lambda found, spec: read_range(found.text, spec.least),
    Kind.SIGNED: lambda found, _: [*read_signed(found.text)],
    Kind.BYTES: lambda found, spec: read_bytes(found.text, spec.least),
    Kind.CALENDAR: lambda found, spec: read_calendar(found.text, spec.least),
    Kind.MONTH: lambda found, spec: read_month(found.text, spec.least),
    Kind.AT_LEAST: lambda found, spec: read_least(found.text, spec.least),
    Kind.COUNT: _count,
    Kind.ABSENT: _text,
    Kind.CHROMA: lambda found, spec: read_chroma(found.text, spec.least),
    Kind.DECIMAL: lambda found, spec: read_decimal(found.text, spec.least),
    Kind.TAKEN: lambda found, _: read_days(found.text),
    Kind.BEFORE: lambda found, _: read_before(found.text),
    Kind.AFTER: lambda found, _: read_after(found.text),
    Kind.NEAR: lambda found, _: read_near(found.text),
    Kind.BOX: lambda found, _: read_box(found.text),
    Kind.CELL: lambda found, _: read_cell(found.text),
    Kind.PLUS_CODE: lambda found, _: read_plus_code(found.text),
}

#: Kinds of one value: no alternatives, no signs.
_SINGLE: dict[Kind, Callable[[str], Value | None]] = {
    Kind.FLAG: lambda text: BOOLEANS[text.lower()],
    Kind.SWITCH: lambda text: BOOLEANS[text.lower()] or None,
    Kind.SINCE: read_since,
    Kind.LATITUDE: read_latitude,
    Kind.LONGITUDE: read_longitude,
    Kind.DISTANCE: read_distance,
}


def read_filter(spec: FilterSpec, raw: str, source: Source) -> Node:
    """The condition of the filter `spec` with this value, as written; `Everything` when it is not set.

    Args:
        spec: the filter.
        raw: its value with quotes and operators, as `alternatives` describes it.
        source: the position of the value.

    Raises:
        InvalidQueryError: the value is not one of this filter.

    """
    try:
        groups = read_groups(raw, spec.operators, empties=spec.kind is Kind.PROSE)
    except UnclosedQuoteError as error:
        raise InvalidQueryError(f"{spec.name}: {error}", field=source.field, position=source.start) from error
    if spec.kind is Kind.STATE:
        return read_states(spec, groups, source)
    if spec.kind in _SINGLE:
        values = [_read_single(spec, group[0], source) for group in groups]
    else:
        values = [_read_choice(spec, group, source) for group in groups]
    filters: list[Node] = [Filter(spec.name, value, source) for value in values if value is not None]
    return filters[0] if len(filters) == 1 else conjunction(filters)


def _read_single(spec: FilterSpec, found: Alternative, source: Source) -> Value | None:
    try:
        return _SINGLE[spec.kind](found.text)
    except (KeyError, ValueError) as error:
        raise _unreadable(spec, found, source) from error


def _read_choice(spec: FilterSpec, group: list[Alternative], source: Source) -> Choice | None:
    read = _ITEMS[spec.kind]
    wanted: list[Operand] = []
    unwanted: list[Operand] = []
    for found in group:
        try:
            item = read(found, spec)
        except TooLongError as error:
            msg = f"{spec.name}: {shown(found.text)} has more than {LONGEST_PATTERN} bytes when it is folded"
            raise InvalidQueryError(msg, field=source.field, position=source.start + found.start) from error
        except (KeyError, ValueError) as error:
            raise _unreadable(spec, found, source) from error
        if item is not None:
            without = spec.kind is Kind.PROSE and not found.quoted and found.text.lower() == "true"
            (unwanted if found.negated is not without else wanted).extend(item if isinstance(item, list) else [item])
    return Choice(tuple(wanted), tuple(unwanted)) if wanted or unwanted else None


def _unreadable(spec: FilterSpec, found: Alternative, source: Source) -> InvalidQueryError:
    hint = ""
    if spec.kind is Kind.COLOR:
        hint = did_you_mean(found.text, COLORS)
    elif spec.kind is Kind.COUNTRY:
        hint = did_you_mean(found.text, country_codes())
    return InvalidQueryError(
        f"{spec.name}: {shown(found.text)} is not {EXPECTED[spec.kind]}{hint}",
        field=source.field,
        position=source.start + found.start,
    )
