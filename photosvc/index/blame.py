"""Who is to blame when storing fails: a file, or the database."""

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from photosvc.core.errors import PhotosvcError


def blames_data(error: Exception) -> bool:
    """Whether a write failed for what was written: not because the database is locked, full, away or broken."""
    if isinstance(error, PhotosvcError | OSError):
        return False
    if not isinstance(error, DBAPIError):
        return True
    # PostgreSQL counts values beyond its limits (class 54: an index row too long) among operational errors.
    about_values = isinstance(error, DataError | IntegrityError) or _state(error).startswith("54")
    return about_values and not error.connection_invalidated


def _state(error: DBAPIError) -> str:
    """The SQLSTATE; empty on SQLite."""
    return getattr(error.orig, "sqlstate", None) or ""
