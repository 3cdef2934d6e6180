"""Photos: each is one picture, of one or more files."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, SmallInteger, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from photosvc.core.clock import ZERO_TIME
from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime
from photosvc.models.library.camera import UNKNOWN_ID, Camera, Lens
from photosvc.models.library.file import File
from photosvc.models.library.keyword import Keyword, photo_keywords
from photosvc.models.library.place import UNKNOWN_PLACE, Place


class Photo(Base):
    """One photo of the library (spec section 2.2).

    A `…_src` column names the source of a value; stronger sources replace weaker ones, see `core.sources`.
    """

    __tablename__ = TABLE_PREFIX + "photos"
    __table_args__ = (Index(None, "path", "name"),)

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    uid: Mapped[str] = mapped_column(Text, unique=True)
    type: Mapped[str] = mapped_column(Text, default="image")
    """`image`, `raw`, `live`, `video` or `animated`."""
    type_src: Mapped[str] = mapped_column(Text, default="")
    taken_at: Mapped[datetime] = mapped_column(UTCDateTime, default=ZERO_TIME)
    taken_at_local: Mapped[datetime] = mapped_column(UTCDateTime, default=ZERO_TIME)
    """Local time where the photo was taken, stored as if it were UTC."""
    taken_src: Mapped[str] = mapped_column(Text, default="")
    time_zone: Mapped[str] = mapped_column(Text, default="")
    """IANA name, `UTC`, or empty when unknown."""
    path: Mapped[str] = mapped_column(Text, default="")
    name: Mapped[str] = mapped_column(Text, default="")
    original_name: Mapped[str] = mapped_column(Text, default="")
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
    private: Mapped[bool] = mapped_column(default=False)
    scan: Mapped[bool] = mapped_column(default=False)
    panorama: Mapped[bool] = mapped_column(default=False)
    iso: Mapped[int] = mapped_column(Integer, default=0)
    focal_length: Mapped[int] = mapped_column(Integer, default=0)
    """Millimetres."""
    f_number: Mapped[float] = mapped_column(default=0.0)
    exposure: Mapped[str] = mapped_column(Text, default="")
    camera_id: Mapped[int] = mapped_column(RowId, ForeignKey(Camera.id), default=UNKNOWN_ID, index=True)
    camera_src: Mapped[str] = mapped_column(Text, default="")
    camera_serial: Mapped[str] = mapped_column(Text, default="")
    lens_id: Mapped[int] = mapped_column(RowId, ForeignKey(Lens.id), default=UNKNOWN_ID, index=True)
    lat: Mapped[float] = mapped_column(default=0.0)
    lng: Mapped[float] = mapped_column(default=0.0)
    altitude: Mapped[int] = mapped_column(Integer, default=0)
    cell_id: Mapped[str] = mapped_column(Text, default=UNKNOWN_PLACE)
    place_id: Mapped[str] = mapped_column(Text, ForeignKey(Place.id), default=UNKNOWN_PLACE, index=True)
    place_src: Mapped[str] = mapped_column(Text, default="")
    quality: Mapped[int] = mapped_column(SmallInteger, default=-1)
    """0 to 7; -1: hidden or broken."""
    resolution: Mapped[int] = mapped_column(Integer, default=0)
    """Megapixels of the largest file, rounded."""
    color: Mapped[int] = mapped_column(SmallInteger, default=0)
    duration_ns: Mapped[int] = mapped_column(BigInteger, default=0)
    rating: Mapped[int] = mapped_column(SmallInteger, default=0)
    subject: Mapped[str] = mapped_column(Text, default="")
    artist: Mapped[str] = mapped_column(Text, default="")
    copyright: Mapped[str] = mapped_column(Text, default="")
    license: Mapped[str] = mapped_column(Text, default="")
    notes: Mapped[str] = mapped_column(Text, default="")
    software: Mapped[str] = mapped_column(Text, default="")
    document_id: Mapped[str] = mapped_column(Text, default="", index=True)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
    updated_at: Mapped[datetime] = mapped_column(UTCDateTime)
    edited_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    checked_at: Mapped[datetime | None] = mapped_column(UTCDateTime)
    archived_at: Mapped[datetime | None] = mapped_column(UTCDateTime)

    files: Mapped[list[File]] = relationship(back_populates="photo", order_by=File.id)
    camera: Mapped[Camera] = relationship()
    lens: Mapped[Lens] = relationship()
    place: Mapped[Place] = relationship()
    keywords: Mapped[list[Keyword]] = relationship(secondary=photo_keywords, order_by=Keyword.word)
