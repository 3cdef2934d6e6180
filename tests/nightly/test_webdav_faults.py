"""WebDAV when requests meet, are cut, or the disk is full: two workers, real connections."""

import os
import socket
from base64 import b64encode
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.helpers.clock import until
from tests.helpers.programs.dav_server import USER, serve_dav

ROUNDS = 20
LOCKINFO = b"""<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"""


def at_once(calls):
    """The statuses of requests that are sent at the same time, and how often each occurs."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return Counter(answer.status_code for answer in pool.map(lambda call: call(), calls))


def test_uploads_to_one_name_never_mix(dav):
    def put(number):
        return lambda: dav.call("PUT", "a.jpg", data=bytes([number]) * 300_000)

    for _ in range(ROUNDS):
        statuses = at_once([put(number) for number in range(6)])
        assert set(statuses) <= {201, 204}, statuses
        data = dav.files()["a.jpg"]
        assert data == data[:1] * 300_000


@pytest.mark.parametrize(
    ("method", "options", "refused"),
    [("PUT", {"headers": {"If-None-Match": "*"}}, {412}), ("MKCOL", {}, {405}), ("LOCK", {"data": LOCKINFO}, {423})],
    ids=["PUT", "MKCOL", "LOCK"],
)
def test_of_several_that_make_one_name_one_succeeds(dav, method, options, refused):
    for number in range(ROUNDS):
        calls = [lambda number=number: dav.call(method, f"new{number}", **options)] * 6
        statuses = at_once(calls)
        assert statuses.pop(201) == 1
        assert set(statuses) == refused


def test_of_several_moves_of_one_file_one_succeeds(dav):
    for number in range(ROUNDS):
        dav.call("PUT", "a.jpg", data=b"a", status=201)
        names = [f"{number}-{target}.jpg" for target in range(6)]
        calls = [lambda name=name: dav.call("MOVE", "a.jpg", headers=dav.destination(name)) for name in names]
        assert at_once(calls) == {201: 1, 404: 5}
    assert len(dav.files()) == ROUNDS


def test_a_lock_holds_on_both_workers(dav):
    dav.call("PUT", "a.jpg", data=b"old", status=201)
    token = dav.call("LOCK", "a.jpg", data=LOCKINFO, status=200).headers["Lock-Token"]
    workers = set()
    for _ in range(ROUNDS):
        for method in ("PUT", "DELETE", "PROPPATCH", "MOVE"):
            body = b'<propertyupdate xmlns="DAV:"><set><prop><a xmlns="x"/></prop></set></propertyupdate>'
            answer = dav.call(method, "a.jpg", data=None if method in {"DELETE", "MOVE"} else body,
                              headers=dav.destination("b.jpg"), status=423)  # fmt: skip
            workers.add(answer.headers["X-Worker"])
    assert len(workers) == 2
    dav.call("PUT", "a.jpg", data=b"new", headers={"If": f"({token})"}, status=204)
    dav.call("UNLOCK", "a.jpg", headers={"Lock-Token": token}, status=204)
    assert dav.files() == {"a.jpg": b"new"}


def test_a_revoked_password_ends_at_once_on_both_workers(dav):
    password = dav.api.app_password(USER, "webdav")
    found = {dav.call("PROPFIND", "", auth=(USER, password), status=207).headers["X-Worker"] for _ in range(ROUNDS)}
    assert len(found) == 2
    assert dav.api.svc("auth", "rm", password, "--yes").returncode == 0
    for _ in range(ROUNDS):
        dav.call("PROPFIND", "", auth=(USER, password), status=401)


def send_half(dav, headers, body):
    """Begin a PUT on a connection of its own, which is given back open."""
    address = urlsplit(dav.address)
    credential = b64encode(f"{USER}:{dav.password}".encode()).decode()
    connection = socket.create_connection((address.hostname, address.port), timeout=10)
    lines = ["PUT /originals/a.jpg HTTP/1.1", f"Host: {address.netloc}", f"Authorization: Basic {credential}", *headers]
    connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
    return connection


CUT = {
    "length": (["Content-Length: 1000000"], b"x" * 300_000),
    "chunk": (["Transfer-Encoding: chunked"], b"F4240\r\n" + b"x" * 300_000),
    "last chunk": (["Transfer-Encoding: chunked"], b"493E0\r\n" + b"x" * 300_000 + b"\r\n"),
    "end of a chunk": (["Transfer-Encoding: chunked"], b"493E0\r\n" + b"x" * 300_000),
    "chunk without an end": (["Transfer-Encoding: chunked"], b"493E0\r\n" + b"x" * 300_005),
    "size of a chunk": (["Transfer-Encoding: chunked"], b"493E0\r\n" + b"x" * 300_000 + b"\r\n-5\r\n"),
    "announced": (
        ["Transfer-Encoding: chunked", "X-Expected-Entity-Length: 1000000"],
        b"493E0\r\n" + b"x" * 300_000 + b"\r\n0\r\n\r\n",
    ),
}


@pytest.mark.parametrize("how", CUT)
@pytest.mark.parametrize("old", [{}, {"a.jpg": b"old"}], ids=["new", "old"])
def test_an_upload_that_is_cut_changes_nothing(dav, how, old):
    for name, data in old.items():
        dav.call("PUT", name, data=data, status=201)
    connection = send_half(dav, *CUT[how])
    until(lambda: list(dav.originals.rglob(".photosvc/**/*")))
    connection.shutdown(socket.SHUT_WR)
    answer = connection.recv(1000)
    connection.close()
    assert answer.startswith(b"HTTP/1.1 400 ") or not answer, answer
    assert dav.files() == old


def test_a_killed_server_leaves_the_old_file(tmp_path):
    with serve_dav(tmp_path) as dav:
        dav.call("PUT", "a.jpg", data=b"old", status=201)
        worker = int(dav.call("HEAD", "a.jpg", status=200).headers["X-Worker"])
        parent = int(Path(f"/proc/{worker}/stat").read_text().split()[3])
        connection = send_half(dav, *CUT["length"])
        until(lambda: any(path.is_file() for path in dav.originals.rglob(".photosvc/**/*")))
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        for process in [parent, *map(int, children)]:
            os.kill(process, 9)
        connection.close()
        assert dav.files() == {"a.jpg": b"old"}


def test_a_full_disk_is_507_and_leaves_the_old_file(tmp_path, small_disk):
    with serve_dav(tmp_path, environ={"PHOTOSVC_ORIGINALS": str(small_disk)}) as dav:
        dav.call("PUT", "a.jpg", data=b"old", status=201)
        for _ in range(3):
            dav.call("PUT", "a.jpg", data=b"x" * 8_000_000, status=507)
        dav.call("PUT", "b.jpg", data=b"x" * 3_000_000, status=201)
        dav.call("COPY", "b.jpg", headers=dav.destination("c.jpg"), status=507)
        assert sorted(path.name for path in small_disk.iterdir() if path.is_file()) == ["a.jpg", "b.jpg"]
        assert (small_disk / "a.jpg").read_bytes() == b"old"
        dav.call("PUT", "c.jpg", data=b"x" * 500_000, status=201)
