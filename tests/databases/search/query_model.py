"""A reference model of queries: matches files in plain Python, over the library's rows, without search rows or SQL."""

import re
from datetime import date
from functools import cache

import s2cell

from photosvc.core.geo import Box, cell_range, distance_m
from photosvc.models import UNKNOWN_PLACE
from photosvc.query.areas import locate
from photosvc.query.filters import FILTERS
from photosvc.query.fold import words
from photosvc.query.nodes import (
    UNNAMED,
    And,
    Choice,
    Circle,
    Days,
    Everything,
    Filter,
    InvalidQueryError,
    Near,
    Not,
    Or,
    Pattern,
    Phrase,
    PlusCode,
    Range,
    S2Cell,
    Since,
    Town,
    Uid,
    Word,
)
from tests.helpers.parsing import parse_query


def alike(photo, other):
    """Return whether the files that show two photos look alike."""
    return any((one ^ two).bit_count() <= 10 for one in looks(photo) for two in looks(other))


def looks(photo):
    return [
        file.look_1 << 48 | file.look_2 << 32 | file.look_3 << 16 | file.look_4
        for file in photo.files
        if file.primary and not file.missing and file.look_1 >= 0
    ]


class Matcher:
    """Answers for one library whether a file of it matches a query."""

    def __init__(self, photos, albums, *, sees_private):
        self.photos = {photo.uid: photo for photo in photos}
        kept = [(album, chosen) for album, chosen in albums if album.deleted_at is None]
        self.albums = [(album, chosen) for album, chosen in kept if sees_private or not album.private]
        self.inside = []

    def matches(self, node, file):
        match node:
            case Everything():
                return True
            case Word() | Phrase():
                return any(has_term(section, node) for section in sections(file.photo))
            case Filter(name, value):
                return self.filter(FILTERS[name], value, file)
            case Not(part):
                return not self.matches(part, file)
            case And(parts):
                return all(self.matches(part, file) for part in parts)
            case Or(parts):
                return any(self.matches(part, file) for part in parts)

    def filter(self, spec, value, file):
        if isinstance(value, Since):
            moment = getattr(file.photo, spec.columns[0])
            return moment is not None and moment >= value.moment
        if isinstance(value, bool):
            return value == self.choice(spec, spec.means or Choice((True,)), file)
        return self.choice(spec, value, file)

    def choice(self, spec, choice, file):
        wanted = not choice.any_of or any(self.item(spec, item, file) for item in choice.any_of)
        return wanted and not any(self.item(spec, item, file) for item in choice.none_of)

    def item(self, spec, item, file):
        match item:
            case Near(uid, km):
                there = self.photos[uid]
                return known(there) and within(file.photo, there.lat, there.lng, km)
            case Town(name, _, km):
                return within(file.photo, *TOWNS[name], km)
            case Circle(lat, lng, km):
                return within(file.photo, lat, lng, km)
            case S2Cell(token, None):
                low, high = cell_range(token)
                return known(file.photo) and low <= file.photo.cell_id.removeprefix("s2:") <= high
            case S2Cell(token, km):
                lat, lng = s2cell.token_to_lat_lon(token)
                return within(file.photo, lat, lng, km)
            case PlusCode(_, box, float() as km):
                return within(file.photo, (box.north + box.south) / 2, (box.east + box.west) / 2, km)
            case PlusCode(_, box, None):
                return inside(file.photo, box)
            case Box():
                return inside(file.photo, item)
            case Uid(text, "photo_id"):
                return alike(self.photos[text], file.photo)
            case Uid(text, column):
                return text in {"photo_uid": [file.photo.uid], "file_uid": [file.uid], "hash": [file.hash]}.get(
                    column, [album.uid for album in self.albums_of(file)]
                )
        if item is UNNAMED:
            return any(
                marker.type == "face" and not marker.name
                for one in file.photo.files
                if not one.missing
                for marker in one.markers
            )
        return any(compare(item, value) for column in spec.columns for value in self.values(column, file))

    def albums_of(self, file):
        return [album for album, chosen in self.albums if self.contains(album, chosen, file)]

    def contains(self, album, chosen, file):
        """Return whether the album contains the file; a smart album does unless the photo was taken out of it.

        An album contains nothing where its own filter asks for it.
        """
        if not album.filter:
            return file.photo.id in chosen
        node = album_query(album.filter)
        if node is None or album.id in self.inside or file.photo.id in chosen:
            return False
        self.inside.append(album.id)
        found = self.matches(node, file)
        self.inside.pop()
        return found

    def values(self, column, file):
        """Return the values of a filter's column for a file; a photo may have several names."""
        if column == "albums":
            return [album.title for album in self.albums_of(file)]
        photo = file.photo
        camera, lens = photo.camera, photo.lens
        local = photo.taken_at_local
        values = {
            "keywords": [keyword.word for keyword in photo.keywords],
            "labels": [keyword.word for keyword in photo.keywords],
            "subjects": [name for name in people(photo) if name],
            "has_album": [any(photo.id in chosen for album, chosen in self.albums if not album.filter)],
            "camera_text": spellings(f"{camera.make} {camera.model}"),
            "lens_text": spellings(f"{lens.make} {lens.model}"),
            "hour": [local.hour if photo.year > 0 else -1],
            "weekday": [date(photo.year, photo.month, photo.day).isoweekday() if has_day(photo) else -1],
            "photo_type": [photo.type],
            "is_primary": [file.primary],
            "stacked": [sum(not (other.sidecar or other.missing) for other in photo.files) > 1],
            "has_error": [bool(file.error)],
            "hidden": [photo.quality < 0],
            "archived": [photo.archived_at is not None],
            "taken_day": [(photo.year, photo.month, photo.day)],
            "file_name": [file.name],
            "faces": [max(faces(one) for one in photo.files if not one.missing)],
            "place": place_names(photo),
            "nothing": [],
            "instance_id": [file.instance_id],
            "state": [photo.place.state],
            "city": [photo.place.city],
        }
        if column in values:
            return values[column]
        return [getattr(file if column in FILE_COLUMNS else photo, column)]


