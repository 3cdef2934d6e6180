"""What a condition depends on, apart from the query: the database and the rights of the search."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

Column = ColumnElement[Any] | InstrumentedAttribute[Any]

_SIGN: custom_op[Any] = custom_op("+")


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


class _Unindexed(UnaryExpression[Any]):
    inherit_cache = True


@compiles(_Unindexed)
def _with_sign(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return "+" + compiler.process(element.element, **options)


@compiles(_Unindexed, "postgresql")
def _without_sign(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return compiler.process(element.element, **options)


def unindexed(column: Column) -> ColumnElement[Any]:
    """The column's value in a form for which SQLite uses no index.

    SQLite does not know how frequent a value is: it would rather look up and sort a million rows of one colour than
    walk an order in which every tenth row matches. A unary `+` takes the column out of SQLite's choice of index;
    `reading.plan` chooses instead.
    """
    return _Unindexed(column, operator=_SIGN, type_=column.type)  # type: ignore[arg-type]
