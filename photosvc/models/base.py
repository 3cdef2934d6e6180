"""The declarative base: one metadata, table names with a prefix, named constraints, and times in UTC."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Self

from sqlalchemy import BigInteger, DateTime, Dialect, Double, Integer, MetaData
from sqlalchemy import types as sqltypes
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.orm.attributes import instance_state
from sqlalchemy.types import TypeDecorator

#: The beginning of the names of all our tables, so that they can share a database with a host application.
TABLE_PREFIX = "photosvc_"

_MIGRATIONS = Path(__file__).with_name("migrations") / "versions"

#: The revision that the code expects: the number of the newest migration. `svc db upgrade` brings a database to it.
SCHEMA_VERSION = max(path.name.partition("_")[0] for path in _MIGRATIONS.glob("[0-9]*.py"))


class UTCDateTime(TypeDecorator[datetime]):
    """A point in time: aware and in UTC in Python, UTC without a zone in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the time in UTC without its zone; refuse naive times, which could be local ones."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time without a zone reached the database")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Return the same instant, with its zone."""
        return value if value is None else value.replace(tzinfo=UTC)


#: 64-bit keys. On SQLite the type must be INTEGER: only such a primary key gets its values from the database.
RowId = BigInteger().with_variant(Integer, "sqlite")

#: The type of all columns of text. PostgreSQL, too, compares them by code point, whatever the locale of the database:
#: by the rules of a language, ranges and orders would differ from SQLite and Python.
Text = sqltypes.Text().with_variant(sqltypes.Text(collation="C"), "postgresql")

#: Options of tables whose ids grant rights: otherwise SQLite gives the id of a deleted row to the next new row.
NEVER_REUSE_IDS = {"sqlite_autoincrement": True}


class Base(DeclarativeBase):
    """The metadata and constraint names of all models; each names its table, without the prefix."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    #: The default of SQLAlchemy 2.1, also for earlier versions.
    type_annotation_map: ClassVar[dict[Any, Any]] = {float: Double}
    #: New objects have their values from Python: no INSERT returns values that the database fills in.
    __mapper_args__ = {"eager_defaults": False}  # noqa: RUF012 - as SQLAlchemy declares it

    def __init_subclass__(cls, *, table: str = "", **options: Any) -> None:  # noqa: ANN401 - those of SQLAlchemy
        if table:
            cls.__tablename__ = TABLE_PREFIX + table
        super().__init_subclass__(**options)

    @classmethod
    def with_defaults(cls, values: dict[str, Any], **related: Any) -> Self:  # noqa: ANN401 - of the relationships
        """Return a new object with these values of columns, and the defaults of the others already.

        Args:
            values: by the names of columns.
            related: objects by the names of relationships.
        """
        row = cls(**related)
        row.assign(_defaults_of(cls) | values)
        return row

    def assign(self, values: Mapping[str, Any]) -> None:
        """Set columns of the row by their names.

        Only values that differ count as changed. A row that is not stored yet needs no history of its values, which
        takes ten times as long to keep as the values.
        """
        if instance_state(self).key is None:
            vars(self).update(values)
            return
        for name, value in values.items():
            if getattr(self, name) != value:
                setattr(self, name, value)

    def columns(self) -> dict[str, Any]:
        """Return the values of all columns, which are set, by their names."""
        values = vars(self)
        return {column.key: values[column.key] for column in self.__table__.columns}


@cache
def _defaults_of(mapped: type[Base]) -> dict[str, Any]:
    columns: Any = mapped.__table__.columns
    defaults = {column.key: column.default.arg for column in columns if column.default is not None}
    # SQLAlchemy searches long for a value that a new object does not have.
    return {column.key: None for column in columns if column.nullable} | defaults


class Numbered(Base):
    """A model whose rows have a number."""

    __abstract__ = True

    id: Mapped[int] = mapped_column(RowId, primary_key=True)
