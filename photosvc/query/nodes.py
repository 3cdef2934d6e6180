"""The query as a tree of frozen nodes.

Trees are in normal form: `And` and `Or` have at least two parts, each once, and no part of their own type, `Not`
contains no `Not`, and `Everything` is never part of another node.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from photosvc.query.operands import Choice, Operand, Pattern, Phrase, Value, Word


class Source(NamedTuple):
    """The origin of a node: the request parameter, and the characters `start` up to `end` of its text."""

    field: str = "q"
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of `FILTERS`, by name, with its value. Nodes are equal when they differ only in their source."""

    name: str
    value: Value
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Matches what the part does not match."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """Matches what every part matches."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Matches what any part matches."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """Matches every photo."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Matches no photo. Never parsed: the resolver puts it in place of a name that does not exist."""


Node: TypeAlias = Word | Phrase | Filter | Not | And | Or | Everything | Nothing


def conjunction(parts: Iterable[Node]) -> Node:
    """What every one of `parts` matches, in normal form; of no parts: everything."""
    return _joined(And, parts)


def disjunction(parts: Iterable[Node]) -> Node:
    """What any of `parts` matches, in normal form. `Everything` is left out: it comes from text without letters."""
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
    """What `part` does not match, in normal form. `Everything` stays as it is: it comes from text without letters."""
    if isinstance(part, Not):
        return part.part
    return part if isinstance(part, Everything) else Not(part)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The conditions that all must hold: the parts of an `And`, none of `Everything`, else the node itself."""
    if isinstance(node, And):
        return node.parts
    return () if isinstance(node, Everything) else (node,)


def levels(node: Node) -> int:
    """How often `And` and `Or` change from the top of a query to its innermost condition.

    A negated `And` counts as an `Or` of negations, and the other way round: so it is compiled.
    """
    return _levels(node, None, negated=False)


def _levels(node: Node, above: bool | None, *, negated: bool) -> int:
    match node:
        case Not(part):
            return _levels(part, above, negated=not negated)
        case And(parts) | Or(parts):
            either = isinstance(node, Or) is not negated
            return (either is not above) + max(_levels(part, either, negated=negated) for part in parts)
        case _:
            return 0


def terms(node: Node) -> int:
    """The number of values that a condition compares with: words of a phrase, alternatives of a filter.

    A pattern counts as its wildcards: each of them is a search of its own for the text behind it.
    """
    if isinstance(node, Filter):
        value = node.value
        return sum(map(_comparisons, value.any_of + value.none_of)) if isinstance(value, Choice) else 1
    if isinstance(node, And | Or):
        return sum(map(terms, node.parts))
    if isinstance(node, Phrase):
        return len(node.words)
    return 0 if isinstance(node, Everything | Nothing) else 1


def _comparisons(operand: Operand) -> int:
    return max(1, len(operand.pieces) - 1) if isinstance(operand, Pattern) else 1
