"""The word texts of a photo, computed from everything that free text finds it by."""

from collections.abc import Iterable, Iterator
from itertools import chain

from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, File, Lens, Photo
from photosvc.query.fold import fold
from photosvc.search.word_text import gear_name, word_text


def search_text(photo: Photo) -> dict[str, object]:
    """The columns of the photo's `SearchText`."""
    keywords = [keyword.word for keyword in photo.keywords]
    people = sorted({marker.name for file in photo.files if not file.missing for marker in file.markers})
    sections = chain(
        (photo.title, photo.description), keywords, people, _file_names(photo.files), (photo.path, photo.original_name)
    )
    return {
        "photo_id": photo.id,
        "words": word_text(chain(sections, _place(photo), _gear(photo.camera), _gear(photo.lens), (photo.notes,))),
        "title": word_text((photo.title,)),
        "keywords": word_text(keywords),
        "people": word_text(people),
        "description_key": fold(photo.description),
    }


def _file_names(files: Iterable[File]) -> Iterator[str]:
    for file in files:
        if not file.missing:
            base, dot, extension = file.name.rpartition(".")
            yield base if dot and "/" not in extension else file.name


def _place(photo: Photo) -> tuple[str, ...]:
    place = photo.place
    return () if place.id == UNKNOWN_PLACE else (place.label, place.city, place.state)


def _gear(gear: Camera | Lens) -> tuple[str, ...]:
    return () if gear.id == UNKNOWN_ID else (gear_name(gear.make, gear.model),)
