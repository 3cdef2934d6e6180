"""The records of the open archive: photos, albums, people, labels and the history, and the texts that explain them.

Each record is plain JSON in the words of the API, in an order that does not change, so that two archives of one library
are equal.
"""

from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.index.file_columns import added_areas, chosen_names
from photosvc.library.edits import snapshot, wire_name
from photosvc.library.journal import wire_values
from photosvc.models import (
    Album,
    AlbumPhoto,
    Camera,
    File,
    Keyword,
    Lens,
    Marker,
    Photo,
    PhotoChange,
    Place,
    Subject,
    SubjectName,
)
from photosvc.models.photo import load_whole, photo_keywords
from photosvc.models.statements import in_portions
from photosvc.query.fold import fold
from photosvc.search.reading.compile import visible_albums

_PORTION: Final = 200
#: Values of a snapshot that name rows or files by numbers of this database, or that stand with the files.
_INTERNAL: Final = frozenset((
    "camera_id", "lens_id", "place_id", "primary", "files", "orientations", "names", "areas", "keywords", "stacked",
))  # fmt: skip
#: Value of a change that names a row by its number -> its name in the archive, and the class of the row.
_NUMBERED: Final[dict[str, tuple[str, type[Camera | Lens | Place]]]] = {
    "CameraID": ("Camera", Camera), "LensID": ("Lens", Lens), "PlaceID": ("Place", Place),
}  # fmt: skip
ALBUM: Final = {
    "Title": "title", "Description": "description", "Category": "category", "Location": "location", "Notes": "notes",
    "Filter": "filter", "Order": "order", "Favorite": "favorite", "Private": "private", "Cover": "cover",
}  # fmt: skip
FILE: Final = {
    "Name": "name", "SHA1": "hash", "Size": "size", "OriginalName": "original_name", "MediaType": "media_type",
    "Width": "width", "Height": "height", "Orientation": "orientation", "OrientationSrc": "orientation_src",
    "Primary": "primary", "PrimarySrc": "primary_src", "Sidecar": "sidecar", "Missing": "missing",
    "Unstacked": "unstacked", "StackedFrom": "stacked_from",
}  # fmt: skip
AREA: Final = {"Type": "type", "Src": "src", "Name": "name", "X": "x", "Y": "y", "W": "w", "H": "h"}


@dataclass(frozen=True, slots=True)
class Text:
    """A file with a text."""

    name: str
    content: str


README: Final = Text(
    "README.txt",
    """\
This folder is an archive of a photo library, written by photosvc. No program is needed to read it.

originals/            the pictures and videos in their folders; beside each the XMP sidecar with what people entered
                      about it, which photo programs read
photos.jsonl          all values of each photo, one photo a line, as JSON
albums.json           the albums and the photos in them; albums/ has each as a playlist (.m3u8)
people.json           people with a chosen name or a mark
labels.json           labels that are favorites
trash.json            files that wait in the trash; trash/ has them if the originals are here
history.jsonl         the changes that people made, the oldest first
manifest-sha256.txt   digests of all files: `sha256sum --check manifest-sha256.txt` finds damaged ones

FORMAT.txt explains the fields. Accounts, passwords, access tokens and public links are not in this archive.
`svc import archive FOLDER` brings all of this into another photosvc.
""",
)
FORMAT: Final = Text(
    "FORMAT.txt",
    """\
photosvc archive, version 1

All text is UTF-8. JSON follows RFC 8259; *.jsonl has one object a line. Times are RFC 3339; TakenAtLocal is the wall
time at the place, written with +00:00. Unknown: -1 for Year, Month, Day; zz for Country; 0 for Lat and Lng together.

photos.jsonl     UID; the values with the names of the API; a field that ends in Src says who set the value before it:
                 manual (a person), xmp (a sidecar), meta (the file), estimate, name, location, empty (derived).
                 DeletedAt is the time at which the photo was archived. Stack: 1 stacked, 0 may be, -1 never.
  Files          Name is the path below originals/, in bytes of UTF-8; SHA1 of the content; Primary shows the photo;
                 PrimarySrc and OrientationSrc are manual if a person chose; Orientation is that of Exif, 1 to 8.
                 StackedFrom has the UIDs of the photos that a file was before people stacked it, the last one last.
  Areas          boxes on the upright picture, as shares of its width and height from the top left; Type face or empty.
                 AddedAreas are those that people drew, and ChosenNames the names that they gave to areas of the file
                 (kind, x, y, width, height, name in the file, chosen name), both before a person turned the picture.
albums.json      Filter is the query of a smart album; Cover the UID of the chosen photo; Photos in the order by hand;
                 Hidden: removed from a smart album by hand.
trash.json       Deletion is the folder below trash/ that has the file under its former name.
history.jsonl    Before and After have the values that changed; the lines of one action have the same Batch. Undoes is
                 the number of the line that a change undoes.
""",
)


def photos(session: Session, photo_ids: Sequence[int]) -> Iterator[list[tuple[Photo, dict[str, Any]]]]:
    """Yield photos with their records, some hundreds at a time; the photos belong to no session any more."""
    for portion in in_portions(photo_ids, _PORTION):
        listed = [(photo, _photo(photo)) for photo in load_whole(session, portion)]
        session.expunge_all()
        session.rollback()  # no transaction waits while the originals of the portion are copied
        yield listed


