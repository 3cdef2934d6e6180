"""The folders of the originals and of the import folder, GET /folders/…, and the months, GET /moments/time."""

from itertools import islice
from typing import Any, Final

import orjson
from flask import Response

from photosvc.core.errors import NotFoundError
from photosvc.library.import_folder import ImportFolder
from photosvc.records.albums import FolderSchema, MomentSchema
from photosvc.search.reading.albums import AlbumsRequest, KnownAlbums, files_in, find_folder, folders_in
from photosvc.search.reading.albums_named import FOLDER, MONTH
from photosvc.search.reading.covers import with_covers
from photosvc.search.reading.library import state_tag
from photosvc.search.reading.pages import file_documents as file_records
from photosvc.web.contract import ETAG, FLAG, TEXT, answers, describe, json_object, read_switch, takes_query
from photosvc.web.links import LINK_HEADERS, link_headers
from photosvc.web.paging import page_parameters, read_page
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import cached_answer, json_answer, require_modified
from photosvc.web.searching import searching
from photosvc.web.service import current_service

folders = OwnBlueprint("folders", __name__)

_ORIGINALS, _IMPORT = "originals", "import"
#: A limit that no library reaches: all folders and months.
_ALL: Final = 1 << 31
#: Most names of an import folder in one answer.
_MOST_NAMES: Final = 10_000
_ARRAY: Final = {"type": "array", "items": {"type": "object"}}
_LISTED: Final = json_object(root=TEXT, path=TEXT, folders=_ARRAY, files=_ARRAY, recursive=FLAG)
_folder, _moment = FolderSchema(), MomentSchema()


def _parameters() -> list[dict[str, Any]]:
    described = {
        "files": ({"type": "boolean", "default": False}, "Include the files directly in the folder."),
        "recursive": ({"type": "boolean", "default": False}, "Include the folders at all levels below it."),
        **page_parameters("files", "The most files in the answer; folders are not limited."),
    }
    return describe(described)


@folders.get("/folders/originals", endpoint="list_originals", strict_slashes=False)
@folders.get("/folders/originals/<path:folder>", endpoint="list_folder", strict_slashes=False)
@require("folders.view")
@takes_query(_parameters)
@answers(_LISTED, "The folders in it and, with `files`, its files.", headers={**ETAG, **LINK_HEADERS}, refuses=(404,))
def list_folders(folder: str = "") -> Response:
    """List the folders with photos in a folder of the originals and, with `files`, its files, as searches see them."""
    service, who, path = current_service(), principal(), folder.strip("/")
    recursive, with_files, today = read_switch("recursive"), read_switch("files"), service.today()
    page, headers = read_page(), link_headers()
    with searching(who.owner_uid, "path") as connection:
        parameters = (path, recursive, with_files, page.count, page.offset)
        etag = state_tag(connection, "folders", *parameters, sees_private=who.sees_private, today=today)
        require_modified(etag, headers)
        folders = service.only(KnownAlbums).page(
            connection, AlbumsRequest(FOLDER, "path", "", _ALL, 0), sees_private=who.sees_private, today=today
        )
        listed = folders_in(folders, path, recursive=recursive)
        if path and find_folder(folders, path) is None:
            raise NotFoundError("there is no such folder", field="path")
        listed = with_covers(connection, listed, sees_private=who.sees_private)
        files: list[str] = []
        if with_files:
            ids = files_in(connection, path, count=page.count, offset=page.offset, sees_private=who.sees_private)
            files = file_records(connection, ids)
    shown = _listed(
        _ORIGINALS, path, [{**_folder.dump(child), "Root": _ORIGINALS} for child in listed], recursive=recursive
    )
    shown["files"] = [orjson.Fragment(record) for record in files]
    answer = cached_answer(shown, etag)
    answer.headers.extend(headers)
    return answer


@folders.get("/folders/import", endpoint="list_import", strict_slashes=False)
@folders.get("/folders/import/<path:folder>", endpoint="list_import_folder", strict_slashes=False)
@require("files.imports")
@takes_query(_parameters)
@answers(_LISTED, "The folders in it and, with `files`, its files.", refuses=(404,))
def list_import_folders(folder: str = "") -> Response:
    """List the folders in the import folder, or in one below it, as they are on the disk; at most 10,000 names."""
    service, path = current_service(), folder.strip("/")
    source = ImportFolder(service.settings.import_folder)
    path = source.check(service.settings.originals, path)
    entries = list(islice(source.entries(path), _MOST_NAMES))
    within = f"{path}/" if path else ""
    folders = [
        {"Path": within + entry.name, "Root": _IMPORT, "Title": entry.name, "Thumb": ""}
        for entry in entries
        if entry.is_folder
    ]
    answer = _listed(_IMPORT, path, folders, recursive=False)
    if read_switch("files"):
        answer["files"] = [
            {"Name": within + entry.name, "Root": _IMPORT, "Size": entry.size}
            for entry in entries
            if not entry.is_folder
        ]
    return json_answer(answer)


@folders.get("/moments/time")
@require("moments.view")
@answers(MomentSchema, "The months, the last one first.", many=True, headers={**ETAG, **LINK_HEADERS})
def list_months() -> Response:
    """List the months in which photos were taken, each with the number of its photos; each is an album by its `UID`."""
    service, who = current_service(), principal()
    today, headers = service.today(), link_headers()
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "moments", sees_private=who.sees_private, today=today)
        require_modified(etag, headers)
        by_month = AlbumsRequest(MONTH, "newest", "", _ALL, 0)
        months = service.only(KnownAlbums).page(connection, by_month, sees_private=who.sees_private, today=today)
        months = with_covers(connection, months, sees_private=who.sees_private)
    answer = cached_answer([_moment.dump(month) for month in months], etag)
    answer.headers.extend(headers)
    return answer


def _listed(root: str, path: str, folders: list[dict[str, Any]], *, recursive: bool) -> dict[str, Any]:
    return {"root": root, "path": path, "folders": folders, "files": [], "recursive": recursive}
