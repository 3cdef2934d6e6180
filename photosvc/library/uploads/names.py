"""The names of added files: by the time at which their picture was taken, and by their content.

`2024/05/20240501_120000_1A2B3C4D.jpg`: the folder of the month, the local time, the first digits of the SHA-1. Files
that belong together by their names get one name, so that RAW and JPEG, Live Photos and sidecars stay together.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    pictures: dict[str, list[ReceivedFile]] = {}
    for file in files:
        if contents[file.path].media_type != "sidecar":
            pictures.setdefault(key(PurePosixPath(file.name).stem), []).append(file)
    for group in pictures.values():
        group.sort(key=lambda file: (_ORDER[contents[file.path].media_type], file.name))
    groups = {
        stem: [Named(file, f".{contents[file.path].extension}") for file in group] for stem, group in pictures.items()
    }
    own = {file.name for group in pictures.values() for file in group}
    owners = companions(file.name for file in files)
    left = []
    for file in files:
        if contents[file.path].media_type == "sidecar":
            owner = next((name for name in owners.get(file.name, ()) if name in own), None)
            if owner is None or not is_read(file.name):
                left.append(file)
            else:
                stem = key(PurePosixPath(owner).stem)
                first = next(one.ending for one in groups[stem] if one.file.name == owner)
                suffix = PurePosixPath(file.name).suffix.lower()
                groups[stem].append(Named(file, suffix if suffix == ".aae" else first + suffix))
    return list(groups.values()), left


def common_names(main: ReceivedFile, content: Content) -> Iterator[str]:
    """What the names of the files of a group begin with, relative to the originals; the first that is free counts."""
    local = content.taken_local
    for digits in _DIGITS:
        yield f"{local.year:04}/{local.month:02}/{local.year:04}{local:%m%d_%H%M%S}_{main.hash[:digits].upper()}"