def _photo(photo: Photo) -> dict[str, Any]:
    values = snapshot(photo)
    return {
        "UID": photo.uid,
        **{wire_name(name): value for name, value in values.items() if name not in _INTERNAL},
        "Keywords": values["keywords"],
        "Camera": _described(photo.camera),
        "Lens": _described(photo.lens),
        "Place": _described(photo.place),
        "CreatedAt": _time(photo.created_at),
        "EditedAt": _time(photo.edited_at),
        "Files": [_file(file) for file in photo.files],
    }


def _file(file: File) -> dict[str, Any]:
    areas = [{"UID": marker.uid} | _fields(marker, AREA) for marker in file.markers]
    chosen = {"AddedAreas": list(map(asdict, added_areas(file))), "ChosenNames": chosen_names(file)}
    return {"UID": file.uid, **_fields(file, FILE), "CreatedAt": _time(file.created_at), "Areas": areas, **chosen}


def _described(row: Camera | Lens | Place) -> dict[str, str]:
    """Return the values of a row that photos share, whose number is one of this database alone."""
    if isinstance(row, Place):
        return {"ID": row.id} | {
            name.capitalize(): getattr(row, name) for name in ("label", "city", "state", "country")
        }
    return {"Make": row.make, "Model": row.model}


def albums(session: Session, photo_uids: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the albums of people with their photos in the order by hand.

    Args:
        photo_uids: only albums with one of these photos, and only these; None for all.
    """
    for album in session.scalars(select(Album).where(visible_albums(sees_private=True)).order_by(Album.id)):
        query = select(Photo.uid, AlbumPhoto.hidden, AlbumPhoto.created_at).join(Photo, Photo.id == AlbumPhoto.photo_id)
        query = query.where(AlbumPhoto.album_id == album.id).order_by(AlbumPhoto.position, AlbumPhoto.photo_id)
        members = [
            {"UID": uid, "Hidden": hidden, "AddedAt": _time(added_at)}
            for uid, hidden, added_at in session.execute(query)
            if photo_uids is None or uid in photo_uids
        ]
        if members or photo_uids is None:
            times = {"CreatedAt": _time(album.created_at), "UpdatedAt": _time(album.updated_at)}
            yield {"UID": album.uid, **_fields(album, ALBUM), **times, "Photos": members}


def people(session: Session, photo_uids: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the people on these photos, None for all, with a chosen name or a mark; others are names of areas alone."""
    shown = select(Marker.name).join(File).join(Photo)
    names = None if photo_uids is None else {fold(name) for name in _of_photos(session, shown, photo_uids)}
    for subject in session.scalars(select(Subject).order_by(Subject.uid)):
        owned = select(SubjectName.folded).where(SubjectName.subject_id == subject.id).order_by(SubjectName.folded)
        others = list(session.scalars(owned))
        if names is None or not names.isdisjoint((subject.folded, *others)):
            birth_date = subject.birth_date.isoformat() if subject.birth_date else None
            marks = {"Favorite": subject.favorite, "Hidden": subject.hidden, "BirthDate": birth_date}
            yield {"UID": subject.uid, "Name": subject.name, "OtherNames": others, **marks}


def labels(session: Session, photo_uids: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the labels of these photos, None for all, with a mark; others are the keywords of photos alone."""
    shown = select(photo_keywords.c.keyword_id).join(Photo)
    ids = None if photo_uids is None else set(_of_photos(session, shown, photo_uids))
    for keyword in session.scalars(select(Keyword).where(Keyword.favorite).order_by(Keyword.folded)):
        if ids is None or keyword.id in ids:
            yield {"UID": keyword.uid, "Name": keyword.word, "Favorite": True}


def _of_photos(session: Session, query: Any, photo_uids: Collection[str]) -> Iterator[Any]:  # noqa: ANN401 - any column
    for portion in in_portions(list(photo_uids)):
        yield from session.scalars(query.where(Photo.uid.in_(portion)).distinct())


def history(session: Session, photo_uids: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the changes of these photos, the oldest first; None for all, also of deleted photos."""
    query = select(PhotoChange).order_by(PhotoChange.id).execution_options(yield_per=_PORTION)
    numbers = array("q")
    for change in session.scalars(query):
        if photo_uids is None or change.photo_uid in photo_uids:
            undone = bisect_left(numbers, change.undoes) if change.undoes is not None else len(numbers)
            is_listed = undone < len(numbers) and numbers[undone] == change.undoes
            numbers.append(change.id)
            yield {
                "PhotoUID": change.photo_uid,
                "Action": change.action,
                "Actor": change.actor_name,
                "At": _time(change.created_at),
                "Batch": str(change.batch),
                "Undoes": undone + 1 if is_listed else None,
                "Before": _without_numbers(session, wire_values(change.before)),
                "After": _without_numbers(session, wire_values(change.after)),
            }


def _without_numbers(session: Session, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a change with rows in place of their numbers."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        known, mapped = _NUMBERED.get(name, ("", None))
        row: Any = session.get(mapped, value) if mapped is not None else None
        result |= {known: _described(row)} if row is not None else {name: value}
    return result


def _fields(row: object, names: dict[str, str]) -> dict[str, Any]:
    return {wire: getattr(row, column) for wire, column in names.items()}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
