"""The page of the API: the OpenAPI document in Swagger UI, of the extra `docs`; without it, the document itself."""

from pathlib import Path

from flask import Response, current_app, send_from_directory, url_for

from photosvc.core.errors import NotFoundError
from photosvc.pages.layout import API_DOCUMENT, allow_pictures, pages, public_page, see_other, show


def _files() -> Path | None:
    """Return the folder with the files of Swagger UI; None without the extra."""
    try:
        import flask_swagger_ui
    except ImportError:
        return None
    return Path(flask_swagger_ui.__file__).with_name("dist")


@pages.get("/api-docs", endpoint="api_docs")
@public_page
def show_docs() -> Response:
    """Show the operations, which can be tried with a token."""
    if API_DOCUMENT not in current_app.view_functions:
        raise NotFoundError("this app does not mount the API")
    if _files() is None:
        return see_other(url_for(API_DOCUMENT))
    answer = show("api-docs", document=url_for(API_DOCUMENT))
    allow_pictures(answer, "data:")  # icons in the style sheet
    return answer


@pages.get("/api-docs/<name>", endpoint="api_docs_file")
@public_page
def send_docs_file(name: str) -> Response:
    """Send a script or style sheet of Swagger UI."""
    folder = _files()
    if folder is None or name not in {"swagger-ui-bundle.js", "swagger-ui.css"}:
        raise NotFoundError("there is no such file")
    answer = send_from_directory(folder, name)
    answer.headers["Cache-Control"] = "public, no-cache"
    return answer
