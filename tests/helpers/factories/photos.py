"""Photos without original files, stored by the indexer's own code from generated extractions."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import update
from sqlalchemy.orm import Session

from photosvc.index.extract import Extraction
from photosvc.index.scan import ScannedFile
from photosvc.index.shared_rows import SharedRows
from photosvc.index.store import Store
from photosvc.media.metadata import Metadata
from photosvc.models import Photo
from photosvc.search.rows.write import project

FIRST = datetime(2020, 2, 28, 23, 30)  # noqa: DTZ001 - wall time
PLACES = ((None, None), (48.8584, 2.2945), (0.0, -0.001), (-33.8568, 151.2153))


def store_extractions(session: Session, files: list[tuple[str, Extraction]], now: datetime) -> None:
    """Store extractions as the indexer stores a batch."""
    store = Store(session, SharedRows(session, "UTC"), Path("/nonexistent"), now)
    batch = [(ScannedFile(name, extraction.size, extraction.mtime_ns), extraction) for name, extraction in files]
    store.load([name for name, _ in files], batch)
    for found, extraction in batch:
        store.save(found, extraction)
    store.finish()
    session.commit()


def new_extraction(number: int, **values: object) -> Extraction:
    """An extraction that shares most values with others, so that orders have ties to break."""
    lat, lng = PLACES[number % 4]
    metadata = Metadata(
        taken_local=FIRST + timedelta(hours=number % 7),
        title=("Äpfel", "apples", "Zebra", "")[number % 4],
        lat=lat,
        lng=lng,
        camera_make="Maker",
        camera_model=f"Model {number % 3}",
        keywords=("tree", f"number {number}"),
    )
    return Extraction(
        **{
            "hash": f"{number:040x}",
            "size": 1000 + number % 5,
            "mtime_ns": 1_600_000_000_000_000_000,
            "file_type": "jpg",
            "media_type": "image",
            "mime": "image/jpeg",
            "codec": "jpeg",
            "width": 4000,
            "height": 3000,
            "main_color": number % 4,
            "colors": "000000000",
            "luminance": "000000000",
            "chroma": 3,
            "diff": number % 2,
            "metadata": metadata,
            **values,
        }  # type: ignore[arg-type]
    )


def raw_of(picture: Extraction, number: int) -> Extraction:
    """The raw that a camera wrote beside this picture: its time and camera are the same."""
    raw = new_extraction(number, file_type="dng", media_type="raw")
    facts = {name: getattr(picture.metadata, name) for name in ("taken_local", "camera_make", "camera_model")}
    return replace(raw, metadata=replace(raw.metadata, **facts))


def add_photos(session: Session, photos: int, now: datetime, first: int = 0) -> None:
    """`photos` photos in three folders; every fifth has a raw beside its JPEG, every seventh is a video."""
    files = []
    for number in range(first, first + photos):
        name = f"{'abA'[number % 3]}/n{number % 2}-{number:04}"
        if number % 7 == 6:
            files.append((name + ".mp4", new_extraction(number, media_type="video", duration_ns=(number % 3) * 10**9)))
            continue
        files.append((name + ".jpg", new_extraction(number)))
        if number % 5 == 0:
            files.append((name + ".dng", raw_of(new_extraction(number), number + 100_000)))
    store_extractions(session, files, now)


def edit_photos(session: Session, photo_ids: list[int], **values: object) -> None:
    """Change photos as an edit does, and project them."""
    session.execute(update(Photo).where(Photo.id.in_(photo_ids)).values(**values))
    session.expire_all()
    project(session, photo_ids)
    session.commit()
