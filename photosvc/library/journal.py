"""The journal: the actor and the time of each change of a photo, and the values before and after, to take it back.

The values that people change are stored as JSON, and undoing writes them back.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Final

import orjson
from sqlalchemy import ColumnElement, bindparam, delete, func, or_, select
from sqlalchemy.orm import Session

from photosvc.auth.principal import Principal
from photosvc.core.errors import NotFoundError
from photosvc.core.vocabulary import MANUAL
from photosvc.index.catalog import Catalog
from photosvc.index.file_columns import added_areas, choose_orientation, chosen_names, set_added_areas, set_chosen_names
from photosvc.media.metadata import Region
from photosvc.models import Camera, Lens, Photo, PhotoChange, Place
from photosvc.models.photo import PLAIN_VALUES
from photosvc.models.statements import UNLOADED, in_portions, insert_of, run_many

KEYWORDS: Final = "keywords"
#: Source column -> the columns that it is the source of.
_SOURCED: Final = {
    "title_src": ("title",),
    "description_src": ("description",),
    "taken_src": ("taken_at", "taken_at_local", "time_zone", "year", "month", "day"),
    "place_src": ("lat", "lng", "altitude", "cell_id", "place_id", "country"),
    "camera_src": ("camera_id", "lens_id", "camera_serial"),
    "type_src": ("type",),
    "favorite_src": ("favorite",),
    "archived_src": ("archived_at",),
    **{f"{name}_src": (name,) for name in (*PLAIN_VALUES, KEYWORDS)},
}
#: UID of the file that a person chose to show the photo; empty when the files decide.
PRIMARY: Final = "primary"
#: The names of the files that are there.
FILES: Final = "files"
#: The Exif orientations that a person chose, by the UIDs of the files.
ORIENTATIONS: Final = "orientations"
#: The names that a person gave to marked areas, by the UIDs of the files.
NAMES: Final = "names"
#: The areas that a person added, by the UIDs of the files.
AREAS: Final = "areas"
#: Values that only people set.
_DECIDED: Final = ("private", "approved", "stack", PRIMARY, ORIENTATIONS, NAMES, AREAS)
#: Columns that an edit may change.
COLUMNS: Final = (
    *(name for source, names in _SOURCED.items() for name in (*names, source) if name != KEYWORDS),
    "private", "approved", "stack",
)  # fmt: skip
#: Columns of related rows, which have no value until these are stored.
_RELATED: Final[dict[str, tuple[str, type[Camera | Lens | Place]]]] = {
    "camera_id": ("camera", Camera),
    "lens_id": ("lens", Lens),
    "place_id": ("place", Place),
}
_COPIED: Final = tuple(name for name in COLUMNS if name not in _RELATED)
_TIMES: Final = frozenset(("taken_at", "taken_at_local", "archived_at"))
#: The values that differ, as they were and as they are.
Difference = tuple[dict[str, Any], dict[str, Any]]
_copied: Final = attrgetter(*_COPIED)
#: Names on the wire that are not the column in camel case.
_WIRE: Final = {
    "cell_id": "CellID",
    "place_id": "PlaceID",
    "camera_id": "CameraID",
    "lens_id": "LensID",
    "archived_at": "DeletedAt",
    "archived_src": "DeletedSrc",
    "stack": "Stack",
}
#: Most changes of one photo that are kept: programs that keep changing one photo fill no disk.
MOST_OF_PHOTO: Final = 100
_TOO_MANY: Final = (
    select(PhotoChange.photo_uid)
    .where(PhotoChange.photo_uid.in_(bindparam("photo_uids", expanding=True)))
    .group_by(PhotoChange.photo_uid)
    .having(func.count() > bindparam("most"))
)
#: Text in the values of a change that made a photo private, or ended that; no text of a person contains it.
_PRIVATE: Final = '"private":true'


def snapshot(photo: Photo) -> dict[str, Any]:
    """Return all values that people change, as JSON has them."""
    values = dict(zip(_COPIED, _copied(photo), strict=True))
    values |= {name: getattr(photo, relation).id for name, (relation, _) in _RELATED.items()}
    for name in _TIMES:
        values[name] = values[name].isoformat() if values[name] is not None else None
    chosen = next((file.uid for file in photo.files if file.primary_src == MANUAL), "")
    turned = {file.uid: file.orientation for file in photo.files if file.orientation_src == MANUAL}
    names = {file.uid: chosen_names(file) for file in photo.files if file.chosen_names}
    areas = {file.uid: list(map(asdict, added_areas(file))) for file in photo.files if file.added_areas}
    keywords = sorted(keyword.word for keyword in photo.keywords)
    files = sorted(file.name for file in photo.files if not file.missing)
    values |= {KEYWORDS: keywords, PRIMARY: chosen, ORIENTATIONS: turned, NAMES: names, AREAS: areas, FILES: files}
    return values


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """Return the values that differ, with their sources."""
    if before == after:
        return {}, {}
    names = {name for name in before if before[name] != after[name]}
    names |= {source for source, sourced in _SOURCED.items() if not names.isdisjoint(sourced)}
    listed = [name for name in before if name in names]
    return {name: before[name] for name in listed}, {name: after[name] for name in listed}


def decided(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the values in a difference that a person set, or gave back to the files.

    The others follow from them: a title from the place, for example. None when a file left the photo.
    """
    if FILES in after:
        return
    for source, names in _SOURCED.items():
        if source in after and MANUAL in (before[source], after[source]):
            yield from (name for name in (*names, source) if name in after)
    yield from (name for name in _DECIDED if name in after)


