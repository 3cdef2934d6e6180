"""Labels: keywords that are renamed, merged and removed in all photos that have them, as edits of these photos."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.index.places import Gazetteer
from photosvc.index.storing.catalog import Catalog, PlainCatalog
from photosvc.library.edits.apply import apply, keep_keywords
from photosvc.library.edits.changing import changing
from photosvc.library.edits.journal import Change
from photosvc.library.edits.loading import load_photos
from photosvc.models import Keyword, Photo, SearchRow, photo_keywords
from photosvc.query.fold import fold
from photosvc.search.projection.project import record_change
from photosvc.search.projection.update import project_values
from photosvc.search.reading.conditions.visible import EVERY_SWITCH, visible

#: Photos of one transaction: for them it holds the write lock for some tenths of a second.
PORTION: Final = 200
#: Photos whose label may get another spelling, which takes one transaction.
MOST_RESPELLED: Final = 10_000
#: Labels that a photo may have, as many as an edit of its keywords takes.
MOST_OF_PHOTO: Final = 256


def check_name(name: str) -> None:
    """Make sure that a keyword can have this name.

    Raises:
        InvalidValueError: nothing is left of it without case and accents.

    """
    if not fold(name):
        msg = "Name: send a name with letters or digits"
        raise InvalidValueError(msg, field="Name")


def photos_with(connection: Connection, keyword_ids: Collection[int], *, sees_private: bool) -> Sequence[int]:
    """The ids of the photos with one of these keywords, archived and hidden ones too, as far as they may be seen."""
    seen = select(SearchRow.photo_id).where(visible(sees_private=sees_private, opened=EVERY_SWITCH))
    query = select(photo_keywords.c.photo_id).where(photo_keywords.c.keyword_id.in_(keyword_ids))
    query = query.where(photo_keywords.c.photo_id.in_(seen)).distinct()
    return connection.scalars(query.order_by(photo_keywords.c.photo_id)).all()


def replace_in(
    session: Session, photo_ids: Sequence[int], folded: Collection[str], name: str | None, change: Change, now: datetime
) -> int:
    """Give photos a keyword instead of others, or remove these; gives how many photos changed.

    Args:
        session: in a write transaction.
        photo_ids: at most `PORTION`.
        folded: the keywords to replace, without case and accents.
        name: what replaces them; None: nothing.
        change: for the journal.
        now: the present.

    """
    catalog = PlainCatalog(session, Gazetteer.load())
    loaded = load_photos(session, photo_ids)
    catalog.remember(loaded.photos)
    with changing(session, catalog, loaded, change, now) as touched:
        for photo in loaded.photos:
            kept = [keyword.word for keyword in photo.keywords if keyword.folded not in folded]
            if len(kept) < len(photo.keywords):
                apply(photo, {"keywords": [*kept, name] if name else kept}, catalog)
    return len(touched)


def respell(session: Session, keyword_id: int, name: str) -> None:
    """Give a keyword another spelling of the same letters, in a write transaction.

    Raises:
        ConflictError: too many photos have it.

    """
    query = select(photo_keywords.c.photo_id).where(photo_keywords.c.keyword_id == keyword_id)
    photo_ids = session.scalars(query.order_by(photo_keywords.c.photo_id).limit(MOST_RESPELLED + 1)).all()
    if len(photo_ids) > MOST_RESPELLED:
        msg = f"more than {MOST_RESPELLED:,} photos have this label: only its spelling cannot change"
        raise ConflictError(msg, field="Name")
    session.execute(update(Keyword).where(Keyword.id == keyword_id).values(word=name))
    for start in range(0, len(photo_ids), PORTION):  # the order of their keywords may be another
        project_values(session, load_photos(session, photo_ids[start : start + PORTION]).photos)
    record_change(session)


def mark_favorite(session: Session, keyword_id: int, *, favorite: bool) -> None:
    """Make a keyword a favourite, or not, in a write transaction."""
    session.execute(update(Keyword).where(Keyword.id == keyword_id).values(favorite=favorite))
    record_change(session)


def add_label(catalog: Catalog, photo: Photo, name: str) -> None:
    """Add a keyword to a photo, inside `changing`.

    Raises:
        ConflictError: the photo has as many as it may.

    """
    words = [keyword.word for keyword in photo.keywords]
    if fold(name) not in {keyword.folded for keyword in photo.keywords}:
        if len(words) >= MOST_OF_PHOTO:
            msg = f"a photo has at most {MOST_OF_PHOTO} labels"
            raise ConflictError(msg, field="Name")
        apply(photo, {"keywords": [*words, name]}, catalog)
    keep_keywords(photo)


def remove_label(catalog: Catalog, photo: Photo, label: str) -> None:
    """Take a keyword from a photo, inside `changing`; the arguments are those of `label_of`.

    Raises:
        NotFoundError: the photo does not have it.

    """
    gone = label_of(photo.keywords, label)
    words = [keyword.word for keyword in photo.keywords if keyword is not gone]
    apply(photo, {"keywords": words}, catalog)


def label_of(keywords: Iterable[Keyword], label: str) -> Keyword:
    """The keyword with this id or UID.

    Raises:
        NotFoundError: there is none among them.

    """
    found = next((keyword for keyword in keywords if label in {str(keyword.id), keyword.uid}), None)
    if found is None:
        msg = "the photo has no such label"
        raise NotFoundError(msg, field="label_id")
    return found
