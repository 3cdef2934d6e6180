"""Index the words of photos: FTS5 on SQLite, tsvector on PostgreSQL."""

import sqlalchemy as sa
from alembic import context, op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
TEXTS = "photosvc_search_texts"
ROWS = "photosvc_search_rows"

# Words hold letters, digits and signs: for the tokenizer `ascii` blanks and commas part them, and nothing else does.
SQLITE = (
    """
    CREATE VIRTUAL TABLE photosvc_search_text_index USING fts5(
        words, content='photosvc_search_texts', content_rowid='photo_id',
        tokenize='ascii', detail='none', columnsize=0
    )
    """,
    """
    CREATE TRIGGER photosvc_search_text_index_insert AFTER INSERT ON photosvc_search_texts BEGIN
        INSERT INTO photosvc_search_text_index(rowid, words) VALUES (new.photo_id, new.words);
    END
    """,
    """
    CREATE TRIGGER photosvc_search_text_index_delete AFTER DELETE ON photosvc_search_texts BEGIN
        INSERT INTO photosvc_search_text_index(photosvc_search_text_index, rowid, words)
        VALUES ('delete', old.photo_id, old.words);
    END
    """,
    """
    CREATE TRIGGER photosvc_search_text_index_update AFTER UPDATE OF words ON photosvc_search_texts
    WHEN old.words <> new.words BEGIN
        INSERT INTO photosvc_search_text_index(photosvc_search_text_index, rowid, words)
        VALUES ('delete', old.photo_id, old.words);
        INSERT INTO photosvc_search_text_index(rowid, words) VALUES (new.photo_id, new.words);
    END
    """,
)
POSTGRESQL = (
    """
    ALTER TABLE photosvc_search_texts ADD COLUMN terms tsvector
    GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim(words), ' '))) STORED
    """,
    "CREATE INDEX ix_photosvc_search_texts_terms ON photosvc_search_texts USING gin (terms)",
)


def upgrade() -> None:
    """Forward."""
    _renew_early_search_tables()
    op.create_table(
        TEXTS,
        sa.Column("photo_id", ROW_ID, autoincrement=False, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("words", "title", "keywords", "people")),
        sa.Column("description_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["photo_id"], ["photosvc_photos.id"], name=op.f(f"fk_{TEXTS}_photo_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("photo_id", name=op.f(f"pk_{TEXTS}")),
    )
    for statement in SQLITE if op.get_bind().dialect.name == "sqlite" else POSTGRESQL:
        op.execute(statement)


def _renew_early_search_tables() -> None:
    """Make the search tables again where an early revision 0001 made them with other columns.

    They are derived from the library: the next index run fills them.
    """
    inspector = sa.inspect(op.get_bind())
    if any(column["name"] == "file_key" for column in inspector.get_columns(ROWS)):
        return
    for table in ("photosvc_search_documents", ROWS):
        if inspector.has_table(table):
            op.drop_table(table)
    context.script.get_revision("0001").module.create_search_tables()


def downgrade() -> None:
    """Back."""
    op.drop_table(TEXTS)  # and its triggers
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE photosvc_search_text_index")
