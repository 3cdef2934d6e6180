"""Rows of the table of filters: the kinds of values, their description in messages, and short forms for rows."""

from dataclasses import dataclass
from enum import Enum

from photosvc.core.vocabulary import COLORS
from photosvc.query.nodes import Choice, Operand, Pattern

BOOLEANS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
#: Most wildcards in one value.
MOST_WILDCARDS = 8
WORDS = "|!-*&"
RANGE = "|!~"
CHOICE = "|!-"
TRUE, FALSE = Choice((True,)), Choice((False,))


class Kind(Enum):
    """The kind of a filter's values: how their text is read and compared."""

    TEXT = "text", f"text with at most {MOST_WILDCARDS} wildcards"
    """The whole text, folded; `*` stands for any characters."""
    PATH = "path", f"a path with at most {MOST_WILDCARDS} wildcards"
    """Like text; slashes at both ends are dropped, and `/` alone is the top folder."""
    PROSE = "prose", f"words, a text with at most {MOST_WILDCARDS} wildcards, true or false"
    """Words by the rule of free text; with wildcards the whole text, like text. `false` is the empty text."""
    NAME = "name", f"a name with at most {MOST_WILDCARDS} wildcards"
    """The folded words of a name, so that the slug `jane-doe` finds `Jane Doe`; for albums also the UID.

    In quotes, the whole name. Otherwise the beginning of the title of an album, or whole words in the name of a person.
    """
    WORDS = "words", "words, with * only at their end"
    """Words or phrases within a name, by the rule of free text."""
    WHOLE_WORDS = "whole words", "whole words, or beginnings with * at their end"
    """Like words, but a word is the beginning of longer ones only with a `*`."""
    ID_OR_WORDS = "id or words", "an id, or words with * only at their end"
    """A number is an id, anything else words."""
    UID = "uid", "the UID of a photo or file, or a SHA1 hash"
    PHOTO = "photo", "the UID of a photo"
    EXTENSION = "extension", "the end of a file name, such as jpg"
    STATE = "state", "a property of photos, such as favorite, raw, geo or title"
    """A state or property of photos: another filter (see `reader.STATES`)."""
    COUNTRY = "country", "two letters, such as de, or the name of a country"
    COLOR = "color", ", ".join(COLORS)
    INTEGER = "integer", "a number or a range such as 100-400, 100- or <=400"
    """Whole numbers and ranges; `-5` is the range up to 5."""
    SIGNED = "signed integer", "a number or a range such as -10..400, 100- or <=400"
    """Whole numbers and ranges; `-5` is minus five, `*-5` the range up to five; no range contains 0, for unknown."""
    BYTES = "bytes", "a number of bytes or a range, also with units, such as 500kb-2mb or >5mb"
    CALENDAR = "calendar number", "a number or a range such as 5-7, >=5 or -7"
    """Like integer; 0 counts as no value, and `-1` is unknown."""
    MONTH = "month", "a month such as 7, july or jul, or a range such as june-august"
    """Like calendar number, or names."""
    WEEKDAY = "weekday", "a day of the week such as 7, sunday or sun, or a range such as mon-fri"
    """Like integer, or names."""
    AT_LEAST = "least number", "a number or a range such as 3-5 or <3"
    """A single number is the lower end of a range; 0 counts as no value."""
    COUNT = "count", "a number, a range such as 1-3, yes, no or new"
    """Like least number; 0 and `false` mean none, `true` one or more, `new` one or more without a name."""
    CHROMA = "chroma", "a number or a range such as 10-50 or >50"
    """A single number from 1 to 9 is an upper limit, a higher number a lower limit."""
    DECIMAL = "decimal", "a number or a range such as 1.8-2.8, >=4 or -4"
    """Decimal numbers and ranges; a single number has a tolerance of 0.01."""
    FLAG = "flag", ", ".join(BOOLEANS)
    """True or false; false selects the opposite."""
    SWITCH = "switch", ", ".join(BOOLEANS)
    """True or false; false counts as no value."""
    TAKEN = "days", "a day such as 2023, 2023-05 or 2023-05-01, or a range such as 2023..2025 or >=2023-05"
    BEFORE = "up to day", "a day such as 2023, 2023-05 or 2023-05-01"
    AFTER = "from day", "a day such as 2023, 2023-05 or 2023-05-01"
    SINCE = "since", "a day such as 2023-05-01, or a moment such as 2023-05-01T10:00:00Z"
    LATITUDE = "latitude", "degrees from -90 to 90"
    LONGITUDE = "longitude", "degrees from -180 to 180"
    DISTANCE = "kilometres", "kilometres"
    NEAR = "near", 'the UID of a photo, or the name of a place such as tokyo or "Paris, Texas"'
    BOX = "box", "north,east,south,west or latitude,longitude in degrees"
    CELL = "s2 cell", "an S2 cell token, such as 4799e370ca54"
    PLUS_CODE = "plus code", "a full plus code, such as 8FWCHX7W+"
    ABSENT = "absent", "any text"
    """Any text; matches nothing, because the library does not record this property."""

    def __init__(self, _name: str, expected: str) -> None:
        self.expected = expected
        """The valid values, in the words of error messages and documentation."""


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """A search filter: a row of the table that parser, SQL, OpenAPI, documentation and command line are made from."""

    name: str
    kind: Kind
    columns: tuple[str, ...]
    """The columns that are compared; the filter matches if any of them does."""
    help: str
    """One sentence."""
    example: str
    """A query that can be run."""
    aliases: tuple[str, ...] = ()
    operators: str = ""
    """The operators that values may use: `|` or, `!` and `-` not, `*` wildcard, `&` and, `~` ranges."""
    least: float | None = None
    """The lowest known value, at which ranges begin; lower values mean «unknown»."""
    means: Choice | None = None
    """For flags and switches: the values of the column that count as true; None if the column is a boolean."""


#: The operators of filters on texts, as in `FilterSpec.operators`.
TEXT = "|!-*"


def is_(*texts: str) -> Choice:
    """Return a choice of any of these texts."""
    return Choice(tuple(Pattern((text,)) for text in texts))


def is_not(item: Operand) -> Choice:
    """Return a choice of everything except this value."""
    return Choice(none_of=(item,))


def text(
    name: str, help_: str, example: str, *columns: str, kind: Kind = Kind.TEXT, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """Make a filter on whole texts."""
    return FilterSpec(name, kind, columns or (name,), help_, example, aliases, TEXT)


def words(
    name: str, column: str, help_: str, example: str, kind: Kind = Kind.WORDS, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """Make a filter on words within texts."""
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
    """Make a filter on numbers and ranges of numbers."""
    return FilterSpec(name, kind, (column,), help_, example, aliases, RANGE, least)


def flag(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """Make a filter that is true or false; false selects the opposite."""
    return FilterSpec(name, Kind.FLAG, (column,), help_, f"{name}:true", means=means)


def switch(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """Make a filter that is true or has no effect."""
    return FilterSpec(name, Kind.SWITCH, (column,), help_, f"{name}:true", means=means)
