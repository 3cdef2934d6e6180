"""INSERT statements with ON CONFLICT, in either dialect."""

from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session


def insert_into(table: Any, session: Session) -> Any:  # noqa: ANN401 - either dialect's own insert
    """The INSERT of the session's SQL dialect, which supports ON CONFLICT."""
    return insert_for(table, session.get_bind().dialect.name)


def insert_for(table: Any, dialect: str) -> Any:  # noqa: ANN401 - either dialect's own insert
    """The INSERT of this SQL dialect, which supports ON CONFLICT."""
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)
