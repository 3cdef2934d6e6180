"""Imports the published client photoprysm on Python 3.11 too.

It has two functions with type parameters, which Python reads from 3.12 on. Without them its code is the same.
"""

import re
import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import spec_from_file_location
from types import ModuleType
from typing import Any

_CORE = "photoprysm.core"


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> Any:
        return self.source_to_code(self.get_data(self.path), self.path)

    def get_data(self, path: str) -> bytes:
        return re.sub(rb"(?m)^(def \w+)\[M\]\(", rb"\1(", super().get_data(path))


class _Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path) if fullname == _CORE else None
        if found is None or found.origin is None:
            return None
        return spec_from_file_location(fullname, found.origin, loader=_Loader(fullname, found.origin))


def import_photoprysm() -> ModuleType:
    """The package, with its interface at the top."""
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        return import_module("photoprysm")
    finally:
        sys.meta_path.remove(finder)
