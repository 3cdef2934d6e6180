"""Labels: keywords that are renamed, merged and removed in all photos that have them, as edits of these photos."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar, TypeAlias

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.message import Message, of_field
from photosvc.index.shared_rows import SharedRows
from photosvc.library.edits import apply, keep_keywords
from photosvc.library.journal import Author, Change
from photosvc.library.unit_of_work import changing, load_photos, store_and_project
from photosvc.models import Keyword, Photo, SeenLabel, photo_keywords
from photosvc.models.counters import record_change
from photosvc.query.fold import fold
from photosvc.records import limits
from photosvc.search.reading.compile import visible_ids

#: A function that changes some hundreds of photos in a write transaction, and returns the number of changed photos.
ChangeSome: TypeAlias = Callable[[Session, Sequence[int], datetime], int]


def check_label_name(name: str) -> None:
    """Raise `InvalidValueError` if a name is empty without case and accents."""
    if not fold(name):
        raise InvalidValueError(of_field("Name", "send a name with letters or digits"), field="Name")


def photos_with_keywords(connection: Connection, keyword_ids: Collection[int], *, sees_private: bool) -> Sequence[int]:
    """Return the ids of the photos with one of these keywords, archived and hidden photos included."""
    query = select(photo_keywords.c.photo_id).where(photo_keywords.c.keyword_id.in_(keyword_ids))
    query = query.where(photo_keywords.c.photo_id.in_(visible_ids(sees_private=sees_private))).distinct()
    return connection.scalars(query.order_by(photo_keywords.c.photo_id)).all()


def replace_in(
    session: Session,
    photo_ids: Sequence[int],
    now: datetime,
    *,
    folded: Collection[str],
    name: str | None,
    change: Change,
    zone: str,
) -> int:
    """Replace keywords of photos by another one, or remove them; return the number of changed photos.

    Args:
        photo_ids: some hundreds at most.
        folded: the keywords to replace, without case and accents.
        name: the replacement; None removes the keywords.
    """
    shared_rows, photos = SharedRows(session, zone), load_photos(session, photo_ids)
    with changing(session, shared_rows, photos, change, now) as touched:
        for photo in photos:
            remaining = [keyword.word for keyword in photo.keywords if keyword.folded not in folded]
            if len(remaining) < len(photo.keywords):
                apply(photo, {"keywords": [*remaining, name] if name else remaining}, shared_rows)
    return len(touched)


@dataclass(frozen=True, slots=True)
class LabelChange:
    """The replacement or removal of labels in all photos that the actor may see, as edits of these photos."""

    PASSES: ClassVar = 1

    labels: list[str]
    """The labels to replace, without case and accents."""
    name: str | None
    action: str
    """The action in the journal."""
    sees_private: bool
    favorite: bool | None = None
    """True makes the label a favourite, False ends that; None changes nothing."""

    @property
    def about(self) -> str:
        """Return a text that names the labels."""
        return "labels " + ",".join(sorted(self.labels))

    def prepare(self, connection: Connection, actor: Author, zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of the photos that are left to change, and the function that changes some hundreds of them."""
        keyword_ids = connection.scalars(select(Keyword.id).where(Keyword.folded.in_(self.labels))).all()
        photo_ids = photos_with_keywords(connection, keyword_ids, sees_private=self.sees_private)
        change = Change(self.action, actor)
        return photo_ids, partial(replace_in, folded=set(self.labels), name=self.name, change=change, zone=zone)

    def finish(self, session: Session, _now: datetime) -> None:
        """Make the label a favourite, or not, in the write transaction after the last photos."""
        keyword_id = session.scalar(select(Keyword.id).where(Keyword.folded == fold(self.name or "")))
        if keyword_id is not None and self.favorite is not None:
            mark_favorite(session, keyword_id, favorite=self.favorite)


@dataclass(frozen=True, slots=True)
class Respelling:
    """The projection of all photos with a label, after `respell` stored another spelling of it."""

    PASSES: ClassVar = 1

    label: str
    """The label without case and accents."""

    @property
    def about(self) -> str:
        """Return a text that names the label."""
        return f"spelling {self.label}"

    def prepare(self, connection: Connection, _actor: Author, _zone: str) -> tuple[Sequence[int], ChangeSome]:
        """Return the ids of all photos with the label, and the function that projects some hundreds of them."""
        query = select(photo_keywords.c.photo_id).join(Keyword, Keyword.id == photo_keywords.c.keyword_id)
        query = query.where(Keyword.folded == self.label).order_by(photo_keywords.c.photo_id)
        return connection.scalars(query).all(), _project_some


def _project_some(session: Session, photo_ids: Sequence[int], _now: datetime) -> int:
    """Project photos, and return 0: none is edited, and the actor may not learn the number of hidden photos."""
    store_and_project(session, photo_ids)
    return 0


def respell(session: Session, keyword_id: int, name: str) -> None:
    """Give a keyword another spelling of the same letters, in a write transaction; `Respelling` changes its photos."""
    _change(session, keyword_id, word=name)


def mark_favorite(session: Session, keyword_id: int, *, favorite: bool) -> None:
    """Make a keyword a favourite, or not, in a write transaction."""
    seen = bool(photos_with_keywords(session.connection(), [keyword_id], sees_private=False))
    _change(session, keyword_id, favorite=favorite, favorite_open=favorite and seen)


def _change(session: Session, keyword_id: int, **values: object) -> None:
    session.execute(update(Keyword).where(Keyword.id == keyword_id).values(values))
    record_change(session, private=not photos_with_keywords(session.connection(), [keyword_id], sees_private=False))


def add_label(shared_rows: SharedRows, photo: Photo, name: str) -> None:
    """Add a keyword to a photo, inside `changing`.

    Raises:
        ConflictError: the photo has the largest number of labels.
    """
    words = [keyword.word for keyword in photo.keywords]
    if fold(name) not in {keyword.folded for keyword in photo.keywords}:
        if len(words) >= limits.KEYWORDS:
            raise ConflictError(Message("a photo has at most {most} labels", most=limits.KEYWORDS), field="Name")
        apply(photo, {"keywords": [*words, name]}, shared_rows)
    keep_keywords(photo)


def confirm(shared_rows: SharedRows, photo: Photo, label: str) -> None:
    """Keep a keyword of a photo whatever its files say, or make a seen label one, inside `changing`.

    Raises:
        NotFoundError: the photo has no label with this id or UID.
        ConflictError: the photo has the largest number of labels.
    """
    add_label(shared_rows, photo, _label_of(photo, label).word)


def remove_label(shared_rows: SharedRows, photo: Photo, label: str) -> None:
    """Remove a keyword or a seen label, by its id or UID, from a photo, inside `changing`.

    Raises:
        NotFoundError: the photo does not have it.
    """
    removed = _label_of(photo, label)
    values: dict[str, object] = {"keywords": [keyword.word for keyword in photo.keywords if keyword is not removed]}
    if photo.seen_labels:  # else the picture would give back what was taken away
        rejected = dict.fromkeys((*photo.rejected_labels.split("\n"), removed.folded))
        values["rejected_labels"] = "\n".join(filter(None, rejected))
    apply(photo, values, shared_rows)


def _label_of(photo: Photo, label: str) -> Keyword | SeenLabel:
    """Return the label of a photo with this id or UID.

    Raises:
        NotFoundError: there is none.
    """
    labels: list[Keyword | SeenLabel] = [*photo.keywords, *photo.seen]
    match = next((one for one in labels if label in {str(one.id), one.uid}), None)
    if match is None:
        raise NotFoundError("the photo has no such label", field="label_id")
    return match
