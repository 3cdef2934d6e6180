"""Files that are read by ranges, and what a server can answer instead of them."""

import errno
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedReader
from pathlib import Path

import pytest

from photosvc.storage.bucket import Bucket, parse_address
from photosvc.storage.remote import BLOCK, RemoteFile, RemoteReader, content_key, plain_tag, stamp

DATA = bytes(range(251)) * 12_000
CHANGED = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)
TAG = "0cc175b9c0f1b6a831c399e269772661"


@dataclass
class Server:
    """A server of one file, which can be told to answer otherwise."""

    address: str = ""
    data: bytes = DATA
    headers: dict[str, str] = field(default_factory=lambda: {"ETag": f'"{TAG}"', "Last-Modified": _date(CHANGED)})
    ranges: list[str] = field(default_factory=list)
    connections: int = 0
    statuses: list[int] = field(default_factory=list)
    """Statuses of the next answers; 0 closes the connection."""
    cut: int = 0
    pause: float = 0
    """Seconds before each byte of an answer."""
    spans: Callable[[int, int], tuple[int, int]] | None = lambda start, stop: (start, stop)

    def file(self, **changed: object) -> RemoteFile:
        described = {"size": len(self.data), "mtime_ns": stamp(int(CHANGED.timestamp()), TAG), **changed}
        return RemoteFile(f"{self.address}/photos/a.jpg?signature=1", "a.jpg", **described)


def _date(moment: datetime) -> str:
    return format_datetime(moment, usegmt=True)


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            told.connections += 1
            super().setup()

        def do_GET(self) -> None:
            told.ranges.append(self.headers.get("Range", ""))
            status = told.statuses.pop(0) if told.statuses else 206
            if not status:
                self.close_connection = True
                return
            start, stop = 0, len(told.data)
            if "Range" in self.headers:
                start, stop = (int(part) for part in self.headers["Range"].removeprefix("bytes=").split("-"))
                stop = min(stop + 1, len(told.data))
            body = told.data[start:stop] if status < 300 else b""
            self.send_response(status)
            for name, value in told.headers.items():
                self.send_header(name, value)
            if told.spans is not None and "Range" in self.headers:
                first, last = told.spans(start, stop)
                self.send_header("Content-Range", f"bytes {first}-{last - 1}/{len(told.data)}")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.close_connection = bool(told.cut or told.pause)
            step = 1 if told.pause else max(1, len(body))
            with suppress(OSError):  # the client gives up
                for start in range(0, len(body) - told.cut, step):
                    time.sleep(told.pause)
                    self.wfile.write(body[: len(body) - told.cut][start : start + step])

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    told.address = f"http://127.0.0.1:{httpd.server_port}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield told
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def number(server: Server, **changed: object) -> int | None:
    """The number of the error with which the file cannot be opened."""
    with pytest.raises(OSError, match=r".") as raised:
        RemoteReader(server.file(**changed))
    return raised.value.errno


def test_a_file_is_read_in_order_by_few_requests_over_one_connection(server):
    with RemoteReader(server.file()) as file:
        assert file.readall() == DATA
        assert (file.received, file.tell()) == (len(DATA), len(DATA))
    sizes = [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20]
    ends = [sum(sizes[: count + 1]) for count in range(len(sizes))]
    assert [int(one.rpartition("-")[2]) + 1 for one in server.ranges[:5]] == ends
    assert (len(server.ranges), server.connections) == (6, 1)


def test_parts_of_a_file_take_a_block_each(server):
    with BufferedReader(RemoteReader(server.file())) as file:
        file.seek(-10, 2)
        assert file.read() == DATA[-10:]
        file.seek(5 * BLOCK + 3)
        assert file.read(4) == DATA[5 * BLOCK + 3 : 5 * BLOCK + 7]
        file.seek(0)
        assert file.read(2) == DATA[:2]
        assert file.raw.received <= 3 * BLOCK
    assert len(server.ranges) == 3


def test_an_open_file_keeps_4_mib(server):
    server.data = bytes(9 << 20)
    with RemoteReader(server.file()) as file:
        file.readall()
        kept = len(file._blocks)
    assert kept * BLOCK == 4 << 20


def test_an_empty_file_is_opened_and_read(server):
    server.data = b""
    with RemoteReader(server.file()) as file:
        assert (file.readall(), file.etag) == (b"", TAG)


def test_its_key_stands_for_tag_and_size(server):
    with RemoteReader(server.file()) as file:
        assert file.content_key == content_key(TAG, len(DATA))
        assert (file.size, file.mtime_ns) == (len(DATA), server.file().mtime_ns)
    assert content_key("a", 1) != content_key("a", 2) != content_key("b", 2)
    assert len(content_key("a", 1)) == 40


@pytest.mark.parametrize("tag", ['"abc"', "abc", 'W/"abc"', ' "abc" '])
def test_tags_are_compared_without_quotes(tag):
    assert plain_tag(tag) == "abc"


