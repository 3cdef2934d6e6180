"""The query as a tree of frozen nodes, all that a compiler or a matcher needs to know.

Trees are in normal form: `And` and `Or` have at least two parts and never a part of their own kind, `Not` never
holds a `Not`, and `Everything` stands only alone.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from photosvc.query.operands import Choice, Phrase, Value, Word


class Source(NamedTuple):
    """Where something was written: the request parameter and the characters `start` up to `end` of its text."""

    field: str = "q"
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Filter:
    """A row of `FILTERS`, by its name, and what is asked of it. Nodes are equal whatever their source."""

    name: str
    value: Value
    source: Source = field(default=Source(), compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """Whatever the part does not match."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """What every part matches."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """What any part matches."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Everything:
    """No condition at all."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """No photo matches. Never parsed; it stands for a name that was looked up and does not exist."""


Node: TypeAlias = Word | Phrase | Filter | Not | And | Or | Everything | Nothing


def conjunction(parts: Iterable[Node]) -> Node:
    """What every one of `parts` matches, in normal form; of no parts: everything."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, And):
            flat.extend(part.parts)
        elif not isinstance(part, Everything):
            flat.append(part)
    if not flat:
        return Everything()
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def disjunction(parts: Iterable[Node]) -> Node:
    """What any of `parts` matches, in normal form. A part without a condition says nothing and is left out."""
    flat: list[Node] = []
    for part in parts:
        if isinstance(part, Or):
            flat.extend(part.parts)
        elif not isinstance(part, Everything):
            flat.append(part)
    if not flat:
        return Everything()
    return flat[0] if len(flat) == 1 else Or(tuple(flat))


def negation(part: Node) -> Node:
    """What `part` does not match, in normal form. The negation of no condition says nothing either."""
    if isinstance(part, Not):
        return part.part
    return part if isinstance(part, Everything) else Not(part)


def conjuncts(node: Node) -> tuple[Node, ...]:
    """The conditions that all must hold: the parts of an `And`, none of `Everything`, else the node itself."""
    if isinstance(node, And):
        return node.parts
    return () if isinstance(node, Everything) else (node,)


def terms(node: Node) -> int:
    """How many things a condition compares with: words of a phrase, alternatives of a filter, those of all parts."""
    if isinstance(node, Filter):
        value = node.value
        return len(value.any_of) + len(value.none_of) if isinstance(value, Choice) else 1
    if isinstance(node, And | Or):
        return sum(map(terms, node.parts))
    if isinstance(node, Phrase):
        return len(node.words)
    return 0 if isinstance(node, Everything | Nothing) else 1
