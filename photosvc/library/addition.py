"""The addition of received files to the originals, which are in a folder or in a bucket; nothing is replaced.

Parts are always on the local disk. A folder gets the part itself, a bucket a copy of it.
"""

from contextlib import ExitStack, suppress

from photosvc.core.errors import PhotosvcError
from photosvc.index.mirror import add_placeholder
from photosvc.index.scan import STAGING_FOLDER
from photosvc.library import disk
from photosvc.library.staging_part import NameTakenError, Part, ReadOnlyError, checked_name, typed_errors
from photosvc.settings import Settings
from photosvc.storage import adding
from photosvc.storage.bucket import Bucket, Listed
from photosvc.storage.objects import ObjectTakenError


def require_writable(settings: Settings) -> None:
    """Check that originals may be replaced, moved, deleted and restored.

    Raises:
        ReadOnlyError: they are read-only.
    """
    if settings.readonly:
        raise ReadOnlyError


def add_original(settings: Settings, part: Part, name: str, undo: ExitStack) -> None:
    """Give a whole part a name that no original has, durably.

    Args:
        settings: of the service.
        part: open.
        name: on disk, relative to the originals.
        undo: gets a function to call if the rest of the change fails: the part then waits as before.

    Raises:
        IncompleteError: the part is shorter than announced.
        NameRefusedError: no file can have this name.
        NameTakenError: there is a file or folder of this name.
        PhotosvcError: the disk or the store refuses the file, or fails; the part waits.
    """
    if settings.bucket is None:
        part.place(name, replace=False)
        undo.callback(disk.rename, settings.originals, name, f"{STAGING_FOLDER}/{part.path.name}")
        return
    checked_name(name)
    part.require_whole()
    part.flush()
    try:
        with typed_errors(), part.path.open("rb") as file:
            listed = adding.add(settings.bucket, name, file)
    except ObjectTakenError:
        raise NameTakenError from None
    undo.callback(_remove_again, settings.bucket, listed)
    with typed_errors():
        add_placeholder(settings.bucket, listed)


def _remove_again(bucket: Bucket, listed: Listed) -> None:
    """Remove an object that was just added; if the store fails, another try finds that it has the content."""
    with suppress(PhotosvcError, OSError):
        adding.remove(bucket, listed)
        (bucket.mirror / listed.key).unlink()