def restore(photo: Photo, values: Mapping[str, Any], catalog: Catalog) -> None:
    """Write values of a snapshot into a photo."""
    for name, value in values.items():
        if name in _RELATED:
            relation, kind = _RELATED[name]
            setattr(photo, relation, catalog.with_id(kind, value))
        elif name == KEYWORDS:
            photo.keywords = catalog.keywords(value)
        elif name == PRIMARY:
            for file in photo.files:
                file.primary_src = MANUAL if file.uid == value else ""
        elif name == NAMES:
            for file in photo.files:
                set_chosen_names(file, value.get(file.uid, ()))
        elif name == AREAS:
            for file in photo.files:
                set_added_areas(file, [Region(**area) for area in value.get(file.uid, ())])
        elif name == ORIENTATIONS:
            for file in photo.files:
                choose_orientation(file, value.get(file.uid))
        else:
            timed = name in _TIMES and value is not None
            setattr(photo, name, datetime.fromisoformat(value) if timed else value)


def wire_name(name: str) -> str:
    """Return the name of a value on the wire."""
    return _WIRE.get(name) or "".join(part.capitalize() for part in name.split("_"))


def dump(values: Mapping[str, Any]) -> str:
    """Return values as the journal stores them."""
    return orjson.dumps(values).decode()


@dataclass(frozen=True, slots=True)
class Actor:
    """The person or program that makes a change."""

    uid: str
    name: str

    @staticmethod
    def of(principal: Principal) -> "Actor":
        """Return the user, else the client, else the credential of a principal."""
        uid = principal.user_uid or principal.client_uid or principal.credential_uid
        return Actor(uid, principal.user_name or principal.credential_name)


@dataclass(slots=True)
class Change:
    """The form of a change in the journal."""

    action: str
    actor: Actor
    undoes: int | None = None
    """The number of the change that it takes back."""


def record(session: Session, change: Change, now: datetime, differences: Mapping[str, Difference]) -> None:
    """Add a change of photos, by their UIDs, to the journal: the values that differ, before and after."""
    shared: dict[str, Any] = {"actor_uid": change.actor.uid, "actor_name": change.actor.name}
    shared |= {"action": change.action, "undoes": change.undoes, "created_at": now}
    entries = [
        {"photo_uid": photo_uid, "before": dump(before), "after": dump(after), **shared}
        for photo_uid, (before, after) in differences.items()
    ]
    run_many(session.connection(), insert_of(PhotoChange), entries)
    _forget_oldest(session, list(differences))


