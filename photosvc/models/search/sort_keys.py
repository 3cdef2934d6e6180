"""The sort keys of the search orders (spec section 4.2), and the indexes that keep rows in these orders."""

from dataclasses import dataclass

#: Index columns of the most frequent orders: with them a page is read from the index alone.
_COVERING = ("private", "photo_id")


@dataclass(frozen=True, slots=True)
class SortKeys:
    """The columns that an order compares, and the indexes it has."""

    columns: tuple[str, ...]
    """All compared in the same direction; the last one is unique."""
    index: str
    """The end of the names of its indexes."""
    appended: tuple[str, ...] = ("private",)
    """Index columns behind the sort keys: a row that must be skipped is skipped without reading the row itself."""
    by_value: bool = False
    """Whether there is a further index for each column declared `by_value`, led by that column."""
    by_album: bool = False
    """Whether `SearchAlbum` has an index in this order."""


#: By the name of the order. Absent is `random`, whose key depends on the seed. `photo_size` is the order `size` of
#: merged results: there the largest file of a photo counts.
SORT_KEYS = {
    "added": SortKeys(("newest_key",), "added", _COVERING, by_value=True, by_album=True),
    "newest": SortKeys(("taken_at", "newest_key"), "taken", _COVERING, by_value=True, by_album=True),
    "oldest": SortKeys(("taken_at", "oldest_key"), "oldest", _COVERING, by_album=True),
    "updated": SortKeys(("updated_at", "newest_key"), "updated"),
    "edited": SortKeys(("edited_at", "newest_key"), "edited"),
    "relevance": SortKeys(("quality", "taken_at", "newest_key"), "relevance"),
    "duration": SortKeys(("duration", "newest_key"), "duration"),
    "size": SortKeys(("size", "newest_key"), "size"),
    "photo_size": SortKeys(("photo_size", "newest_key"), "photo_size"),
    "similar": SortKeys(("color", "cell_id", "photo_diff", "oldest_key"), "similar"),
    "name": SortKeys(("path", "name", "oldest_key"), "name"),
    "title": SortKeys(("title_key", "name", "oldest_key"), "title"),
}
