"""Filters: what kinds of media photos are, and in which state."""

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters.making import FALSE, WORDS, flag, is_, number, switch, text
from photosvc.query.operands import Choice, Range

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
    number("quality", "quality", "Quality score, from 1 to 7 and above a lone number.", "quality:3", Kind.AT_LEAST, 0),
    number("rating", "rating", "Stars from 1 to 5; 0 is unrated, -1 rejected.", "rating:3-", Kind.SIGNED),
    switch("hidden", "hidden", "Hidden photos, which are otherwise left out."),
    switch("archived", "archived", "Archived photos, which are otherwise left out."),
    switch("error", "has_error", "Files with errors, which are otherwise left out."),
    FilterSpec(
        "is",
        Kind.STATE,
        (),
        "What a photo is or has: a yes-or-no filter, a title, description, album or location.",
        "is:favorite|raw has:geo",
        ("has",),
        WORDS.replace("*", ""),
    ),
)
