"""Copy a library made by `bench.library` into PostgreSQL: `python -m bench.postgres FOLDER [URI]`.

Without the address of an empty database, `FOLDER/postgres` becomes the data folder of a server of its own, by which
`bench.databases` finds the copy. Copying is much faster than making the same library once more.
"""

import sys
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, select, text
from sqlalchemy.orm import Session

from bench.databases import engine_of
from bench.library import advance_sequences
from photosvc.models import Base, schema

SERVER_FOLDER = "postgres"
_BATCH = 10_000
_INDEXES = text("""
    SELECT indexname, indexdef FROM pg_indexes
    WHERE schemaname = current_schema() AND tablename LIKE 'photosvc%'
    AND indexname NOT IN (SELECT conname FROM pg_constraint)
""")


def copy_library(source: Engine, target: Engine) -> None:
    """Copy all rows of the library into an empty database."""
    schema.upgrade(target)
    with source.connect() as reader, target.connect() as writer, writer.begin():
        writer.execute(text("SET LOCAL session_replication_role = replica"))  # foreign keys are right already
        indexes = writer.execute(_INDEXES).all()
        for name, _ in indexes:
            writer.exec_driver_sql(f'DROP INDEX "{name}"')
        for table in Base.metadata.sorted_tables:
            _copy_table(reader, writer, table)
        for _, definition in indexes:
            writer.exec_driver_sql(definition.replace("%", "%%"))
    with Session(target) as session:
        advance_sequences(session)
        session.commit()
    with target.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")


def _copy_table(reader: Connection, writer: Connection, table: Table) -> None:
    kinds = [column.type.dialect_impl(writer.dialect).bind_processor(writer.dialect) for column in table.c]
    names = ", ".join(f'"{column.name}"' for column in table.c)
    writer.execute(table.delete())  # rows of migrations
    cursor = writer.connection.cursor()
    with cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
        for row in reader.execution_options(yield_per=_BATCH).execute(select(*table.c)):
            copy.write_row([kind(value) if kind else value for kind, value in zip(kinds, row, strict=True)])


def main() -> None:
    folder, given = sys.argv[1], sys.argv[2:]
    server = str(Path(folder, SERVER_FOLDER))
    with engine_of(folder) as source, engine_of(*given or [server], new_server=not given) as target:
        copy_library(source, target)


if __name__ == "__main__":
    main()
