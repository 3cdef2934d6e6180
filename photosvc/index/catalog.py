"""Rows that photos share: cameras, lenses, places, cells, keywords; looked up, or inserted when missing."""

from collections.abc import Collection, Iterable
from typing import Any, TypeVar, cast

from sqlalchemy import select
from sqlalchemy.orm import Session, joinedload

from photosvc.core.geo import cell_token
from photosvc.index.places import FoundPlace, Gazetteer
from photosvc.media.cameras import camera_type
from photosvc.media.metadata import Metadata
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, Cell, Keyword, Lens, Place, Subject, SubjectName
from photosvc.models.among import among
from photosvc.query.fold import fold

Row = TypeVar("Row", Camera, Lens, Cell, Place)


class Catalog:
    """Rows by their values, cached for one transaction: after a rollback, use a new catalog."""

    def __init__(self, session: Session, gazetteer: Gazetteer) -> None:
        self._session = session
        self._gazetteer = gazetteer
        self._cameras: dict[tuple[str, str], Camera] = {}
        self._lenses: dict[tuple[str, str], Lens] = {}
        self._keywords: dict[str, Keyword] = {}
        self._places: dict[str, Place] = {}
        self._cells: dict[str, Cell | None] = {}
        self._people: dict[str, str] | None = None
        self._cell_ids: dict[tuple[float, float], str] = {}
        self._unknown: dict[type[Camera | Lens | Cell | Place], Any] = {}

    def camera(self, make: str, model: str) -> Camera:
        """The camera of this make and model; the unknown camera when both are empty."""
        if not (make or model):
            return self._nothing(Camera, UNKNOWN_ID)
        known = self._cameras.get((make, model))
        if known is None:
            query = select(Camera).where(Camera.make == make, Camera.model == model)
            known = self._session.scalar(query) or Camera(make=make, model=model, type=camera_type(make, model))
            self._session.add(known)
            self._cameras[make, model] = known
        return known

    def load_gear(self, contents: Collection[Metadata]) -> None:
        """Look up in advance the cameras and lenses of these files that are known."""
        cameras = {one.camera_model for one in contents}
        for camera in self._session.scalars(select(Camera).where(among(self._session, Camera.model, cameras))):
            self._cameras[camera.make, camera.model] = camera
        if lenses := {one.lens_model for one in contents} - {""}:
            for lens in self._session.scalars(select(Lens).where(among(self._session, Lens.model, lenses))):
                self._lenses[lens.make, lens.model] = lens

    def lens(self, make: str, model: str) -> Lens:
        """The lens of this make and model; the unknown lens when the model is empty."""
        if not model:
            return self._nothing(Lens, UNKNOWN_ID)
        known = self._lenses.get((make, model))
        if known is None:
            query = select(Lens).where(Lens.make == make, Lens.model == model)
            known = self._session.scalar(query) or Lens(make=make, model=model)
            self._session.add(known)
            self._lenses[make, model] = known
        return known

    def load_cells(self, positions: Iterable[tuple[float, float]]) -> None:
        """Look up in advance the cells of these positions that are known."""
        wanted = {self._cell_id(lat, lng) for lat, lng in positions} - self._cells.keys()
        if wanted:
            query = select(Cell).where(among(self._session, Cell.id, wanted)).options(joinedload(Cell.place))
            self._cells |= dict.fromkeys(wanted) | {cell.id: cell for cell in self._session.scalars(query)}

    def cell(self, lat: float, lng: float) -> Cell:
        """The S2 cell of a position, with its place."""
        cell_id = self._cell_id(lat, lng)
        if cell_id not in self._cells:
            self.load_cells([(lat, lng)])
        known = self._cells[cell_id]
        if known is None:
            known = Cell(id=cell_id, place=self._place(self._gazetteer.lookup(lat, lng)))
            self._session.add(known)
            self._cells[cell_id] = known
        return known

    def nowhere(self) -> Cell:
        """The cell of photos without a position."""
        return self._nothing(Cell, UNKNOWN_PLACE)

    def person(self, name: str) -> str:
        """The name that people chose for somebody whom files call `name`; else that one."""
        if self._people is None:
            query = select(SubjectName.folded, Subject.name).join(Subject)
            self._people = {row.folded: row.name for row in self._session.execute(query)}
        return self._people.get(fold(name), name) if self._people else name

    def _nothing(self, mapped: type[Row], key: int | str) -> Row:
        """The row that stands for what is not known."""
        if mapped not in self._unknown:
            self._unknown[mapped] = self._session.get_one(mapped, key)
        return cast("Row", self._unknown[mapped])

    def _cell_id(self, lat: float, lng: float) -> str:
        known = self._cell_ids.get((lat, lng))
        if known is None:
            known = self._cell_ids[lat, lng] = f"s2:{cell_token(lat, lng)}"
        return known

    def _place(self, found: FoundPlace | None) -> Place:
        if found is None:
            return self._nothing(Place, UNKNOWN_PLACE)
        known = self._places.get(found.id) or self._session.get(Place, found.id)
        if known is None:
            known = Place(id=found.id, label=found.label, city=found.city, state=found.state, country=found.country)
            self._session.add(known)
        self._places[found.id] = known
        return known

    def keywords(self, texts: Iterable[str]) -> list[Keyword]:
        """The keywords with these texts, each once; spelling differences in case and accents are one keyword."""
        wanted = {fold(text): text for text in reversed(list(texts))}
        wanted.pop("", None)
        unknown = wanted.keys() - self._keywords.keys()
        if unknown:
            for keyword in self._session.scalars(select(Keyword).where(Keyword.folded.in_(unknown))):
                self._keywords[keyword.folded] = keyword
            for folded in unknown - self._keywords.keys():
                self._keywords[folded] = Keyword(word=wanted[folded], folded=folded)
                self._session.add(self._keywords[folded])
        return [self._keywords[folded] for folded in sorted(wanted)]
