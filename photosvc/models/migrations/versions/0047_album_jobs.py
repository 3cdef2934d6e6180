"""Keep the albums that uploaded files wait for among the jobs."""

import secrets
from datetime import timedelta
from itertools import groupby

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import UTCDateTime

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

JOBS = "photosvc_jobs"
FILES = "photosvc_uploaded_files"
INDEX = "ix_photosvc_uploaded_files_albums"
_MOST = 200
_LIFETIME = timedelta(days=3)
_FIXED = {
    "kind": "albums",
    "state": "waiting",
    "large": False,
    "requested": True,
    "cancelled": False,
    "attempts": 0,
    "owner": "",
    "report": {},
    "outcome": "",
}


def _jobs() -> sa.TableClause:
    return sa.table(
        JOBS,
        *(sa.column(name, sa.JSON()) for name in ("arguments", "report")),
        *(sa.column(name, UTCDateTime()) for name in ("not_before", "created_at")),
        *(sa.column(name) for name in ("id", "kind", "subject", "state", "owner", "outcome", "attempts", "user_id")),
        *(sa.column(name, sa.Boolean()) for name in ("large", "requested", "cancelled")),
    )


def _files() -> sa.TableClause:
    names = ("hash", "user_id", "name", "size", "original_name", "albums")
    return sa.table(FILES, *(sa.column(name) for name in names), sa.column("created_at", UTCDateTime()))


def upgrade() -> None:
    """Forward. Files that wait are carried over, those with the same albums together."""
    connection, jobs, files = op.get_bind(), _jobs(), _files()
    order = (files.c.user_id, files.c.albums, files.c.created_at, files.c.hash)
    waits = connection.execute(sa.select(*order).where(files.c.albums != "").order_by(*order)).all()
    for (user_id, albums), rows in groupby(waits, lambda row: (row.user_id, row.albums)):
        group = list(rows)
        for start in range(0, len(group), _MOST):
            portion = group[start : start + _MOST]
            at = portion[-1].created_at
            arguments = {"albums": list(dict.fromkeys(albums.split())), "files": [row.hash for row in portion]}
            values = {"subject": secrets.token_hex(8), "arguments": arguments, "user_id": user_id, "created_at": at}
            connection.execute(sa.insert(jobs).values(**_FIXED, **values, not_before=at + _LIFETIME))
    op.drop_index(INDEX, FILES)
    op.drop_column(FILES, "albums")


def downgrade() -> None:
    """Back. Files that wait are carried over, also those that no account uploaded."""
    op.add_column(FILES, sa.Column("albums", sa.Text(), nullable=False, server_default=""))
    op.create_index(INDEX, FILES, ["albums"])
    connection, jobs, files = op.get_bind(), _jobs(), _files()
    unfinished = sa.select(jobs).where(jobs.c.kind == "albums", jobs.c.state.in_(("waiting", "running")))
    for job in connection.execute(unfinished.order_by(jobs.c.id)).mappings().all():
        for content in job["arguments"]["files"]:
            own = files.c.hash == content
            found = connection.execute(sa.select(files.c.albums).where(own)).first()
            albums = " ".join([*(found.albums.split() if found else ()), *job["arguments"]["albums"]])
            if found is not None:
                connection.execute(sa.update(files).where(own).values(albums=albums))
                continue
            row = {"hash": content, "user_id": None, "name": "", "size": 0, "original_name": "", "albums": albums}
            connection.execute(sa.insert(files).values(**row, created_at=job["created_at"]))
    op.execute(sa.delete(jobs).where(jobs.c.kind == "albums"))
