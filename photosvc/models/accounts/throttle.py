"""How much of each allowance of failures is used up."""

from sqlalchemy import BigInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base


class ThrottleBucket(Base):
    """One bucket of failures: of an address, of an account."""

    __tablename__ = TABLE_PREFIX + "throttle"

    key: Mapped[str] = mapped_column(Text, primary_key=True)
    full_at: Mapped[int] = mapped_column(BigInteger, index=True)
    """Milliseconds since 1970: when the allowance is whole again."""
