"""Conditions with many values, whose statement is the same for any number of them and so compiled once."""

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Text,
    any_,
    bindparam,
    column,
    false,
    func,
    select,
)
from sqlalchemy.orm import Session


def among(session: Session, key: Any, values: Collection[int] | Collection[str]) -> ColumnElement[bool]:  # noqa: ANN401
    """`key IN values`, for a column of integers or texts without null characters."""
    dialect = session.get_bind().dialect.name
    if dialect == "postgresql" and not values:  # of an array without values, nothing says whether it is one of texts
        return false()
    is_text = isinstance(next(iter(values), None), str)
    value = as_parameter(dialect, values)
    return _is_one(dialect, key, bindparam(None, value, type_=_type(dialect, is_text=is_text)))


def among_parameter(dialect: str, key: Any, name: str) -> ColumnElement[bool]:  # noqa: ANN401
    """`key IN values`, for a column and a parameter of this name, whose value is that of `as_parameter`."""
    return _is_one(dialect, key, bindparam(name, type_=_type(dialect, is_text=isinstance(key.type, Text))))


def as_parameter(dialect: str, values: Collection[int] | Collection[str]) -> Any:  # noqa: ANN401 - what the driver takes
    """The values as a parameter: an array on PostgreSQL, JSON on SQLite."""
    return list(values) if dialect == "postgresql" else orjson.dumps(list(values)).decode()


def _type(dialect: str, *, is_text: bool) -> Any:  # noqa: ANN401
    return ARRAY(Text if is_text else BigInteger) if dialect == "postgresql" else Text


def _is_one(dialect: str, key: Any, parameter: BindParameter[Any]) -> ColumnElement[bool]:  # noqa: ANN401
    if dialect == "postgresql":
        every: ColumnElement[bool] = key == any_(parameter)
        return every
    found: ColumnElement[bool] = key.in_(select(column("value")).select_from(func.json_each(parameter)))
    return found
