"""Whether changes that other machines make reach this one as events."""

import os
import re
from pathlib import Path
from typing import Final

_TABLE: Final = Path("/proc/self/mounts")
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
    try:
        lines = table.read_text("utf-8", "replace").splitlines()
    except OSError:
        return False
    root = os.path.realpath(folder)
    kinds = {_unescaped(fields[1]): fields[2] for line in lines if len(fields := line.split(" ")) > 2}
    holding = max((mount for mount in kinds if _is_within(root, mount)), key=len, default="")
    below = {mount for mount in kinds if _is_within(mount, root)}
    return any(kinds.get(mount, "").removeprefix("fuse.") in _REMOTE for mount in below | {holding})


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _unescaped(text: str) -> str:
    """A mount point as the kernel writes it: blanks, line feeds and backslashes are octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