@cache
def album_query(text):
    """The query of an album's filter; None if it is not valid."""
    try:
        return locate(parse_query(text))
    except InvalidQueryError:
        return None


#: Where places lie that queries of tests name.
TOWNS = {"munich": (48.1445, 11.5955), "suva": (-18.1416, 178.4415)}

FILE_COLUMNS = {"width", "height", "size", "hash", "codec", "portrait", "aspect_ratio", "chroma", "diff"}


def compare(item, value):
    match item:
        case Word() | Phrase():
            return isinstance(value, str) and has_term(words(value), item)
        case Pattern():
            return isinstance(value, str) and (item.matches(value) or item.matches(" ".join(words(value))))
        case Range(low, high):
            return (low is None or value >= low) and (high is None or value <= high)
        case Days(start, end):
            if min(value) < 1:
                return False
            return (start is None or value >= day(start)) and (end is None or value < day(end))
        case _:
            return value == item and not isinstance(value, str)


def day(date):
    return (date.year, date.month, date.day)


def has_term(found, term):
    if isinstance(term, Word) and any(form in found for form in term.forms):
        return True
    wanted = (term.text,) if isinstance(term, Word) else term.words
    for start in range(len(found) - len(wanted) + 1):
        *body, last = found[start : start + len(wanted)]
        if tuple(body) == wanted[:-1] and (last == wanted[-1] or (term.prefix and last.startswith(wanted[-1]))):
            return True
    return False


def sections(photo):
    texts = [photo.title, photo.description, photo.path, photo.original_name, photo.notes]
    texts += [keyword.word for keyword in photo.keywords]
    texts += people(photo)
    texts += [file.name for file in photo.files if not file.missing]
    texts += place_names(photo)
    for gear in (photo.camera, photo.lens):
        if gear.id != 1:
            texts.append(f"{gear.make} {gear.model}")
    return [words(text) for text in texts]


def spellings(name):
    """A name of a camera or lens, as it is and with blanks before its numbers."""
    return [name, re.sub(r"(?<=[^\W\d_])(?=\d)", " ", name)]


def has_day(photo):
    return min(photo.year, photo.month, photo.day) > 0


def place_names(photo):
    place = photo.place
    return [] if place.id == UNKNOWN_PLACE else [place.label, place.city, place.state]


def faces(file):
    return sum(marker.type == "face" for marker in file.markers)


def people(photo):
    return [marker.name for file in photo.files if not file.missing for marker in file.markers]


def known(photo):
    return photo.cell_id != UNKNOWN_PLACE


def within(photo, lat, lng, km):
    return known(photo) and distance_m(photo.lat, photo.lng, lat, lng) <= km * 1000


def inside(photo, box):
    if not known(photo) or not box.south <= photo.lat <= box.north:
        return False
    if box.west <= box.east:
        return box.west <= photo.lng <= box.east
    return photo.lng >= box.west or photo.lng <= box.east


def shown(file, node, *, sees_private):
    """Return whether a search may show a file at all."""
    if file.missing or file.sidecar:
        return False
    photo = file.photo
    if photo.private and not sees_private:
        return False
    asked = set(switches(node, wanted=True)) if sees_private else set()
    error, hidden, archived = bool(file.error), photo.quality < 0, photo.archived_at is not None
    if not (error or hidden or archived):
        return True
    return (
        (error and "error" in asked)
        or (hidden and "hidden" in asked)
        or (archived and not error and "archived" in asked)
    )


def switches(node, *, wanted):
    match node:
        case Filter(name, True) if wanted:
            yield name
        case Not(part):
            yield from switches(part, wanted=not wanted)
        case And(parts) | Or(parts):
            for part in parts:
                yield from switches(part, wanted=wanted)
