"""The lines of the security log: what has been committed to its table is logged."""

import logging
from collections.abc import Iterable, Sequence

from sqlalchemy.orm import Session

from photosvc.auth.audit.entry import Entry, told
from photosvc.auth.audit.events import REFUSALS
from photosvc.core.texts.log_lines import FIELDS, as_text

#: The logger of these lines: refusals are warnings, all others are for information.
LOGGER = "photosvc.security"

_LOG = logging.getLogger(LOGGER)

#: Entries of a session whose transaction is open: their key in `Session.info`.
_KEPT = "photosvc_audit"


def keep(session: Session, entries: Sequence[Entry]) -> None:
    """Keep entries until the session's transaction has committed: what is rolled back did not happen."""
    session.info.setdefault(_KEPT, []).extend(entries)


def log_committed(session: Session) -> None:
    """Log the entries that the session's transaction has committed."""
    log(session.info.pop(_KEPT, ()))


def log(entries: Iterable[Entry]) -> None:
    """Log a line for each entry."""
    for entry in entries:
        level = logging.WARNING if entry.event.part == REFUSALS else logging.INFO
        if _LOG.isEnabledFor(level):
            values = told(entry)
            _LOG.log(level, "%s", as_text(values), extra={FIELDS: values})
