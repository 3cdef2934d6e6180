"""WebDAV when requests meet or are cut: two workers, real connections."""

import os
import socket
from base64 import b64encode
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.helpers.clock import until
from tests.system.clients.dav_server import USER, serve_dav

ROUNDS = 20


def at_once(calls):
    """The statuses of requests that are sent at the same time, and how often each occurs."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return Counter(answer.status_code for answer in pool.map(lambda call: call(), calls))


def test_of_several_moves_of_one_file_one_succeeds(dav):
    for number in range(ROUNDS):
        dav.call("PUT", "a.jpg", data=b"a", status=201)
        names = [f"{number}-{target}.jpg" for target in range(6)]
        calls = [lambda name=name: dav.call("MOVE", "a.jpg", headers=dav.destination(name)) for name in names]
        assert at_once(calls) == {201: 1, 404: 5}
    assert len(dav.files()) == ROUNDS


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


def test_an_upload_that_is_cut_changes_nothing(dav):
    for old in ({}, {"a.jpg": b"old"}):
        for name, data in old.items():
            dav.call("PUT", name, data=data, status=201)
        for how, sent in CUT.items():
            answer = b""
            with send_half(dav, *sent) as connection, suppress(ConnectionResetError):
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(1000)
            assert answer.startswith(b"HTTP/1.1 400 ") or not answer, (how, answer)
            assert dav.files() == old, how


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
