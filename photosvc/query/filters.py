"""The table of search filters: all names that `key:value` and GET parameters may use, and the kinds of their values."""

from dataclasses import dataclass
from enum import Enum

from photosvc.core.vocabulary import COLORS, TYPES, UNKNOWN_PLACE
from photosvc.query.nodes import Choice, Operand, Pattern, Range

BOOLEANS = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}
#: The most wildcards of one value.
MOST_WILDCARDS = 8
WORDS = "|!-*&"
RANGE = "|!~"
CHOICE = "|!-"
TRUE, FALSE = Choice((True,)), Choice((False,))


class ValueKind(Enum):
    """The kind of a filter's values: how their text is read and compared."""

    TEXT = "text", f"text with at most {MOST_WILDCARDS} wildcards"
    """The whole text, folded; `*` stands for any characters."""
    PATH = "path", f"a path with at most {MOST_WILDCARDS} wildcards"
    """Like text; slashes at both ends are ignored, and `/` alone is the top folder."""
    PROSE = "prose", f"words, a text with at most {MOST_WILDCARDS} wildcards, true or false"
    """Words by the rule of free text; with wildcards the whole text, like text. `false` is the empty text."""
    NAME = "name", f"a name with at most {MOST_WILDCARDS} wildcards"
    """The folded words of a name, so that the slug `jane-doe` finds `Jane Doe`; for albums also the UID.

    In quotes, the whole name. Otherwise the beginning of the title of an album, or whole words in the name of a person.
    """
    WORDS = "words", "words, with * only at their end"
    """Words or phrases within a name, by the rule of free text."""
    WHOLE_WORDS = "whole words", "whole words, or beginnings with * at their end"
    """Like words, but only a word with a `*` is the beginning of longer words."""
    ID_OR_WORDS = "id or words", "an id, or words with * only at their end"
    """A number is an id, anything else words."""
    UID = "uid", "the UID of a photo or file, or a SHA1 hash"
    PHOTO = "photo", "the UID of a photo"
    EXTENSION = "extension", "the end of a file name, such as jpg"
    STATE = "state", "a property of photos, such as favorite, raw, geo or title"
    """A state or property of photos: the name of another filter (see `reader.STATES`)."""
    COUNTRY = "country", "two letters, such as de, or the name of a country"
    TYPE = "type", f"one of {', '.join(TYPES)}"
    """Like text; a text that no type fits is not valid."""
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
    """A search filter: a row of the table for the parser, SQL, OpenAPI, documentation and the command line."""

    name: str
    kind: ValueKind
    columns: tuple[str, ...]
    """The compared columns; the filter matches if any column matches."""
    help: str
    """One sentence."""
    example: str
    """A query that can be run."""
    aliases: tuple[str, ...] = ()
    operators: str = ""
    """The operators that values may use: `|` or, `!` and `-` not, `*` wildcard, `&` and, `~` ranges."""
    least: float | None = None
    """The lowest known value, at which ranges begin; lower values mean an unknown value."""
    means: Choice | None = None
    """For flags and switches: the values of the column that count as true; None for a boolean column."""


#: The operators of filters on texts, as in `FilterSpec.operators`.
TEXT = "|!-*"


def is_(*texts: str) -> Choice:
    """Return a choice of any of these texts."""
    return Choice(tuple(Pattern((text,)) for text in texts))


def is_not(item: Operand) -> Choice:
    """Return a choice of everything except this value."""
    return Choice(none_of=(item,))


