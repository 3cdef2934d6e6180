"""The albums of an import: made, or united with an album of the same title."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, or_, select
from sqlalchemy.orm import Session

from photosvc.core.clock import Clock
from photosvc.core.errors import ConflictError, InvalidValueError
from photosvc.exchange.import_runs import RunOfImport, follow_album
from photosvc.exchange.imported import ImportedAlbum, Outcome
from photosvc.exchange.photo_matches import PhotoMatches
from photosvc.library.album_photos import MOST_AT_ONCE, add_photos
from photosvc.library.albums import album_to_change, change_album, check_values, make_album, uids_by_title
from photosvc.models import Album, AlbumPhoto, Imported, ImportRun, Photo, SearchRow
from photosvc.models.engine import write_session
from photosvc.models.statements import in_portions
from photosvc.query.fold import fold
from photosvc.search.reading.compile import visible_photos
from photosvc.search.reading.request import ALBUM_ORDERS, MANUAL


@dataclass(frozen=True, slots=True)
class _Place:
    """The album here for one of another program."""

    uid: str = ""
    """Empty if it has to be made."""
    known: frozenset[str] = frozenset()
    """UIDs of photos that earlier imports put into it."""
    has_photos_of_its_own: bool = True
    """False for a smart album."""
    deleted: bool = False
    ambiguous: bool = False


class AlbumImport:
    """The albums of one run of an import."""

    def __init__(self, engine: Engine, clock: Clock, run: RunOfImport, photos: PhotoMatches, *, dry_run: bool) -> None:
        """Prepare the albums; `photos` has our photos by the keys of the other program."""
        self._engine = engine
        self._clock = clock
        self._run = run
        self._photos = photos
        self._dry_run = dry_run
        self._titles: Mapping[str, Sequence[str]] | None = None

    def take(self, album: ImportedAlbum) -> None:
        """Make an album, or add its photos to the one here."""
        report = self._run.report
        matched = self._photos.ids(album.members)
        lost = sum(key not in matched for key in album.members)
        members = list(dict.fromkeys(matched[key] for key in album.members if key in matched))
        with Session(self._engine) as session:
            place = self._place(session, album)
            missing = self._missing(session, place, members)
        if place.ambiguous:
            report.count("album", Outcome.NO_MATCH)
            report.list_unmatched(f"album {album.values['title']}: several albums have this title")
            return
        if place.deleted:
            report.count("album", Outcome.KEPT)
            return
        is_smart = bool(album.values.get("filter")) if not place.uid else not place.has_photos_of_its_own
        if is_smart:
            members, missing = [], []
        report.count("album photo", Outcome.NO_MATCH, 0 if is_smart else lost)
        try:
            if not place.uid:
                check_values(_values(album), self._clock(), smart=is_smart)
            uid = place.uid if self._dry_run else self._write(album, place, missing)
        except (InvalidValueError, ConflictError) as error:  # its query, or too many albums
            report.count("album", Outcome.NO_HOME)
            report.list_unmatched(f"album {album.values['title']}: {error.message}")
            return
        report.count("album", Outcome.EQUAL if place.uid else Outcome.TAKEN)
        for name in album.homeless:
            report.count(name, Outcome.NO_HOME)
        report.count("album photo", Outcome.TAKEN, len(missing))
        report.count("album photo", Outcome.EQUAL, len(members) - len(missing))
        if album.cover:
            self._cover(album, uid, members)

    def _place(self, session: Session, album: ImportedAlbum) -> _Place:
        """Return the album of an earlier run, else the only one of this title that no import made for another one."""
        of_source = select(Imported).join(ImportRun).where(ImportRun.source == self._run.source)
        rows = session.scalars(of_source.where(Imported.key == album.key)).all()
        known = frozenset(uid for row in rows for uid in row.members)
        if rows:
            uid = rows[-1].uid
        else:
            if self._titles is None:
                self._titles = _titles_of_people(session)
            named = self._titles.get(fold(album.values["title"]), ())
            if len(named) > 1:
                return _Place(ambiguous=True)
            uid = "".join(named)
        found = session.scalars(select(Album).where(Album.uid == uid)).first() if uid else None
        if found is None:
            return _Place(deleted=bool(rows))
        return _Place(uid, known, not found.filter, found.deleted_at is not None)

    def _missing(self, session: Session, place: _Place, members: Sequence[int]) -> list[int]:
        """Return the photos that are neither in the album nor were put into it by an earlier run."""
        present: set[int] = set()
        for portion in in_portions(members) if place.uid else ():
            query = select(AlbumPhoto.photo_id).join(Album).where(Album.uid == place.uid)
            present |= set(session.scalars(query.where(AlbumPhoto.photo_id.in_(portion))))
        for uids in in_portions(list(place.known)):
            present |= set(session.scalars(select(Photo.id).where(Photo.uid.in_(uids))))
        return [photo_id for photo_id in members if photo_id not in present]

    def _write(self, album: ImportedAlbum, place: _Place, missing: Sequence[int]) -> str:
        """Make the album if it is not there, and add photos in portions; return its UID."""
        now, uid = self._clock(), place.uid
        if not uid:
            with write_session(self._engine, library=True) as session:
                uid = self._place(session, album).uid  # another import may have made it
                if not uid:
                    made = make_album(session, _values(album), now)
                    uid = made.uid
                    self._note(session, album, made, made=1)
        for portion in in_portions(missing, MOST_AT_ONCE):
            with write_session(self._engine, library=True) as session:
                ours = album_to_change(session, uid, sees_private=True)
                former = ours.updated_at
                added = add_photos(session, ours, portion, now)
                follow_album(session, ours, former)
                self._note(session, album, ours, added=added)
        return uid

    def _note(
        self, session: Session, album: ImportedAlbum, ours: Album, *, made: int = 0, added: Sequence[int] = ()
    ) -> None:
        """Store what the run did to an album, in the transaction that does it."""
        number = self._run.number(session, self._clock())
        row = session.get(Imported, (number, album.key))
        if row is None:
            row = Imported(run_id=number, key=album.key, uid=ours.uid, made=made, members=[])
            session.add(row)
        uids = session.scalars(select(Photo.uid).where(Photo.id.in_(added))).all()
        row.members = [*row.members, *uids]
        row.album_updated_at = ours.updated_at

    def _cover(self, album: ImportedAlbum, uid: str, members: Sequence[int]) -> None:
        """Choose the cover in an album that an import made and nobody changed since."""
        report = self._run.report
        with Session(self._engine) as session:
            shown = select(SearchRow.photo_id, SearchRow.photo_uid, SearchRow.hash)
            shown = shown.where(visible_photos(sees_private=True)).order_by(SearchRow.hash != album.cover)
            by_key = self._photos.ids([album.cover]).get(album.cover, 0)
            is_cover = or_(SearchRow.hash == album.cover, SearchRow.photo_id == by_key)
            photo = session.execute(shown.where(is_cover)).first()
            ours = session.scalars(select(Album).where(Album.uid == uid)).first()
            if photo is None or photo.photo_id not in members:
                report.count("album cover", Outcome.NO_MATCH)
                return
            if ours is not None and ours.cover == photo.photo_uid:
                report.count("album cover", Outcome.EQUAL)
                return
            rows = session.scalars(select(Imported).where(Imported.uid == uid)).all()
            is_own = ours is None or any(row.album_updated_at == ours.updated_at for row in rows if row.made)
        if not is_own:
            report.count("album cover", Outcome.KEPT)
            return
        if not self._dry_run:
            now = self._clock()
            with write_session(self._engine, library=True) as session:
                changed = album_to_change(session, uid, sees_private=True)
                former = changed.updated_at
                try:
                    change_album(session, changed, {"thumb": photo.hash, "thumb_src": "manual"}, now)
                except InvalidValueError:  # a search does not show the photo, such as an archived one
                    session.rollback()
                    report.count("album cover", Outcome.NO_HOME)
                    return
                follow_album(session, changed, former)
                self._note(session, album, changed)
        report.count("album cover", Outcome.TAKEN)


def _titles_of_people(session: Session) -> dict[str, list[str]]:
    """Return title without case and accents -> UIDs of the albums that no import made."""
    made = set(session.scalars(select(Imported.uid).where(Imported.made == 1)))
    titles = uids_by_title(session)
    return {title: [uid for uid in uids if uid not in made] for title, uids in titles.items()}


def _values(album: ImportedAlbum) -> dict[str, Any]:
    """Return the values of a new album; an order that the library does not have is left out."""
    values = dict(album.values)
    orders = [order for order in ALBUM_ORDERS if not (values.get("filter") and order == MANUAL.name)]
    if values.get("order") not in orders:
        values.pop("order", None)
    return values
