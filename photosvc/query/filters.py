"""The table of search filters: all names that `key:value` and GET parameters may use."""

from photosvc.query.filter_spec import (
    CHOICE,
    FALSE,
    RANGE,
    WORDS,
    FilterSpec,
    Kind,
    flag,
    is_,
    is_not,
    number,
    switch,
    text,
    words,
)
from photosvc.query.nodes import Choice, Pattern, Range

TEXTS = (
    # Identity
    FilterSpec(
        "uid",
        Kind.UID,
        ("photo_uid", "file_uid", "hash"),
        "UIDs of photos or files, or SHA1 hashes of files.",
        "uid:pqbcf5j446s0futy",
        operators=CHOICE,
    ),
    text("id", "Instance or document identifiers from the metadata.", "id:xmp.did:4a8e*", "instance_id", "document_id"),
    FilterSpec(
        "similar",
        Kind.PHOTO,
        ("photo_id",),
        "Photos that look like another, given by its UID, and that photo.",
        "similar:pqbcf5j446s0futy",
        operators=CHOICE,
    ),
    text("hash", "SHA1 hashes of files, or their beginnings with a wildcard.", "hash:2fd4e1*"),
    # Names and texts
    text("path", "Folders of the photo.", 'path:"2023/Summer*"', kind=Kind.PATH, aliases=("folder",)),
    text("name", "Names of the photo, without folder; with or without extension.", "name:IMG_*"),
    text("filename", "Names of files with folder and extension.", "filename:2023/*.jpg", "file_name", kind=Kind.PATH),
    FilterSpec(
        "ext", Kind.EXTENSION, ("file_name",), "Extensions of file names.", "ext:png|heic", ("extension",), CHOICE
    ),
    text("original", "Names that the file had before it was imported.", "original:DSC*", "original_name"),
    text(
        "title",
        "Words in titles; with wildcards whole titles; false finds those without one.",
        "title:lake",
        kind=Kind.PROSE,
    ),
    text(
        "description",
        "Words in descriptions; with wildcards whole ones; false finds those without one.",
        'description:"at sunset"',
        kind=Kind.PROSE,
        aliases=("caption",),
    ),
    words(
        "keywords", "keywords", "Words among the keywords.", "keywords:beach&sun", aliases=("keyword", "tags", "tag")
    ),
    words(
        "label",
        "keywords",
        "Whole words among the keywords, which are called labels elsewhere.",
        "label:cat|dog",
        Kind.WHOLE_WORDS,
        ("labels",),
    ),
    # People and albums
    words(
        "subject",
        "subjects",
        "Whole words in the names of people, or whole names in quotes; & asks for several of them.",
        'subject:"Jane Doe"&"John Doe"',
        Kind.NAME,
        ("person",),
    ),
    words(
        "subjects",
        "subjects",
        "Words in the names of people; & asks for several of them.",
        "people:Jane&John",
        aliases=("people",),
    ),
    FilterSpec(
        "faces",
        Kind.COUNT,
        ("faces",),
        "The least number of faces marked on a photo, with or without a name; new means faces without a name.",
        "faces:2",
        operators=RANGE,
        least=0,
    ),
    *(
        FilterSpec(name, Kind.ABSENT, ("nothing",), help_, f"{name}:x", operators=CHOICE)
        for name, help_ in (
            ("face", "Nothing: faces are not compared, so they have no ids or kinds."),
            ("category", "Nothing: places have no categories."),
        )
    ),
    words(
        "album",
        "albums",
        "UIDs of albums, or the beginnings of their titles; in quotes, whole ones.",
        'album:"Summer 2023"',
        Kind.NAME,
    ),
    words("albums", "albums", "Words in the titles of albums.", "albums:summer|winter"),
    flag("unsorted", "has_album", "Photos that are in no album.", FALSE),
)
PICTURES = (
    # Shape and colour
    number("width", "width", "Width of the file in pixels, as it is shown.", "width:>=4000", least=1),
    number("height", "height", "Height of the file in pixels, as it is shown.", "height:1000-2000", least=1),
    number("size", "size", "Size of the file in bytes.", "size:>5mb", Kind.BYTES, 0),
    flag("portrait", "portrait", "Pictures taller than wide."),
    # The ratio is kept with two decimals: the limits lie between them.
    flag("landscape", "aspect_ratio", "Pictures wider than 5:4.", Choice((Range(1.255, None),))),
    flag("square", "aspect_ratio", "Square pictures.", Choice((Range(0.995, 1.005),))),
    FilterSpec("color", Kind.COLOR, ("color",), "Main colours, by name.", "color:red|orange", ("colour",), CHOICE),
    number(
        "chroma",
        "chroma",
        "Colourfulness from 0 to 100: a value up to 9 is the upper limit, a higher one the lower limit.",
        "chroma:70",
        Kind.CHROMA,
        0,
    ),
    flag("mono", "chroma", "Pictures without colours.", Choice((Range(0, 0),))),
    number("diff", "diff", "A hash that similar pictures share.", "diff:767", least=0),
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
    text("exposure", "Shutter times in seconds, as cameras show them.", "exposure:1/250", aliases=("shutter",)),
    # Time
    number("year", "year", "Years; -1 is unknown.", "year:2019-2023", Kind.CALENDAR, 1),
    number("month", "month", "Months from 1 to 12 or by name; -1 is unknown.", "month:june-august", Kind.MONTH, 1),
    number("day", "day", "Days from 1 to 31; -1 is unknown.", "day:24", Kind.CALENDAR, 1),
    number("weekday", "weekday", "Days of the week, by name or from 1 for Monday.", "weekday:sat-sun", Kind.WEEKDAY, 1),
    number("hour", "hour", "Local hours from 0 to 23.", "hour:5-11", least=0),
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
PLACES = (
    FilterSpec(
        "country",
        Kind.COUNTRY,
        ("country",),
        "Countries by two letters (ISO 3166) or by their names in any language; zz is unknown.",
        "country:de|at|japan",
        operators=CHOICE,
    ),
    text("state", "States or provinces.", "state:Bavaria"),
    text("city", "Cities.", 'city:"New York*"'),
    words(
        "place", "place", "Words in the names of cities, states and countries.", "place:tuscany", aliases=("location",)
    ),
    flag("geo", "cell_id", "Photos with a known position.", is_not(Pattern(("zz",)))),
    number("alt", "altitude", "Altitude in metres.", "alt:300-500", Kind.SIGNED),
    FilterSpec(
        "near",
        Kind.NEAR,
        ("lat", "lng"),
        "Near another photo, given by its UID, or a place, given by its name; dist is the distance.",
        "near:pqbcf5j446s0futy|tokyo dist:5",
        operators="|!-",
    ),
    FilterSpec(
        "latlng",
        Kind.BOX,
        ("lat", "lng"),
        "Inside the box north, east, south, west; or around a latitude, longitude.",
        "latlng:49.5,8.5,49.4,8.4",
        operators="|!",
    ),
    FilterSpec(
        "s2",
        Kind.CELL,
        ("cell_id",),
        "Inside an S2 cell, by its token; with dist, around its centre.",
        "s2:4799e370ca54",
        operators="|!",
    ),
    FilterSpec(
        "olc",
        Kind.PLUS_CODE,
        ("lat", "lng"),
        "Inside the area of a plus code; with dist, around its centre.",
        "olc:8FWCHX7W+",
        operators="|!",
    ),
    FilterSpec("lat", Kind.LATITUDE, ("lat", "lng"), "Latitude in degrees; goes with lng.", "lat:48.2 lng:16.4 dist:5"),
    FilterSpec(
        "lng", Kind.LONGITUDE, ("lat", "lng"), "Longitude in degrees; goes with lat.", "lat:48.2 lng:16.4 dist:5"
    ),
    FilterSpec(
        "dist",
        Kind.DISTANCE,
        (),
        "Distance in kilometres for near, lat and lng, s2 and olc; by default 2, and 20 around places.",
        "near:pqbcf5j446s0futy dist:0.5",
    ),
)
STATES = (
    # Kinds of media
    text(
        "type",
        "Types of photos: image, raw, live, video, animated, vector, audio or document.",
        "type:raw|live",
        "photo_type",
    ),
    text("codec", "Codecs of files.", "codec:hvc1|heic"),
    *(
        flag(name, "photo_type", help_, is_(name))
        for name, help_ in (
            ("animated", "Animated pictures."),
            ("audio", "Sound recordings."),
            ("document", "Documents."),
            ("image", "Ordinary pictures."),
            ("live", "Live photos."),
            ("raw", "RAW pictures."),
            ("vector", "Vector graphics."),
            ("video", "Videos."),
        )
    ),
    flag("photo", "photo_type", "Still pictures: image, raw or live.", is_("image", "raw", "live")),
    flag(
        "media",
        "photo_type",
        "Photos that move or have sound: live, video, audio or animated.",
        is_("live", "video", "audio", "animated"),
    ),
    switch("primary", "is_primary", "Only the primary file of each photo."),
    flag("stack", "stacked", "Photos of two or more media files."),
    flag("stackable", "stack", "Photos that may be stacked with others.", Choice((Range(0, None),))),
    flag("unstacked", "stack", "Photos that must not be stacked.", Choice((Range(-1, -1),))),
    flag("scan", "scan", "Scanned photos."),
    flag("panorama", "panorama", "Panoramas."),
    # State
    flag("favorite", "favorite", "Favourites."),
    switch("public", "private", "Only photos that are not private.", FALSE),
    flag("private", "private", "Private photos."),
    switch("review", "quality", "Photos whose quality is below 3.", Choice((Range(None, 2),))),
    number(
        "quality",
        "quality",
        "Quality score from 1 to 7; a single number is the least score.",
        "quality:3",
        Kind.AT_LEAST,
        0,
    ),
    number("rating", "rating", "Stars from 1 to 5; 0 is unrated, -1 rejected.", "rating:3-", Kind.SIGNED),
    switch("hidden", "hidden", "Hidden photos, which are otherwise left out."),
    switch("archived", "archived", "Archived photos, which are otherwise left out."),
    switch("error", "has_error", "Files with errors, which are otherwise left out."),
    FilterSpec(
        "is",
        Kind.STATE,
        (),
        "A property of photos: a yes-or-no filter, or title, description, album or location.",
        "is:favorite|raw has:geo",
        ("has",),
        WORDS.replace("*", ""),
    ),
)
_ROWS = (*TEXTS, *STATES, *PICTURES, *PLACES)
FILTERS: dict[str, FilterSpec] = {spec.name: spec for spec in _ROWS}
"""Every filter by its name."""
NAMES: dict[str, FilterSpec] = FILTERS | {alias: spec for spec in _ROWS for alias in spec.aliases}
"""Every filter by its name and its aliases."""
