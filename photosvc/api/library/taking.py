"""What becomes of the originals of removed photos and files."""

from collections.abc import Iterator
from contextlib import contextmanager

from photosvc.library.staging.errors import ReadOnlyError
from photosvc.library.trash.deletion import Deletion, deleting
from photosvc.library.trash.folder import Trash
from photosvc.web.current import current_service


@contextmanager
def taking_originals() -> Iterator[Deletion | None]:
    """Around a write transaction: what takes the originals into the trash, as soon as it is committed; None: they stay.

    Raises:
        ReadOnlyError: originals are to be deleted, and the originals are read-only.

    """
    service = current_service()
    if not service.settings.delete_originals:
        yield None
        return
    if service.settings.readonly:
        raise ReadOnlyError
    with deleting(Trash(service.settings.originals), service.now()) as deletion:
        yield deletion
