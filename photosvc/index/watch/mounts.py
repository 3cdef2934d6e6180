"""Mounted file systems: whether events tell of what other machines change, and which lie below a folder."""

import os
import re
from pathlib import Path
from typing import Final

_TABLE: Final = Path("/proc/self/mounts")
#: Has the number of each mount: a disk that went and came between two looks has another one.
_NUMBERED: Final = Path("/proc/self/mountinfo")
#: Types of file systems; those of FUSE have the prefix `fuse.`.
_REMOTE: Final = frozenset(
    {
        *("9p", "afs", "beegfs", "ceph", "cifs", "davfs", "davfs2", "glusterfs", "goofys", "gpfs", "lustre", "ncpfs"),
        *("nfs", "nfs4", "prl_fs", "rclone", "s3fs", "smb3", "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs"),
        "vmhgfs-fuse",
    }
)


def is_remote(folder: Path, table: Path = _TABLE) -> bool:
    """Whether the folder, or one below it, lies on a network file system; false where that cannot be known."""
    root = os.path.realpath(folder)
    kinds = _kinds(table)
    holding = max((mount for mount in kinds if _is_within(root, mount)), key=len, default="")
    below = {mount for mount in kinds if _is_within(mount, root)}
    return any(kinds.get(mount, "").removeprefix("fuse.") in _REMOTE for mount in below | {holding})


def mounts_below(folder: Path, table: Path = _NUMBERED) -> dict[str, str]:
    """The mount points below the folder, with the number that each mount has; none where they cannot be known."""
    root = os.path.realpath(folder)
    mounts = {_unescaped(fields[4]): fields[0] for fields in _lines(table) if len(fields) > 4}
    return {mount: number for mount, number in mounts.items() if mount != root and _is_within(mount, root)}


def _kinds(table: Path) -> dict[str, str]:
    """Mount points with the types of their file systems."""
    return {_unescaped(fields[1]): fields[2] for fields in _lines(table) if len(fields) > 2}


def _lines(table: Path) -> list[list[str]]:
    try:
        return [line.split(" ") for line in table.read_text("utf-8", "replace").splitlines()]
    except OSError:
        return []


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _unescaped(text: str) -> str:
    """A mount point as the kernel writes it: blanks, line feeds and backslashes are octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
