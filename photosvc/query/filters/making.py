"""Makes rows of the table of filters: what filters of one kind have in common."""

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.operands import Choice, Operand, Pattern

#: The operators of a kind of values, see `FilterSpec.operators`.
TEXT = "|!-*"
WORDS = "|!-*&"
RANGE = "|!~"
CHOICE = "|!-"

TRUE, FALSE = Choice((True,)), Choice((False,))


def is_(*texts: str) -> Choice:
    """Any of these texts."""
    return Choice(tuple(Pattern((text,)) for text in texts))


def is_not(item: Operand) -> Choice:
    """All but this value."""
    return Choice(none_of=(item,))


def text(
    name: str, help_: str, example: str, *columns: str, kind: Kind = Kind.TEXT, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """A filter on whole texts."""
    return FilterSpec(name, kind, columns or (name,), help_, example, aliases, TEXT)


def words(
    name: str, column: str, help_: str, example: str, kind: Kind = Kind.WORDS, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """A filter on words within texts."""
    return FilterSpec(name, kind, (column,), help_, example, aliases, WORDS)


def number(
    name: str,
    column: str,
    help_: str,
    example: str,
    kind: Kind = Kind.INTEGER,
    least: float | None = None,
    aliases: tuple[str, ...] = (),
) -> FilterSpec:
    """A filter on numbers and ranges of them."""
    return FilterSpec(name, kind, (column,), help_, example, aliases, RANGE, least)


def flag(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """A filter that is true or its opposite."""
    return FilterSpec(name, Kind.FLAG, (column,), help_, f"{name}:true", means=means)


def switch(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """A filter that is true or not set."""
    return FilterSpec(name, Kind.SWITCH, (column,), help_, f"{name}:true", means=means)
