"""The description of a filter: its row in the table of filters, and the kind of its values."""

from dataclasses import dataclass
from enum import StrEnum

from photosvc.query.operands import Choice


class Kind(StrEnum):
    """How the text of a filter value is read and compared."""

    TEXT = "text"
    """The whole text, folded; `*` stands for any characters."""
    PATH = "path"
    """Like text; slashes at both ends are dropped, `/` alone is the top folder."""
    PROSE = "prose"
    """Words by the rule of free text; with wildcards the whole text, as `text`. `false` is the empty text."""
    NAME = "name"
    """The whole name by its folded words, so that the slug `jane-doe` names `Jane Doe`; of albums also the UID."""
    WORDS = "words"
    """Words or phrases within a name, by the rule of free text."""
    WHOLE_WORDS = "whole words"
    """Like words, which are beginnings of longer ones only with a `*`."""
    ID_OR_WORDS = "id or words"
    """A number is an id, anything else words."""
    UID = "uid"
    PHOTO = "photo"
    """The UID of a photo."""
    EXTENSION = "extension"
    """The end of a file name, behind its last point."""
    STATE = "state"
    """What a photo may be or have: another filter (see `values.states`)."""
    COUNTRY = "country"
    """Two letters, or a name."""
    COLOR = "color"
    INTEGER = "integer"
    """Whole numbers and ranges; `-5` is up to 5."""
    SIGNED = "signed integer"
    """Whole numbers and ranges; `-5` is minus five, `*-5` up to five; no range contains 0, the unknown one."""
    BYTES = "bytes"
    """Like integer, with units."""
    CALENDAR = "calendar number"
    """Like integer; 0 is not set and `-1` unknown."""
    MONTH = "month"
    """Like calendar number, or names."""
    AT_LEAST = "least number"
    """A lone number stands for itself and all above; 0 is not set."""
    COUNT = "count"
    """Like least number; 0 and `false` are none, `true` one or more."""
    CHROMA = "chroma"
    """A lone number from 1 to 9 is an upper limit, a higher one a lower limit."""
    DECIMAL = "decimal"
    """Numbers and ranges with a point; a lone number tolerates 0.01 on both sides."""
    FLAG = "flag"
    """True or its opposite."""
    SWITCH = "switch"
    """True; false is not set."""
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
    """Any text: what it asks for is not recorded, so it matches nothing."""


@dataclass(frozen=True, slots=True)
class FilterSpec:
    """A search filter: one row of the table that feeds parser, SQL, OpenAPI, documentation and command line."""

    name: str
    kind: Kind
    columns: tuple[str, ...]
    """The columns that are compared; the filter matches when any of them does."""
    help: str
    """One sentence."""
    example: str
    """A query that can be run."""
    aliases: tuple[str, ...] = ()
    operators: str = ""
    """The operators that values may use: `|` or, `!` and `-` not, `*` wildcard, `&` and, `~` ranges."""
    least: float | None = None
    """The lowest known value, with which ranges begin; lower ones mean «unknown»."""
    means: Choice | None = None
    """Of flags and switches: the values of the column that count as true; None when the column is a boolean."""
