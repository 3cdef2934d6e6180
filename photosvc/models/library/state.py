"""Facts about the library as a whole."""

from sqlalchemy import BigInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base

#: The number of committed changes of the library.
CHANGES = "changes"

#: A random number drawn with every change: cached values stay valid as long as it is unchanged. A counter would give
#: the same numbers for other changes after a backup was restored.
STATE = "state"

#: The projection version that the search rows were written with.
PROJECTION = "projection"


class LibraryState(Base):
    """A named number."""

    __tablename__ = TABLE_PREFIX + "library"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)
