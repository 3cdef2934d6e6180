"""Which rows a search may show at all."""

from collections.abc import Iterable, Iterator

from sqlalchemy import ColumnElement, and_, not_, or_

from photosvc.models import Album, SearchRow
from photosvc.models.database.unindexed import unindexed
from photosvc.query.nodes import And, Filter, Node, Not, Or

#: Switches that show rows which are otherwise left out, to searches with the right to private photos.
_OPENED = {
    "error": SearchRow.has_error,
    "hidden": SearchRow.hidden,
    "archived": and_(SearchRow.archived, not_(SearchRow.has_error)),
}
#: Opens everything that may be shown at all to those with the right to private photos.
EVERY_SWITCH = tuple(_OPENED)


def visible(*, sees_private: bool, opened: Iterable[str] = (), by_index: bool = True) -> ColumnElement[bool]:
    """The condition that every search is combined with by AND, for any query.

    Args:
        sees_private: whether private photos are shown. Without this right `opened` shows no further rows.
        opened: the switches, of those that `asked_open` gives, whose rows are shown too.
        by_index: whether SQLite may read the rows by one of the indexes that contain only listed rows.

    """
    listed = and_(SearchRow.listed if by_index else unindexed(SearchRow.listed))
    if not sees_private:
        return and_(listed, not_(unindexed(SearchRow.private)))
    if not opened:
        return listed
    return or_(listed, and_(SearchRow.present, or_(*(_OPENED[name] for name in opened))))


def visible_albums(*, sees_private: bool) -> ColumnElement[bool]:
    """The condition for albums that a search may use and name."""
    return and_(Album.deleted_at.is_(None), *([] if sees_private else [not_(Album.private)]))


def asked_open(node: Node) -> tuple[str, ...]:
    """The switches by which a parsed query asks for rows that are otherwise left out."""
    return tuple(sorted({name for name in _asked(node, wanted=True) if name in _OPENED}))


def _asked(node: Node, *, wanted: bool) -> Iterator[str]:
    """The names of filters that are true in the query; a negation reverses `wanted`."""
    match node:
        case Filter(name, True) if wanted:
            yield name
        case Not(part):
            yield from _asked(part, wanted=not wanted)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _asked(part, wanted=wanted)
