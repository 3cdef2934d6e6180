"""The unit of work for photos whose files or facts changed: described, stored and projected once, before the commit.

Callers change photos and files, and name the photos. `library.unit_of_work` does the same for edits by people, which it
also journals. Other modules do not write search rows of photos; an import contract says so.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from sqlalchemy import Select, update
from sqlalchemy.orm import Session

from photosvc.index.describe import describe
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_links import sidecars_of
from photosvc.models import Camera, File, Photo
from photosvc.models.statements import UNLOADED, insert_of, run_many
from photosvc.search.rows.write import project


def mark_cameras(session: Session, cameras: Collection[int] | Select[int]) -> None:
    """Note that photos of these cameras changed, for `index.place_estimates`; no object in the session changes."""
    marked = update(Camera).where(Camera.id.in_(cameras)).values(changes=Camera.changes + 1)
    session.connection().execute(marked, execution_options=UNLOADED)


def is_alone(file: File) -> bool:
    """Return whether a described file and its photo are two rows, without further ones of markers and keywords."""
    return len(file.photo.files) == 1 and not (file.markers or file.photo.keywords)


class PhotoChanges:
    """The photos that change in one write transaction."""

    def __init__(self, session: Session, shared_rows: SharedRows, now: datetime) -> None:
        self._session = session
        self._catalog = shared_rows
        self._now = now
        self._cameras: set[int] = set()

    def remember(self, photos: Iterable[Photo]) -> None:
        """Remember the cameras of these photos, before they change."""
        self._cameras.update(photo.camera_id for photo in photos if photo.camera_id)

    def describe_new(self, photos: Iterable[Photo]) -> None:
        """Describe photos before they are inserted, whose files have no sidecars."""
        for photo in photos:
            describe(photo, {}, self._catalog, self._now)

    def insert(self, files: Collection[File]) -> None:
        """Insert new files for which `is_alone` is true, with their described photos.

        They are most files of a first run. A session would take three times as long to find out what to insert.
        """
        for file in files:
            photo = file.photo
            photo.assign({"camera_id": photo.camera.id, "lens_id": photo.lens.id, "place_id": photo.place.id})
            file.assign({"photo_id": photo.id})
        connection = self._session.connection()
        run_many(connection, insert_of(Photo), [file.photo.columns() for file in files])
        run_many(connection, insert_of(File), [file.columns() for file in files])

    def describe(self, photos: Collection[Photo]) -> None:
        """Describe photos by their files, with their quality, and flush."""
        sidecars = sidecars_of(self._session, [photo.id for photo in photos])
        with self._session.no_autoflush:
            for photo in photos:
                describe(photo, sidecars, self._catalog, self._now)
        self._session.flush()

    def project(self, photos: Sequence[Photo], *, gone: Collection[int] = ()) -> None:
        """Write the search rows of described photos, and mark the cameras whose photos may get other estimates.

        Args:
            photos: all photos that changed.
            gone: ids of photos that were deleted.
        """
        self.project_estimated(photos, gone=gone)
        self.remember(photos)
        mark_cameras(self._session, self._cameras)
        self._cameras.clear()

    def project_estimated(self, photos: Sequence[Photo], *, gone: Collection[int] = ()) -> None:
        """Write search rows as `project` does, without marking cameras: no estimate depends on another one."""
        if photos or gone:
            project(self._session, [*(photo.id for photo in photos), *gone], filter(_has_no_order, photos))


def _has_no_order(photo: Photo) -> bool:
    """Return whether no list of a photo has several members: their order may differ from that in the database."""
    return len(photo.files) == 1 and len(photo.files[0].markers) <= 1 and len(photo.keywords) <= 1
