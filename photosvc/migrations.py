"""The filter with which a host app's own Alembic migrations leave the tables of photosvc alone.

migrate = Migrate(app, db, include_name=include_name)     # Flask-Migrate
context.configure(..., include_name=include_name)         # in the env.py of Alembic
"""

import sys
from collections.abc import Mapping
from functools import cache
from typing import Any

from photosvc.models.base import TABLE_PREFIX
from photosvc.models.schema import VERSION_TABLE


def include_name(name: str | None, kind: str, _parents: Mapping[Any, str | None] | None = None) -> bool:
    """Return whether an object that Alembic found in the database may be the host's.

    Args:
        name: name of a schema, table, column, index or constraint.
        kind: `schema`, `table`, `column`, `index`, `unique_constraint` or `foreign_key_constraint`.
        _parents: the names of its schema and table.
    """
    return not (kind == "table" and name is not None and name.startswith(TABLE_PREFIX))


def watch_alembic() -> None:
    """Keep Alembic, if this process has imported it, from writing migrations that drop tables of photosvc."""
    if "alembic" in sys.modules:
        _register()


@cache
def _register() -> None:
    from alembic import util
    from alembic.autogenerate import comparators

    # After Alembic's own comparison; before 1.18 functions ran in the order of their registration.
    last = getattr(util, "DispatchPriority", None)
    options = {"priority": last.LAST} if last is not None else {}
    comparators.dispatch_for("schema", **options)(_refuse_drops)


def _refuse_drops(found: Any, changes: Any, _schemas: object) -> None:  # noqa: ANN401 - Alembic's own
    """Stop a comparison that found tables of photosvc which the host's models do not have.

    Raises:
        CommandError: there are such tables; Alembic and Flask-Migrate print its message and end.
    """
    from alembic.operations.ops import DropTableOp
    from alembic.util import CommandError

    if found.migration_context.version_table == VERSION_TABLE:  # our own migrations
        return
    drops = [change.table_name for change in changes.ops if isinstance(change, DropTableOp)]
    if lost := sorted(name for name in drops if name.startswith(TABLE_PREFIX)):
        msg = (
            f"this migration would drop {len(lost)} tables of photosvc, from {lost[0]} to {lost[-1]}. Leave them "
            "out: `from photosvc.migrations import include_name`, then `Migrate(app, db, include_name=include_name)` "
            "or, in the env.py of Alembic, `context.configure(…, include_name=include_name)`"
        )
        raise CommandError(msg)
