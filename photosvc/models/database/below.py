"""Condition that a name lies below a folder."""

from sqlalchemy import ColumnElement, and_, collate
from sqlalchemy.orm import InstrumentedAttribute


def is_below(name: InstrumentedAttribute[str], folder: str, dialect: str) -> ColumnElement[bool]:
    """Whether a name, with folders separated by slashes, lies below this one.

    A range, for which SQLite uses an index. Its LIKE would also find folders whose names differ in case.
    """
    column = collate(name, "C") if dialect == "postgresql" else name
    return and_(column >= f"{folder}/", column < f"{folder}0")  # the character after the slash
