"""What is known about the library as a whole."""

from sqlalchemy import BigInteger, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base

#: Counts every committed change of the library.
CHANGES = "changes"

#: Drawn anew with every change: what was seen of the library then is still so while it is the same. A count would
#: give the same numbers again after a backup was put back.
STATE = "state"
#: The projection version the search rows were made with.
PROJECTION = "projection"


class LibraryState(Base):
    """A named number."""

    __tablename__ = TABLE_PREFIX + "library"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    value: Mapped[int] = mapped_column(BigInteger, default=0)
