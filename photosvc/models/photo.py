"""The tables of photos and what refers to them: files, markers, sidecars, rejected files, albums, look-alikes."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import orjson
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    Table,
    UniqueConstraint,
    false,
    select,
)
from sqlalchemy.orm import Mapped, Session, joinedload, mapped_column, relationship, selectinload

from photosvc.core.problems import Problem
from photosvc.core.times import ZERO_TIME
from photosvc.core.vocabulary import UNKNOWN_PLACE
from photosvc.models.base import TABLE_PREFIX, Base, Numbered, RowId, Text, UTCDateTime
from photosvc.models.library import (
    UNKNOWN_ID,
    Album,
    Camera,
    Keyword,
    Lens,
    Place,
    renamed_uids,
    subject_uid,
)
from photosvc.models.sight import SeenLabel
from photosvc.models.statements import among
from photosvc.query.fold import fold

#: `FileRoot` of originals.
ORIGINALS_ROOT = "/"
#: Values of a photo with a source column of their own, which only people write.
PLAIN_VALUES: Final = (
    "subject", "artist", "copyright", "license", "notes", "rating", "scan", "panorama", "iso", "focal_length",
    "f_number", "exposure", "original_name",
)  # fmt: skip
#: The size in the row of a sidecar whose file is gone.
GONE: Final = -1


class Marker(Numbered, table="markers"):
    """A box on a file, in fractions of the width and height of the upright picture, from the top left."""

    uid: Mapped[str] = mapped_column(Text, unique=True)
    file_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), index=True)
    type: Mapped[str] = mapped_column(Text, default="")
    """`face` or empty."""
    src: Mapped[str] = mapped_column(Text, default="meta")
    name: Mapped[str] = mapped_column(Text, default="", index=True)
    x: Mapped[float] = mapped_column(default=0.0)
    y: Mapped[float] = mapped_column(default=0.0)
    w: Mapped[float] = mapped_column(default=0.0)
    h: Mapped[float] = mapped_column(default=0.0)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)

    file: Mapped["File"] = relationship(back_populates="markers")

    renamed_uid = ""
    """The UID of a renamed person; `identify` sets it."""

    @property
    def subject_uid(self) -> str:
        """Return the UID of the person; empty without a name."""
        return self.renamed_uid or (subject_uid(fold(self.name)) if self.name else "")

    @staticmethod
    def identify(session: Session, markers: Collection["Marker"]) -> None:
        """Look up the renamed people on these markers, for `subject_uid`."""
        uids = renamed_uids(session, {marker.name for marker in markers if marker.name})
        for marker in markers:
            marker.renamed_uid = uids.get(marker.name, "")


class File(Numbered, table="files"):
    """A file of a photo, below a root."""

    __table_args__ = (UniqueConstraint("root", "name"),)

    uid: Mapped[str] = mapped_column(Text, unique=True)
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(TABLE_PREFIX + "photos.id"), index=True)
    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the root, `/` between folders; see `core.files` for names that are not UTF-8."""
    original_name: Mapped[str] = mapped_column(Text, default="")
    hash: Mapped[str] = mapped_column(Text, index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes."""
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    primary: Mapped[bool] = mapped_column(default=False)
    primary_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    """`manual` if a person chose it to show the photo."""
    sidecar: Mapped[bool] = mapped_column(default=False)
    missing: Mapped[bool] = mapped_column(default=False)
    unstacked: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if it is never stacked: a person removed it from its photo, or a visitor or contributor sent it."""
    stacked_from: Mapped[str] = mapped_column(Text, default="", server_default="")
    """UIDs of the photos that it belonged to before a person stacked it, the last one at the end, each after a blank;
    files of the photo that the stack began with have its UID. See `library.stacks`."""
    contributed: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if a visitor or contributor sent it: it never takes the place of another file with its content."""
    error: Mapped[str] = mapped_column(Text, default="")
    """Code of the `core.problems.Reason` for which the file cannot be shown; empty for none."""
    error_detail: Mapped[str] = mapped_column(Text, default="", server_default="")
    """Details of that problem, one a line."""
    codec: Mapped[str] = mapped_column(Text, default="")
    file_type: Mapped[str] = mapped_column(Text, default="")
    media_type: Mapped[str] = mapped_column(Text, default="")
    mime: Mapped[str] = mapped_column(Text, default="")
    width: Mapped[int] = mapped_column(Integer, default=0)
    height: Mapped[int] = mapped_column(Integer, default=0)
    orientation: Mapped[int] = mapped_column(SmallInteger, default=1)
    """Exif orientation, 1 to 8; `width` and `height` are those of the upright picture."""
    orientation_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    """`manual` if a person chose it."""
    turn: Mapped[int] = mapped_column(SmallInteger, default=1, server_default="1")
    """Exif orientation that has to follow the file's own orientation to give the one that a person chose."""
    motion: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True for a picture that contains a video."""
    duration_ns: Mapped[int] = mapped_column(BigInteger, default=0)
    fps: Mapped[float] = mapped_column(default=0.0)
    frames: Mapped[int] = mapped_column(Integer, default=0)
    projection: Mapped[str] = mapped_column(Text, default="")
    color_profile: Mapped[str] = mapped_column(Text, default="")
    main_color: Mapped[int] = mapped_column(SmallInteger, default=-1)
    colors: Mapped[str] = mapped_column(Text, default="")
    luminance: Mapped[str] = mapped_column(Text, default="")
    diff: Mapped[int] = mapped_column(Integer, default=-1)
    chroma: Mapped[int] = mapped_column(SmallInteger, default=-1)
    look_1: Mapped[int] = mapped_column(Integer, default=-1, server_default="-1", index=True)
    """The first of four parts of the perceptual hash, see `media.looks.Look`."""
    look_2: Mapped[int] = mapped_column(Integer, default=-1, server_default="-1", index=True)
    look_3: Mapped[int] = mapped_column(Integer, default=-1, server_default="-1", index=True)
    look_4: Mapped[int] = mapped_column(Integer, default=-1, server_default="-1", index=True)
    instance_id: Mapped[str] = mapped_column(Text, default="", index=True)
    details: Mapped[str] = mapped_column(Text, default="{}")
    """The metadata of the file as one JSON record; see `index.file_columns`."""
    reader_version: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    """Version of the reader that read the file; see `index.extract.READER_VERSION`."""
    chosen_names: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The names that people gave to marked areas, as JSON; see `index.file_columns`."""
    added_areas: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The areas that people added, as JSON; see `index.file_columns`."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)

    photo: Mapped["Photo"] = relationship(back_populates="files")
    markers: Mapped[list[Marker]] = relationship(
        back_populates="file", order_by=Marker.id, cascade="all, delete-orphan"
    )

    @property
    def problem(self) -> Problem | None:
        """Return the problem for which the file cannot be shown, from `error` and `error_detail`."""
        return Problem.from_columns(self.error, self.error_detail)

    @problem.setter
    def problem(self, problem: Problem | None) -> None:
        error, detail = (problem.reason.value, problem.detail) if problem else ("", "")
        self.assign({"error": error, "error_detail": detail})

    @property
    def aspect_ratio(self) -> float:
        """Return width by height with two decimals; 0 if it is unknown."""
        return round(self.width / self.height, 2) if self.height else 0.0

    @property
    def is_present(self) -> bool:
        """Return whether it is neither missing nor a sidecar."""
        return not (self.missing or self.sidecar)

    @property
    def faces(self) -> int:
        """Return the number of faces marked on it, with or without a name."""
        return sum(marker.type == "face" for marker in self.markers)

    @property
    def portrait(self) -> bool:
        """Return whether the picture is taller than wide."""
        return self.height > self.width


class StackKey(Base, table="stack_keys"):
    """A key of a file: files with equal keys may belong to the same photo; see `index.stack_rules`."""

    __table_args__ = ({"sqlite_with_rowid": False},)

    key: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "files.id", ondelete="CASCADE"), primary_key=True, index=True
    )


