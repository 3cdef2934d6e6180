"""The use of each allowance of failed attempts."""

from sqlalchemy import BigInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base


class ThrottleBucket(Base):
    """The allowance of one address or account."""

    __tablename__ = TABLE_PREFIX + "throttle"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    full_at: Mapped[int] = mapped_column(BigInteger, index=True)
    """Milliseconds since 1970: the time at which the whole allowance is available again."""
