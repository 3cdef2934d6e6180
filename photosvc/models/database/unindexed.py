"""Columns in a form for which SQLite uses no index."""

from typing import Any, Final

from sqlalchemy import ColumnElement
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import UnaryExpression
from sqlalchemy.sql.operators import custom_op

Column = ColumnElement[Any] | InstrumentedAttribute[Any]

_SIGN: Final[custom_op[Any]] = custom_op("+")


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
    walk an order in which every tenth row matches, and find a few hashes among all files of the only root. A unary `+`
    takes the column out of SQLite's choice of index; PostgreSQL has statistics and chooses by itself.
    """
    return _Unindexed(column, operator=_SIGN, type_=column.type)  # type: ignore[arg-type]