class RejectedFile(Numbered, table="rejected_files"):
    """A file that the index left out or could not read, with the reason and the time of the next try."""

    __table_args__ = (UniqueConstraint("root", "name"),)

    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    size: Mapped[int] = mapped_column(BigInteger)
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    reason: Mapped[str] = mapped_column(Text)
    """Code of a `core.problems.Reason`."""
    detail: Mapped[str] = mapped_column(Text, default="", server_default="")
    """Details of that problem, one a line; of a duplicate the name of the file with its content."""
    reader_version: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    """Version of the reader that rejected the file; see `index.extract.READER_VERSION`."""
    attempts: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    """Failed tries in a row for a reason that may pass, while size and time of the file were the same."""
    retry_at: Mapped[datetime | None] = mapped_column(UTCDateTime, index=True)
    """Time of the next try after such a failure; the library may still have an earlier `File` of this name."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


photo_keywords = Table(
    TABLE_PREFIX + "photo_keywords",
    Base.metadata,
    Column("photo_id", RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True),
    Column("keyword_id", RowId, ForeignKey(Keyword.id, ondelete="CASCADE"), primary_key=True, index=True),
)


class Photo(Numbered, table="photos"):
    """A photo of the library: a picture in one or more files.

    A `…_src` column names the source of a value; stronger sources replace weaker ones, see `core.vocabulary`. The
    sources of `PLAIN_VALUES` and of the keywords are `manual` if a person set the value, and empty for values of files.
    """

    __table_args__ = (
        Index(None, "path", "name"),
        Index(f"ix_{TABLE_PREFIX}photos_camera", "camera_id", "camera_serial", "taken_at_local"),
    )

    uid: Mapped[str] = mapped_column(Text, unique=True)
    type: Mapped[str] = mapped_column(Text, default="image")
    """`image`, `raw`, `live`, `video` or `animated`."""
    type_src: Mapped[str] = mapped_column(Text, default="")
    taken_at: Mapped[datetime] = mapped_column(UTCDateTime, default=ZERO_TIME)
    taken_at_local: Mapped[datetime] = mapped_column(UTCDateTime, default=ZERO_TIME)
    """Local time where the photo was taken, stored as if it were UTC."""
    taken_src: Mapped[str] = mapped_column(Text, default="")
    time_zone: Mapped[str] = mapped_column(Text, default="")
    """IANA name or `UTC`; empty if it is unknown."""
    path: Mapped[str] = mapped_column(Text, default="")
    name: Mapped[str] = mapped_column(Text, default="")
    original_name: Mapped[str] = mapped_column(Text, default="")
    original_name_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    title: Mapped[str] = mapped_column(Text, default="")
    title_src: Mapped[str] = mapped_column(Text, default="")
    description: Mapped[str] = mapped_column(Text, default="")
    description_src: Mapped[str] = mapped_column(Text, default="")
    year: Mapped[int] = mapped_column(Integer, default=-1)
    month: Mapped[int] = mapped_column(Integer, default=-1)
    day: Mapped[int] = mapped_column(Integer, default=-1)
    country: Mapped[str] = mapped_column(Text, default=UNKNOWN_PLACE)
    stack: Mapped[int] = mapped_column(SmallInteger, default=0)
    """1: stacked, 0: may be stacked, -1: never stacked."""
    favorite: Mapped[bool] = mapped_column(default=False)
    favorite_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    private: Mapped[bool] = mapped_column(default=False)
    approved: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if a person took it out of review."""
    scan: Mapped[bool] = mapped_column(default=False)
    scan_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    panorama: Mapped[bool] = mapped_column(default=False)
    panorama_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    iso: Mapped[int] = mapped_column(Integer, default=0)
    iso_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    focal_length: Mapped[int] = mapped_column(Integer, default=0)
    """Millimetres."""
    focal_length_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    f_number: Mapped[float] = mapped_column(default=0.0)
    f_number_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    exposure: Mapped[str] = mapped_column(Text, default="")
    exposure_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    camera_id: Mapped[int] = mapped_column(RowId, ForeignKey(Camera.id), default=UNKNOWN_ID)
    camera_src: Mapped[str] = mapped_column(Text, default="")
    camera_serial: Mapped[str] = mapped_column(Text, default="")
    lens_id: Mapped[int] = mapped_column(RowId, ForeignKey(Lens.id), default=UNKNOWN_ID, index=True)
    lat: Mapped[float] = mapped_column(default=0.0)
    lng: Mapped[float] = mapped_column(default=0.0)
    altitude: Mapped[int] = mapped_column(Integer, default=0)
    cell_id: Mapped[str] = mapped_column(Text, default=UNKNOWN_PLACE)
    place_id: Mapped[str] = mapped_column(Text, ForeignKey(Place.id), default=UNKNOWN_PLACE, index=True)
    place_src: Mapped[str] = mapped_column(Text, default="")
    place_named: Mapped[bool] = mapped_column(default=False, server_default=false())
    """True if the files name the estimated place, so that the places of other photos do not matter."""
    quality: Mapped[int] = mapped_column(SmallInteger, default=-1)
    """0 to 7; -1: hidden or broken."""
    resolution: Mapped[int] = mapped_column(Integer, default=0)
    """Megapixels of the largest file, rounded."""
    color: Mapped[int] = mapped_column(SmallInteger, default=0)
    duration_ns: Mapped[int] = mapped_column(BigInteger, default=0)
    rating: Mapped[int] = mapped_column(SmallInteger, default=0)
    rating_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    subject: Mapped[str] = mapped_column(Text, default="")
    subject_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    artist: Mapped[str] = mapped_column(Text, default="")
    artist_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    copyright: Mapped[str] = mapped_column(Text, default="")
    copyright_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    license: Mapped[str] = mapped_column(Text, default="")
    license_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    notes: Mapped[str] = mapped_column(Text, default="")
    notes_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    software: Mapped[str] = mapped_column(Text, default="")
    document_id: Mapped[str] = mapped_column(Text, default="", index=True)
    keywords_src: Mapped[str] = mapped_column(Text, default="", server_default="")
    seen_labels: Mapped[str] = mapped_column(Text, default="", server_default="")
    """Labels seen in the picture: a JSON object of words of `data.subjects` and their scores, 0 to 1; see `sight`."""
    rejected_labels: Mapped[str] = mapped_column(Text, default="", server_default="")
    """The folded words of seen labels that a person took away, one a line: they never return."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)
    edited_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    checked_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    archived_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    archived_src: Mapped[str] = mapped_column(Text, default="", server_default="")

    files: Mapped[list[File]] = relationship(back_populates="photo", order_by=File.id)
    camera: Mapped[Camera] = relationship()
    lens: Mapped[Lens] = relationship()
    place: Mapped[Place] = relationship()
    keywords: Mapped[list[Keyword]] = relationship(secondary=photo_keywords, order_by=Keyword.word)

    @property
    def seen(self) -> Sequence[SeenLabel]:
        """Return what the picture surely shows, the surest first, without keywords of the photo."""
        if not self.seen_labels:
            return ()
        left_out = {*self.rejected_labels.split("\n"), *(keyword.folded for keyword in self.keywords)}
        labels = (SeenLabel(word, score) for word, score in orjson.loads(self.seen_labels).items())
        return [label for label in labels if label.is_sure and label.folded not in left_out]


#: Options of a query that load photos with everything that their records and search rows show.
WITH_ALL: Final = (
    joinedload(Photo.camera),
    joinedload(Photo.lens),
    joinedload(Photo.place),
    selectinload(Photo.keywords),
    selectinload(Photo.files).selectinload(File.markers),
)


def load_whole(session: Session, photo_ids: Collection[int]) -> Sequence[Photo]:
    """Return the photos with these ids, by id, with everything that their records and search rows show."""
    query = select(Photo).where(among(session, Photo.id, photo_ids)).options(*WITH_ALL).order_by(Photo.id)
    return session.scalars(query).all()


class Sidecar(Numbered, table="sidecars"):
    """A sidecar that could be read; the files to which it belongs need not exist."""

    __table_args__ = (UniqueConstraint("root", "name"),)

    root: Mapped[str] = mapped_column(Text, default=ORIGINALS_ROOT)
    name: Mapped[str] = mapped_column(Text)
    """Path relative to the root, in the form of `File.name`."""
    folder: Mapped[str] = mapped_column(Text, index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    """Bytes; `GONE` if the file is gone and the row stays for its album."""
    mtime_ns: Mapped[int] = mapped_column(BigInteger)
    kind: Mapped[str] = mapped_column(Text)
    """Value of an `index.sidecar_formats.SidecarKind`."""
    details: Mapped[str] = mapped_column(Text)
    """The metadata as one JSON record; see `index.file_columns`."""
    album_id: Mapped[int | None] = mapped_column(RowId, ForeignKey(Album.id, ondelete="SET NULL"), index=True)
    """The album that was made from it."""
    reader_version: Mapped[int] = mapped_column(SmallInteger)
    """Version of the reader that read the sidecar; see `index.extract.READER_VERSION`."""
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)


#: The files to which a sidecar belongs.
file_sidecars = Table(
    TABLE_PREFIX + "file_sidecars",
    Base.metadata,
    Column("file_id", RowId, ForeignKey(File.id, ondelete="CASCADE"), primary_key=True),
    Column("sidecar_id", RowId, ForeignKey(Sidecar.id, ondelete="CASCADE"), primary_key=True, index=True),
)

#: The files with the content of a picture that lies beside a sidecar and is left out as their duplicate.
copy_sidecars = Table(
    TABLE_PREFIX + "copy_sidecars",
    Base.metadata,
    Column("name", Text, primary_key=True),
    Column("sidecar_id", RowId, ForeignKey(Sidecar.id, ondelete="CASCADE"), primary_key=True, index=True),
    Column("file_id", RowId, ForeignKey(File.id, ondelete="CASCADE"), nullable=False, index=True),
)


class AlbumPhoto(Base, table="album_photos"):
    """A photo in an album; `hidden` removes it from a smart album, or from a large album that is deleted in steps."""

    __table_args__ = (Index(f"ix_{TABLE_PREFIX}album_photos_position", "album_id", "position", "photo_id"),)

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), primary_key=True, index=True)
    position: Mapped[int] = mapped_column(Integer().with_variant(BigInteger, "postgresql"), default=0)
    """The manual order. Positions may be equal, negative and have gaps; photos with equal ones are sorted by id."""
    hidden: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)


class LookAlike(Base, table="look_alikes"):
    """A photo in a group of look-alikes."""

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The number of the group."""
    place: Mapped[int] = mapped_column(SmallInteger, primary_key=True, autoincrement=False)
    """The rank in the group: 0 for the best photo."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), index=True)
    distance: Mapped[int] = mapped_column(SmallInteger)
    """Hamming distance of the 64-bit perceptual hashes of this photo and the best one."""


class DistinctPhoto(Base, table="distinct_photos"):
    """A photo in a set whose photos are all different according to a person."""

    number: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    """The random number of the set."""
    photo_id: Mapped[int] = mapped_column(RowId, ForeignKey(Photo.id, ondelete="CASCADE"), primary_key=True, index=True)
