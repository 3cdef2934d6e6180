"""What a condition depends on, apart from the query: the database and the rights of the search."""

from dataclasses import dataclass

from photosvc.models.database.unindexed import Column, unindexed


@dataclass(frozen=True, slots=True)
class Context:
    """The database and the rights of one search."""

    on_postgresql: bool
    """Whether the database plans by its own statistics and has tsvector."""
    sees_private: bool
    opened: tuple[str, ...] = ()
    """The switches by which the query asks for rows that are otherwise left out (`visible.asked_open`)."""
    may_use_index: bool = False
    """Whether SQLite may look up the compared columns in their own indexes."""
    words_as_sets: bool = False
    """Whether words are looked up once in the full-text index, because every row is read; not in each row's text."""

    def column(self, column: Column) -> Column:
        """The column as conditions compare it."""
        return column if self.may_use_index else unindexed(column)
