"""Queries as trees of frozen nodes, the typed values of their filters, and the error of invalid queries.

Trees are in normal form: `And` and `Or` have at least two different parts, none of their own type, `Not` contains no
`Not`, and `Everything` is never part of another node.

The value of a filter is a `Choice` of operands of any type; flags are plain `bool`, degrees and kilometres plain
`float`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, NamedTuple, TypeAlias

from photosvc.core.errors import InvalidValueError
from photosvc.core.geo import Box
from photosvc.core.message import Message
from photosvc.query.fold import fold

_SHOWN = 40


class InvalidQueryError(InvalidValueError):
    """The search query is not valid.

    Args:
        field: the request parameter with the error: `q`, `filter` or the name of a filter.
        position: the number of characters before the error in the text of the parameter; None if it has no position.
    """

    def __init__(self, message: str, *, field: str | None = None, position: int | None = None) -> None:
        if position is not None:
            message = Message("{message} (character {position})", message=Message(message), position=position + 1)
        super().__init__(message, field=field)
        self.position = position


def excerpt(text: str) -> str:
    """Quote `text` for a message: short and printable."""
    clipped = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return '"' + "".join(c if c.isprintable() else "�" for c in clipped) + '"'


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word or one of its other forms; with `prefix`, also each word that starts with it."""

    text: str
    prefix: bool
    forms: tuple[str, ...] = ()
    """Whole words that count as this word: its plural or singular."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Two or more folded words in sequence; with `prefix`, the last one may be the start of a word."""

    words: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """Folded text between wildcards: `("img", "")` is `img*`; a single piece is the whole text."""

    pieces: tuple[str, ...]

    def matches(self, text: str) -> bool:
        """Return whether the pattern fits the whole folded text; SQL conditions follow the same rule."""
        first, *middle = self.pieces
        text = fold(text)
        if not middle:
            return text == first
        *middle, last = middle
        if not text.startswith(first) or len(text) < len(first) + len(last) or not text.endswith(last):
            return False
        at, end = len(first), len(text) - len(last)
        for piece in middle:
            start = text.find(piece, at, end)
            if start < 0:
                return False
            at = start + len(piece)
        return True


#: Faces without a name, as a value of the filter `faces`.
UNNAMED: Final = Pattern(("new",))


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from `low` up to and including `high`; `None` is no limit."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Days:
    """Local calendar days from `start` up to but not including `end`; `None` is no limit."""

    start: date | None
    end: date | None


@dataclass(frozen=True, slots=True)
class Since:
    """The time from this moment on; aware, UTC."""

    moment: datetime


@dataclass(frozen=True, slots=True)
class Uid:
    """An identifier, and the column that contains it."""

    text: str
    column: str


@dataclass(frozen=True, slots=True)
class Near:
    """The area within `km` of the place where the photo with this UID was taken."""

    uid: str
    km: float | None = None


@dataclass(frozen=True, slots=True)
class Town:
    """The area within `km` of a city, town or village, by its folded name and that of its state or country."""

    name: str
    region: str = ""
    km: float | None = None

    def __str__(self) -> str:
        return f"{self.name}, {self.region}" if self.region else self.name


@dataclass(frozen=True, slots=True)
class Circle:
    """The area within `km` of a point, in degrees."""

    lat: float
    lng: float
    km: float | None = None


@dataclass(frozen=True, slots=True)
class S2Cell:
    """The S2 cell with this token; with `km`, the area within that distance of its centre."""

    token: str
    km: float | None = None


@dataclass(frozen=True, slots=True)
class PlusCode:
    """The area of an Open Location Code; with `km`, the area within that distance of its centre."""

    code: str
    box: Box = field(compare=False)
    km: float | None = None


