"""A source column for each value of a photo that people set.

A text named the values that people set, in the rows of photos and in the changes of the journal, which are rewritten.
A photo that was taken out of review gets a flag.
"""

import json
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"

NAMES = (
    "subject", "artist", "copyright", "license", "notes", "rating", "scan", "panorama", "iso", "focal_length",
    "f_number", "exposure", "original_name", "keywords",
)  # fmt: skip
#: Each name in the text -> the column that replaces it.
COLUMNS = {name: f"{name}_src" for name in NAMES} | {"approved": "approved"}
PHOTOS = "photosvc_photos"
#: Changes of the journal that are read at a time.
PORTION = 500
Values = dict[str, Any]
CHANGES = sa.table(
    "photosvc_photo_changes", sa.column("id", sa.BigInteger), sa.column("before", sa.Text), sa.column("after", sa.Text)
)


def upgrade() -> None:
    """Give each name in the text its column."""
    for name in NAMES:
        op.add_column(PHOTOS, sa.Column(f"{name}_src", sa.Text(), nullable=False, server_default=""))
    op.add_column(PHOTOS, sa.Column("approved", sa.Boolean(), nullable=False, server_default=sa.false()))
    photos = _photos()
    named = {name: sa.literal(" ").concat(photos.c.manual).concat(" ").contains(f" {name} ", autoescape=True)
             for name in (*NAMES, "approved")}  # fmt: skip
    values = {f"{name}_src": sa.case((named[name], "manual"), else_="") for name in NAMES}
    op.execute(sa.update(photos).where(photos.c.manual != "").values(**values, approved=named["approved"]))
    _rewrite(CHANGES.c.after.contains('"manual":'), _split)
    op.drop_column(PHOTOS, "manual")


def downgrade() -> None:
    """Join the names again, in their order."""
    op.add_column(PHOTOS, sa.Column("manual", sa.Text(), nullable=False, server_default=""))
    photos = _photos()
    is_named = {name: photos.c[f"{name}_src"] == "manual" for name in NAMES} | {"approved": photos.c.approved}
    marks = [sa.case((is_named[name], f"{name} "), else_="") for name in sorted(is_named)]
    joined: sa.ColumnElement[str] = sa.literal("")
    for mark in marks:
        joined = joined.concat(mark)
    op.execute(sa.update(photos).values(manual=sa.func.trim(joined)))
    _rewrite(sa.or_(*(CHANGES.c.after.contains(f'"{column}":') for column in COLUMNS.values())), _join)
    for column in COLUMNS.values():
        op.drop_column(PHOTOS, column)


def _photos() -> sa.TableClause:
    sources = (sa.column(f"{name}_src", sa.Text) for name in NAMES)
    return sa.table(PHOTOS, sa.column("manual", sa.Text), sa.column("approved", sa.Boolean), *sources)


def _rewrite(condition: sa.ColumnElement[bool], change: Callable[[Values, Values], None]) -> None:
    """Change the values before and after in the changes of the journal that fulfil the condition."""
    connection, last = op.get_bind(), 0
    found = sa.select(CHANGES).where(condition).order_by(CHANGES.c.id).limit(PORTION)
    written = sa.update(CHANGES).where(CHANGES.c.id == sa.bindparam("row"))
    written = written.values(before=sa.bindparam("former"), after=sa.bindparam("later"))
    while rows := connection.execute(found.where(CHANGES.c.id > last)).all():
        changed = []
        for number, *texts in rows:
            before, after = map(json.loads, texts)
            change(before, after)
            changed.append({"row": number, "former": _dump(before), "later": _dump(after)})
        connection.execute(written, changed)
        last = rows[-1].id


def _split(before: Values, after: Values) -> None:
    """Replace the text by the sources of the values that changed, and of those whose source did."""
    old, new = (set((values.pop("manual", None) or "").split()) for values in (before, after))
    for name in NAMES:
        if name in after or name in old ^ new:
            before[f"{name}_src"], after[f"{name}_src"] = ("manual" if name in some else "" for some in (old, new))
    if "approved" in old ^ new:
        before["approved"], after["approved"] = "approved" in old, "approved" in new


def _join(before: Values, after: Values) -> None:
    """Replace the sources and the flag by the text."""
    for values in (before, after):
        marks = [name for name, column in COLUMNS.items() if values.pop(column, "")]
        values["manual"] = " ".join(sorted(marks))


def _dump(values: Values) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))
