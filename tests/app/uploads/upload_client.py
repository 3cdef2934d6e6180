"""A client of the routes that add files, of a library that indexes in the process of the test."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from photosvc.models import UploadedFile, User
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import InlinePool, index_at_once
from tests.helpers.api_client import ApiClient, open_api
from tests.helpers.library import Library
from tests.helpers.pictures import clouds, encoded, exif

CRLF = b"\r\n"
FORM = "multipart/form-data; boundary=b"
_DATE_TIME_ORIGINAL = 0x9003


@contextmanager
def open_uploads(folder: Path, **options: Any) -> Iterator[ApiClient]:
    """An API whose uploads are indexed at once, without processes."""
    with open_api(folder, **options) as api, pytest.MonkeyPatch.context() as patch:
        for module in ("web.uploads", "api.resumable"):
            patch.setattr(f"photosvc.{module}.wake_indexer", index_at_once)
        for name in ("photosvc.library.content", "photosvc.index.run"):
            patch.setattr(f"{name}.WorkerPool", InlinePool)
        yield api


@contextmanager
def changed(api: ApiClient, **values: object) -> Iterator[None]:
    """Other settings for a moment."""
    with api.library.app.app_context():
        service = current_service()
    before = service.settings
    service.settings = replace(before, **values)
    try:
        yield
    finally:
        service.settings = before


@contextmanager
def unmounted(library: Library, *, leaves_folder: bool = True) -> Iterator[None]:
    """The disk of the originals is away: their folder is empty or not there, and gets no file meanwhile."""
    root = library.originals
    root.rename(root.with_name("unmounted"))
    if leaves_folder:
        root.mkdir()
    try:
        yield
        assert [path for path in root.rglob("*") if path.is_file()] == []
    finally:
        rmtree(root, ignore_errors=True)
        root.with_name("unmounted").rename(root)


def picture(seed: int, taken: str = "2024:05:01 12:00:00") -> bytes:
    """A small JPEG with this time."""
    return encoded(clouds(seed, 32, 24), "JPEG", exif=exif(camera={_DATE_TIME_ORIGINAL: taken}))


def sha1(data: bytes) -> str:
    """As the library writes it."""
    return hashlib.sha1(data).hexdigest()


def post(
    api: ApiClient, token: str | None, bundle: str, *files: tuple[str, bytes], name: str = "alice"
) -> TestResponse:
    """The answer to files that an account sends."""
    path = api.user_path(name, f"/upload/{bundle}")
    return api.call("POST", path, token, data=form_of(*files), content_type=FORM)


def form_of(*files: tuple[str, bytes]) -> bytes:
    """Return a form with some files."""
    return form(*(b'Content-Disposition: form-data; name="files"; filename="%b"\r\n\r\n%b' % (
        file_name.encode(), data) for file_name, data in files))  # fmt: skip


def form(*pieces: bytes, end: bool = True) -> bytes:
    """Return a form of some parts."""
    return b"".join(b"--b" + CRLF + piece + CRLF for piece in pieces) + (b"--b--" + CRLF if end else b"")


def put(api: ApiClient, token: str, bundle: str, name: str = "alice", **body: object) -> TestResponse:
    """Add the sent files, and return the answer."""
    return api.call("PUT", api.user_path(name, f"/upload/{bundle}"), token, json=body)


def upload(api: ApiClient, token: str, bundle: str, *files: tuple[str, bytes], **body: object) -> Any:
    """Send and add files; return the outcome of each."""
    assert post(api, token, bundle, *files).status_code == 200
    answer = put(api, token, bundle, **body)
    assert answer.status_code == 200, answer.text
    assert (answer.json["code"], answer.json["indexed"]) == (200, True)
    return answer.json["files"]


def parts(api: ApiClient) -> list[str]:
    """The names of the parts in the staging folder."""
    folder = api.library.originals / ".photosvc"
    return sorted(path.name for path in folder.iterdir() if path.name != "trash") if folder.exists() else []


def originals(api: ApiClient) -> dict[str, bytes]:
    """Name -> content of every original."""
    root = api.library.originals
    found = (path for path in root.rglob("*") if path.is_file() and ".photosvc" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def used_quota(api: ApiClient, name: str) -> int:
    """The bytes that count in the quota of an account."""
    with api.library.session() as session:
        query = select(UploadedFile.size).join(User, User.id == UploadedFile.user_id).where(User.name == name)
        return sum(session.scalars(query))
