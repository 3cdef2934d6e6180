"""A WebDAV client within the process."""

from collections.abc import Mapping
from typing import Any

from werkzeug.test import TestResponse

from tests.helpers.api_client import ApiClient

FOLDER = "/originals"
READING = ("GET", "HEAD", "PROPFIND")
WRITING = ("PUT", "DELETE", "MKCOL", "COPY", "MOVE", "PROPPATCH", "LOCK", "UNLOCK")
METHODS = ("OPTIONS", *READING, *WRITING)
LOCKINFO = b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
PATCH = b'<propertyupdate xmlns="DAV:"><set><prop><c:a xmlns:c="urn:x">blue</c:a></prop></set></propertyupdate>'


class DavClient:
    """Calls the folder of originals of a library, with an app password of `alice` unless another token is given."""

    def __init__(self, api: ApiClient, name: str = "alice", scope: str = "webdav") -> None:
        self.api = api
        self.token = api.app_password(name, scope)

    def call(
        self,
        method: str,
        path: str,
        data: bytes | None = None,
        *,
        token: str | None = "",
        address: str = "192.0.2.7",
        prefix: str = FOLDER,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> TestResponse:
        """The answer; the path is percent-encoded and below the folder of originals. Without a token: None."""
        token = self.token if token == "" else token
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})}
        client = self.api.library.app.test_client()
        base = {"REMOTE_ADDR": address}
        return client.open(
            prefix + path, method=method, data=data, headers=headers, environ_base=base, buffered=True, **options
        )
