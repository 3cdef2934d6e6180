"""The keys that sign metadata and tokens."""

from sqlalchemy import Integer, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base


class StoredKey(Base):
    """A signing key, encrypted with the service key."""

    __tablename__ = TABLE_PREFIX + "signing_keys"

    number: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    """The key with the highest one signs."""
    sealed: Mapped[str] = mapped_column(Text)
    """The private key and the time when it was made, as JSON."""
