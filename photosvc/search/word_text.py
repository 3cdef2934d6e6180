"""The words of a photo as one text, and how a term is found in it. The only place that knows this text's form."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import TypeAlias

from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, File, Lens, Photo
from photosvc.query.fold import MOST_WORDS, fold, words
from photosvc.query.operands import Phrase, Word

Term: TypeAlias = Word | Phrase

_BREAK = ","


def word_text(sections: Iterable[str]) -> str:
    """The words of these texts, a blank around each and ` , ` between texts: ` at the lake , summer `.

    Empty texts are left out, repeated ones too; at most `MOST_WORDS` words are kept.
    """
    folded = dict.fromkeys(found for section in sections if (found := words(section)))
    every = chain.from_iterable((_BREAK, *found) for found in folded)
    kept = list(islice(every, 1, MOST_WORDS))
    return f" {' '.join(kept)} " if kept else ""


def needle(term: Term) -> str:
    """What stands in a word text exactly where it matches `term`."""
    text = term.text if isinstance(term, Word) else " ".join(term.words)
    return f" {text}" if term.prefix else f" {text} "


def photo_words(photo: Photo) -> dict[str, object]:
    """The columns of a photo's `SearchText`."""
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


def gear_name(make: str, model: str) -> str:
    """A camera or lens as `camera:` and `lens:` know it."""
    return f"{make} {model}".strip()


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
