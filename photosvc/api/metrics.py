"""GET /metrics: figures of the library for Prometheus, in its text format 0.0.4."""

from flask import Blueprint, Response

from photosvc import __version__
from photosvc.search.reading.library import Figures, figures
from photosvc.web.contract import TEXT, answers
from photosvc.web.current import current_service
from photosvc.web.protector import require

_TEXT = "text/plain; version=0.0.4; charset=utf-8"


def add_routes(api: Blueprint) -> None:
    """Hang the metrics on the API."""
    api.add_url_rule("/metrics", view_func=metrics, methods=["GET"])


@require("metrics.view")
@answers(TEXT, "Prometheus text format 0.0.4.", media_type="text/plain")
def metrics() -> Response:
    """How large the library is; counts only, nothing of what is in it."""
    with current_service().loading() as session:
        return Response(_text(figures(session)), content_type=_TEXT)


def _text(found: Figures) -> str:
    lines = [
        *_gauge("photosvc_build_info", "The version that answers.", {f'{{version="{__version__}"}}': 1}),
        *_gauge("photosvc_photos", "Photos by type, none hidden or archived.", _labelled("type", found.photos)),
        *_gauge("photosvc_files", "Files of the library that are there and sound.", {"": found.files}),
        *_gauge("photosvc_files_missing", "Files that were known and are gone.", {"": found.missing}),
        *_gauge("photosvc_files_broken", "Files that cannot be shown.", {"": found.broken}),
        *_gauge("photosvc_albums", "Albums.", {"": found.albums}),
        *_gauge("photosvc_library_changes", "Committed changes of the library since it was made.", {"": found.changes}),
    ]
    return "\n".join(lines) + "\n"


def _gauge(name: str, help_: str, values: dict[str, int]) -> list[str]:
    return [
        f"# HELP {name} {help_}",
        f"# TYPE {name} gauge",
        *(f"{name}{key} {value}" for key, value in values.items()),
    ]


def _labelled(label: str, counts: dict[str, int]) -> dict[str, int]:
    # Types are words of our own, which need no escaping.
    return {f'{{{label}="{value}"}}': count for value, count in sorted(counts.items())}
