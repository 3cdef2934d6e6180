"""The people of an import: areas that overlap by half are one, and get the name; others are added."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from sqlalchemy.orm import Session

from photosvc.core.errors import ConflictError
from photosvc.core.vocabulary import MANUAL
from photosvc.exchange.imported import ImportedArea, ImportedPhoto, Outcome
from photosvc.index.file_columns import add_area, choose_orientation, chosen_names, remove_added
from photosvc.index.shared_rows import SharedRows
from photosvc.library.people import name_area
from photosvc.media.metadata import Region, whole_picture
from photosvc.media.xmp_regions import upright
from photosvc.models import File, Marker, Photo
from photosvc.query.fold import fold, words

_HALF: Final = 0.5


def take_orientations(photo: Photo, record: ImportedPhoto, *, wins: bool) -> Iterator[Outcome]:
    """Turn the files of a photo as a person turned them in another program; yield an outcome for each."""
    for file in _present(photo):
        chosen = record.orientations.get(file.hash)
        if chosen is None:
            continue
        if file.orientation == chosen:
            yield Outcome.EQUAL
        elif file.orientation_src == MANUAL and not wins:
            yield Outcome.KEPT
        else:
            choose_orientation(file, chosen)
            yield Outcome.TAKEN


@dataclass(slots=True)
class PeopleUnion:
    """The people of one photo, inside `unit_of_work.changing` or in a session that writes nothing."""

    session: Session
    shared_rows: SharedRows
    photo: Photo
    united: set[str]
    """What earlier runs added to the photo; see `Imported.members`."""
    wins: bool
    """True if the names of the import replace those that people gave here."""
    _added: list[tuple[File, Region]] = field(default_factory=list)

    def unite(self, record: ImportedPhoto) -> Iterator[tuple[str, Outcome]]:
        """Add or name the people of a record; yield the folded name and the outcome of each."""
        files = _present(self.photo)
        names = {fold(marker.name) for file in files for marker in file.markers if marker.name}
        claimed: dict[int, str] = {}
        for one in record.people:
            name = self.shared_rows.person(one.area.name)
            folded, file = fold(name), _file_of(files, one)
            if file is None or not words(name):  # a name has letters or digits
                yield folded, Outcome.NO_MATCH if file is None else Outcome.NO_HOME
            elif f"person {folded}" in self.united and folded not in names:  # a person took them away
                yield folded, Outcome.KEPT
            else:
                area = _shown(file, replace(one.area, name=name), record)
                outcome = self._unite(file, area, claimed, is_known=folded in names)
                if outcome is Outcome.TAKEN:
                    names.add(folded)
                yield folded, outcome

    def _unite(self, file: File, area: Region, claimed: dict[int, str], *, is_known: bool) -> Outcome:
        """Return what happens to an area of the picture as it is shown.

        Args:
            claimed: ids of markers -> the folded names of the areas of this record that are the same.
        """
        folded = fold(area.name)
        if any(one is file and fold(own.name) == folded and _share(area, own) for one, own in self._added):
            return Outcome.EQUAL
        free = (one for one in file.markers if claimed.get(id(one), folded) == folded)
        marker = None if area.is_whole else _same(area, free)
        if marker is None:
            if area.is_whole and is_known:
                return Outcome.EQUAL
            try:
                add_area(file, area)
            except ConflictError:  # this very area has another name, or there are too many
                return Outcome.NO_HOME
            self._added.append((file, area))
            for one in [one for one in file.markers if one.src == MANUAL and _is_whole(one)]:
                if fold(one.name) == folded:  # now it is known where they are
                    remove_added(file, one)
            return Outcome.TAKEN
        claimed[id(marker)] = folded
        if fold(marker.name) == folded:
            return Outcome.EQUAL
        if _is_named_by_a_person(file, marker) and not self.wins:
            return Outcome.KEPT
        try:
            name_area(self.session, self.photo, marker.uid, area.name)
        except ConflictError:  # the file changed since it was indexed
            return Outcome.NO_HOME
        return Outcome.TAKEN


def _present(photo: Photo) -> list[File]:
    return [file for file in photo.files if not file.missing]


def _file_of(files: Iterable[File], one: ImportedArea) -> File | None:
    """Return the file of an area, else the one that shows the photo."""
    shown = None
    for file in files:
        if one.hash and file.hash == one.hash:
            return file
        if file.primary:
            shown = file
    return shown


def _shown(file: File, area: Region, record: ImportedPhoto) -> Region:
    """Return the area in the picture as it is shown here, with five decimals as areas that people draw."""
    turned = record.orientations.get(file.hash)
    if turned is None and not area.is_whole:
        area = upright(area, file.turn)
    elif turned not in (None, file.orientation):  # a person turned it otherwise here
        return whole_picture(area.name)
    return replace(area, x=round(area.x, 5), y=round(area.y, 5), w=round(area.w, 5), h=round(area.h, 5))


def _same(area: Region, markers: Iterable[Marker]) -> Marker | None:
    """Return the marked area that is the same one: of several the one with the same name, else the nearest."""
    shares = [(fold(one.name) == fold(area.name), _share(area, one), one) for one in markers if not _is_whole(one)]
    best = max((share for share in shares if share[1]), key=lambda share: share[:2], default=None)
    return best[2] if best else None


def _share(area: Region, other: Region | Marker) -> float:
    """Return the part that two areas have in common; 0 if it is less than half.

    Of areas with the same name it is that of the smaller one: programs draw faces alone, or whole heads.
    """
    wide = min(area.x + area.w, other.x + other.w) - max(area.x, other.x)
    high = min(area.y + area.h, other.y + other.h) - max(area.y, other.y)
    common, sizes = max(wide, 0.0) * max(high, 0.0), (area.w * area.h, other.w * other.h)
    whole = min(sizes) if fold(other.name) == fold(area.name) else sum(sizes) - common
    return common / whole if whole and common / whole >= _HALF else 0.0


def _is_whole(marker: Marker) -> bool:
    return Region(marker.name, marker.type, marker.x, marker.y, marker.w, marker.h).is_whole


def _is_named_by_a_person(file: File, marker: Marker) -> bool:
    """Return whether a person here gave the area its name, or took it away."""
    if marker.src == MANUAL:
        return bool(marker.name)
    box = marker.x, marker.y, marker.w, marker.h
    for *area, _ in chosen_names(file):
        kind, x, y, w, h, name = area
        shown = upright(Region(name, kind, x, y, w, h), file.turn)
        if (shown.x, shown.y, shown.w, shown.h) == box:
            return True
    return False
