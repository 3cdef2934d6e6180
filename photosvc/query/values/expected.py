"""What is valid as a value, as error messages and documentation say it, and the values that mean true or false."""

from photosvc.core.values.colors import COLORS
from photosvc.query.filter_spec import Kind

BOOLEANS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}

#: Wildcards of one value.
MOST_WILDCARDS = 8

#: What is valid, as error messages and documentation say it.
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
    Kind.STATE: "what a photo may be or have, such as favorite, raw, geo or title",
    Kind.COUNTRY: "two letters, such as de, or the English name of a country",
    Kind.COLOR: ", ".join(COLORS),
    Kind.INTEGER: "a number or a range such as 100-400, 100- or <=400",
    Kind.SIGNED: "a number or a range such as -10..400, 100- or <=400",
    Kind.BYTES: "a number of bytes or a range, also with units, such as 500kb-2mb or >5mb",
    Kind.CALENDAR: "a number or a range such as 5-7, >=5 or -7",
    Kind.MONTH: "a month such as 7, july or jul, or a range such as june-august",
    Kind.AT_LEAST: "a number or a range such as 3-5 or <3",
    Kind.COUNT: "a number, a range such as 1-3, yes or no",
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
