"""Names in one folder that belong together: the files of one picture and their sidecars.

Imports and uploads give files other names. Names with a common beginning, and the suffixes of edited copies and bursts,
keep files together that an index run would have stacked by their former names.
"""

import re
from collections.abc import Sequence
from typing import Final

from photosvc.index.sidecar_names import EDITED_SUFFIXES, companions, is_read, key
from photosvc.index.stack_rules import burst_of, original_of, still_of
from photosvc.media.formats import by_extension, split_name
from photosvc.models.statements import in_portions

#: Most files of one group; further files are another group.
_MOST_TOGETHER: Final = 64
_MOVING: Final = ".mp"
_EDITED: Final = EDITED_SUFFIXES[0]
_NUMBER: Final = re.compile(r"\(\d{1,4}\)$", re.ASCII)


def is_edited(name: str) -> bool:
    """Return whether a file is an edited copy by its name."""
    return bool(original_of(split_name(name)[1]))


def group_key(name: str) -> str:
    """Return the key that pictures and videos of one folder share if they belong together by their names."""
    _, base, extension = split_name(name)
    known = by_extension(f"x.{extension}")
    base = still_of(base) if known is not None and known.media_type == "video" else base
    original = original_of(base) or base
    return key(burst_of(original) or original).removesuffix(_MOVING)


def suffix_of(name: str) -> str:
    """Return the end of a base name that tells the file from others of its group; empty for most files."""
    _, base, _ = split_name(name)
    original = original_of(base)
    burst = burst_of(original or base)
    frame = (original or base).removeprefix(burst) if burst else ""
    if not original:
        return frame
    whole = key(_NUMBER.sub("", base))
    return frame + next((suffix for suffix in EDITED_SUFFIXES if whole.endswith(key(suffix))), _EDITED)


def owner_of(owners: Sequence[str]) -> str:
    """Return the picture that names a sidecar of several: the original before its edited copies."""
    return min(owners, key=lambda name: (is_edited(name), name))


def grouped_names(names: Sequence[str]) -> tuple[list[list[str]], list[str]]:
    """Return the groups of the names in one folder, each with its sidecars, and the sidecars without a picture."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if not is_read(name):
            groups.setdefault(group_key(name), []).append(name)
    owners = companions(names)
    alone: list[str] = []
    for name in filter(is_read, names):
        own = owners.get(name)
        (groups[group_key(owner_of(own))] if own else alone).append(name)
    return [list(some) for group in groups.values() for some in in_portions(group, _MOST_TOGETHER)], alone
