"""The entries of the security log, as tests compare them."""

from sqlalchemy import select

from photosvc.models import AuditEntry


def rows(library):
    """All entries, the oldest first."""
    with library.session() as session:
        return session.execute(select(AuditEntry.__table__).order_by(AuditEntry.id)).all()


def logged(library):
    """All entries, the oldest first, as (event, who acts, whom it happens to, detail)."""
    return [(row.event, row.actor, row.subject, row.detail) for row in rows(library)]
