"""The records of files as they are sent, as JSON text."""

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId
from photosvc.models.search.row import SearchRow


class SearchDocument(Base):
    """The records of one file (spec sections 2.2 and 2.3), apart from the columns that searches compare."""

    __tablename__ = TABLE_PREFIX + "search_documents"

    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    result_head: Mapped[str] = mapped_column(Text)
    """The photo search result up to its last two fields, `Merged` and `Files`, and without the closing brace."""
    file: Mapped[str] = mapped_column(Text)
    """The file record, an element of `Files`."""
