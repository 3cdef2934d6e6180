"""Further search tables: files of albums, records as JSON text, and words."""

from sqlalchemy import BigInteger, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from photosvc.models.base import TABLE_PREFIX, Base, RowId
from photosvc.models.content.library import Album
from photosvc.models.search.columns import SORT_KEYS
from photosvc.models.search.row import SearchRow


class SearchAlbum(Base):
    """One file in one album, with copies of the sort keys of its `SearchRow`.

    A page of an album is read along one index, for any size of the library and of the album.
    """

    __tablename__ = TABLE_PREFIX + "search_albums"

    album_id: Mapped[int] = mapped_column(RowId, ForeignKey(Album.id, ondelete="CASCADE"), primary_key=True)
    file_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(SearchRow.file_id, ondelete="CASCADE"), primary_key=True, index=True
    )
    taken_at: Mapped[int] = mapped_column(BigInteger)
    newest_key: Mapped[int] = mapped_column(BigInteger)
    oldest_key: Mapped[int] = mapped_column(BigInteger)


for _keys in SORT_KEYS.values():
    if _keys.by_album:
        _columns = ("album_id", *_keys.columns, "file_id")
        Index(f"ix_{SearchAlbum.__tablename__}_{_keys.index}", *(getattr(SearchAlbum, name) for name in _columns))


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


class SearchText(Base):
    """The words by which a photo is found.

    Whether a photo has a word, the beginning of a word or a phrase is a search for a substring in a word text (see
    `search.word_text`): both databases and Python give the same answer. The few photos with a rare word are found by
    an index that the database keeps itself: on SQLite an FTS5 table with triggers, on PostgreSQL a generated tsvector
    column with a GIN index. It has each word of a section once more, behind the mark of the section. Migration 0037
    creates both.
    """

    __tablename__ = TABLE_PREFIX + "search_texts"

    photo_id: Mapped[int] = mapped_column(
        RowId, ForeignKey(TABLE_PREFIX + "photos.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    words: Mapped[str] = mapped_column(Text)
    """Word text of everything that free text searches."""
    title: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)
    people: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text)
    place: Mapped[str] = mapped_column(Text)
    """City, state and country."""
    description_key: Mapped[str] = mapped_column(Text)
    """The description, folded, for patterns; the only column that is no word text."""


#: The full-text index: an FTS5 table on SQLite, a column on PostgreSQL.
WORD_INDEX = TABLE_PREFIX + "search_text_index"
WORD_TERMS = "terms"
#: SQLite's table of the words that are in the index.
WORD_VOCABULARY = TABLE_PREFIX + "search_text_vocabulary"
