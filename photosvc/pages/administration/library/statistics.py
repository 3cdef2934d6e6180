"""Administration > Statistics: photos by year, camera and type."""

from typing import Final

from flask import Blueprint, Response, url_for

from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.administration.library.plots import Bar, columns
from photosvc.pages.photos.photo import size_text
from photosvc.web.current import current_service

#: Cameras that are shown; the others are one bar.
_CAMERAS: Final = 20
_TYPES: Final = {
    "image": "Pictures",
    "raw": "RAW",
    "live": "Live photos",
    "video": "Videos",
    "animated": "Animations",
    "vector": "Drawings",
    "audio": "Sounds",
    "document": "Documents",
}


def add_routes(pages: Blueprint) -> None:
    """Add the statistics to the pages."""
    pages.add_url_rule("/administration/statistics", "statistics", show_statistics, methods=["GET"])


@administration_page("library.view")
def show_statistics() -> Response:
    """How many photos were taken in each year, by each camera and of each type."""
    service = current_service()
    with service.reading() as connection:
        found = service.statistics.read(connection, sees_private=True)
    years = {int(share.value): share.photos for share in found.years}
    undated = sum(photos for year, photos in years.items() if year <= 0)
    cameras = [
        Bar(share.name or "Unknown camera", share.photos, _search(f"camera:{share.value}"))
        for share in found.cameras[:_CAMERAS]
    ]
    if others := sum(share.photos for share in found.cameras[_CAMERAS:]):
        cameras.append(Bar(f"{len(found.cameras) - _CAMERAS} others", others, ""))
    types = [
        Bar(_TYPES.get(share.name, share.name), share.photos, _search(f"type:{share.value}")) for share in found.types
    ]
    return show_administration(
        "statistics",
        "statistics",
        total=found.total,
        files=found.files,
        size=size_text(found.size),
        years=columns(years, _search),
        undated=Bar("Without a date", undated, _search("year:-1")) if undated else None,
        charts=[("Cameras", "camera", cameras), ("Types", "type", types)],
    )


def _search(query: str) -> str:
    return url_for(".photos", q=query)
