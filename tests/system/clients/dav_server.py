"""A service with WebDAV and two workers, and an account that uses it."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import requests

from tests.helpers.api_client import ApiClient, open_api
from tests.helpers.programs.server import serve

USER = "alice"


@dataclass
class DavServer:
    """Its address, and an app password of `alice`."""

    api: ApiClient
    address: str
    password: str

    @property
    def url(self) -> str:
        """The address of the folder of originals."""
        return f"{self.address}/originals/"

    @property
    def originals(self) -> Path:
        return self.api.library.originals

    def call(
        self,
        method: str,
        path: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        auth: Any = True,
        **options: Any,
    ) -> requests.Response:
        """The answer to a request; the path is below the folder of originals and quoted."""
        given = (USER, self.password) if auth is True else auth
        prepared = requests.Request(method, self.url, headers=headers, auth=given, **options).prepare()
        prepared.url = self.url + path  # as it is: `prepare` resolves dots
        with requests.Session() as session:
            answer = session.send(prepared, timeout=30, allow_redirects=False)
        assert status in {None, answer.status_code}, (method, path, answer.status_code, answer.text)
        return answer

    def destination(self, path: str) -> dict[str, str]:
        """The header of a copy or move."""
        return {"Destination": self.url + path}

    def empty(self) -> None:
        """Delete the originals behind its back."""
        for path in self.originals.iterdir():
            if not path.name.startswith("."):
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def files(self) -> dict[str, bytes]:
        """Name -> content of each file that is not hidden."""
        found = (path for path in self.originals.rglob("*") if path.is_file())
        names = {str(path.relative_to(self.originals)): path for path in found}
        return {name: path.read_bytes() for name, path in sorted(names.items()) if not name.startswith(".photosvc")}


@contextmanager
def serve_dav(
    folder: Path, *, environ: Mapping[str, str] | None = None, settings: Mapping[str, str] | None = None, **options: Any
) -> Iterator[DavServer]:
    """A server with two workers, and an empty folder of originals unless there are other settings of the library."""
    with open_api(folder, settings=settings) as api:
        api.clock.present = datetime.now(UTC)
        password = api.app_password(USER, "webdav")
        with serve(api.library.instance, environ=environ, **options) as address:
            yield DavServer(api, address, password)
