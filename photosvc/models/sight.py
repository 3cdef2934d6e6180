"""Labels that models see in pictures, and the last look at each picture."""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from sqlalchemy import ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.core.ids import LABEL, computed_number, computed_uid
from photosvc.core.vocabulary import IMAGE
from photosvc.data.subjects import subjects
from photosvc.models.base import TABLE_PREFIX, Base, RowId, Text, UTCDateTime
from photosvc.query.fold import fold


@dataclass(frozen=True, slots=True)
class SeenLabel:
    """A label that a model saw in a picture; it has the attributes of a `Keyword`."""

    key: str
    """A word of `data.subjects`."""
    score: float
    """0 to 1."""

    src: ClassVar = IMAGE
    favorite: ClassVar = False

    @property
    def is_sure(self) -> bool:
        """Return whether the label is shown."""
        return self.key in subjects() and self.score >= subjects()[self.key].shown_from

    @property
    def word(self) -> str:
        """Return the label as people write it."""
        return self.key.capitalize()

    @property
    def folded(self) -> str:
        """Return the label without case and accents."""
        return fold(self.key)

    @property
    def id(self) -> int:
        """Return a number that follows from the word."""
        return computed_number(self.folded)

    @property
    def uid(self) -> str:
        """Return the UID of the keyword of this name."""
        return computed_uid(LABEL, self.folded)

    @property
    def uncertainty(self) -> int:
        """Return the doubt in percent."""
        return 100 - round(100 * self.score)


class SightRun(Base, table="sight_runs"):
    """The last look of a model at the picture of a photo."""

    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    model: Mapped[str] = mapped_column(Text)
    """The name of the model, with its version."""
    file_hash: Mapped[str] = mapped_column(Text)
    """The content that was looked at."""
    failure: Mapped[str] = mapped_column(Text)
    """Code of the `core.problems.Reason` for which it could not be looked at; empty if it was."""
    done_at: Mapped[datetime] = mapped_column(UTCDateTime)
