"""What lies in the trash: all of it, and what requests name."""

from collections.abc import Iterable, Iterator

from sqlalchemy.orm import Session

from photosvc.core.errors import NotFoundError
from photosvc.library.trash.folder import Trash
from photosvc.library.trash.names import Kept
from photosvc.library.trash.restore import chosen

#: Files that one request restores.
MOST_RESTORED = 10_000


def every_file(trash: Trash) -> Iterator[Kept]:
    """All files, those that were deleted last first."""
    return (kept for deletion in trash.deletions() for kept in trash.files(deletion))


def chosen_files(session: Session, trash: Trash, items: Iterable[str]) -> list[Kept]:
    """The files that these items mean, each once, until there are more than `MOST_RESTORED`; others are left out."""
    found: dict[Kept, None] = {}
    for item in dict.fromkeys(items):
        try:
            found |= dict.fromkeys(chosen(session, trash, item))
        except NotFoundError:
            continue
        if len(found) > MOST_RESTORED:
            break
    return list(found)
