"""A store of moto behind real HTTP, which counts what it sends and fails when a test asks for it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

from tests.helpers.library import Library, open_library

BUCKET, PREFIX = "photos", "family"


@dataclass
class Sent:
    """A request for an object, with what was sent."""

    key: str
    range: str
    size: int = 0


@dataclass
class Store:
    """A bucket of its own store."""

    address: str
    app: Any
    sent: list[Sent] = field(default_factory=list)
    lists: int = 0
    fault: Callable[[dict[str, Any]], tuple[str, list[tuple[str, str]], bytes] | None] = lambda _: None
    """Called with each request: what is answered instead."""
    change: Callable[[list[tuple[str, str]], bytes], tuple[list[tuple[str, str]], bytes]] | None = None
    """Called with headers and content of each object that is sent."""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        """Answer as the store, or as the fault of the test does."""
        if (answer := self.fault(environ) or _unmet(environ)) is not None:
            status, headers, body = answer
            start(status, [*headers, ("Content-Length", str(len(body)))])
            return [body]
        is_list = "list-type=2" in environ["QUERY_STRING"]
        self.lists += is_list
        if is_list or environ["REQUEST_METHOD"] != "GET" or "X-Amz-Signature" not in environ["QUERY_STRING"]:
            return self.app(environ, start)
        noted = Sent(environ["PATH_INFO"].partition(f"/{BUCKET}/")[2], environ.get("HTTP_RANGE", ""))
        self.sent.append(noted)
        told: list[Any] = []
        body = b"".join(self.app(environ, lambda *answer: told.extend(answer)))
        headers = told[1]
        if self.change is not None:
            headers, body = self.change(headers, body)
        noted.size = len(body)
        start(told[0], headers)
        return [body]

    @property
    def bytes_sent(self) -> int:
        return sum(one.size for one in self.sent)

    def client(self) -> Any:
        import boto3  # takes a second, for tests that need it

        return boto3.client("s3", endpoint_url=self.address)

    def put(self, key: str, data: bytes) -> None:
        """Store an object below the prefix."""
        with closing(self.client()) as client:
            client.put_object(Bucket=BUCKET, Key=f"{PREFIX}/{key}", Body=data)

    def put_raw(self, key: str, data: bytes = b"x") -> None:
        """Store an object under a key that no client would send as it is."""
        from moto.backends import get_backend

        get_backend("s3")["123456789012"]["aws"].put_object(BUCKET, f"{PREFIX}/{key}", data)

    def delete(self, *keys: str) -> None:
        with closing(self.client()) as client:
            for key in keys:
                client.delete_object(Bucket=BUCKET, Key=f"{PREFIX}/{key}")


def stored(key: str) -> Any:
    """Return the object of a whole key, as the store keeps it; None if there is none."""
    from moto.backends import get_backend

    return get_backend("s3")["123456789012"]["aws"].get_object(BUCKET, key)


def _unmet(environ: dict[str, Any]) -> tuple[str, list[tuple[str, str]], bytes] | None:
    """Return the answer to a copy whose conditions do not hold, which moto ignores."""
    source, tag = environ.get("HTTP_X_AMZ_COPY_SOURCE"), environ.get("HTTP_X_AMZ_COPY_SOURCE_IF_MATCH")
    if source is None:
        return None
    found = stored(unquote(source).removeprefix("/").partition("/")[2])
    target = stored(environ["PATH_INFO"].partition(f"/{BUCKET}/")[2])
    if (found is None or tag in {None, found.etag}) and not (environ.get("HTTP_IF_NONE_MATCH") == "*" and target):
        return None
    return "412 Precondition Failed", [], b"<Error><Code>PreconditionFailed</Code></Error>"


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty bucket."""
    from moto.backends import get_backend
    from moto.server import DomainDispatcherApplication, create_backend_app

    for name, value in {
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    get_backend("s3").reset()
    store = Store("", DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, store, threaded=True, request_handler=_Handler)
    store.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    with closing(store.client()) as client:
        client.create_bucket(Bucket=BUCKET)
    yield store
    server.shutdown()
    thread.join()
    server.server_close()


def settings_of(store: Store, **changed: object) -> dict[str, object]:
    """The settings of a library with its originals in the store."""
    return {"PHOTOSVC_ORIGINALS": f"s3://{BUCKET}/{PREFIX}", "PHOTOSVC_S3_ENDPOINT": store.address, **changed}


@pytest.fixture
def library(store: Store, tmp_path: Path) -> Iterator[Library]:
    """An empty library with its originals in the store."""
    library = open_library(tmp_path / "instance", settings=settings_of(store))
    yield library
    library.close()
