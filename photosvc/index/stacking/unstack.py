"""Take a file out of its photo because a person says so; no rule stacks it again."""

from datetime import datetime

from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError
from photosvc.index.describing.compose import split_name
from photosvc.index.describing.describe import describe
from photosvc.index.sidecars.links import sidecars_of
from photosvc.index.stacking.merge import inherit
from photosvc.index.stacking.restack import new_photo
from photosvc.index.storing.catalog import Catalog
from photosvc.models import File, Photo
from photosvc.search.projection.project import project

#: `Photo.stack` of a photo that a person took out of stacks.
UNSTACKED = -1


def unstack(session: Session, catalog: Catalog, file: File, now: datetime) -> Photo:
    """Make a photo of its own of this file, in the session's write transaction; gives the new photo.

    It begins with what persons decided about the photo that the file leaves: private stays private, albums keep both.

    Raises:
        ConflictError: the file is the only one of its photo.

    """
    left = file.photo
    if not any(other is not file and not other.missing and not other.sidecar for other in left.files):
        msg = "the file is the only one of its photo"
        raise ConflictError(msg)
    folder, base, _ = split_name(file.name)
    photo = new_photo(session, folder, base, now)
    session.flush()
    inherit(session, photo, left)
    photo.stack, photo.place_due = UNSTACKED, True
    file.photo, file.unstacked = photo, True
    session.flush()
    sidecars = sidecars_of(session, [left.id, photo.id])
    for changed in (left, photo):
        describe(changed, sidecars, catalog, now)
    project(session, [left.id, photo.id])
    return photo
