"""Filters: what pictures look like, and the camera and the time that they were taken with and at."""

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters.making import CHOICE, WORDS, flag, number
from photosvc.query.operands import Choice, Range

PICTURES = (
    # Shape and colour
    number("width", "width", "Width of the file in pixels, as it is shown.", "width:>=4000", least=1),
    number("height", "height", "Height of the file in pixels, as it is shown.", "height:1000-2000", least=1),
    number("size", "size", "Size of the file in bytes.", "size:>5mb", Kind.BYTES, 0),
    flag("portrait", "portrait", "Pictures higher than wide."),
    # The ratio is kept with two decimals: the limits lie between them.
    flag("landscape", "aspect_ratio", "Pictures wider than 5:4.", Choice((Range(1.255, None),))),
    flag("square", "aspect_ratio", "Pictures as wide as high.", Choice((Range(0.995, 1.005),))),
    FilterSpec("color", Kind.COLOR, ("color",), "Main colours, by name.", "color:red|orange", ("colour",), CHOICE),
    number(
        "chroma",
        "chroma",
        "Colourfulness from 0 to 100: 1 to 9 is at most that, 10 and up more than that.",
        "chroma:70",
        Kind.CHROMA,
        0,
    ),
    flag("mono", "chroma", "Pictures without colours.", Choice((Range(0, 0),))),
    number("diff", "diff", "Number that similar pictures have in common.", "diff:767", least=0),
    number("mp", "resolution", "Megapixels.", "mp:8-12", least=1),
    # Camera
    FilterSpec(
        "camera",
        Kind.ID_OR_WORDS,
        ("camera_id", "camera_text"),
        "Ids of cameras, or words of their make and model.",
        'camera:"canon eos"',
        operators=WORDS,
    ),
    FilterSpec(
        "lens",
        Kind.ID_OR_WORDS,
        ("lens_id", "lens_text"),
        "Ids of lenses, or words of their make and model.",
        "lens:50mm",
        operators=WORDS,
    ),
    number("iso", "iso", "Light sensitivity.", "iso:100-400", least=1),
    number("mm", "focal_length", "Focal length in millimetres.", "mm:24-70", least=1),
    number("f", "f_number", "Aperture as f-number.", "f:1.8-2.8", Kind.DECIMAL, 0.01),
    # Time
    number("year", "year", "Years; -1 is unknown.", "year:2019-2023", Kind.CALENDAR, 1),
    number("month", "month", "Months from 1 to 12 or by name; -1 is unknown.", "month:june-august", Kind.MONTH, 1),
    number("day", "day", "Days from 1 to 31; -1 is unknown.", "day:24", Kind.CALENDAR, 1),
    number(
        "taken",
        "taken_day",
        "Local days, months or years in which it was taken.",
        "taken:2023-05",
        Kind.TAKEN,
        aliases=("date",),
    ),
    number(
        "before", "taken_day", "Taken on or before this local day, month or year.", 'before:"2023-05-01"', Kind.BEFORE
    ),
    number("after", "taken_day", "Taken on or after this local day, month or year.", "after:2023", Kind.AFTER),
    *(
        FilterSpec(name, Kind.SINCE, (column,), help_, f"{name}:2024-05-26T10:30:00Z")
        for name, column, help_ in (
            ("added", "created_at", "Added at or after this day or moment (UTC)."),
            ("updated", "updated_at", "Updated at or after this day or moment (UTC)."),
            ("edited", "edited_at", "Edited at or after this day or moment (UTC)."),
        )
    ),
)
