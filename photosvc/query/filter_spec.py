"""Rows of the table of filters: the kinds of values, their description in messages, and short forms for rows.

Error messages and documentation describe the valid values of a kind in the same words, those of `EXPECTED`.
"""

from dataclasses import dataclass
from enum import StrEnum

from photosvc.core.vocabulary import COLORS
from photosvc.query.nodes import Choice, Operand, Pattern

BOOLEANS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
#: Most wildcards in one value.
MOST_WILDCARDS = 8
WORDS = "|!-*&"
RANGE = "|!~"
CHOICE = "|!-"
TRUE, FALSE = Choice((True,)), Choice((False,))


class Kind(StrEnum):
    """The kind of a filter's values: how their text is read and compared."""

    TEXT = "text"
    """The whole text, folded; `*` stands for any characters."""
    PATH = "path"
    """Like text; slashes at both ends are dropped, and `/` alone is the top folder."""
    PROSE = "prose"
    """Words by the rule of free text; with wildcards the whole text, like text. `false` is the empty text."""
    NAME = "name"
    """The folded words of a name, so that the slug `jane-doe` finds `Jane Doe`; for albums also the UID.

    In quotes, the whole name. Otherwise the beginning of the title of an album, or whole words in the name of a person.
    """
    WORDS = "words"
    """Words or phrases within a name, by the rule of free text."""
    WHOLE_WORDS = "whole words"
    """Like words, but a word is the beginning of longer ones only with a `*`."""
    ID_OR_WORDS = "id or words"
    """A number is an id, anything else words."""
    UID = "uid"
    PHOTO = "photo"
    """The UID of a photo."""
    EXTENSION = "extension"
    """The end of a file name, after its last full stop."""
    STATE = "state"
    """A state or property of photos: another filter (see `reader.STATES`)."""
    COUNTRY = "country"
    """Two letters, or a name."""
    COLOR = "color"
    INTEGER = "integer"
    """Whole numbers and ranges; `-5` is the range up to 5."""
    SIGNED = "signed integer"
    """Whole numbers and ranges; `-5` is minus five, `*-5` the range up to five; no range contains 0, for unknown."""
    BYTES = "bytes"
    """Like integer, with units."""
    CALENDAR = "calendar number"
    """Like integer; 0 counts as no value, and `-1` is unknown."""
    MONTH = "month"
    """Like calendar number, or names."""
    WEEKDAY = "weekday"
    """Like integer, or names."""
    AT_LEAST = "least number"
    """A single number is the lower end of a range; 0 counts as no value."""
    COUNT = "count"
    """Like least number; 0 and `false` mean none, `true` one or more, `new` one or more without a name."""
    CHROMA = "chroma"
    """A single number from 1 to 9 is an upper limit, a higher number a lower limit."""
    DECIMAL = "decimal"
    """Decimal numbers and ranges; a single number has a tolerance of 0.01."""
    FLAG = "flag"
    """True or false; false selects the opposite."""
    SWITCH = "switch"
    """True or false; false counts as no value."""
    TAKEN = "days"
    BEFORE = "up to day"
    AFTER = "from day"
    SINCE = "since"
    LATITUDE = "latitude"
    LONGITUDE = "longitude"
    DISTANCE = "kilometres"
    NEAR = "near"
    BOX = "box"
    CELL = "s2 cell"
    PLUS_CODE = "plus code"
    ABSENT = "absent"
    """Any text; matches nothing, because the library does not record this property."""


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


#: The valid values of each kind, in the words of error messages and documentation.
EXPECTED: dict[Kind, str] = {
    Kind.TEXT: f"text with at most {MOST_WILDCARDS} wildcards",
    Kind.PATH: f"a path with at most {MOST_WILDCARDS} wildcards",
    Kind.PROSE: f"words, a text with at most {MOST_WILDCARDS} wildcards, true or false",
    Kind.NAME: f"a name with at most {MOST_WILDCARDS} wildcards",
    Kind.WORDS: "words, with * only at their end",
    Kind.WHOLE_WORDS: "whole words, or beginnings with * at their end",
    Kind.ID_OR_WORDS: "an id, or words with * only at their end",
    Kind.UID: "the UID of a photo or file, or a SHA1 hash",
    Kind.PHOTO: "the UID of a photo",
    Kind.EXTENSION: "the end of a file name, such as jpg",
    Kind.STATE: "a property of photos, such as favorite, raw, geo or title",
    Kind.COUNTRY: "two letters, such as de, or the name of a country",
    Kind.COLOR: ", ".join(COLORS),
    Kind.INTEGER: "a number or a range such as 100-400, 100- or <=400",
    Kind.SIGNED: "a number or a range such as -10..400, 100- or <=400",
    Kind.BYTES: "a number of bytes or a range, also with units, such as 500kb-2mb or >5mb",
    Kind.CALENDAR: "a number or a range such as 5-7, >=5 or -7",
    Kind.MONTH: "a month such as 7, july or jul, or a range such as june-august",
    Kind.WEEKDAY: "a day of the week such as 7, sunday or sun, or a range such as mon-fri",
    Kind.AT_LEAST: "a number or a range such as 3-5 or <3",
    Kind.COUNT: "a number, a range such as 1-3, yes, no or new",
    Kind.ABSENT: "any text",
    Kind.CHROMA: "a number or a range such as 10-50 or >50",
    Kind.DECIMAL: "a number or a range such as 1.8-2.8, >=4 or -4",
    Kind.FLAG: ", ".join(BOOLEANS),
    Kind.SWITCH: ", ".join(BOOLEANS),
    Kind.TAKEN: "a day such as 2023, 2023-05 or 2023-05-01, or a range such as 2023..2025 or >=2023-05",
    Kind.BEFORE: "a day such as 2023, 2023-05 or 2023-05-01",
    Kind.AFTER: "a day such as 2023, 2023-05 or 2023-05-01",
    Kind.SINCE: "a day such as 2023-05-01, or a moment such as 2023-05-01T10:00:00Z",
    Kind.LATITUDE: "degrees from -90 to 90",
    Kind.LONGITUDE: "degrees from -180 to 180",
    Kind.DISTANCE: "kilometres",
    Kind.NEAR: 'the UID of a photo, or the name of a place such as tokyo or "Paris, Texas"',
    Kind.BOX: "north,east,south,west or latitude,longitude in degrees",
    Kind.CELL: "an S2 cell token, such as 4799e370ca54",
    Kind.PLUS_CODE: "a full plus code, such as 8FWCHX7W+",
}
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
