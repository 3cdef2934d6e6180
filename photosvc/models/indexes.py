"""The indexes with options of a database: partial indexes, and the indexes of searches.

They complete the metadata of `Base`, with which `svc db check` compares a database; no statement needs them.
"""

from typing import Any

from sqlalchemy import Index, text

from photosvc.models.accounts import Credential
from photosvc.models.base import TABLE_PREFIX
from photosvc.models.jobs import Job, UploadedFile
from photosvc.models.photo import RejectedFile
from photosvc.models.search import (
    PATTERN_COLUMNS,
    RARE_COLUMNS,
    SCANNED_COLUMNS,
    TIMELINE_KEYS,
    VALUE_COLUMNS,
    VALUE_GROUPS,
    SearchAlbum,
    SearchRow,
)
from photosvc.models.search_values import SHOWN, SORT_KEYS


def _partial(name: str, *columns: Any, condition: str, on_sqlite: str = "", unique: bool = False) -> None:  # noqa: ANN401
    """Declare an index of the rows with this condition, which SQLite may need in another form."""
    Index(
        f"{'uq' if unique else 'ix'}_{TABLE_PREFIX}{name}",
        *columns,
        unique=unique,
        sqlite_where=text(on_sqlite or condition),
        postgresql_where=text(condition),
    )


# For credentials that expire without use.
_partial("credentials_idle", Credential.idle_seconds, Credential.last_used_at, condition="idle_seconds IS NOT NULL")
# Waiting jobs of one kind have different subjects.
_partial("jobs_waiting", Job.kind, Job.subject, condition="state = 'waiting'", unique=True)
_partial("jobs_running", Job.owner, condition="state = 'running'")
# A content is claimed once by accounts and imports, and once by each visitor's link and contributor.
_partial(
    "uploaded_files_hash", UploadedFile.hash, condition="NOT contributed", on_sqlite="contributed = 0", unique=True
)
_partial(
    "uploaded_files_hash_contributed",
    UploadedFile.hash,
    UploadedFile.user_id,
    UploadedFile.link_uid,
    condition="contributed",
    on_sqlite="contributed = 1",
    unique=True,
)
# The duplicates of a file: their names count for its stack.
_partial("rejected_files_duplicates", RejectedFile.detail, condition="reason = 'duplicate'")


def _index(
    name: str,
    *columns: str,
    condition: str = "listed",
    included: tuple[str, ...] = (),
) -> None:
    """Declare an index over the rows with this condition, by default the `listed` ones; an empty one means all rows.

    On PostgreSQL, columns in `included` can be read from the index alone; SQLite's indexes always contain `file_id`.
    """
    flag, *further = condition.partition(" AND ")
    on_sqlite = [f"{flag.removeprefix('NOT ')} = {int(not flag.startswith('NOT '))}", *further]
    Index(
        f"ix_{SearchRow.__tablename__}_{name}",
        *(getattr(SearchRow, column) for column in columns),
        sqlite_where=text("".join(on_sqlite)) if condition else None,
        postgresql_where=text(condition) if condition else None,
        postgresql_include=included,
    )


for _keys in SORT_KEYS.values():
    _index(_keys.index, *_keys.columns, *_keys.appended, included=("file_id",))
    if _keys.by_value:
        for _column in VALUE_COLUMNS:
            # Otherwise PostgreSQL walks the order's own index, which it can read alone, past all other values.
            _alone = ("file_id", "private") if _column in _keys.appended else ()
            _index(f"{_column}_{_keys.index}", _column, *_keys.columns, included=_alone)

_index("path", "path_key")

for _name, _is_rare in RARE_COLUMNS.items():
    _index(_name, _name, "newest_key", condition=f"listed AND {_is_rare}")

# SQLite answers a statement from an index alone only if it contains all columns, even the constant `listed`.
for _name in PATTERN_COLUMNS:
    if _name not in {_keys.columns[0] for _keys in SORT_KEYS.values()}:
        _index(f"{_name}_pattern", _name, "oldest_key", "listed")

_index("unlisted", "newest_key", condition="NOT listed")

_index("photo", "photo_id", "taken_at", "newest_key", "private", "listed", condition="", included=("file_id",))

# PostgreSQL allows 32 columns.
_index(
    "values",
    *VALUE_GROUPS,
    *(name for name in SCANNED_COLUMNS if name not in VALUE_GROUPS),
    "newest_key",
    "private",
    "listed",
)

_index("timeline", *TIMELINE_KEYS, *SHOWN, condition="")

_index("map", "lat", "lng", "newest_key", *SHOWN, condition="")

for _sort in SORT_KEYS.values():
    if _sort.by_album:
        _columns = ("album_id", *_sort.columns, "file_id")
        Index(f"ix_{SearchAlbum.__tablename__}_{_sort.index}", *(getattr(SearchAlbum, name) for name in _columns))