def _text(
    name: str, help_: str, example: str, *columns: str, kind: ValueKind = ValueKind.TEXT, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """Make a filter on whole texts."""
    return FilterSpec(name, kind, columns or (name,), help_, example, aliases, TEXT)


def _words(
    name: str, column: str, help_: str, example: str, kind: ValueKind = ValueKind.WORDS, aliases: tuple[str, ...] = ()
) -> FilterSpec:
    """Make a filter on words within texts."""
    return FilterSpec(name, kind, (column,), help_, example, aliases, WORDS)


def _number(
    name: str,
    column: str,
    help_: str,
    example: str,
    kind: ValueKind = ValueKind.INTEGER,
    least: float | None = None,
    aliases: tuple[str, ...] = (),
) -> FilterSpec:
    """Make a filter on numbers and ranges of numbers."""
    return FilterSpec(name, kind, (column,), help_, example, aliases, RANGE, least)


def _flag(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """Make a filter that is true or false; false selects the opposite."""
    return FilterSpec(name, ValueKind.FLAG, (column,), help_, f"{name}:true", means=means)


def _switch(name: str, column: str, help_: str, means: Choice | None = None) -> FilterSpec:
    """Make a filter that is true or has no effect."""
    return FilterSpec(name, ValueKind.SWITCH, (column,), help_, f"{name}:true", means=means)


# fmt: off
_ROWS = (
    # Identity
    FilterSpec("uid", ValueKind.UID, ("photo_uid", "file_uid", "hash"),
               "UIDs of photos or files, or SHA1 hashes of files.", "uid:pqbcf5j446s0futy", operators=CHOICE),
    _text("id", "Instance or document identifiers from the metadata.",
          "id:xmp.did:4a8e*", "instance_id", "document_id"),
    FilterSpec("similar", ValueKind.PHOTO, ("photo_id",),
               "Photos that look like another, given by its UID, and that photo.",
               "similar:pqbcf5j446s0futy", operators=CHOICE),
    _text("hash", "SHA1 hashes of files, or their beginnings with a wildcard.", "hash:2fd4e1*"),
    # Names and texts
    _text("path", "Folders of the photo.", 'path:"2023/Summer*"', kind=ValueKind.PATH, aliases=("folder",)),
    _text("name", "Names of the photo, without folder; with or without extension.", "name:IMG_*"),
    _text("filename", "Names of files with folder and extension.", "filename:2023/*.jpg",
          "file_name", kind=ValueKind.PATH),
    FilterSpec("ext", ValueKind.EXTENSION, ("file_name",),
               "Extensions of file names.", "ext:png|heic", ("extension",), CHOICE),
    _text("original", "Names that the file had before it was imported.", "original:DSC*", "original_name"),
    _text("title",
          "Words in titles; with wildcards whole titles; false finds those without one.",
          "title:lake", kind=ValueKind.PROSE),
    _text("description", "Words in descriptions; with wildcards whole ones; false finds those without one.",
          'description:"at sunset"', kind=ValueKind.PROSE, aliases=("caption",)),
    _words("keywords", "keywords",
           "Words among the keywords.", "keywords:beach&sun", aliases=("keyword", "tags", "tag")),
    _words("label", "labels", "Whole words among the keywords, and words for what the picture shows.",
           "label:cat|dog", ValueKind.WHOLE_WORDS, ("labels",)),
    # People and albums
    _words("subject", "subjects",
           "Whole words in the names of people, or whole names in quotes; & asks for several of them.",
           'subject:"Jane Doe"&"John Doe"', ValueKind.NAME, ("person",)),
    _words("subjects", "subjects",
           "Words in the names of people; & asks for several of them.", "people:Jane&John", aliases=("people",)),
    FilterSpec("faces", ValueKind.COUNT, ("faces",),
               "The least number of faces marked on a photo, with or without a name; new means faces without a name.",
               "faces:2", operators=RANGE, least=0),
    FilterSpec("face", ValueKind.ABSENT, ("nothing",),
               "Nothing: faces are not compared, so they have no ids or kinds.", "face:x", operators=CHOICE),
    FilterSpec("category", ValueKind.ABSENT, ("nothing",),
               "Nothing: places have no categories.", "category:x", operators=CHOICE),
    _words("album", "albums", "UIDs of albums, or the beginnings of their titles; in quotes, whole ones.",
           'album:"Summer 2023"', ValueKind.NAME),
    _words("albums", "albums", "Words in the titles of albums.", "albums:summer|winter"),
    _flag("unsorted", "has_album", "Photos that are in no album.", FALSE),
    # Kinds of media
    _text("type", "Types of photos: image, raw, live, video, animated, vector, audio or document.",
          "type:raw|live", "photo_type", kind=ValueKind.TYPE),
    _text("codec", "Codecs of files.", "codec:hvc1|heic"),
    _flag("animated", "photo_type", "Animated pictures.", is_("animated")),
    _flag("audio", "photo_type", "Sound recordings.", is_("audio")),
    _flag("document", "photo_type", "Documents.", is_("document")),
    _flag("image", "photo_type", "Ordinary pictures.", is_("image")),
    _flag("live", "photo_type", "Live photos.", is_("live")),
    _flag("raw", "photo_type", "RAW pictures.", is_("raw")),
    _flag("vector", "photo_type", "Vector graphics.", is_("vector")),
    _flag("video", "photo_type", "Videos.", is_("video")),
    _flag("photo", "photo_type", "Still pictures: image, raw or live.", is_("image", "raw", "live")),
    _flag("media", "photo_type",
          "Photos that move or have sound: live, video, audio or animated.", is_("live", "video", "audio", "animated")),
    _switch("primary", "is_primary", "Only the primary file of each photo."),
    _flag("stack", "stacked", "Photos of two or more media files."),
    _flag("stackable", "stack", "Photos that may be stacked with others.", Choice((Range(0, None),))),
    _flag("unstacked", "stack", "Photos that must not be stacked.", Choice((Range(-1, -1),))),
    _flag("scan", "scan", "Scanned photos."),
    _flag("panorama", "panorama", "Panoramas."),
    # State
    _flag("favorite", "favorite", "Favourites."),
    _switch("public", "private", "Only photos that are not private.", FALSE),
    _flag("private", "private", "Private photos."),
    _switch("review", "quality", "Photos whose quality is below 3.", Choice((Range(None, 2),))),
    _number("quality", "quality",
            "Quality score from 1 to 7; a single number is the least score.", "quality:3", ValueKind.AT_LEAST, 0),
    _number("rating", "rating", "Stars from 1 to 5; 0 is unrated, -1 rejected.", "rating:3-", ValueKind.SIGNED),
    _switch("hidden", "hidden", "Hidden photos, which are otherwise left out."),
    _switch("archived", "archived", "Archived photos, which are otherwise left out."),
    _switch("error", "has_error", "Files with errors, which are otherwise left out."),
    FilterSpec("is", ValueKind.STATE, (),
               "A property of photos: a yes-or-no filter, or title, description, album or location.",
               "is:favorite|raw has:geo", ("has",), WORDS.replace("*", "")),
    # Shape and colour
    _number("width", "width", "Width of the file in pixels, as it is shown.", "width:>=4000", least=1),
    _number("height", "height", "Height of the file in pixels, as it is shown.", "height:1000-2000", least=1),
    _number("size", "size", "Size of the file in bytes.", "size:>5mb", ValueKind.BYTES, 0),
    _flag("portrait", "portrait", "Pictures taller than wide."),
    # The ratio is kept with two decimals: the limits lie between them.
    _flag("landscape", "aspect_ratio", "Pictures wider than 5:4.", Choice((Range(1.255, None),))),
    _flag("square", "aspect_ratio", "Square pictures.", Choice((Range(0.995, 1.005),))),
    FilterSpec("color", ValueKind.COLOR, ("color",), "Main colours, by name.", "color:red|orange", ("colour",), CHOICE),
    _number("chroma", "chroma",
            "Colourfulness from 0 to 100: a value up to 9 is the upper limit, a higher one the lower limit.",
            "chroma:70", ValueKind.CHROMA, 0),
    _flag("mono", "chroma", "Pictures without colours.", Choice((Range(0, 0),))),
    _number("diff", "diff", "A hash that similar pictures share.", "diff:767", least=0),
    _number("mp", "resolution", "Megapixels.", "mp:8-12", least=1),
    # Camera
    FilterSpec("camera", ValueKind.ID_OR_WORDS, ("camera_id", "camera_text"),
               "Ids of cameras, or words of their make and model.", 'camera:"canon eos"', operators=WORDS),
    FilterSpec("lens", ValueKind.ID_OR_WORDS, ("lens_id", "lens_text"),
               "Ids of lenses, or words of their make and model.", "lens:50mm", operators=WORDS),
    _number("iso", "iso", "Light sensitivity.", "iso:100-400", least=1),
    _number("mm", "focal_length", "Focal length in millimetres.", "mm:24-70", least=1),
    _number("f", "f_number", "Aperture as f-number.", "f:1.8-2.8", ValueKind.DECIMAL, 0.01),
    _text("exposure", "Shutter times in seconds, as cameras show them.", "exposure:1/250", aliases=("shutter",)),
    # Time
    _number("year", "year", "Years; -1 is unknown.", "year:2019-2023", ValueKind.CALENDAR, 1),
    _number("month", "month", "Months from 1 to 12 or by name; -1 is unknown.",
             "month:june-august", ValueKind.MONTH, 1),
    _number("day", "day", "Days from 1 to 31; -1 is unknown.", "day:24", ValueKind.CALENDAR, 1),
    _number("weekday", "weekday", "Days of the week, by name or from 1 for Monday.",
             "weekday:sat-sun", ValueKind.WEEKDAY, 1),
    _number("hour", "hour", "Local hours from 0 to 23.", "hour:5-11", least=0),
    _number("taken", "taken_day",
            "Local days, months or years in which it was taken.", "taken:2023-05", ValueKind.TAKEN, aliases=("date",)),
    _number("before", "taken_day",
            "Taken on or before this local day, month or year.", 'before:"2023-05-01"', ValueKind.BEFORE),
    _number("after", "taken_day", "Taken on or after this local day, month or year.", "after:2023", ValueKind.AFTER),
    FilterSpec("added", ValueKind.SINCE, ("created_at",),
               "Added at or after this day or moment (UTC).", "added:2024-05-26T10:30:00Z"),
    FilterSpec("updated", ValueKind.SINCE, ("updated_at",),
               "Updated at or after this day or moment (UTC).", "updated:2024-05-26T10:30:00Z"),
    FilterSpec("edited", ValueKind.SINCE, ("edited_at",),
               "Edited at or after this day or moment (UTC).", "edited:2024-05-26T10:30:00Z"),
    FilterSpec("country", ValueKind.COUNTRY, ("country",),
               "Countries by two letters (ISO 3166) or by their names in any language; zz is unknown.",
               "country:de|at|japan", operators=CHOICE),
    _text("state", "States or provinces.", "state:Bavaria"),
    _text("city", "Cities.", 'city:"New York*"'),
    _words("place", "place",
           "Words in the names of cities, states and countries.", "place:tuscany", aliases=("location",)),
    _flag("geo", "cell_id", "Photos with a known position.", is_not(Pattern((UNKNOWN_PLACE,)))),
    _number("alt", "altitude", "Altitude in metres.", "alt:300-500", ValueKind.SIGNED),
    FilterSpec("near", ValueKind.NEAR, ("lat", "lng"),
               "Near another photo, given by its UID, or a place, given by its name; dist is the distance.",
               "near:pqbcf5j446s0futy|tokyo dist:5", operators="|!-"),
    FilterSpec("latlng", ValueKind.BOX, ("lat", "lng"),
               "Inside the box north, east, south, west; or around a latitude, longitude.",
               "latlng:49.5,8.5,49.4,8.4", operators="|!"),
    FilterSpec("s2", ValueKind.CELL, ("cell_id",),
               "Inside an S2 cell, by its token; with dist, around its centre.", "s2:4799e370ca54", operators="|!"),
    FilterSpec("olc", ValueKind.PLUS_CODE, ("lat", "lng"),
               "Inside the area of a plus code; with dist, around its centre.", "olc:8FWCHX7W+", operators="|!"),
    FilterSpec("lat", ValueKind.LATITUDE, ("lat", "lng"),
               "Latitude in degrees; goes with lng.", "lat:48.2 lng:16.4 dist:5"),
    FilterSpec("lng", ValueKind.LONGITUDE, ("lat", "lng"),
               "Longitude in degrees; goes with lat.", "lat:48.2 lng:16.4 dist:5"),
    FilterSpec("dist", ValueKind.DISTANCE, (),
               "Distance in kilometres for near, lat and lng, s2 and olc; by default 2, and 20 around places.",
               "near:pqbcf5j446s0futy dist:0.5"),
)
# fmt: on
FILTERS: dict[str, FilterSpec] = {spec.name: spec for spec in _ROWS}
"""Every filter by its name."""
NAMES: dict[str, FilterSpec] = FILTERS | {alias: spec for spec in _ROWS for alias in spec.aliases}
"""Every filter by its name and its aliases."""
