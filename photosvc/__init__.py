"""photosvc: a photo library as a small Flask service.

    from photosvc import HostUser, PhotoService

The exported names are imported when they are used: Flask would delay every command by a quarter of a second. Their
types are in `__init__.pyi`.
"""

import importlib

__version__ = "0.2.0.dev0"

_EXPORTED = {
    "FoundFile": "photosvc.records.results",
    "FoundPhoto": "photosvc.records.results",
    "HostUser": "photosvc.auth.principal",
    "InvalidValueError": "photosvc.core.errors",
    "NotFoundError": "photosvc.core.errors",
    "PermissionDeniedError": "photosvc.core.errors",
    "PhotoService": "photosvc.extension",
    "PhotosvcError": "photosvc.core.errors",
    "SchemaError": "photosvc.core.errors",
    "SearchEndedError": "photosvc.search.limits",
    "SearchResults": "photosvc.web.searching",
    "SettingError": "photosvc.core.errors",
}


def __getattr__(name: str) -> object:
    if name not in _EXPORTED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTED[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTED})
