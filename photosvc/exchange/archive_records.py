"""The records of the open archive: photos, albums, people, labels and the history, and the texts that explain them.

Each record is plain JSON in the words of the API, in an order that does not change, so that two archives of one library
are equal.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.library.edits import snapshot, wire_name
from photosvc.library.journal import wire_values
from photosvc.models import Album, AlbumPhoto, File, Keyword, Photo, PhotoChange, Subject, SubjectName
from photosvc.models.photo import load_whole
from photosvc.models.statements import in_portions
from photosvc.search.reading.compile import visible_albums

_PORTION: Final = 200
#: Values of a snapshot that name rows or files by numbers of this database, or that stand with the files.
_INTERNAL: Final = frozenset((
    "camera_id", "lens_id", "place_id", "cell_id", "primary", "files", "orientations", "names", "areas", "keywords",
    "stacked",
))  # fmt: skip
_ALBUM: Final = {
    "Title": "title", "Description": "description", "Category": "category", "Location": "location", "Notes": "notes",
    "Filter": "filter", "Order": "order", "Favorite": "favorite", "Private": "private", "Cover": "cover",
}  # fmt: skip
_FILE: Final = {
    "Name": "name", "SHA1": "hash", "Size": "size", "OriginalName": "original_name", "MediaType": "media_type",
    "Width": "width", "Height": "height", "Orientation": "orientation", "OrientationSrc": "orientation_src",
    "Primary": "primary", "PrimarySrc": "primary_src", "Sidecar": "sidecar", "Missing": "missing",
    "Unstacked": "unstacked", "StackedFrom": "stacked_from",
}  # fmt: skip
_AREA: Final = {"Type": "type", "Src": "src", "Name": "name", "X": "x", "Y": "y", "W": "w", "H": "h"}


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
trash.json            files that wait in the trash (the files are not here)
history.jsonl         the changes that people made, the oldest first
manifest-sha256.txt   digests of all files: `sha256sum --check manifest-sha256.txt` finds damaged ones

FORMAT.txt explains the fields. Accounts, passwords, access tokens and public links are not in this archive.
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
albums.json      Filter is the query of a smart album; Cover the UID of the chosen photo; Photos in the order by hand;
                 Hidden: removed from a smart album by hand.
history.jsonl    Before and After have the values that changed.
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
        "Camera": {"Make": photo.camera.make, "Model": photo.camera.model},
        "Lens": {"Make": photo.lens.make, "Model": photo.lens.model},
        "Place": {"Label": photo.place.label, "City": photo.place.city, "State": photo.place.state},
        "CreatedAt": _time(photo.created_at),
        "EditedAt": _time(photo.edited_at),
        "Files": [_file(file) for file in photo.files],
    }


def _file(file: File) -> dict[str, Any]:
    areas = [{"UID": marker.uid} | _fields(marker, _AREA) for marker in file.markers]
    return {"UID": file.uid, **_fields(file, _FILE), "CreatedAt": _time(file.created_at), "Areas": areas}


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
            yield {"UID": album.uid, **_fields(album, _ALBUM), **times, "Photos": members}


def people(session: Session) -> Iterator[dict[str, Any]]:
    """Yield the people with a chosen name or a mark; others are the names of areas alone."""
    for subject in session.scalars(select(Subject).order_by(Subject.uid)):
        names = select(SubjectName.folded).where(SubjectName.subject_id == subject.id).order_by(SubjectName.folded)
        marks = {"Favorite": subject.favorite, "Hidden": subject.hidden}
        yield {"UID": subject.uid, "Name": subject.name, "OtherNames": list(session.scalars(names)), **marks}


def labels(session: Session) -> Iterator[dict[str, Any]]:
    """Yield the labels with a mark; others are the keywords of photos alone."""
    for keyword in session.scalars(select(Keyword).where(Keyword.favorite).order_by(Keyword.folded)):
        yield {"UID": keyword.uid, "Name": keyword.word, "Favorite": True}


def history(session: Session, photo_uids: Collection[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the changes of these photos, the oldest first; None for all, also of deleted photos."""
    query = select(PhotoChange).order_by(PhotoChange.id).execution_options(yield_per=_PORTION)
    for change in session.scalars(query):
        if photo_uids is None or change.photo_uid in photo_uids:
            yield {
                "PhotoUID": change.photo_uid,
                "Action": change.action,
                "Actor": change.actor_name,
                "At": _time(change.created_at),
                "Before": wire_values(change.before),
                "After": wire_values(change.after),
            }


def _fields(row: object, names: dict[str, str]) -> dict[str, Any]:
    return {wire: getattr(row, column) for wire, column in names.items()}


def _time(moment: datetime | None) -> str | None:
    return moment.isoformat().replace("+00:00", "Z") if moment else None
