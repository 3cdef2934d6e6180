"""Conditions with many values, whose statement is the same for any number of them and so compiled once."""

from collections.abc import Collection
from typing import Any

import orjson
from sqlalchemy import ARRAY, BigInteger, ColumnElement, Text, any_, bindparam, column, false, func, select
from sqlalchemy.orm import Session


def among(session: Session, key: Any, values: Collection[int] | Collection[str]) -> ColumnElement[bool]:  # noqa: ANN401
    """`key IN values`, for a column of integers or texts without null characters."""
    given = list(values)
    if session.get_bind().dialect.name == "postgresql":
        if not given:  # of an array without values, nothing says whether they are integers or texts
            return false()
        kind = ARRAY(Text if isinstance(given[0], str) else BigInteger)
        every: ColumnElement[bool] = key == any_(bindparam(None, given, type_=kind))
        return every
    listed = func.json_each(bindparam(None, orjson.dumps(given).decode(), type_=Text))
    found: ColumnElement[bool] = key.in_(select(column("value")).select_from(listed))
    return found
