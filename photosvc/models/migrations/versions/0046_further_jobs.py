"""Keep imports and looks for look-alikes among the jobs."""

from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

JOBS = "photosvc_jobs"
FAILURES = "photosvc_job_failures"
WISHES = "photosvc_import_wishes"
REPORTS = "photosvc_import_reports"
OLD_FAILURES = "photosvc_import_failures"
LIBRARY = "photosvc_library"
COUNTS = ("imported", "duplicate", "skipped", "failed")
_FIXED = {
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
        *(sa.column(name, UTCDateTime()) for name in ("not_before", "created_at", "started_at", "ended_at")),
        *(sa.column(name) for name in ("id", "kind", "subject", "state", "owner", "outcome", "attempts", "user_id")),
        *(sa.column(name, sa.Boolean()) for name in ("large", "requested", "cancelled")),
    )


def upgrade() -> None:
    """Forward. What waits, and what became of the last imports, is carried over."""
    _carry_imports()
    _carry_looks()
    op.drop_table(OLD_FAILURES)
    op.drop_table(REPORTS)
    op.drop_table(WISHES)
    library = sa.table(LIBRARY, sa.column("name"))
    op.execute(sa.delete(library).where(library.c.name.in_(("look_alikes_wished", "look_alikes_at"))))


def _carry_imports() -> None:
    connection, jobs = op.get_bind(), _jobs()
    texts: list[sa.ColumnClause[Any]] = [sa.column(name) for name in ("folder", "albums", "user_id")]
    wishes = sa.table(WISHES, *texts, sa.column("moves", sa.Boolean()), sa.column("created_at", UTCDateTime()))
    wished = connection.execute(sa.select(wishes)).mappings().all()
    columns: list[sa.ColumnClause[Any]] = [sa.column(name) for name in ("id", "folder", "state", "message", *COUNTS)]
    times = [sa.column(name, UTCDateTime()) for name in ("wished_at", "started_at", "ended_at")]
    reports = sa.table(REPORTS, *columns, *times, sa.column("moves", sa.Boolean()))
    failures = sa.table(OLD_FAILURES, *(sa.column(name) for name in ("report_id", "name", "reason", "detail")))
    kept = sa.table(FAILURES, *(sa.column(name) for name in ("job_id", "name", "reason", "detail")))
    at = sa.column("created_at", UTCDateTime())
    failures.append_column(at)
    kept.append_column(sa.column("created_at", UTCDateTime()))
    waiting = {(row["folder"], row["created_at"]) for row in wished}
    for row in connection.execute(sa.select(reports).order_by(reports.c.id)).mappings().all():
        if row["state"] == "running" and (row["folder"], row["wished_at"]) in waiting:
            continue  # it begins again
        state = "stopped" if row["state"] == "running" else row["state"]
        values = {
            "kind": "import", "subject": row["folder"], "arguments": {"moves": row["moves"], "albums": []},
            "state": state, "outcome": state, "report": {name: row[name] for name in ("message", *COUNTS)},
            "created_at": row["wished_at"], "not_before": row["wished_at"], "started_at": row["started_at"],
            "ended_at": row["ended_at"],
        }  # fmt: skip
        job_id = connection.execute(sa.insert(jobs).values({**_FIXED, **values}).returning(jobs.c.id)).scalar()
        failed = sa.select(failures).where(failures.c.report_id == row["id"])
        for one in connection.execute(failed).mappings().all():
            given = {name: one[name] for name in ("name", "reason", "detail", "created_at")}
            connection.execute(sa.insert(kept).values(job_id=job_id, **given))
    for row in wished:
        values = {
            "kind": "import", "subject": row["folder"], "state": "waiting", "user_id": row["user_id"],
            "arguments": {"moves": row["moves"], "albums": row["albums"].split()},
            "created_at": row["created_at"], "not_before": row["created_at"],
        }  # fmt: skip
        connection.execute(sa.insert(jobs).values({**_FIXED, **values}))


def _carry_looks() -> None:
    connection, jobs = op.get_bind(), _jobs()
    library = sa.table(LIBRARY, sa.column("name"), sa.column("value"))
    for name, state in (("look_alikes_at", "done"), ("look_alikes_wished", "waiting")):
        seconds = connection.execute(sa.select(library.c.value).where(library.c.name == name)).scalar()
        if seconds is None:
            continue
        at = datetime.fromtimestamp(seconds, UTC)
        values = {"kind": "look_alikes", "subject": "", "arguments": {}, "large": True, "state": state}
        ended = {"outcome": "done", "started_at": at, "ended_at": at} if state == "done" else {}
        connection.execute(sa.insert(jobs).values({**_FIXED, **values, **ended, "created_at": at, "not_before": at}))


def downgrade() -> None:
    """Back. Imports that wait are carried over, reports are not."""
    op.create_table(
        WISHES,
        sa.Column("folder", sa.Text(), primary_key=True),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("user_id", RowId, sa.ForeignKey("photosvc_users.id", ondelete="SET NULL"), nullable=True),
        sa.Column("albums", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_table(
        REPORTS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in COUNTS),
        sa.Column("wished_at", UTCDateTime(), nullable=False),
        sa.Column("started_at", UTCDateTime(), nullable=False),
        sa.Column("ended_at", UTCDateTime(), nullable=True),
        sa.UniqueConstraint("folder", "wished_at", name=f"uq_{REPORTS}_folder_wished_at"),
    )
    op.create_index(f"ix_{REPORTS}_started_at", REPORTS, ["started_at"])
    op.create_table(
        OLD_FAILURES,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("report_id", RowId, sa.ForeignKey(f"{REPORTS}.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_index(f"ix_{OLD_FAILURES}_report_id", OLD_FAILURES, ["report_id"])
    connection, jobs = op.get_bind(), _jobs()
    wishes = sa.table(
        WISHES, *(sa.column(name) for name in ("folder", "moves", "user_id", "albums")),
        sa.column("created_at", UTCDateTime()),
    )  # fmt: skip
    waits = sa.select(jobs).where(jobs.c.kind == "import", jobs.c.state == "waiting")
    for row in connection.execute(waits).mappings().all():
        given = row["arguments"]
        values = {"folder": row["subject"], "moves": given["moves"], "albums": " ".join(given["albums"])}
        connection.execute(sa.insert(wishes).values(**values, user_id=row["user_id"], created_at=row["created_at"]))
    op.execute(sa.delete(sa.table(FAILURES)))
    op.execute(sa.delete(jobs).where(jobs.c.kind.in_(("import", "look_alikes"))))
