"""Where a browser goes after it has signed in: only to a page of ours."""

import re
from typing import Any, Final
from urllib.parse import urlsplit

from flask import current_app, request, url_for
from werkzeug.exceptions import HTTPException

#: Shorter than what is read of a field of a form, so that nothing is cut off.
_LONGEST: Final = 900
#: What browsers take for a slash, or leave out, could turn a path into another host.
_UNSAFE: Final = re.compile(r"[\x00-\x20\\\x7f-\U0010ffff]")


def safe_path(given: str) -> str:
    """The path and query that was given, if it is that of a page; else that of the photos."""
    home = url_for("photosvc_pages.photos")
    parts = urlsplit(given) if len(given) <= _LONGEST and not _UNSAFE.search(given) else None
    inside = parts is not None and not parts.scheme and not parts.netloc and given.startswith(home)
    return given if inside and not given.startswith("//") else home


def present_path() -> str:
    """The path and query of the current request, to come back to; empty where the photos are as good."""
    if request.method not in {"GET", "HEAD"}:
        return ""
    path = request.full_path.removesuffix("?")
    path = f"{request.root_path}{path}"
    return path if safe_path(path) == path != url_for("photosvc_pages.photos") else ""


def form_path() -> str:
    """The path of the page with the form that the current request sends: its own, or the nearest one above it."""
    routes: Any = current_app.create_url_adapter(request)
    path = request.path
    while path:
        try:
            routes.match(path, method="GET")
        except HTTPException:
            path = path.rpartition("/")[0]
        else:
            return f"{request.root_path}{path}"
    return ""
