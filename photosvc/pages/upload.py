"""The page that uploads by its scripts."""

from flask import Response, request, url_for

from photosvc.pages.layout import page, pages, public_page, see_other, show
from photosvc.pages.tiles import Asked, grid_data
from photosvc.web.current import current_service
from photosvc.web.protector import principal


@pages.get("/upload", endpoint="upload")
@page("files.upload")
def show_upload() -> Response:
    """Show the field for files, and files that another app shared."""
    data, readonly = grid_data(principal(), Asked("", "", "")), current_service().settings.readonly
    return show("upload", data=data, readonly=readonly, shared=request.args.get("shared", ""))


@pages.post("/upload/shared")
@public_page
def share_files() -> Response:
    """Lead to the page that uploads, without the files that another app shared: only its service worker takes those."""
    return see_other(url_for(".upload", shared="none"))
