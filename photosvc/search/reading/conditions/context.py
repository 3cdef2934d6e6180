"""What compiling a query needs to know besides the query."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

Column = ColumnElement[Any] | InstrumentedAttribute[Any]

_SIGN: custom_op[Any] = custom_op("+")


@dataclass(frozen=True, slots=True)
class Context:
    """Who searches, and where."""

    connection: Connection
    sees_private: bool
    bare: bool = False
    """Whether SQLite may look values up in the columns' own indexes."""
    depth: int = 0
    """How many smart albums this query lies in."""

    @property
    def on_postgresql(self) -> bool:
        """Whether the database plans by statistics of its own and has tsvector."""
        return self.connection.dialect.name == "postgresql"

    def column(self, column: Column) -> Column:
        """The column as conditions compare it."""
        return column if self.bare else unindexed(column)

    def inside(self) -> "Context":
        """The same for the filter of a smart album."""
        return replace(self, depth=self.depth + 1, bare=False)


class _Unindexed(UnaryExpression[Any]):
    inherit_cache = True


@compiles(_Unindexed)
def _with_sign(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return "+" + compiler.process(element.element, **options)


@compiles(_Unindexed, "postgresql")
def _as_it_is(element: _Unindexed, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ANN401
    return compiler.process(element.element, **options)


def unindexed(column: Column) -> ColumnElement[Any]:
    """The column's value, in a form that no index of SQLite answers to.

    SQLite knows nothing of how common a value is and would rather sort a million rows of one colour than walk an
    order that every tenth row is part of. A unary `+` keeps a column out of its choice of index; `plan` chooses.
    """
    return _Unindexed(column, operator=_SIGN, type_=column.type)  # type: ignore[arg-type]
