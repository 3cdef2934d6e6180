"""${message}."""

from alembic import op
import sqlalchemy as sa
${imports if imports else ""}
revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
# The oldest code that may serve and write with this schema. An earlier revision keeps the former version running
# during an upgrade: docs/architecture.md says what that takes.
oldest_code = ${repr(up_revision)}


def upgrade() -> None:
    """Forward."""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Back."""
    ${downgrades if downgrades else "pass"}
