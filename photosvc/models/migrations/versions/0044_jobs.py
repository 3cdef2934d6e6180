"""Keep what indexers are to do, and did, in one table of jobs: index runs."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None

JOBS = "photosvc_jobs"
FAILURES = "photosvc_job_failures"
WISHES = "photosvc_index_wishes"
RUNS = "photosvc_index_runs"
LIBRARY = "photosvc_library"
COUNTS = ("to_read", "read", "indexed", "updated", "unchanged", "missing", "skipped", "failed")


def upgrade() -> None:
    """Forward. Folders that wait and runs that ended are carried over."""
    op.create_table(
        JOBS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("large", "requested", "cancelled")),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("not_before", UTCDateTime(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("leased_until", UTCDateTime(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("user_id", RowId, sa.ForeignKey("photosvc_users.id", ondelete="SET NULL"), nullable=True),
        sa.Column("created_at", UTCDateTime(), nullable=False),
        sa.Column("started_at", UTCDateTime(), nullable=True),
        sa.Column("ended_at", UTCDateTime(), nullable=True),
    )
    waits, runs = sa.text("state = 'waiting'"), sa.text("state = 'running'")
    op.create_index(
        f"uq_{JOBS}_waiting", JOBS, ["kind", "subject"], unique=True, sqlite_where=waits, postgresql_where=waits
    )
    op.create_index(f"ix_{JOBS}_running", JOBS, ["owner"], sqlite_where=runs, postgresql_where=runs)
    op.create_index(f"ix_{JOBS}_kind_started_at", JOBS, ["kind", "started_at"])
    op.create_index(f"ix_{JOBS}_user_id", JOBS, ["user_id"])
    op.create_table(
        FAILURES,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("job_id", RowId, sa.ForeignKey(f"{JOBS}.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_index(f"ix_{FAILURES}_job_id", FAILURES, ["job_id"])
    _carry_over()
    op.drop_table(RUNS)
    op.drop_table(WISHES)
    library = sa.table(LIBRARY, sa.column("name"))
    op.execute(sa.delete(library).where(library.c.name.in_(("indexer", "cancelled"))))


def _carry_over() -> None:
    connection = op.get_bind()
    jobs = sa.table(
        JOBS,
        *(sa.column(name, sa.JSON()) for name in ("arguments", "report")),
        *(sa.column(name, UTCDateTime()) for name in ("not_before", "created_at", "started_at", "ended_at")),
        *(sa.column(name) for name in ("kind", "subject", "state", "owner", "outcome", "attempts")),
        *(sa.column(name, sa.Boolean()) for name in ("large", "requested", "cancelled")),
    )
    fixed = {"kind": "index", "large": False, "cancelled": False, "attempts": 0, "owner": "", "report": {}}
    texts: list[sa.ColumnClause[Any]] = [sa.column(name) for name in ("folder", "state", "message")]
    times = [sa.column(name, UTCDateTime()) for name in ("started_at", "ended_at")]
    numbers: list[sa.ColumnClause[Any]] = [sa.column(name) for name in ("id", *COUNTS)]
    runs = sa.table(RUNS, *texts, *times, *numbers, sa.column("force", sa.Boolean()))
    for row in connection.execute(sa.select(runs).order_by(runs.c.id)).mappings().all():
        state = "interrupted" if row["state"] == "running" else row["state"]
        values = {
            "subject": row["folder"], "arguments": {"force": row["force"]}, "state": state, "outcome": state,
            "requested": False, "report": {name: row[name] for name in ("message", *COUNTS)},
            **dict.fromkeys(("not_before", "created_at", "started_at"), row["started_at"]),
            "ended_at": row["ended_at"],
        }  # fmt: skip
        connection.execute(sa.insert(jobs).values({**fixed, **values}))
    wishes = sa.table(
        WISHES, sa.column("folder"), sa.column("force", sa.Boolean()), sa.column("created_at", UTCDateTime())
    )
    for row in connection.execute(sa.select(wishes)).mappings().all():
        values = {
            "subject": row["folder"], "arguments": {"force": row["force"]}, "state": "waiting", "outcome": "",
            "large": row["force"] or not row["folder"], "requested": True,
            "created_at": row["created_at"], "not_before": row["created_at"],
        }  # fmt: skip
        connection.execute(sa.insert(jobs).values({**fixed, **values}))


def downgrade() -> None:
    """Back. Folders that wait are carried over, reports are not."""
    op.create_table(
        WISHES,
        sa.Column("folder", sa.Text(), primary_key=True),
        sa.Column("force", sa.Boolean(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_table(
        RUNS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("force", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in COUNTS),
        sa.Column("started_at", UTCDateTime(), nullable=False),
        sa.Column("ended_at", UTCDateTime(), nullable=True),
    )
    connection = op.get_bind()
    waiting = sa.text(f"SELECT subject, arguments, created_at FROM {JOBS} WHERE kind = 'index' AND state = 'waiting'")  # noqa: S608 - constants
    for subject, arguments, created_at in connection.execute(waiting).all():
        given = arguments if isinstance(arguments, dict) else json.loads(arguments)
        connection.execute(
            sa.text(f"INSERT INTO {WISHES} VALUES (:folder, :force, 1, :at)"),  # noqa: S608 - constants
            {"folder": subject, "force": given["force"], "at": created_at},
        )
    op.drop_table(FAILURES)
    op.drop_table(JOBS)
