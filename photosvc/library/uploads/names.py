"""The names of added files: by the time at which their picture was taken, and by their content.

`2024/05/20240501_120000_1A2B3C4D.jpg`: the folder of the month, the local time, the first digits of the SHA-1. Files
that belong together by their names get one name, so that RAW and JPEG, Live Photos and sidecars stay together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from photosvc.index.sidecars.names import companions, is_read, key
from photosvc.library.uploads.inspect import Content, ReceivedFile

#: Digits of the hash in a name: more where another file has the name already.
_DIGITS: Final = (8, 16, 40)
#: Files by trust in their time.
_ORDER: Final = {"raw": 0, "image": 1, "animated": 2, "video": 3}


class Named(NamedTuple):
    """A file and what its name ends with after the common part, as `.jpg` or `.jpg.xmp`."""

    file: ReceivedFile
    ending: str


def grouped(
    files: Sequence[ReceivedFile], contents: Mapping[Path, Content]
) -> tuple[list[list[Named]], list[ReceivedFile]]:
    """Files that belong together, the one whose time counts first; and sidecars that belong to none of the others."""
    folders: dict[str, list[ReceivedFile]] = {}
    for file in files:
        folders.setdefault(file.folder, []).append(file)
    groups: list[list[Named]] = []
    left: list[ReceivedFile] = []
    for inner in folders.values():
        pictures = [file for file in inner if contents[file.path].media_type != "sidecar"]
        sidecars = [file for file in inner if contents[file.path].media_type == "sidecar"]
        by_stem = _by_stem(pictures, contents)
        left += _add_sidecars(by_stem, sidecars, {file.name for file in pictures})
        groups += by_stem.values()
    return groups, left


def _by_stem(pictures: Iterable[ReceivedFile], contents: Mapping[Path, Content]) -> dict[str, list[Named]]:
    found: dict[str, list[ReceivedFile]] = {}
    for file in pictures:
        found.setdefault(key(PurePosixPath(file.name).stem), []).append(file)
    for group in found.values():
        group.sort(key=lambda file: (_ORDER[contents[file.path].media_type], file.name))
    return {stem: [Named(file, f".{contents[file.path].extension}") for file in group] for stem, group in found.items()}


def _add_sidecars(
    groups: Mapping[str, list[Named]], sidecars: Sequence[ReceivedFile], pictures: AbstractSet[str]
) -> Iterator[ReceivedFile]:
    """Add the sidecars of a folder to the groups of its pictures; gives those that belong to no picture."""
    owners = companions({*pictures, *(file.name for file in sidecars)})
    for file in sidecars:
        owner = next((name for name in owners.get(file.name, ()) if name in pictures), None)
        if owner is None or not is_read(file.name):
            yield file
            continue
        group = groups[key(PurePosixPath(owner).stem)]
        first = next(one.ending for one in group if one.file.name == owner)
        suffix = PurePosixPath(file.name).suffix.lower()
        group.append(Named(file, suffix if suffix == ".aae" else first + suffix))


def common_names(main: ReceivedFile, content: Content) -> Iterator[str]:
    """What the names of the files of a group begin with, relative to the originals; the first that is free counts."""
    local = content.taken_local
    for digits in _DIGITS:
        yield f"{local.year:04}/{local.month:02}/{local.year:04}{local:%m%d_%H%M%S}_{main.hash[:digits].upper()}"
