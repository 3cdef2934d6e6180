"""The declarative base: one metadata, prefixed tables, named constraints, UTC times."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData
from sqlalchemy.orm import DeclarativeBase
from sqlalchemy.types import TypeDecorator

#: Every table's name begins so, and our tables can live in somebody else's database.
TABLE_PREFIX = "photosvc_"

#: The revision the code expects; `svc db upgrade` brings a database there.
SCHEMA_VERSION = "0005"


class UTCDateTime(TypeDecorator[datetime]):
    """A point in time: aware and in UTC in Python, UTC without a zone in the database."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """Aware times only, so that no local time ever slips in."""
        if value is None:
            return None
        if value.tzinfo is None:
            msg = "a time without a zone reached the database"
            raise ValueError(msg)
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        """The same instant, aware."""
        return value if value is None else value.replace(tzinfo=UTC)


#: 64-bit keys; SQLite numbers rows by itself only in a column of type INTEGER.
RowId = BigInteger().with_variant(Integer, "sqlite")

#: For tables whose ids say who may do what: SQLite would give the id of a removed row to the next one.
NEVER_REUSE_IDS = {"sqlite_autoincrement": True}


class Base(DeclarativeBase):
    """What all models share."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
