"""The tables of the database, on a declarative base of their own that a host application does not share.

The exported names are imported when they are used, each with its module: mapping all tables takes longer than all else
that a command about accounts does. With `Base` come all tables and indexes, so that its metadata are complete. The
types of the names are in `__init__.pyi`.
"""

import importlib

#: The exported names of each module. A module imports those whose tables its own tables refer to.
_EXPORTED = {
    "base": "SCHEMA_VERSION TABLE_PREFIX Base",
    "named_numbers": (
        "CHANGES ESTIMATES OPEN_STATE PROJECTION PROJECTION_VERSION STACKING STATE LibraryState named_number "
        "set_named_numbers"
    ),
    "accounts": (
        "ACCESS_TOKEN APP_PASSWORD CLIENT_TOKEN LOGIN_SESSION VISIT AlbumShare AuditEntry Client Credential Link "
        "RecoveryCode StoredKey ThrottleBucket User Visit"
    ),
    "jobs": "DavLock DavProperty Job JobFailure Upload UploadedFile ZipSelection",
    "library": (
        "UNKNOWN_ID UNKNOWN_PLACE Album Camera Cell Disk JournalSize Keyword Lens PhotoChange Place Subject SubjectName"
    ),
    "photo": (
        "GONE ORIGINALS_ROOT File Marker Photo RejectedFile Sidecar StackKey copy_sidecars file_sidecars photo_keywords"
    ),
    "photo_sets": "AlbumPhoto DistinctPhoto LookAlike",
    "search_values": "NOWHERE SORT_KEYS FileKey",
    "search": (
        "FILTER_COLUMNS LOOKUP_COLUMNS PATTERN_COLUMNS RARE_COLUMNS SCANNED_COLUMNS SEARCH_COLUMNS "
        "TIMELINE_KEYS UNDATED VALUE_COLUMNS VALUE_GROUPS SearchAlbum SearchDocument SearchRow SearchText"
    ),
}
_MODULES = {name: module for module, names in _EXPORTED.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    for module in (*_EXPORTED, "indexes") if name == "Base" else ():
        importlib.import_module(f"{__name__}.{module}")
    value: object = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    return globals().setdefault(name, value)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