def test_a_stamp_keeps_the_second_and_tells_tags_apart():
    assert stamp(1_700_000_000, "a") // 10**9 == 1_700_000_000
    assert stamp(1_700_000_000, "a") != stamp(1_700_000_000, "b")
    assert stamp(0, "a") < 10**9
    assert -(2**63) < stamp(-(10**15), "a") < stamp(10**15, "a") < 2**63


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (403, errno.EACCES), (401, errno.EACCES), (404, errno.ENOENT), (412, errno.ESTALE), (416, errno.ESTALE),
        (302, errno.EREMOTEIO), (400, errno.EREMOTEIO), (204, errno.EREMOTEIO),
    ],
)  # fmt: skip
def test_a_refusal_is_the_error_of_a_disk(server, status, found):
    server.statuses = [status] * 2
    assert number(server) == found


@pytest.mark.parametrize("status", [0, 500, 503, 429])
def test_a_passing_failure_is_tried_twice(server, status):
    server.statuses = [status]
    with RemoteReader(server.file()) as file:
        assert file.read(3) == DATA[:3]
    server.statuses = [status, status]
    assert number(server) == errno.EREMOTEIO


@pytest.mark.parametrize(
    "changed", [{"size": len(DATA) + 1}, {"mtime_ns": stamp(int(CHANGED.timestamp()), "other")}, {"mtime_ns": 1}]
)
def test_another_version_than_the_listed_one_is_refused(server, changed):
    assert number(server, **changed) == errno.ESTALE


def test_a_version_that_is_replaced_during_the_reading_is_refused(server):
    with RemoteReader(server.file()) as file:
        server.headers["ETag"] = '"other"'
        with pytest.raises(OSError, match=r".") as raised:
            file.read_at(BLOCK, 1)
    assert raised.value.errno == errno.ESTALE


@pytest.mark.parametrize(
    "headers",
    [
        {"ETag": ""}, {"ETag": "x" * 2000}, {"Last-Modified": ""}, {"Last-Modified": "yesterday"},
        {"Last-Modified": "Mon, 99 Foo 2024 99:99:99 GMT"},
    ],
)  # fmt: skip
def test_answers_without_a_version_are_refused(server, headers):
    server.headers |= headers
    assert number(server) == errno.EREMOTEIO


@pytest.mark.parametrize("spans", [lambda start, stop: (start + 1, stop + 1), lambda _, stop: (0, stop - 1)])
def test_answers_with_other_bytes_are_refused(server, spans):
    server.spans = spans
    assert number(server) == errno.EREMOTEIO


def test_answers_that_end_early_are_refused(server):
    server.cut = 1
    assert number(server) == errno.EREMOTEIO


def test_a_server_without_ranges_is_refused_unless_it_is_asked_for_all(server):
    server.spans, server.data = None, DATA[:100]
    with RemoteReader(server.file()) as file:
        assert file.readall() == DATA[:100]
    server.data = DATA
    assert number(server) in {errno.ESTALE, errno.EREMOTEIO}


def test_a_server_that_is_silent_or_not_there_is_an_error_of_the_network(server, monkeypatch):
    monkeypatch.setattr("photosvc.storage.remote._SILENCE", 0.05)
    release = threading.Event()
    server.spans = lambda start, stop: release.wait(10) and (start, stop)
    assert number(server) == errno.ETIMEDOUT
    release.set()
    server.address = "http://127.0.0.1:9"
    assert number(server) == errno.ECONNREFUSED


def test_a_server_that_sends_byte_by_byte_is_an_error_of_the_network(server, monkeypatch):
    monkeypatch.setattr("photosvc.storage.remote.LONGEST", 0.3)
    server.pause = 0.02
    assert number(server) == errno.ETIMEDOUT
    assert len(server.ranges) == 1


def test_links_are_secret():
    file = RemoteFile("https://store/photos/a.jpg?X-Amz-Signature=abc", "a.jpg", 1, 1)
    assert repr(file) == "<RemoteFile 'a.jpg'>"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s3://photos", ("photos", "")), ("s3://photos/", ("photos", "")),
        ("s3://my.photos/a/b/", ("my.photos", "a/b/")), ("s3://photos/Bilder ü", ("photos", "Bilder ü/")),
    ],
)  # fmt: skip
def test_addresses_of_buckets_are_parsed(text, found):
    assert parse_address(text) == found
    assert Bucket(*found, "", Path()).address == text.rstrip("/")


@pytest.mark.parametrize(
    "text",
    [
        "s3://", "s3:///a", "s3://a b", "s3://photos/../x", "s3://photos/a//b", "s3://photos/./a", "s3://photos/a\nb",
        "s3://key:secret@photos", f"s3://{'a' * 256}", f"s3://photos/{'ü' * 257}", "s3://ünicode",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_address(text)