def _forget_oldest(session: Session, photo_uids: Sequence[str]) -> None:
    """Delete the oldest changes of photos that have more than `MOST_OF_PHOTO`."""
    connection = session.connection()
    for some in in_portions(photo_uids):
        values = {"photo_uids": list(some), "most": MOST_OF_PHOTO}
        for uid in connection.scalars(_TOO_MANY, values).all():
            own = PhotoChange.photo_uid == uid
            last = select(PhotoChange.id).where(own).order_by(PhotoChange.id.desc()).offset(MOST_OF_PHOTO).limit(1)
            gone = delete(PhotoChange).where(own, PhotoChange.id <= session.scalar(last))
            session.execute(gone, execution_options=UNLOADED)


def changes_of(
    session: Session, photo_uid: str, *, count: int, before: int | None = None, sees_private: bool = True
) -> list[PhotoChange]:
    """Return the last changes of a photo, the newest first.

    Args:
        before: only changes with a lower id.
        sees_private: false leaves out the changes up to the last one from or to a private photo.
    """
    query = select(PhotoChange).where(PhotoChange.photo_uid == photo_uid)
    if not sees_private:
        query = query.where(PhotoChange.id > _last_private(session, photo_uid))
    if before is not None:
        query = query.where(PhotoChange.id < before)
    return list(session.scalars(query.order_by(PhotoChange.id.desc()).limit(count)))


def _last_private(session: Session, photo_uid: str) -> int:
    """Return the number of the change that ended the last time in which the photo was private; 0: it never was."""
    written = or_(*(column.contains(_PRIVATE, autoescape=True) for column in (PhotoChange.before, PhotoChange.after)))
    last = select(func.max(PhotoChange.id)).where(PhotoChange.photo_uid == photo_uid, written)
    return session.scalar(last) or 0


def find_change(session: Session, photo_uid: str, number: str, *, sees_private: bool = True) -> PhotoChange:
    """Return the change of a photo with this number; the arguments are those of `changes_of`.

    Raises:
        NotFoundError: there is none.
    """
    valid = re.fullmatch(r"[0-9]{1,18}", number, re.ASCII)
    change = session.get(PhotoChange, int(number)) if valid else None
    is_seen = sees_private or (change is not None and change.id > _last_private(session, photo_uid))
    if change is None or change.photo_uid != photo_uid or not is_seen:
        raise NotFoundError("the photo has no such change", field="n")
    return change


def first_of_batch(session: Session, photo_uids: Sequence[str], change: Change, now: datetime) -> int | None:
    """Return the number of the first change of an edit that was written now; None: it changed none of these photos."""
    of_batch = _written_at(now, change.actor.uid, change.action)
    first = select(func.min(PhotoChange.id)).where(*of_batch)
    found = (session.scalar(first.where(PhotoChange.photo_uid.in_(some))) for some in in_portions(photo_uids))
    return min((number for number in found if number), default=None)


def _written_at(time: datetime, actor_uid: str, action: str) -> tuple[ColumnElement[bool], ...]:
    return PhotoChange.created_at == time, PhotoChange.actor_uid == actor_uid, PhotoChange.action == action


def changes_of_batch(session: Session, photo_uids: Sequence[str], first: PhotoChange) -> dict[str, PhotoChange]:
    """Return the changes of these photos, some hundreds at most, that were written with `first`."""
    of_batch = _written_at(first.created_at, first.actor_uid, first.action)
    query = select(PhotoChange).where(PhotoChange.photo_uid.in_(photo_uids), PhotoChange.id >= first.id, *of_batch)
    return {change.photo_uid: change for change in session.scalars(query.order_by(PhotoChange.id.desc()))}


def find_own(session: Session, number: int, actor: Actor) -> PhotoChange:
    """Return the change with this number, if it is one of this actor.

    Raises:
        NotFoundError: there is none.
    """
    change = session.get(PhotoChange, number)
    if change is None or change.actor_uid != actor.uid:
        raise NotFoundError("you made no such change", field="change")
    return change


def shown(text: str) -> dict[str, Any]:
    """Return values that the journal stores, by their names on the wire."""
    return {wire_name(name): value for name, value in values_of(text).items()}


def values_of(text: str) -> dict[str, Any]:
    """Return values from the text that the journal stores."""
    values: dict[str, Any] = orjson.loads(text)
    return values
