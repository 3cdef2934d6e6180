"""What the library knows of files, so that those unchanged need not be opened."""

import re
from dataclasses import dataclass
from importlib.util import find_spec

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.paths import clean_name
from photosvc.index.scan import FoundFile
from photosvc.media.extras import MODULES
from photosvc.models import ORIGINALS_ROOT, File, RejectedFile

_NEEDS = re.compile(r'needs the extra "(\w+)"')
#: Begins the reasons that lie outside of the file, where its size and time tell nothing.
_OUTSIDE = "the file cannot be read: "
#: Begins the reason of a duplicate; the name of the other file follows.
COPY_OF = "the same content as "


@dataclass(slots=True)
class Known:
    """A file of an earlier run."""

    size: int
    mtime_ns: int
    reason: str
    """Why it is not in the library, or cannot be shown; empty when all is well."""
    missing: bool
    seen: bool = False

    def is_same(self, found: FoundFile) -> bool:
        """Whether there is nothing new to learn from opening it."""
        same = self.size == found.size and self.mtime_ns == found.mtime_ns and not self.missing
        return same and not self.reason.startswith(_OUTSIDE) and not _can_now(self.reason)

    @property
    def copy_of(self) -> str:
        """The name of the file that has the same content; empty when this is no duplicate."""
        return self.reason.removeprefix(COPY_OF) if self.reason.startswith(COPY_OF) else ""


def known_files(session: Session, folder: str) -> dict[str, Known]:
    """Clean name -> what is known, for all files below `folder`."""
    known = {}
    below = clean_name(folder) + "/" if folder else ""
    for table, reason, missing in (
        (RejectedFile, RejectedFile.reason, None),
        (File, File.error, File.missing),
    ):
        query = select(table.name, table.size, table.mtime_ns, reason, *(() if missing is None else (missing,)))
        query = query.where(table.root == ORIGINALS_ROOT)
        if below:
            query = query.where(table.name.startswith(below, autoescape=True))
        for name, size, mtime_ns, why, *is_missing in session.execute(query):
            known[name] = Known(size, mtime_ns, why, missing=bool(is_missing and is_missing[0]))
    return known


def needs_extra(reason: str) -> bool:
    """Whether an optional decoder is all that was wanting."""
    return bool(_NEEDS.match(reason))


def _can_now(reason: str) -> bool:
    """Whether an optional decoder that was wanting is there now."""
    match = _NEEDS.match(reason)
    return bool(match and match[1] in MODULES and find_spec(MODULES[match[1]]))
