"""The description of a photo: the values of its files and names, which replace values of weaker sources alone.

Pure functions merge the files: equal files give equal photos.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, TypeVar

from sqlalchemy.orm import object_session

from photosvc.core.times import UTC_ZONE, fixed_zone, to_local, to_utc
from photosvc.core.vocabulary import AUTO, ESTIMATE, LOCATION, MANUAL, META, NAME, UNKNOWN, XMP, gives_way
from photosvc.index.agreement import offset_between
from photosvc.index.extract import Extraction
from photosvc.index.file_columns import added_areas, bounded, named, read_extraction, write_added_markers, write_markers
from photosvc.index.gazetteer import country_name, zone_at
from photosvc.index.name_groups import (
    is_cover,
    is_in_conflict,
    is_moving_part,
    is_preview,
    original_of,
    without_conflict,
)
from photosvc.index.names import date_in_path, title_in
from photosvc.index.quality import HIDDEN, quality_of
from photosvc.index.shared_rows import SharedRows
from photosvc.index.sidecar_values import Sources, StoredSidecar, marked, ranked, with_sidecars
from photosvc.index.stack_rules import LIVE_NS
from photosvc.media import text
from photosvc.media.formats import split_name
from photosvc.media.metadata import DAY, MONTH, SAME_MOMENT, Metadata, Region, merge
from photosvc.media.xmp_regions import upright
from photosvc.models import UNKNOWN_PLACE, File, Marker, Photo

Row = TypeVar("Row", File, Marker, Photo)
#: The time of a file that changed shortly before it was indexed is more likely that of a copy than of the picture.
_FRESH: Final = timedelta(hours=24)
#: Last year of the first dates of file systems, which files of an unset clock have.
_UNSET_CLOCK: Final = 1980
_PANORAMA_RATIO = 1.9
#: Characters of city and country together that still leave room for more in a title.
_MAX_PLACE = 45
_LIVE_TYPES = ("jpg", "heic", "avif")
#: Formats of the primary file by preference: those that every viewer reads come first.
_PRIMARY_FORMATS = ("jpg", "png", "webp", "gif", "avif", "tiff", "bmp", "heic")
#: Files by trust in their metadata: those of the camera come before those made from them.
_METADATA_ORDER = {"raw": 0, "image": 1, "animated": 2, "video": 3}


@dataclass(frozen=True, slots=True)
class StackedFile:
    """One file of the photo."""

    name: str
    extraction: Extraction


@dataclass(frozen=True, slots=True)
class Taken:
    """The time when the photo was taken, and its source."""

    at: datetime
    local: datetime
    """Wall time, written as if it were UTC."""
    zone: str
    source: str
    parts: int = DAY
    """The parts of the date that are known, see `media.dates`; 0 for none of it."""


def taken(metadata: Metadata, files: Sequence[StackedFile], indexed_at: datetime, usual_zone: str) -> Taken:
    """Return the time when the photo was taken.

    It comes from the metadata (source `meta`); else from a date in the names of files and folders (`name`); else it is
    the time at which a program last changed the picture (`estimate`), or else the oldest modification time of its files
    (empty). If a name has a month or year that ended before that time, it is that month or year (`estimate`).

    The zone is the one that a person chose; else it comes from the position, else from the offset that the camera wrote
    or by which the wall time in a name differs from the UTC in the metadata, else it is the usual zone. UTC as the
    usual zone means that none is known: then the zone of a wall time stays empty.
    """
    known = metadata.zone
    if not known and metadata.lat is not None and metadata.lng is not None:
        known = zone_at(metadata.lat, metadata.lng)
    zone = known or usual_zone
    if metadata.taken_local is not None:
        return _from_wall_time(metadata, metadata.taken_local, known, usual_zone)
    if metadata.taken_utc is not None:
        return _from_utc(metadata.taken_utc, files, known, usual_zone)
    named = [date_in_path(without_conflict(file.name), zone) for file in files]
    for date in named:
        if date.local is not None and date.parts == DAY:
            at, zone = _in_zone(date.local, None, known, usual_zone)
            return Taken(at, date.local.replace(tzinfo=UTC), zone, NAME)
    if metadata.modified_local is not None:
        at, zone = _in_zone(metadata.modified_local, metadata.modified_offset, known, usual_zone)
        latest = Taken(at, metadata.modified_local.replace(tzinfo=UTC), zone, ESTIMATE)
    else:
        latest = _from_file_time(files, indexed_at, zone)
    for date in named:
        if date.local is not None and _is_over(date.local, date.parts, latest.local):
            at, zone = _in_zone(date.local, None, known, usual_zone)
            return Taken(at, date.local.replace(tzinfo=UTC), zone, ESTIMATE, date.parts)
    return latest


def _is_over(first: datetime, parts: int, latest: datetime) -> bool:
    """Return whether the month or year that begins at `first` had ended when a file was last changed.

    During that month or year, the time of the file is more exact; an older file was not taken then. Years up to 1980
    come from clocks that were not set.
    """
    months = first.year * 12 + first.month + (1 if parts == MONTH else 12)
    return latest.year * 12 + latest.month >= months or latest.year <= _UNSET_CLOCK


def _from_wall_time(metadata: Metadata, local: datetime, zone: str, usual_zone: str) -> Taken:
    """Return the time for a wall time. If the satellite clock disagrees with its UTC, it replaces the UTC alone."""
    at, named = _in_zone(local, metadata.utc_offset, zone, usual_zone)
    satellite = metadata.taken_utc
    if satellite is not None and metadata.date_parts == DAY and abs(at - satellite) >= SAME_MOMENT:
        at, named = satellite, zone
    return Taken(at, local.replace(tzinfo=UTC), named, META, metadata.date_parts)


def _from_utc(at: datetime, files: Sequence[StackedFile], known: str, usual_zone: str) -> Taken:
    """Return the time for a UTC time, which videos of phones have; their names have the wall time."""
    local = to_local(at, known or usual_zone)
    for file in files if not known else ():
        named = date_in_path(without_conflict(file.name), usual_zone).local
        if named is None or named.time() == time():  # a date alone
            continue
        offset = offset_between(named, at, timedelta(microseconds=file.extraction.duration_ns // 1000))
        if offset is not None and text.utc_of(local, offset) != at:
            return Taken(at, at + timedelta(minutes=offset), fixed_zone(offset), META)
    return Taken(at, local.replace(tzinfo=UTC), known or usual_zone, META)


def _in_zone(local: datetime, offset: int | None, zone: str, usual_zone: str) -> tuple[datetime, str]:
    """Return the UTC time and the name of the zone of a wall time."""
    if offset is not None:
        return text.utc_of(local, offset), zone or fixed_zone(offset)
    zone = zone or _as_known(usual_zone)
    return to_utc(local, zone), zone


def _as_known(usual_zone: str) -> str:
    """Return the usual zone as the zone of a photo: empty for UTC, which means that none is known."""
    return "" if usual_zone == UTC_ZONE else usual_zone


def _from_file_time(files: Sequence[StackedFile], indexed_at: datetime, zone: str) -> Taken:
    oldest = min(file.extraction.mtime_ns for file in files)
    try:
        moment = datetime.fromtimestamp(oldest / 1e9, UTC)
    except (OverflowError, ValueError, OSError):
        moment = indexed_at
    local = to_local(moment, zone).replace(tzinfo=UTC)
    return Taken(moment, local, _as_known(zone), AUTO, DAY if indexed_at - moment > _FRESH else 0)


def describe(photo: Photo, sidecars: Mapping[int, list[StoredSidecar]], shared_rows: SharedRows, now: datetime) -> None:
    """Bring the row of a photo up to date with its files, or hide a photo without files.

    Args:
        photo: its files have ids.
        sidecars: the sidecars of its files, by the id of the file.
    """
    files = sorted((file for file in photo.files if not file.missing), key=lambda file: file.name)
    if not files:
        photo.quality = HIDDEN
        _set_times(photo, now)
        return
    stacked = [StackedFile(file.name, read_extraction(file)) for file in files]
    own = without_previews(stacked)
    shown = [file for file, one in zip(files, stacked, strict=True) if one in own]
    chosen = (file for file in shown if file.primary_src == MANUAL and not file.problem)
    primary = next(chosen, shown[primary_index(own)])
    for file in photo.files:
        file.assign({"primary": file is primary})
    for file in files:
        file.assign({"sidecar": file not in shown})
    ranked_sidecars = [ranked(sidecars.get(file.id, ())) for file in files]
    sources = with_sidecars(
        merged_metadata(stacked), [one for some in ranked_sidecars for one in some], shared_rows.zone
    )
    metadata = sources.metadata
    for file, one, beside in zip(files, stacked, ranked_sidecars, strict=True):
        areas = named(file, _areas(file, one.extraction, beside))
        write_markers(file, [(src, _shown(area, file, shared_rows)) for src, area in areas], now)
        write_added_markers(file, [_shown(area, file, shared_rows) for area in added_areas(file)], now)
    folder, base, _ = split_name(primary.name)
    stack = max(photo.stack, 1) if len(shown) > 1 and photo.stack >= 0 else min(photo.stack, 0)
    photo.assign({"path": folder, "name": base, "stack": stack})
    if gives_way(photo.type_src, AUTO):
        photo.assign({"type": photo_type(own)})
    _describe_time(photo, sources, own, now, shared_rows.zone)
    _describe_camera(photo, sources, shared_rows)
    _describe_place(photo, sources, shared_rows)
    _describe_picture(photo, metadata, shown, primary)
    _describe_texts(photo, sources, shared_rows, files)
    _describe_flags(photo, sources, now)
    quality = HIDDEN if all(file.problem for file in shown) else quality_of(photo, edited=metadata.edited)
    photo.assign({"quality": quality})
    _set_times(photo, now)


def as_in_files(
    photo: Photo, sources: Iterable[str], sidecars: Mapping[int, list[StoredSidecar]], shared_rows: SharedRows
) -> Photo:
    """Return a copy of a photo in which the files decide the values of these source columns, and the stack."""
    described = _copy(photo, camera=photo.camera, lens=photo.lens, place=photo.place, keywords=list(photo.keywords))
    for file in photo.files:
        _copy(file, photo=described, markers=[_copy(marker) for marker in file.markers])
    described.stack = 0
    for source in sources:
        setattr(described, source, AUTO)
    if described.favorite_src == AUTO:
        described.favorite = False
    describe(described, sidecars, shared_rows, photo.created_at)
    return described


def _copy(row: Row, **related: Any) -> Row:  # noqa: ANN401 - rows
    """Return a copy of the columns of a row, which no session stores, with these related rows."""
    columns = {column.key: getattr(row, column.key) for column in row.__table__.columns}
    return type(row)(**columns | related)


def _shown(area: Region, file: File, shared_rows: SharedRows) -> Region:
    """Return an area as it is on the turned picture, with the present name of the person."""
    return replace(upright(area, file.turn), name=shared_rows.person(area.name))


def _placed(area: Region) -> tuple[str, float, float, float, float]:
    return area.name, round(area.x, 4), round(area.y, 4), round(area.w, 4), round(area.h, 4)


def areas_of(file: File, sidecars: Sequence[StoredSidecar]) -> list[tuple[str, Region]]:
    """Return the marked areas in a stored file and its sidecars, each with its source, before the file is turned."""
    return _areas(file, read_extraction(file), ranked(sidecars))


def _areas(file: File, extraction: Extraction, sidecars: Sequence[StoredSidecar]) -> list[tuple[str, Region]]:
    added = {_placed(area) for area in added_areas(file)}  # a sidecar may repeat them
    areas = marked(extraction.metadata.regions, extraction.orientation, sidecars)
    return [(src, area) for src, area in areas if _placed(area) not in added]


def _write(photo: Photo, metadata: Metadata, *names: str) -> None:
    """Write some of `PLAIN_VALUES`, except those that a person set."""
    photo.assign({name: getattr(metadata, name) for name in names if getattr(photo, f"{name}_src") != MANUAL})


def _set_times(photo: Photo, now: datetime) -> None:
    if photo.checked_at is not None:  # else it is new
        session = object_session(photo)
        if session is not None and session.is_modified(photo):
            photo.updated_at = now
    photo.assign({"checked_at": now})


def _describe_time(
    photo: Photo, sources: Sources, stacked: Sequence[StackedFile], now: datetime, usual_zone: str
) -> None:
    metadata = sources.metadata
    estimated = metadata.lat is None and metadata.taken_local is not None and photo.place_src == ESTIMATE
    # The zone is that of the photo's present position. A place without position gives no zone: an estimated place is
    # too far away in space or time.
    if (estimated or photo.place_src == MANUAL) and photo.cell_id != UNKNOWN_PLACE:
        metadata = replace(metadata, lat=photo.lat, lng=photo.lng)
    when = taken(metadata, stacked, now if photo.id is None else photo.created_at, usual_zone)
    # The source of the new time does not matter: a time guessed now replaces one that the file no longer contains.
    if not gives_way(photo.taken_src, XMP):
        return
    source = sources.source_of("taken_local", "taken_utc") if when.source == META else when.source
    local = when.local
    known = (local.year, local.month, local.day)[: when.parts]
    year, month, day = (*known, -1, -1, -1)[:3]
    days = {"year": year, "month": month, "day": day}
    photo.assign({"taken_at": when.at, "taken_at_local": local, "taken_src": source, "time_zone": when.zone, **days})


def _describe_camera(photo: Photo, sources: Sources, shared_rows: SharedRows) -> None:
    metadata = sources.metadata
    _write(photo, metadata, "iso", "focal_length", "f_number", "exposure")
    if gives_way(photo.camera_src, XMP):
        photo.camera = shared_rows.camera(metadata.camera_make, metadata.camera_model)
        photo.lens = shared_rows.lens(metadata.lens_make, metadata.lens_model)
        source = sources.source_of("camera_model", "camera_make")
        photo.assign({"camera_serial": metadata.camera_serial, "camera_src": source})
    if photo.scan_src != MANUAL:
        photo.assign({"scan": metadata.scan or photo.camera.type == "scanner"})


def _describe_place(photo: Photo, sources: Sources, shared_rows: SharedRows) -> None:
    """Write the place of the position, else the one that is named, which counts before neighbours of the photo."""
    metadata = sources.metadata
    if not gives_way(photo.place_src, XMP):
        return
    known = metadata.lat is not None and metadata.lng is not None
    named = None if known else shared_rows.named_place(metadata.city, metadata.state, metadata.country)
    was_named, photo.place_named = photo.place_named, named is not None
    if not (known or named or was_named) and photo.place_src == ESTIMATE:
        return  # `index.place_estimates` renews or removes it
    lat, lng = metadata.lat or 0.0, metadata.lng or 0.0
    cell = shared_rows.cell(lat, lng) if known else shared_rows.nowhere()
    photo.place = named or cell.place
    source = ESTIMATE if named else LOCATION if metadata.unfixed else sources.source_of("lat", "lng")
    position = {"lat": lat, "lng": lng, "altitude": metadata.altitude if known else 0}
    photo.assign(position | {"cell_id": cell.id, "place_src": source, "country": photo.place.country})


def _describe_picture(photo: Photo, metadata: Metadata, files: list[File], primary: File) -> None:
    duration_ns = max(file.duration_ns for file in files)
    pixels = max(file.width * file.height for file in files)
    resolution = bounded(round(pixels / 1_000_000))
    photo.assign({"color": max(primary.main_color, 0), "duration_ns": duration_ns, "resolution": resolution})
    if photo.panorama_src != MANUAL:
        is_panorama = metadata.panorama or any(
            file.width > 1000 and file.height > 500 and (bool(file.projection) or file.aspect_ratio > _PANORAMA_RATIO)
            for file in files
            if file.media_type != "video"
        )
        photo.assign({"panorama": is_panorama})


def _describe_texts(photo: Photo, sources: Sources, shared_rows: SharedRows, files: list[File]) -> None:
    metadata = sources.metadata
    if gives_way(photo.description_src, XMP):
        source = sources.source_of("description")
        photo.assign({"description": metadata.description, "description_src": source})
    _write(photo, metadata, "subject", "artist", "copyright", "license", "notes", "rating")
    photo.assign({"software": metadata.software, "document_id": metadata.document_id})
    if photo.original_name_src != MANUAL:
        named = [file for file in files if file.original_name]
        named.sort(key=lambda file: (bool(original_of(split_name(file.name)[1])), not file.primary))
        original_name = split_name(named[0].original_name if named else metadata.original_name)[1]
        photo.assign({"original_name": original_name})
    if photo.keywords_src != MANUAL:
        photo.keywords = shared_rows.keywords((*metadata.keywords, *metadata.labels))
    if gives_way(photo.title_src, XMP):
        title = metadata.title or _generated_title(photo, files)
        photo.assign({"title": title, "title_src": sources.source_of("title")})


def _describe_flags(photo: Photo, sources: Sources, now: datetime) -> None:
    """Set and remove flags as the files have them. A flag that a person set or removed stays."""
    metadata = sources.metadata
    if gives_way(photo.favorite_src, XMP):
        if metadata.favorite and not (photo.favorite and photo.favorite_src == AUTO):
            photo.favorite, photo.favorite_src = True, sources.source_of("favorite")
        elif photo.favorite_src and not metadata.favorite:
            photo.favorite, photo.favorite_src = False, AUTO
    if gives_way(photo.archived_src, XMP):
        if metadata.archived and photo.archived_at is None:
            photo.archived_at, photo.archived_src = now, sources.source_of("archived")
        elif photo.archived_src and not metadata.archived:
            photo.archived_at, photo.archived_src = None, AUTO


def _generated_title(photo: Photo, files: list[File]) -> str:
    city = photo.place.city if photo.place is not None and photo.place.id != UNKNOWN_PLACE else ""
    faces = [marker.name for file in files for marker in file.markers if marker.type == "face" and marker.name]
    people = list(dict.fromkeys(faces))
    name = without_conflict(photo.name)
    base_name = name if title_in(name) else photo.original_name  # uploads are stored under other names
    return make_title(people=people, city=city, country=photo.country, base_name=base_name, year=photo.year)


def without_previews(files: Sequence[StackedFile]) -> Sequence[StackedFile]:
    """Return the files of a photo that are pictures and videos of their own.

    The preview or small copy that a camera writes beside a video only completes its metadata. Beside a raw that cannot
    be shown, the preview shows the photo.
    """
    others = [file for file in files if not is_preview(file.name)]
    shown = any(file.extraction.media_type == "video" or file.extraction.problem is None for file in others)
    return others if shown else files


def primary_index(files: Sequence[StackedFile]) -> int:
    """Return the index of the file that shows the photo.

    Decodable files come first, then stills, common formats, the cover of a burst, those that no sync program made, and
    the widest picture.
    """

    def rank(index: int) -> tuple[bool, bool, int, bool, bool, int, int]:
        one, base = files[index].extraction, split_name(files[index].name)[1]
        order = _PRIMARY_FORMATS.index(one.file_type) if one.file_type in _PRIMARY_FORMATS else len(_PRIMARY_FORMATS)
        is_video = one.media_type == "video"
        return (one.problem is not None, is_video, order, not is_cover(base), is_in_conflict(base), -one.width, index)

    return min(range(len(files)), key=rank)


def photo_type(files: Sequence[StackedFile]) -> str:
    """Return the first type that fits the files: `raw`, `live`, `image`, `video` or `animated`.

    A longer video without the identifier of a Live Photo leaves a picture a picture.
    """
    kinds = {file.extraction.media_type for file in files}
    if "raw" in kinds:
        return "raw"
    if _is_live(files):
        return "live"
    if "image" in kinds:
        return "image"
    return "video" if "video" in kinds else "animated"


def _is_live(files: Sequence[StackedFile]) -> bool:
    videos = [file for file in files if file.extraction.media_type == "video"]
    pictures = [file.extraction for file in files if file.extraction.media_type != "video"]
    stills = [picture for picture in pictures if picture.file_type in _LIVE_TYPES]
    identifiers = {still.metadata.content_id for still in stills} - {""}
    return any(still.motion for still in stills) or (
        bool(stills)
        and any(
            is_moving_part(video.name)
            or 0 < video.extraction.duration_ns <= LIVE_NS
            or video.extraction.metadata.content_id in identifiers
            for video in videos
        )
    )


def merged_metadata(files: Sequence[StackedFile]) -> Metadata:
    """Return the metadata of the camera's own file, completed from others: edited copies and previews come last."""

    def rank(file: StackedFile) -> tuple[bool, bool, int, bool, str]:
        one = file.extraction
        edited = bool(original_of(split_name(file.name)[1]))
        return is_preview(file.name), edited, _METADATA_ORDER.get(one.media_type, 9), one.file_type == "jpg", file.name

    return merge([file.extraction.metadata for file in sorted(files, key=rank)])


def make_title(*, people: list[str], city: str, country: str, base_name: str, year: int) -> str:
    """Return a title from people, else place, else the words of the file name, else `Unknown`; then the year."""
    year_text = str(year) if year > 0 else ""
    city = "" if city == UNKNOWN else city
    country = country_name(country)
    country = "" if country == UNKNOWN else country
    if 0 < len(people) <= 3:
        names = " & ".join(filter(None, (", ".join(people[:-1]), people[-1])))
        parts = [names, city or country, year_text]
    elif city:
        short = country != city and len(city) + len(country) < _MAX_PLACE
        parts = [city, country if short else "", year_text]
    elif country:
        parts = [country, year_text]
    else:
        parts = [title_in(base_name) or UNKNOWN, year_text]
    return " / ".join(filter(None, parts))[:200]
