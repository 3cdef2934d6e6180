"""Why a backup cannot be made or restored."""

from photosvc.core.errors import ConflictError, InvalidValueError, PhotosvcError


class NotABackupError(InvalidValueError):
    """The file is not a whole backup of photosvc."""

    exit_code = 1


class NoRoomError(PhotosvcError):
    """The disk has no room for what is in the backup."""


class NothingToBackUpError(PhotosvcError):
    """There is no library to back up."""


class UnreadableDatabaseError(PhotosvcError):
    """The database cannot be read."""


class TargetExistsError(ConflictError):
    """The archive exists already; give another name."""


class DatabaseInUseError(ConflictError):
    """A process uses the database: stop the service, `svc watch` and other commands before."""


class LibraryExistsError(ConflictError):
    """There is a library already."""

    exit_code = 2


class OtherDatabaseError(ConflictError):
    """The backup is of another kind of database than the settings name."""

    exit_code = 2
