"""What people entered about the photos of an archive that are in the library already, for `exchange.library_import`."""

from collections.abc import Iterator
from typing import Any, Final

from photosvc.core.geo import is_position
from photosvc.core.vocabulary import MANUAL
from photosvc.exchange.archive_folder import ArchiveFolder
from photosvc.exchange.archive_import import ArchiveImport
from photosvc.exchange.archive_records import ALBUM
from photosvc.exchange.imported import ImportedAlbum, ImportedArea, ImportedPerson, ImportedPhoto, Reader
from photosvc.media.metadata import Region
from photosvc.models.photo import PLAIN_VALUES

#: Values of a photo with a source column of the same name.
_SINGLE: Final = ("title", "description", "type", *PLAIN_VALUES)
_DATE: Final = ("taken_at_local", "time_zone", "year", "month", "day")


class ArchiveReader(Reader):
    """The photos, people and albums of an archive that `ArchiveImport` left out because they are here."""

    SOURCE = "archive"

    def __init__(self, archive: ArchiveFolder, done: ArchiveImport) -> None:
        """Prepare reading, after `done` has run."""
        self._archive = archive
        self._done = done

    def photos(self) -> Iterator[ImportedPhoto]:
        """Yield the photos; of one that was not here only what finds it, for the albums here that it is in."""
        shared = {
            member.UID
            for album in self._archive.listed("albums.json")
            if album.UID not in self._done.new_albums
            for member in album.Photos
        }
        for record in self._archive.photos():
            if not any(file.SHA1 and not file.Missing for file in record.files):
                continue  # in the trash, or part of a stack
            if record.uid not in self._done.new:
                yield _entered(record)
            elif record.uid in shared:
                yield ImportedPhoto(key=record.uid, hashes=_hashes(record))

    def people(self) -> Iterator[ImportedPerson]:
        """Yield the people who were here."""
        for person in self._archive.listed("people.json"):
            if person.UID not in self._done.new_people:
                yield ImportedPerson(
                    key=person.UID,
                    name=person.Name,
                    favorite=person.Favorite,
                    hidden=person.Hidden,
                    birth_date=person.BirthDate,
                )

    def albums(self) -> Iterator[ImportedAlbum]:
        """Yield the albums that were here."""
        for album in self._archive.listed("albums.json"):
            if album.UID not in self._done.new_albums:
                values = {column: value for name, column in ALBUM.items() if (value := getattr(album, name))}
                cover = values.pop("cover", "")
                members = tuple(member.UID for member in album.Photos if not member.Hidden)
                yield ImportedAlbum(key=album.UID, values=values, cover=cover, members=members)


def _hashes(record: Any) -> tuple[str, ...]:  # noqa: ANN401 - a `PhotoRecord`
    return tuple(file.SHA1 for file in record.files if file.SHA1)


def _entered(record: Any) -> ImportedPhoto:  # noqa: ANN401 - a `PhotoRecord`
    """Return the values of a photo that people set."""
    values: dict[str, dict[str, Any]] = {
        name: {name: getattr(record, name)} for name in _SINGLE if getattr(record, f"{name}_src") == MANUAL
    }
    values |= {name: {name: True} for name in ("favorite", "private") if getattr(record, name)}
    if record.archived_at is not None:
        values["archived"] = {"archived_at": record.archived_at}
    if record.taken_src == MANUAL:
        values["time"] = {name: getattr(record, name) for name in _DATE}
    if record.place_src == MANUAL and is_position(record.lat, record.lng):
        values["position"] = {name: getattr(record, name) for name in ("lat", "lng", "altitude")}
    elif record.place_src == MANUAL:
        values["position"] = {"country": record.country}
    if record.camera_src == MANUAL:
        makes = {"camera_make": record.camera.Make, "camera_model": record.camera.Model}
        values["camera"] = makes | {"lens_make": record.lens.Make, "lens_model": record.lens.Model}
    people = [
        ImportedArea(Region(area.Name, area.Type, area.X, area.Y, area.W, area.H), file.SHA1)
        for file in record.files
        for area in file.Areas
        if area.Name and (area.Src == MANUAL or file.ChosenNames)
    ]
    return ImportedPhoto(
        key=record.uid,
        hashes=_hashes(record),
        values=values,
        keywords=tuple(record.keywords) if record.keywords_src == MANUAL else (),
        people=tuple(people),
        orientations={file.SHA1: file.Orientation for file in record.files if file.OrientationSrc == MANUAL},
        edited_at=record.edited_at,
    )
