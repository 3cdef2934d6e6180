"""The words by which photos are found: derived data, one row for each photo, made by `search.projection.project`.

Every column is a text of folded words with a blank on both sides; ` , ` stands between sections, so that a phrase
never reaches from one into the next: ` at the lake , summer , jane doe `. Whether a word, a beginning of a word or a
phrase is there is then a plain substring, the same on every database and in Python.

Finding the few photos that have a rare word is left to an index of the database's own, kept by itself: on SQLite an
FTS5 table behind triggers, on PostgreSQL a generated tsvector with a GIN index. Schema 0002 makes them.
"""

from sqlalchemy import ForeignKey, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId


class SearchText(Base):
    """The words of one photo."""

    __tablename__ = TABLE_PREFIX + "search_texts"

    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    words: Mapped[str] = mapped_column(Text)
    """Everything free text is looked for in."""
    title: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)
    people: Mapped[str] = mapped_column(Text)
    description_key: Mapped[str] = mapped_column(Text)
    """The description itself, folded."""


#: The full-text index: an FTS5 table on SQLite, a column on PostgreSQL.
WORD_INDEX = TABLE_PREFIX + "search_text_index"
WORD_TERMS = "terms"
#: SQLite's view of the words that are in the index.
WORD_VOCABULARY = TABLE_PREFIX + "search_text_vocabulary"
