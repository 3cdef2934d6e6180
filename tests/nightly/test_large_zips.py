"""Large archives, sent by a real server: its memory stays bounded, and the archive is right beyond 4 GiB."""

import http.client
import json
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from sqlalchemy import select

from photosvc.models import File, Photo
from photosvc.search.rows.write import project
from tests.helpers.clock import NOW
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(600)

MIB = 1 << 20
ZEROS = bytes(MIB)


def add_files(library, sizes):
    """Sparse originals of these sizes that begin with their number, as if they had been indexed."""
    with library.session() as session:
        for number, size in enumerate(sizes):
            path = library.put(f"{number // 1000}/{number}.jpg", b"")
            with path.open("r+b") as file:
                file.write(b"%08d" % number)
                file.truncate(size)
            session.add(photo(number, size, path.stat().st_mtime_ns))
        session.flush()
        for part in session.scalars(select(Photo.id)).partitions(1000):
            project(session, list(part))


def photo(number, size, mtime_ns):
    file = File(
        uid=f"f{number:015}",
        name=f"{number // 1000}/{number}.jpg",
        hash=f"{number:040x}",
        size=size,
        mtime_ns=mtime_ns,
        primary=True,
        created_at=NOW,
        updated_at=NOW,
    )
    return Photo(uid=f"p{number:015}", quality=3, files=[file], created_at=NOW, updated_at=NOW)


class Server:
    """One worker process, asked over a socket."""

    def __init__(self, address, token):
        self._address = urlsplit(address).netloc
        self._headers = {"X-Auth-Token": token, "Content-Type": "application/json", "Connection": "close"}

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection(self._address, timeout=100)
        connection.request(method, f"/api/v1{path}", body and json.dumps(body), self._headers)
        return connection.getresponse()

    def select(self, **selection):
        answer = self.ask("POST", "/zip", selection)
        made = json.loads(answer.read())
        assert answer.status == 200, made
        return made

    def save(self, name, path):
        """Store an archive, with holes for zeros; gives the mebibytes by which the worker grew at most."""
        answer = self.ask("GET", f"/zip/{name}?name=file")
        assert answer.status == 200
        assert answer.getheader("Content-Length") is None
        with Growth(int(answer.getheader("X-Worker"))) as growth, path.open("wb") as file:
            while piece := answer.read(MIB):
                if piece == ZEROS[: len(piece)]:
                    file.seek(len(piece), os.SEEK_CUR)
                else:
                    file.write(piece)
        return growth.mebibytes


class Growth:
    """How much memory of its own a process uses more inside the block; pages of the mapped database are not."""

    def __init__(self, process):
        self._status = Path(f"/proc/{process}/status")
        self._done = Event()

    def _resident(self):
        return int(re.search(r"RssAnon:\s+(\d+) kB", self._status.read_text())[1]) / 1024

    def _watch(self):
        while not self._done.wait(0.02):
            self._most = max(self._most, self._resident())

    def __enter__(self):
        self._first = self._most = self._resident()
        self._thread = Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *_error):
        self._done.set()
        self._thread.join()

    @property
    def mebibytes(self):
        return self._most - self._first


def started(library):
    library.close()
    return serve(library.instance, workers=1, threads=4)  # with one, an answer may take no more than 30 seconds


def test_an_archive_of_five_gibibytes_takes_fifteen_mebibytes_of_memory(library, tmp_path):
    sizes = [700 * MIB] * 7 + [200 * MIB, 12, 34]
    add_files(library, sizes)
    token = library.token()
    path = tmp_path / "large.zip"
    with started(library) as address:
        server = Server(address, token)
        server.save(server.select(files=[f"{8:040x}"])["filename"], path)  # imports and compiles what it needs
        made = server.select(q="*")
        assert (made["count"], made["size"]) == (10, sum(sizes))
        began = time.monotonic()
        grown = server.save(made["filename"], path)
        print(f"{sum(sizes) / MIB / (time.monotonic() - began):.0f} MiB/s, {grown:.1f} MiB more memory")  # noqa: T201
    assert grown <= 15
    with ZipFile(path) as archive:
        infos = archive.infolist()
        assert sorted(info.file_size for info in infos) == sorted(sizes)
        assert max(info.header_offset for info in infos) > 4 << 30
        for info in infos:
            with archive.open(info) as file:
                assert file.read(8) == b"%08d" % int(info.filename.partition(".")[0])
        assert archive.testzip() is None


def test_an_archive_of_five_thousand_small_files_takes_bounded_memory(library, tmp_path):
    add_files(library, [20] * 5_000)
    token = library.token()
    path = tmp_path / "many.zip"
    with started(library) as address:
        server = Server(address, token)
        server.save(server.select(files=[f"{1:040x}"])["filename"], path)  # imports and compiles what it needs
        made = server.select(files=[f"{number:040x}" for number in range(5_000)])
        assert made["count"] == 5_000
        began = time.monotonic()
        grown = server.save(made["filename"], path)
        print(f"{5_000 / (time.monotonic() - began):.0f} files/s, {grown:.1f} MiB more memory")  # noqa: T201
    assert grown <= 25
    with ZipFile(path) as archive:
        assert len(set(archive.namelist())) == 5_000
        assert archive.read("4999.jpg") == b"%08d" % 4_999 + bytes(12)
        assert archive.testzip() is None


def test_clients_that_go_away_free_their_places_and_files(library, tmp_path):
    add_files(library, [100 * MIB] * 2)
    token = library.token()
    with started(library) as address:
        server = Server(address, token)
        name = server.select(q="*")["filename"]
        for _ in range(6):
            answer = server.ask("GET", f"/zip/{name}")
            assert answer.status == 200
            worker = int(answer.getheader("X-Worker"))
            answer.read(MIB)
            answer.close()
        server.save(name, tmp_path / "a.zip")
        opened = []
        for path in Path(f"/proc/{worker}/fd").iterdir():
            with suppress(FileNotFoundError):  # closed since the folder was read
                opened.append(os.readlink(path))  # noqa: PTH115
    assert [path for path in opened if path.endswith(".jpg")] == []
