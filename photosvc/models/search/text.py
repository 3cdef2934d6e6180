"""The words by which photos are found, one row for each photo.

Whether a photo has a word, the beginning of a word or a phrase is a search for a substring in a word text (see
`search.word_text`): both databases and Python give the same answer. The few photos with a rare word are found by an
index that the database keeps itself: on SQLite an FTS5 table with triggers, on PostgreSQL a generated tsvector column
with a GIN index. Migration 0002 creates both.
"""

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId


class SearchText(Base):
    """The word texts of one photo."""

    __tablename__ = TABLE_PREFIX + "search_texts"

    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    words: Mapped[str] = mapped_column(Text)
    """Word text of everything that free text searches."""
    title: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)
    people: Mapped[str] = mapped_column(Text)
    description_key: Mapped[str] = mapped_column(Text)
    """The description, folded; the only column that is no word text."""


#: The full-text index: an FTS5 table on SQLite, a column on PostgreSQL.
WORD_INDEX = TABLE_PREFIX + "search_text_index"
WORD_TERMS = "terms"
#: SQLite's table of the words that are in the index.
WORD_VOCABULARY = TABLE_PREFIX + "search_text_vocabulary"
