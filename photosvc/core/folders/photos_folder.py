"""The folder of originals that `svc run` was given, remembered in the instance folder for all commands after it."""

import os
from pathlib import Path
from typing import Final

from photosvc import samples

#: Its name in the instance folder.
FILE: Final = "photos_folder"
#: The whole file when it is the bundled samples, whose path changes with the installation.
_SAMPLES: Final = b"samples"


def remembered(instance: Path) -> Path | None:
    """The remembered folder; None before there is one.

    Raises:
        ValueError: the file holds no absolute path.
        OSError: it cannot be read.

    """
    try:
        data = (instance / FILE).read_bytes().removesuffix(b"\n")
    except FileNotFoundError:
        return None
    if data == _SAMPLES:
        return samples.ORIGINALS
    if not data.startswith(b"/") or b"\0" in data:
        msg = "expected an absolute path"
        raise ValueError(msg)
    return Path(os.fsdecode(data))


def remember(instance: Path, folder: Path) -> None:
    """Remember this folder, in one step: other processes read the former one or this one.

    Raises:
        OSError: the file cannot be written.

    """
    data = _SAMPLES if is_samples(folder) else os.fsencode(folder.absolute())
    temporary = instance / f".{FILE}.{os.urandom(8).hex()}"
    try:
        temporary.write_bytes(data + b"\n")
        temporary.chmod(0o600)
        temporary.rename(instance / FILE)
    finally:
        temporary.unlink(missing_ok=True)


def is_samples(folder: Path) -> bool:
    """Whether it is the folder of the bundled samples."""
    return is_same(folder, samples.ORIGINALS)


def is_same(one: Path, other: Path) -> bool:
    """Whether two paths mean the same folder, which need not exist."""
    return os.path.realpath(one) == os.path.realpath(other)