@dataclass(frozen=True, slots=True)
class MarkerNames:
    """Names of people in the spelling of markers, of which any may match. The resolver makes it, not the parser."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TakenOut:
    """The photos that people removed from the smart album with this id. The resolver makes it, not the parser."""

    album_id: int


Parsed: TypeAlias = Word | Phrase | Pattern | Range | Days | Uid | Near | Town | Circle | S2Cell | Box | PlusCode | int
Resolved: TypeAlias = MarkerNames | TakenOut
Operand: TypeAlias = Parsed | Resolved


@dataclass(frozen=True, slots=True)
class Choice:
    """Any value of `any_of`, or any value at all if it is empty, but no value of `none_of`."""

    any_of: tuple[Operand, ...] = ()
    none_of: tuple[Operand, ...] = ()


Value: TypeAlias = Choice | Since | bool | float


class Span(NamedTuple):
    """The origin of a node: the request parameter, and the characters `start` up to `end` of its text."""

    field: str = "q"
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of `FILTERS`, by name, with its value. Nodes that differ only in their source are equal."""

    name: str
    value: Value
    source: Span = field(default=Span(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a part."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of the parts: all must match."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of the parts: any must match."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """A condition that all photos match."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """A condition that no photo matches. The resolver puts it in place of a name that does not exist."""


Node: TypeAlias = Word | Phrase | Filter | Not | And | Or | Everything | Nothing


def conjunction(parts: Iterable[Node]) -> Node:
    """Join the parts by `And`, in normal form; without parts, return `Everything`."""
    return _joined(And, parts)


def disjunction(parts: Iterable[Node]) -> Node:
    """Join the parts by `Or`, in normal form. `Everything` is left out: it comes from text without letters."""
    return _joined(Or, parts)


def _joined(kind: type[And] | type[Or], parts: Iterable[Node]) -> Node:
    flat: dict[Node, None] = {}
    for part in parts:
        if isinstance(part, kind):
            flat.update(dict.fromkeys(part.parts))
        elif not isinstance(part, Everything):
            flat[part] = None
    if not flat:
        return Everything()
    return next(iter(flat)) if len(flat) == 1 else kind(tuple(flat))


def negation(part: Node) -> Node:
    """Negate the part, in normal form. `Everything` stays as it is: it comes from text without letters."""
    if isinstance(part, Not):
        return part.part
    return part if isinstance(part, Everything) else Not(part)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """Return the conditions that all must hold: the parts of an `And`, none for `Everything`, else the node itself."""
    if isinstance(node, And):
        return node.parts
    return () if isinstance(node, Everything) else (node,)


def leaves(node: Node) -> Iterator[Node]:
    """Yield the conditions of a query, none of which is an `And`, `Or` or `Not`."""
    match node:
        case Not(part):
            yield from leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield node


def levels(node: Node) -> int:
    """Count the changes between `And` and `Or` from the top of a query to its innermost condition.

    A negated `And` counts as an `Or` of negations, and a negated `Or` as an `And`, as they are compiled (De Morgan).
    """
    return _levels(node, None, negated=False)


def _levels(node: Node, parent_is_or: bool | None, *, negated: bool) -> int:
    match node:
        case Not(part):
            return _levels(part, parent_is_or, negated=not negated)
        case And(parts) | Or(parts):
            is_or = isinstance(node, Or) != negated  # De Morgan
            change = 0 if is_or == parent_is_or else 1
            return change + max(_levels(part, is_or, negated=negated) for part in parts)
        case _:
            return 0


def terms(node: Node) -> int:
    """Count the values that a condition compares with: words of a phrase, alternatives of a filter.

    A pattern counts as its number of wildcards, because each wildcard needs a search for the text after it.
    """
    return sum(map(_terms, leaves(node)))


def _terms(part: Node) -> int:
    match part:
        case Filter(_, Choice(any_of, none_of)):
            operands = any_of + none_of
            return sum(max(1, len(op.pieces) - 1) if isinstance(op, Pattern) else 1 for op in operands)
        case Phrase(words):
            return len(words)
        case _:
            return 0 if isinstance(part, Everything | Nothing) else 1
