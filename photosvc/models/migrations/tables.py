"""Tables and indexes as migrations create them: columns by their kinds, names by the convention of `models.base`."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

import sqlalchemy as sa
from alembic import op

#: PostgreSQL compares text by code point, as `models.base.Text` says.
TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TIME, FLAG, JSON = sa.DateTime(), sa.Boolean(), sa.JSON()
SMALL, NUMBER, BIG = sa.SmallInteger(), sa.Integer(), sa.BigInteger()
REAL: sa.Double[float] = sa.Double()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_FLAG: Final = re.compile(r"^(NOT )?(listed|contributed)\b")


def each(kind: Any, names: str, **options: Any) -> Iterable[sa.Column[Any]]:  # noqa: ANN401 - any type of column
    """Return columns of one kind; they are NOT NULL unless the options say otherwise."""
    return [sa.Column(name, kind, **({"nullable": False} | options)) for name in names.split()]


def table(
    name: str,
    *columns: sa.Column[Any],
    key: str,
    unique: Sequence[str] = (),
    refers: Sequence[tuple[str, str, str | None]] = (),
    **options: Any,  # noqa: ANN401 - those of a table
) -> None:
    """Create a table.

    Args:
        name: its name without the prefix.
        columns: its columns in order.
        key: names of the columns of the primary key.
        unique: names of the columns of each unique constraint.
        refers: a column, the column of another table that it refers to, and what follows when that row is deleted.
        options: options of the dialects.
    """
    own = f"photosvc_{name}"
    op.create_table(
        own,
        *columns,
        *(
            sa.ForeignKeyConstraint([column], [f"photosvc_{other}"], op.f(f"fk_{own}_{column}"), ondelete=rule)
            for column, other, rule in refers
        ),
        sa.PrimaryKeyConstraint(*key.split(), name=op.f(f"pk_{own}")),
        *(sa.UniqueConstraint(*of.split(), name=op.f(f"uq_{own}_{of.replace(' ', '_')}")) for of in unique),
        **options,
    )


def index(
    of: str,
    columns: str,
    *,
    name: str | None = None,
    unique: bool = False,
    where: str | None = None,
    include: Sequence[str] = (),
) -> None:
    """Create an index; a flag that begins its condition is compared with a number on SQLite, as in queries there."""
    sqlite = where and _FLAG.sub(lambda flag: f"{flag[2]} = {int(not flag[1])}", where)
    op.create_index(
        op.f(name or f"ix_photosvc_{of}_{columns.replace(' ', '_')}"),
        f"photosvc_{of}",
        columns.split(),
        unique=unique,
        sqlite_where=sqlite and sa.text(sqlite),
        postgresql_where=where and sa.text(where),
        postgresql_include=include,
    )
