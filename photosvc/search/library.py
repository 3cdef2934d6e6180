"""What the library holds as a whole, as far as somebody may see it."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.models import SearchRow
from photosvc.search.visible import visible


def years(session: Session, *, sees_private: bool) -> list[int]:
    """The years in which photos were taken, latest first; unknown ones left out."""
    query = select(SearchRow.year).where(visible(sees_private=sees_private), SearchRow.year > 0).distinct()
    return sorted(session.scalars(query), reverse=True)
