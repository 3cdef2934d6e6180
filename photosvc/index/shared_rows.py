"""Rows that photos share: cameras, lenses, places, cells, keywords; looked up, or inserted when missing."""

from collections.abc import Collection, Iterable
from typing import Any, TypeVar

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from photosvc.core.geo import cell_token
from photosvc.index.gazetteer import Gazetteer, NamedPlace, named_place
from photosvc.media.metadata import Metadata, camera_type
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, Cell, Keyword, Lens, Photo, Place, Subject, SubjectName
from photosvc.models.statements import among
from photosvc.query.fold import fold

Shared = TypeVar("Shared", Camera, Lens, Cell, Place, Keyword)
Row = TypeVar("Row", Camera, Lens, Cell, Place)


class SharedRows:
    """Rows by their values, cached for one transaction: after a rollback, make new ones."""

    def __init__(self, session: Session, zone: str) -> None:
        """Begin empty; `zone` is that of photos without a zone and a position of their own."""
        self.zone = zone
        self.session = session
        self._cameras: dict[tuple[str, str], Camera] = {}
        self._lenses: dict[tuple[str, str], Lens] = {}
        self._keywords: dict[str, Keyword] = {}
        self._places: dict[str, Place] = {}
        self._cells: dict[str, Cell | None] = {}
        self._people: dict[str, str] | None = None

    def remember(self, photos: Iterable[Photo]) -> None:
        """Remember the rows that these photos refer to, so that none is looked up again."""
        for photo in photos:
            self._cameras[photo.camera.make, photo.camera.model] = photo.camera
            self._lenses[photo.lens.make, photo.lens.model] = photo.lens
            self._keywords |= {keyword.folded: keyword for keyword in photo.keywords}

    def camera(self, make: str, model: str) -> Camera:
        """Return the camera of this make and model; the unknown camera when both are empty."""
        if not (make or model):
            return self.session.get_one(Camera, UNKNOWN_ID)
        known = self._cameras.get((make, model))
        if known is None:
            same = (camera for camera in self._select(Camera, "model", [model]) if camera.make == make)
            known = next(same, None) or self._new(Camera, make=make, model=model, type=camera_type(make, model))
            self._cameras[make, model] = known
        return known

    def load(self, files: Collection[Metadata]) -> None:
        """Look up in advance the known cameras, lenses and cells of these files."""
        cameras = {file.camera_model for file in files}
        self._cameras |= {(camera.make, camera.model): camera for camera in self._select(Camera, "model", cameras)}
        if lenses := {file.lens_model for file in files} - {""}:
            self._lenses |= {(lens.make, lens.model): lens for lens in self._select(Lens, "model", lenses)}
        self.load_cells((file.lat, file.lng) for file in files if file.lat is not None and file.lng is not None)

    def lens(self, make: str, model: str) -> Lens:
        """Return the lens of this make and model; the unknown lens when the model is empty."""
        if not model:
            return self.session.get_one(Lens, UNKNOWN_ID)
        known = self._lenses.get((make, model))
        if known is None:
            same = (lens for lens in self._select(Lens, "model", [model]) if lens.make == make)
            known = next(same, None) or self._new(Lens, make=make, model=model)
            self._lenses[make, model] = known
        return known

    def load_cells(self, positions: Iterable[tuple[float, float]]) -> None:
        """Look up in advance the known cells of these positions."""
        unknown = {_cell_id(lat, lng) for lat, lng in positions} - self._cells.keys()
        if unknown:
            query = select(Cell).where(among(self.session, Cell.id, unknown)).options(joinedload(Cell.place))
            self._cells |= dict.fromkeys(unknown) | {cell.id: cell for cell in self.session.scalars(query)}

    def cell(self, lat: float, lng: float) -> Cell:
        """Return the S2 cell of a position, with its place."""
        cell_id = _cell_id(lat, lng)
        if cell_id not in self._cells:
            self.load_cells([(lat, lng)])
        known = self._cells[cell_id]
        if known is None:
            place = self._place(Gazetteer.load().lookup(lat, lng))
            known = self._cells[cell_id] = self._new(Cell, id=cell_id, place_id=place.id, place=place)
        return known

    def nowhere(self) -> Cell:
        """Return the cell of photos without a position."""
        return self.session.get_one(Cell, UNKNOWN_PLACE)

    def named_place(self, city: str, state: str, country: str) -> Place | None:
        """Return the place with these names, the country also as a code; None when its country is unknown."""
        named = named_place(city, state, country) if city or country else None
        return self._place(named) if named else None

    def person(self, name: str) -> str:
        """Return the present name of the person whom files call `name`."""
        if self._people is None:
            query = select(SubjectName.folded, Subject.name).join(Subject)
            self._people = {row.folded: row.name for row in self.session.execute(query)}
        return self._people.get(fold(name), name) if self._people else name

    def keywords(self, texts: Iterable[str]) -> list[Keyword]:
        """Return the keywords with these texts. Texts that differ only in case and accents are one keyword."""
        wanted = {fold(text): text for text in reversed(list(texts))}
        wanted.pop("", None)
        if unknown := wanted.keys() - self._keywords.keys():
            self._keywords |= {keyword.folded: keyword for keyword in self._select(Keyword, "folded", unknown)}
            for folded in sorted(unknown - self._keywords.keys()):
                self._keywords[folded] = self._new(Keyword, word=wanted[folded], folded=folded)
        return [self._keywords[folded] for folded in sorted(wanted)]

    def with_id(self, mapped: type[Row], key: int | str) -> Row | None:
        """Return the row with this id."""
        return self.session.get(mapped, key)

    def _place(self, nearest: NamedPlace | None) -> Place:
        if nearest is None:
            return self.session.get_one(Place, UNKNOWN_PLACE)
        place = self._places.get(nearest.id) or self.with_id(Place, nearest.id)
        if place is None:
            names = {"label": nearest.label, "city": nearest.city, "state": nearest.state, "country": nearest.country}
            place = self._new(Place, id=nearest.id, **names)
        self._places[nearest.id] = place
        return place

    def _select(self, mapped: type[Shared], key: str, values: Collection[str]) -> Iterable[Shared]:
        """Return the rows whose column `key` has one of these values."""
        return self.session.scalars(select(mapped).where(among(self.session, getattr(mapped, key), values)))

    def _new(self, mapped: type[Shared], **values: Any) -> Shared:  # noqa: ANN401 - of the columns
        """Make a new row, inserted when the session is flushed."""
        row = mapped(**values)
        self.session.add(row)
        return row


def _cell_id(lat: float, lng: float) -> str:
    return f"s2:{cell_token(lat, lng)}"
