"""What a search may show at all."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, and_, not_, or_

from photosvc.models import Album, SearchRow
from photosvc.query.nodes import And, Everything, Filter, Node, Not, Or
from photosvc.search.reading.conditions.context import unindexed

#: Switches that open what is left out otherwise, to those who see private photos.
_OPENED = {
    "error": SearchRow.has_error,
    "hidden": SearchRow.hidden,
    "archived": and_(SearchRow.archived, not_(SearchRow.has_error)),
}


def visible(*, sees_private: bool, node: Node = Everything()) -> ColumnElement[bool]:  # noqa: B008 - frozen
    """The condition that is always the outer AND of a search, whatever the query says.

    Nobody without the right to private photos sees more by asking for hidden, archived or broken ones.
    """
    if not sees_private:
        return and_(SearchRow.listed, not_(unindexed(SearchRow.private)))
    opened = asked_open(node)
    if not opened:
        return and_(SearchRow.listed)
    return or_(SearchRow.listed, and_(SearchRow.present, or_(*(_OPENED[name] for name in opened))))


def visible_albums(*, sees_private: bool) -> ColumnElement[bool]:
    """Which albums a search may use and name."""
    return and_(Album.deleted_at.is_(None), *([] if sees_private else [not_(Album.private)]))


def asked_open(node: Node) -> list[str]:
    """The switches by which the query asks for what is left out otherwise."""
    return sorted({name for name in _asked(node, wanted=True) if name in _OPENED})


def _asked(node: Node, *, wanted: bool) -> Iterator[str]:
    """The switches that the query asks for, not those it excludes."""
    match node:
        case Filter(name, True) if wanted:
            yield name
        case Not(part):
            yield from _asked(part, wanted=not wanted)
        case And(parts) | Or(parts):
            for part in parts:
                yield from _asked(part, wanted=wanted)
