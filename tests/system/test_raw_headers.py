"""A real server refuses credentials whose bytes are no text, and goes on."""

import socket
from urllib.parse import urlsplit

from tests.helpers.api_client import open_api
from tests.helpers.programs.server import serve


def test_a_real_server_survives_raw_bytes_in_its_headers(tmp_path):
    with open_api(tmp_path) as api, serve(api.library.instance, workers=1) as base:
        token = api.access_token().encode()
        host, port = urlsplit(base).netloc.split(":")
        for line in [
            b"Authorization: Bearer \xff\xfe\x80",
            b"Authorization: Bearer " + token + b"\0",
            b"Authorization: Bearer " + token + b"\r\nAuthorization: Bearer " + b"0" * 48,
            b"X-Auth-Token: " + token + b"\r\nX-Auth-Token: " + token,
            b"X_Auth_Token: " + token,
            b"X-Auth-Token: " + b"x" * 100_000,
            b"X-Session-ID:",
            b"Authorization:",
            b"Authorization : Bearer " + token,
            b"X-Auth-Token: \xc3\xa9",
            b"Authorization: Bearer\x0b" + token,
        ]:
            status = raw_status(host, int(port), line)
            assert status in {400, 401, 403, 413, 431}, line[:60]
        assert raw_status(host, int(port), b"x-auth-token:" + token) == 200


def raw_status(host, port, line):
    with socket.create_connection((host, port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/photos HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + line + b"\r\n\r\n")
        return int(connection.recv(1000).split(b" ")[1])
