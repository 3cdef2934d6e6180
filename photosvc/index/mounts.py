"""The disks that are mounted on and below the folder of originals.

Mounts tell whether events report the changes of other machines. The database remembers the disks that are mounted below
the originals: without its disk no file counts as gone.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from photosvc.core.files import clean_name
from photosvc.index.exclusions import is_hidden, is_left_out
from photosvc.index.scan import is_too_long
from photosvc.media.formats import may_have_pixels
from photosvc.models import ORIGINALS_ROOT, Disk, File
from photosvc.models.engine import begin_write
from photosvc.models.statements import UNLOADED, insert_into

_TABLE: Final = Path("/proc/self/mounts")
#: The table with the number of each mount: a disk that went and came between two looks has another one.
_NUMBERED: Final = Path("/proc/self/mountinfo")
#: Types of file systems; those of FUSE have the prefix `fuse.`.
_REMOTE: Final = frozenset((
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "davfs2", "glusterfs", "goofys", "gpfs", "lustre", "ncpfs", "nfs",
    "nfs4", "prl_fs", "rclone", "s3fs", "smb3", "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs", "vmhgfs-fuse",
))  # fmt: skip
#: Most disks that are remembered: rows must not grow without limit where disks are mounted under ever new names.
_MOST: Final = 1000


def is_remote(folder: Path, table: Path = _TABLE) -> bool:
    """Return whether the folder, or one below it, lies on a network file system; false where that cannot be known."""
    root = os.path.realpath(folder)
    kinds = _kinds(table)
    holding = max((mount for mount in kinds if _is_within(root, mount)), key=len, default="")
    below = {mount for mount in kinds if _is_within(mount, root)}
    return any(kinds.get(mount, "").removeprefix("fuse.") in _REMOTE for mount in below | {holding})


def mounts_below(folder: Path, table: Path = _NUMBERED) -> dict[str, str]:
    """Return the mount points below the folder, with the number of each mount; none where they cannot be known."""
    root = os.path.realpath(folder)
    mounts = {_unescaped(fields[4]): fields[0] for fields in _lines(table) if len(fields) > 4}
    return {mount: number for mount, number in mounts.items() if mount != root and _is_within(mount, root)}


def _kinds(table: Path) -> dict[str, str]:
    """Return the mount points with the types of their file systems."""
    return {_unescaped(fields[1]): fields[2] for fields in _lines(table) if len(fields) > 2}


def _lines(table: Path) -> list[list[str]]:
    try:
        return [line.split(" ") for line in table.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return []


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _unescaped(text: str) -> str:
    """Return a mount point from the kernel's spelling: blanks, line feeds and backslashes are octal numbers there."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def remember_disks(session: Session, originals: Path) -> None:
    """Remember the disks that are mounted now, in a transaction of its own if there are new ones."""
    remembered = _remembered(session)
    if new := sorted(_mounted(originals) - remembered)[: max(0, _MOST - len(remembered))]:
        begin_write(session)
        rows = [{"folder": folder} for folder in new]
        session.execute(insert_into(Disk, session).on_conflict_do_nothing(), rows)
        session.commit()


def absent_disks(session: Session, originals: Path) -> frozenset[str]:
    """Return the folders, relative to the originals, on which a disk was mounted in an earlier run and none is now."""
    remembered = _remembered(session)
    return frozenset(remembered - _mounted(originals)) if remembered else frozenset()


def disk_numbers(originals: Path) -> dict[str, tuple[int, ...]]:
    """Return the number of each disk that is mounted on or below the originals. A disk that was away has another one.

    Names are relative to the originals; the name of the disk that these are on is empty. There are none if the
    originals do not exist.
    """
    try:
        status = originals.stat()
    except OSError:
        return {}
    root = os.path.realpath(originals)
    below = {clean_name(os.path.relpath(one, root)): (int(number),) for one, number in mounts_below(originals).items()}
    return {"": (status.st_dev, status.st_ino), **below}


def are_away(session: Session, originals: Path, name: str = "", *, within: bool = False) -> bool:
    """Return whether the disk of the originals is away, or the disk that is mounted on or around this name.

    If the library has originals, a folder without folders, pictures and videos counts as a disk that is away, here and
    in index runs: the folder on which a disk is mounted may contain a note.

    Args:
        name: of a file or folder, as the library writes it; empty for the folder of originals.
        within: true if a disk that is mounted somewhere below it counts, too.
    """
    try:
        with os.scandir(originals) as entries:
            is_empty = not any(map(_may_be_original, entries))
    except OSError:
        return True
    if is_empty:
        known = select(File.id).where(File.root == ORIGINALS_ROOT, File.missing.is_(False)).limit(1)
        return session.connection().execute(known).first() is not None
    if not (name or within):
        return False
    return any(
        f"{name}/".startswith(f"{folder}/") or (within and f"{folder}/".startswith(f"{name}/" if name else ""))
        for folder in absent_disks(session, originals)
    )


def _may_be_original(entry: "os.DirEntry[str]") -> bool:
    return not is_left_out(entry.name) and (may_have_pixels(entry.name) or entry.is_dir(follow_symlinks=False))


def forget_disks(session: Session, folders: Iterable[str]) -> None:
    """Let files of these folders count as gone if a scan does not find them. Write it in a transaction of its own."""
    if names := list(folders):
        begin_write(session)
        session.execute(delete(Disk).where(Disk.folder.in_(names)), execution_options=UNLOADED)
        session.commit()


def _remembered(session: Session) -> set[str]:
    return set(session.connection().execute(select(Disk.folder)).scalars())


def _mounted(originals: Path) -> set[str]:
    root = os.path.realpath(originals)
    names = {clean_name(os.path.relpath(mount, root)) for mount in mounts_below(originals)}
    return {name for name in names if not is_hidden(name) and not is_too_long(name)}
