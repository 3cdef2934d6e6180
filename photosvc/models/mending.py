"""Brings the tables of a database that an early version of a migration made to what the models need.

Some migrations were corrected after databases had been made with them: the revision alone does not tell which tables,
columns and indexes such a database has. After the last migration it is compared with the models, and what is missing is
added. Nothing that holds data is removed.
"""

from collections.abc import Iterator
from typing import Any

from alembic.autogenerate import produce_migrations
from alembic.migration import MigrationContext
from alembic.operations import Operations, ops
from sqlalchemy import Connection, DefaultClause, Text, literal, text

from photosvc.models.base import TABLE_PREFIX, Base
from photosvc.models.database.schema import VERSION_TABLE, is_ours


def context_of(connection: Connection) -> MigrationContext:
    """How Alembic compares a database with the models."""
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "include_object": is_ours})


def mend(connection: Connection) -> int:
    """Add what is missing, in the transaction of the connection; gives the number of steps."""
    context = context_of(connection)
    found = produce_migrations(context, Base.metadata).upgrade_ops
    operations = Operations(context)
    steps = [] if found is None else sorted(_steps(found.ops), key=_rank)
    for step in steps:
        if isinstance(step, ops.AddColumnOp):
            _give_default(step.column)
        operations.invoke(step)
    return len(steps)


def _steps(found: list[Any]) -> Iterator[Any]:
    """The steps that add something, or make room for it."""
    for step in found:
        if isinstance(step, ops.ModifyTableOps):
            yield from _steps(step.ops)
        elif isinstance(step, ops.DropIndexOp):
            if str(step.index_name).startswith(f"ix_{TABLE_PREFIX}"):  # others are not ours
                yield step
        elif isinstance(step, ops.CreateTableOp | ops.AddColumnOp | ops.CreateIndexOp):
            yield step


def _rank(step: Any) -> int:  # noqa: ANN401 - Alembic's operations
    """Tables and columns before indexes on them, and former indexes of the same names before those."""
    kinds = (ops.CreateTableOp, ops.AddColumnOp, ops.DropIndexOp, ops.CreateIndexOp)
    return next(number for number, kind in enumerate(kinds) if isinstance(step, kind))


def _give_default(column: Any) -> None:  # noqa: ANN401 - a column of any type
    """Let rows that are there have a value: that which new rows have, or else none of its type."""
    if column.nullable or column.server_default is not None:
        return
    given = getattr(column.default, "arg", None)
    if given is None or callable(given):
        given = "" if isinstance(column.type, Text) else 0
    value = int(given) if isinstance(given, bool) else given
    compiled = literal(value).compile(compile_kwargs={"literal_binds": True})
    column.server_default = DefaultClause(text(str(compiled)))
