"""The journal of what people changed."""

from datetime import datetime

from sqlalchemy import Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId, UTCDateTime


class PhotoChange(Base):
    """One change of one photo by a person or a client."""

    __tablename__ = TABLE_PREFIX + "photo_changes"

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
    photo_uid: Mapped[str] = mapped_column(Text, server_default="", index=True)
    """Changes of a photo that was deleted stay, its deletion being the last one."""
    action: Mapped[str] = mapped_column(Text)
    """The action of the policy, as `photos.update`."""
    undoes: Mapped[int | None] = mapped_column(Integer)
    """The id of the change that this one takes back."""
    actor_uid: Mapped[str] = mapped_column(Text)
    """UID of the user, else of the client, else of the credential."""
    actor_name: Mapped[str] = mapped_column(Text)
    before: Mapped[str] = mapped_column(Text)
    """The columns that changed, as a JSON object; see `library.edits.values`."""
    after: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UTCDateTime)
