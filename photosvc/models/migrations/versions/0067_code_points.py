"""PostgreSQL compares all texts by code point, as SQLite does, whatever the locale of the database.

By the rules of a language, the range of the texts that begin with a prefix misses some of them, and blanks and hyphens
count less than letters in orders.
"""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import index

revision = "0067"
down_revision = "0066"

_TEXTS = "photosvc_search_texts"
_COLUMNS = """
    SELECT table_name, string_agg(format('ALTER COLUMN %I TYPE text COLLATE "C"', column_name), ', ')
    FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name LIKE 'photosvc\\_%' AND data_type = 'text'
    AND collation_name IS DISTINCT FROM 'C' GROUP BY table_name
"""
_GENERATED = f"SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = '{_TEXTS}'::regclass"  # noqa: S608


def upgrade() -> None:
    """Change the collation of all texts, and let the indexes of names use it."""
    if op.get_context().dialect.name != "postgresql":
        return
    for table, changes in op.get_bind().execute(sa.text(_COLUMNS)).all():
        if table == _TEXTS:
            _change_words(changes)
        else:
            op.execute(f"ALTER TABLE {table} {changes}")
    _replace_indexes("")


def downgrade() -> None:
    """Create the former indexes again; the code before works with this collation too."""
    if op.get_context().dialect.name == "postgresql":
        _replace_indexes("text_pattern_ops")


def _change_words(changes: str) -> None:
    """Change the texts from which a column is generated, which PostgreSQL allows only without that column."""
    expression = op.get_bind().scalar(sa.text(_GENERATED))
    op.execute(f"ALTER TABLE {_TEXTS} DROP COLUMN terms")
    op.execute(f"ALTER TABLE {_TEXTS} {changes}")
    op.execute(f"ALTER TABLE {_TEXTS} ADD COLUMN terms tsvector GENERATED ALWAYS AS ({expression}) STORED")
    op.execute(f"CREATE INDEX ix_{_TEXTS}_terms ON {_TEXTS} USING gin (terms)")


def _replace_indexes(ops: str) -> None:
    for column in ("file_key", "name_key"):
        name = f"ix_photosvc_search_rows_{column}_pattern"
        op.drop_index(name, "photosvc_search_rows")
        columns = f"{column} oldest_key listed"
        index("search_rows", columns, name=name, where="listed", ops={column: ops} if ops else None)
