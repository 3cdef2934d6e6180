"""Index the words of each section of a photo too, so that those of a title are found without reading texts.

A word of a section is indexed once more behind a character that no word contains.
"""

from collections.abc import Callable, Iterable

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None

TEXTS = "photosvc_search_texts"
INDEX = "photosvc_search_text_index"
VOCABULARY = "photosvc_search_text_vocabulary"
VIEW = "photosvc_search_text_terms"
MARKS = {"title": "\ue001", "keywords": "\ue002", "people": "\ue003", "description": "\ue004", "place": "\ue005"}
#: PostgreSQL takes a megabyte of words, of at most four bytes a character.
LONGEST = 260_000


def upgrade() -> None:
    """Forward."""
    if op.get_bind().dialect.name == "postgresql":
        _generate(f"left({_terms()}, {LONGEST})")
        return
    _drop()
    op.execute(f"CREATE VIEW {VIEW} AS SELECT photo_id, {_terms()} AS words FROM {TEXTS}")  # noqa: S608 - constants
    _create(VIEW, _terms, ("words", *MARKS))


def downgrade() -> None:
    """Back."""
    if op.get_bind().dialect.name == "postgresql":
        _generate("words")
        return
    _drop()
    op.execute(f"DROP VIEW {VIEW}")
    _create(TEXTS, lambda row: f"{row}words", ("words",))


def _terms(row: str = "") -> str:
    """Return the SQL text of all words of a row, those of sections behind their marks."""
    sections = (f"replace(rtrim({row}{section}), ' ', ' {mark}')" for section, mark in MARKS.items())
    return " || ".join((f"rtrim({row}words)", *sections))


def _generate(words: str) -> None:
    op.execute(f"ALTER TABLE {TEXTS} DROP COLUMN terms")  # and its index
    op.execute(
        f"ALTER TABLE {TEXTS} ADD COLUMN terms tsvector "
        f"GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim({words}), ' '))) STORED"
    )
    op.execute(f"CREATE INDEX ix_{TEXTS}_terms ON {TEXTS} USING gin (terms)")
    op.execute(f"ANALYZE {TEXTS}")  # it knows nothing of the words of a new column, by which searches are planned


def _drop() -> None:
    for event in ("insert", "delete", "update"):
        op.execute(f"DROP TRIGGER {INDEX}_{event}")
    op.execute(f"DROP TABLE {VOCABULARY}")
    op.execute(f"DROP TABLE {INDEX}")


def _create(content: str, terms: Callable[[str], str], columns: Iterable[str]) -> None:
    """Return the index of SQLite over these columns of texts, with the triggers that keep it."""
    add = f"INSERT INTO {INDEX}(rowid, words) VALUES (new.photo_id, {terms('new.')})"  # noqa: S608 - constants
    remove = (
        f"INSERT INTO {INDEX}({INDEX}, rowid, words) "  # noqa: S608 - constants
        f"VALUES ('delete', old.photo_id, {terms('old.')})"
    )
    # Words hold letters, digits and signs: blanks and commas part them for the tokenizer, and nothing else does.
    op.execute(
        f"CREATE VIRTUAL TABLE {INDEX} USING fts5(words, content='{content}', content_rowid='photo_id', "
        "tokenize='ascii', detail='none', columnsize=0)"
    )
    op.execute(f"CREATE VIRTUAL TABLE {VOCABULARY} USING fts5vocab('{INDEX}', 'row')")
    op.execute(f"CREATE TRIGGER {INDEX}_insert AFTER INSERT ON {TEXTS} BEGIN {add}; END")
    op.execute(f"CREATE TRIGGER {INDEX}_delete AFTER DELETE ON {TEXTS} BEGIN {remove}; END")
    op.execute(
        f"CREATE TRIGGER {INDEX}_update AFTER UPDATE OF {', '.join(columns)} ON {TEXTS} "
        f"WHEN {terms('old.')} <> {terms('new.')} BEGIN {remove}; {add}; END"
    )
    for command in ("rebuild", "optimize"):
        op.execute(f"INSERT INTO {INDEX}({INDEX}) VALUES ('{command}')")  # noqa: S608 - constants
