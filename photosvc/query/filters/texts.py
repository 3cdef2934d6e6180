"""Filters: what photos and files are called, and who and what is on them."""

from photosvc.query.filter_spec import FilterSpec, Kind
from photosvc.query.filters.making import CHOICE, FALSE, RANGE, flag, text, words

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
    text("name", "Names of the photo, without folder and extension.", "name:IMG_*"),
    text("filename", "Names of files with folder and extension.", "filename:2023/*.jpg", "file_name", kind=Kind.PATH),
    FilterSpec(
        "ext",
        Kind.EXTENSION,
        ("file_name",),
        "Extensions of file names.",
        "ext:png|heic",
        ("extension",),
        CHOICE,
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
        "keywords",
        "keywords",
        "Words among the keywords.",
        "keywords:beach&sun",
        aliases=("keyword", "tags", "tag"),
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
        "Whole names of people; & asks for several of them.",
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
        "Faces marked on a photo, with or without a name: at least so many.",
        "faces:2",
        operators=RANGE,
        least=0,
    ),
    *(
        FilterSpec(name, Kind.ABSENT, ("nothing",), help_, f"{name}:x", operators=CHOICE)
        for name, help_ in (
            ("face", "Nothing: faces are not compared, so that they have no ids or kinds."),
            ("category", "Nothing: places have no categories."),
        )
    ),
    words("album", "albums", "UIDs or whole titles of albums.", 'album:"Summer 2023"', Kind.NAME),
    words("albums", "albums", "Words in the titles of albums.", "albums:summer|winter"),
    flag("unsorted", "has_album", "Photos that are in no album.", FALSE),
)
