"""Behind nginx as `svc deploy show` configures it: the service checks, nginx sends, answers are those without it."""

import http.client
import os
import re
import socket
import subprocess
from base64 import b64encode
from contextlib import suppress
from itertools import product
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from photosvc.cli.deploy import Deployment, files_of, has_new_http2
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import PASSWORD, open_api
from tests.helpers.clock import until
from tests.helpers.pictures import encoded, quarters
from tests.helpers.programs.ports import free_port, wait_for
from tests.helpers.programs.server import serve

NAMES = [
    b"plain.png",
    b"a b/100% #1?&.png",
    "Über/日本.png".encode(),
    b"caf\xe9/\xff.png",
    b"line\nbreak;.png",
    b"%FFx.png",
    ("日" * 75 + "/").encode() * 4 + b"long.png",  # too long for a header in which it would be percent-encoded
]

LENGTHS = ("Content-Length: 900000000", "Transfer-Encoding: chunked")

pytestmark = pytest.mark.needs("nginx")


def main_file(folder: Path, port: int, upstream: str, library, further="", **given) -> Path:
    """A main file around the one for a service, with its own port and log, and further servers."""
    cache = library.instance / "cache"
    values = {"originals": library.originals, "cache": cache, "listen": ("127.0.0.1",), "bind": upstream, **given}
    (text,) = files_of("nginx", Deployment(**values)).values()
    for old, new in (
        ("listen 127.0.0.1:80;", f"listen 127.0.0.1:{port};"),
        ("access_log /var/log/nginx/photosvc.log", f"access_log {folder}/access.log"),
    ):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    user = "user root;" if os.getuid() == 0 else ""
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    path = folder / "nginx.conf"
    path.write_text(f"""
{user} daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{ worker_connections 64; }}
http {{ types {{ }} default_type text/html; {paths} {text} {further} }}
""")
    return path


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("behind")) as api:
        pictures = PictureClient(api)
        api.clock.present = api.clock.present.now(api.clock.present.tzinfo)
        for number, name in enumerate(NAMES):
            pictures.library.put(name, encoded(quarters(100 + number, 40), "PNG"))
        pictures.library.index()
        yield pictures


@pytest.fixture(scope="module")
def nginx(tmp_path_factory, pictures):
    """A function that asks nginx, which stands in front of gunicorn."""
    folder = tmp_path_factory.mktemp("nginx")
    settings_file = folder / "gunicorn.conf.py"
    settings_file.write_text(files_of("gunicorn", Deployment())["gunicorn.conf.py"])
    with serve(
        pictures.library.instance,
        threads=16,
        options=["--config", str(settings_file)],
        environ={"PHOTOSVC_SENDFILE_HEADER": "X-Accel-Redirect", "PHOTOSVC_PROXIES": "1"},
    ) as address:
        port = free_port()
        config = main_file(folder, port, urlsplit(address).netloc, pictures.library)
        process = subprocess.Popen(
            ["nginx", "-c", str(config), "-e", str(folder / "error.log")], stderr=subprocess.DEVNULL
        )

        def get(path, method="GET", body=None, **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            given = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            return answer.status, {**dict(answer.getheaders()), "Raw": answer.msg}, body

        try:
            wait_for(port)
            get.log, get.port, get.master = folder / "access.log", port, process.pid
            get.upstream = urlsplit(address).netloc
            yield get
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def records(pictures):
    return {record["Width"]: record for record in pictures.library.find(count=100)}


@pytest.fixture(scope="module")
def tokens(pictures):
    return pictures.tokens()


def stored_bodies(master):
    """Bytes of bodies on the disk of nginx, which unlinks these files as soon as it has opened them."""
    total = 0
    for worker in Path(f"/proc/{master}/task/{master}/children").read_text().split():
        for descriptor in Path(f"/proc/{worker}/fd").iterdir():
            with suppress(OSError):
                if "/client_body/" in str(descriptor.readlink()):
                    total += descriptor.stat().st_size
    return total


def sent(nginx, head, megabytes):
    """The status of a request with a body of so many megabytes, and the most bytes of it that nginx stored."""
    stored = 0
    with socket.create_connection(("127.0.0.1", nginx.port), timeout=60) as client:
        client.sendall(f"{head}\r\nHost: photos.example.org\r\n\r\n".encode())
        with suppress(OSError):  # nginx ends a connection whose body it does not want
            for _ in range(megabytes):
                client.sendall(b"100000\r\n" + bytes(1 << 20) + b"\r\n" if "chunked" in head else bytes(1 << 20))
                stored = max(stored, stored_bodies(nginx.master))
        answer = b""
        with suppress(OSError):
            answer = client.recv(4096)
    return answer.partition(b"\r\n")[0].decode(), stored


def test_the_large_body_of_a_stranger_is_neither_stored_nor_passed_on(nginx):
    targets = ("PUT /originals/a.jpg", "POST /api/v1/users/u/upload/t", "POST /sign-in", "GET /x")
    for target, length, more in product(targets, LENGTHS, ("", "\r\nX-Auth-Token: wrong")):
        head = f"{target} HTTP/1.1\r\n{length}{more}"
        assert sent(nginx, head, 12) == ("HTTP/1.1 401 Unauthorized", 0), head


def test_large_and_small_bodies_of_accounts_arrive(nginx, pictures):
    password = pictures.api.app_password(scope="webdav")
    basic = "Basic " + b64encode(f"alice:{password}".encode()).decode()
    status, stored = sent(
        nginx, f"PUT /originals/large.bin HTTP/1.1\r\nContent-Length: {12 << 20}\r\nAuthorization: {basic}", 12
    )
    assert (status.split()[1] in {"201", "204", "415", "422"}, stored > 0) == (True, True), status
    small = nginx("/api/v1/session", "POST")
    assert b'{"code":' in small[2]  # the service's own answer, not that of nginx


@pytest.fixture
def signed_in(nginx):
    """The headers of a page with a session behind nginx."""
    origin = {"Origin": f"http://127.0.0.1:{nginx.port}"}
    form = {**origin, "Content_Type": "application/x-www-form-urlencoded"}
    status, headers, _ = nginx("/sign-in", "POST", body=f"name=alice&password={quote(PASSWORD)}", **form)
    assert status == 303
    return {**origin, "Cookie": headers["Set-Cookie"].partition(";")[0]}


def test_pieces_of_a_page_arrive_in_the_largest_size(nginx, signed_in):
    tus = {**signed_in, "X_Photosvc": "1", "Tus_Resumable": "1.0.0"}
    status, headers, _ = nginx("/api/v1/uploads", "POST", Upload_Length=str(20 << 20), **tus)
    assert status == 201
    path, piece = headers["Location"], {**tus, "Content_Type": "application/offset+octet-stream"}
    status, headers, _ = nginx(path, "PATCH", body=bytes(16 << 20), Upload_Offset="0", **piece)
    assert (status, headers["Upload-Offset"]) == (204, str(16 << 20))
    assert nginx(path, "HEAD", **tus)[1]["Upload-Offset"] == str(16 << 20)
    assert nginx(path, "DELETE", **tus)[0] == 204


def test_files_of_visitors_arrive_only_by_links_that_take_them(nginx, pictures):
    """And the log of nginx has none of their tokens."""
    head = b'--b\r\nContent-Disposition: form-data; name="files"; filename="letter.jpg"\r\n\r\n'
    body = head + bytes(2 << 20) + b"\r\n--b--\r\n"
    form = {"Content_Type": "multipart/form-data; boundary=b", "Origin": f"http://127.0.0.1:{nginx.port}"}
    api, token = pictures.api, pictures.api.app_password()
    album = api.call("POST", "/albums", token, json={"Title": "Party"}).json["UID"]
    for takes, status in ((True, 200), (False, 403)):
        link = api.call("POST", f"/albums/{album}/links", token, json={"CanUpload": takes}).json["Token"]
        cookie = nginx(f"/s/{link}")[1]["Set-Cookie"].partition(";")[0]
        answer = nginx(f"/s/{link}/pictures/add", "POST", body=body, Cookie=cookie, **form)
        assert (answer[0], b"letter.jpg" in answer[2]) == (status, takes)
        for other in ({}, {"Cookie": cookie.replace("=", "=0")}, {"Authorization": f"Bearer {token}"}):
            assert nginx(f"/s/{link}/pictures/add", "POST", body=body, **other, **form)[0] == 403
        assert nginx(f"/s/{link}/pictures/add")[0] == 303
        assert link not in nginx.log.read_text()
    for length in LENGTHS:
        head = f"POST /s/{'0' * 26}/pictures/add HTTP/1.1\r\n{length}"
        assert sent(nginx, head, 12) == ("HTTP/1.1 403 Forbidden", 0)


def test_the_large_body_of_an_account_that_may_only_read_originals_is_not_stored(nginx, pictures):
    password = pictures.api.app_password(scope="webdav read")
    basic = "Basic " + b64encode(f"alice:{password}".encode()).decode()
    assert nginx("/originals/", "PROPFIND", Authorization=basic, Depth="0")[0] == 207
    for method in ("PUT", "PROPFIND", "POST", "GET"):
        head = f"{method} /originals/a.jpg HTTP/1.1\r\n{LENGTHS[0]}\r\nAuthorization: {basic}"
        assert sent(nginx, head, 12) == ("HTTP/1.1 403 Forbidden", 0), method


def test_originals_of_every_name_arrive_with_the_headers_of_the_service(nginx, pictures, records, tokens):
    for number, file in enumerate(NAMES):
        path = f"/api/v1/dl/{records[100 + number]['Hash']}?t={tokens[1]}"
        alone = pictures.api.call("GET", path.removeprefix("/api/v1"), buffered=True)
        status, headers, body = nginx(path)
        assert (status, body) == (200, alone.data), file
        expected = dict(alone.headers)
        assert {name: headers.get(name) for name in expected} == expected, file
        assert headers["Server"].startswith("nginx")
        assert "X-Accel-Redirect" not in headers
        assert [len(headers["Raw"].get_all(name)) for name in ("Cache-Control", "Accept-Ranges")] == [1, 1]


def test_over_tls_it_speaks_http_2_at_its_port_says_hsts_and_reaches_gunicorn_by_a_socket(
    pictures, records, tokens, tmp_path
):
    (settings := tmp_path / "gunicorn.conf.py").write_text(files_of("gunicorn", Deployment())["gunicorn.conf.py"])
    key = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=localhost", "-days", "2"]
    files = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    subprocess.run([*key, *files], cwd=tmp_path, capture_output=True, check=True)
    plain, port, socket_file = free_port(), free_port(), tmp_path / "gunicorn.sock"
    address = f"https://localhost:{port}"
    given = {"base_url": address, "hsts": 300, "new_http2": has_new_http2()}
    config = main_file(tmp_path, plain, f"unix:{socket_file}", pictures.library, **given)
    config.write_text(config.read_text().replace("/etc/letsencrypt/live/localhost/", f"{tmp_path}/"))
    environ = {"PHOTOSVC_SENDFILE_HEADER": "X-Accel-Redirect", "PHOTOSVC_PROXIES": "1", "PHOTOSVC_BASE_URL": address}
    options = ["--config", str(settings), "--bind", f"unix:{socket_file}"]

    def curl(url, *arguments):
        command = ["curl", "-sSki", "--http2", *arguments, url]
        done = subprocess.run(command, capture_output=True, check=True)
        return done.stdout.partition(b"\r\n\r\n")[0].decode().lower().split("\r\n")

    with serve(pictures.library.instance, threads=16, options=options, environ=environ):
        command = ["nginx", "-c", str(config), "-e", str(tmp_path / "error.log")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            assert f"location: {address}/x" in curl(f"http://127.0.0.1:{plain}/x", "-H", "Host: localhost")
            paths = {"original": f"dl/{records[100]['Hash']}?t={tokens[1]}", "answer": "status", "none": "nothing"}
            heads = {name: curl(f"{address}/api/v1/{path}") for name, path in paths.items()}
        finally:
            process.terminate()
            process.wait(60)
    assert [heads[name][0].strip() for name in paths] == ["http/2 200", "http/2 200", "http/2 404"]
    for name, head in heads.items():
        assert head.count("strict-transport-security: max-age=300") == 1, name
        assert [line for line in head if line.startswith("accept-ranges")] == ["accept-ranges: bytes"] * (
            name == "original"
        )


def test_thumbnails_arrive_with_the_headers_of_the_service(nginx, pictures, records, tokens):
    path = f"/api/v1/t/{records[100]['Hash']}/{tokens[0]}/tile_50"
    alone = pictures.api.call("GET", path.removeprefix("/api/v1"), buffered=True)
    for _ in range(2):
        status, headers, body = nginx(path)
        assert (status, body) == (200, alone.data)
        expected = {name: value for name, value in alone.headers.items() if name != "Content-Length"}
        assert {name: headers.get(name) for name in expected} == expected


def test_ranges_and_conditions_are_answered_as_by_the_service(nginx, pictures, records, tokens):
    record = records[100]
    path = f"/api/v1/dl/{record['Hash']}?t={tokens[1]}"
    data = (pictures.library.originals / "plain.png").read_bytes()
    tag, size = f'"{record["Hash"]}"', len(data)
    date = nginx(path)[1]["Last-Modified"]
    for asked, start, stop in (("bytes=0-9", 0, 10), ("bytes=-5", size - 5, size), ("bytes=-999999", 0, size)):
        status, headers, body = nginx(path, Range=asked)
        assert (status, body) == (206, data[start:stop])
        assert headers["Content-Range"] == f"bytes {start}-{stop - 1}/{size}"
        assert (headers["ETag"], headers["X-Content-Type-Options"]) == (tag, "nosniff")
    status, _, body = nginx(path, Range="bytes=0-1,5-6")  # several ranges get the whole
    assert (status, body) == (200, data)
    assert nginx(path, Range=f"bytes={size}-")[0] == 416
    for headers, expected in (
        ({"If_None_Match": tag}, 304),
        ({"If_None_Match": tag, "Range": "bytes=0-1"}, 304),
        ({"If_None_Match": '"other"'}, 200),
        ({"If_Modified_Since": date}, 304),
        ({"If_Match": tag}, 200),
        ({"If_Match": tag, "Range": "bytes=0-1"}, 206),
        ({"If_Match": '"other"'}, 412),
        ({"If_Range": tag, "Range": "bytes=0-1"}, 206),
        ({"If_Range": '"other"', "Range": "bytes=0-1"}, 200),
        ({"If_Range": f"W/{tag}", "Range": "bytes=0-1"}, 200),
        ({"If_Range": date, "Range": "bytes=0-1"}, 206),
        ({"Range": "items=0-1"}, 200),
        ({"Range": "bytes=a-b"}, 200),
    ):
        assert nginx(path, **headers)[0] == expected, headers


def test_head_has_the_length_and_no_body(nginx, records, tokens):
    path = f"/api/v1/dl/{records[100]['Hash']}?t={tokens[1]}"
    status, headers, body = nginx(path, "HEAD")
    assert (status, body) == (200, b"")
    assert headers["Content-Length"] == nginx(path)[1]["Content-Length"]


def test_the_folders_cannot_be_asked_for_from_outside(nginx):
    for path in (
        *("/photosvc-files/originals/plain.png", "/photosvc-files/cache/pictures/", "/photosvc-files/"),
        *("/photosvc-files", "/photosvc-files/originals/../cache/", "/x/../photosvc-files/originals/plain.png"),
        *("//photosvc-files/originals/plain.png", "/photosvc-files/originals"),
        "/photosvc%2dfiles/originals/plain.png",
    ):
        status, _, body = nginx(path)
        assert (status, b"PNG" in body) == (404, False), path


def test_nginx_follows_no_link(nginx, pictures, records, tokens, tmp_path):
    path = f"/api/v1/t/{records[101]['Hash']}/{tokens[0]}/tile_50"
    status, _, thumbnail = nginx(path)
    assert status == 200
    # The service follows links to folders of the cache, which operators may have moved: nginx has to refuse these.
    folder = Path(pictures.cache().path(records[101]["Hash"], "tile_50.jpg")).parent
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    try:
        status, _, body = nginx(path)
    finally:
        folder.unlink()
    assert status in (403, 404)
    assert thumbnail not in body


def test_the_log_has_no_token_of_a_link(nginx, records, tokens):
    content_hash, (preview, download) = records[100]["Hash"], tokens
    for path, logged in (
        (f"/t/{content_hash}/{preview}/tile_50", f"/t/{content_hash}/-/tile_50"),
        (f"/t/{content_hash}/{preview}/tile_50/?download", f"/t/{content_hash}/-/tile_50/?download"),
        (f"/t/{content_hash}/{preview}", f"/t/{content_hash}/-"),
        (f"//t/{content_hash}/{preview}/tile_50", f"//t/{content_hash}/-/tile_50"),
        (f"/t//{content_hash}/{preview}/tile_50", f"/t//{content_hash}/-/tile_50"),
        (f"/videos/{content_hash}/{download}/avc?t={download}", f"/videos/{content_hash}/-/avc?-"),
        (f"/s/{'0' * 26}/summer?page=2", "/s/-/summer?page=2"),
        (f"/s/{'0' * 26}", "/s/-"),
        (f"/dl/{content_hash}?t={download}", f"/dl/{content_hash}?-"),
        (f"/dl/{content_hash}?name=file&t={download}", f"/dl/{content_hash}?-"),
        (f"/dl/{content_hash}?%74={download}", f"/dl/{content_hash}?-"),
        (f"/albums/a/t/{preview}/tile_50", "/albums/a/t/-/tile_50"),
        (f"/session/{download}", "/session/-"),
        (f"/sessions/{download}?x=1", "/sessions/-?x=1"),
        (f"/photos?access_token={download}&count=3", "/photos?-"),
        (f"/photos?count=3&X-Auth-Token={download}", "/photos?-"),
        (f"/photos?count=3&client_secret={download}", "/photos?-"),
        ("/photos?count=3&order=newest", "/photos?count=3&order=newest"),
        ("/status", "/status"),
    ):
        basic = "Basic " + b64encode(f"{download}:{preview}".encode()).decode()
        nginx(f"/api/v1{path}", Referer=f"http://x/?t={download}", User_Agent="frame", Authorization=basic)
        line = f'"GET /api/v1{logged} HTTP/1.1"'
        until(lambda line=line: line in nginx.log.read_text())
        assert line in nginx.log.read_text()
    assert not any(token in nginx.log.read_text() for token in tokens)


def test_a_refusal_has_the_id_of_the_request_in_the_log_of_nginx(nginx, pictures):
    _, headers, _ = nginx("/api/v1/photos", Authorization="Bearer garbage", X_Request_ID="forged-by-a-client")
    assert re.fullmatch("[0-9a-f]{32}", headers["X-Request-ID"])
    until(lambda: nginx.log.read_text().endswith(f"{headers['X-Request-ID']}\n"))
    assert nginx.log.read_text().endswith(f"{headers['X-Request-ID']}\n")


def test_originals_arrive_over_webdav_as_from_the_service(nginx, pictures):
    credential = b64encode(f"alice:{pictures.api.app_password('alice', 'webdav')}".encode()).decode()
    for name in NAMES[:3]:
        path, data = f"/originals/{quote(name)}", (pictures.library.originals / os.fsdecode(name)).read_bytes()
        status, headers, body = nginx(path, Authorization=f"Basic {credential}")
        assert (status, body) == (200, data)
        tag = headers["ETag"]
        assert nginx(path, Authorization=f"Basic {credential}", If_None_Match=tag)[0] == 304
        status, _, body = nginx(path, Authorization=f"Basic {credential}", Range="bytes=3-9")
        assert (status, body) == (206, data[3:10])
        status, _, body = nginx(path, "PROPFIND", Authorization=f"Basic {credential}", Depth="0")
        assert status == 207
        assert f"<D:getetag>{tag}</D:getetag>".encode() in body
    assert nginx("/originals/plain.png")[0] == 401


def test_clients_of_a_proxy_in_front_are_throttled_apart_and_choose_no_address(nginx, pictures, tmp_path):
    inner, outer = free_port(), free_port()
    in_front = f"""server {{ listen 127.0.0.1:{outer}; location / {{
        proxy_pass http://127.0.0.1:{inner}; proxy_bind 127.0.0.2;
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; }} }}"""
    config = main_file(tmp_path, inner, nginx.upstream, pictures.library, in_front, behind=("127.0.0.2/32",))
    names = iter(range(1000))  # accounts are throttled, too

    def fail(port, address, forwarded):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60, source_address=(address, 0))
        body = f'{{"username": "stranger{next(names)}", "password": "wrong"}}'
        headers = {"Content-Type": "application/json", "X-Forwarded-For": forwarded}
        connection.request("POST", "/api/v1/session", body, headers)
        status = connection.getresponse().status
        connection.close()
        return status

    process = subprocess.Popen(["nginx", "-c", str(config), "-e", str(tmp_path / "log")], stderr=subprocess.DEVNULL)
    try:
        wait_for(outer)
        for port, address in ((outer, "127.0.0.3"), (inner, "127.0.0.4")):
            failures = [fail(port, address, f"198.51.100.{number}") for number in range(12)]
            assert (failures[0], failures[-1]) == (401, 429), port
        assert [fail(outer, "127.0.0.5", forwarded) for forwarded in ("127.0.0.3", "127.0.0.4")] == [401, 401]
        assert fail(inner, "127.0.0.2", "127.0.0.3") == 429
    finally:
        process.terminate()
        process.wait(60)


def test_the_shipped_file_names_the_default_prefix(pictures):
    with pictures.library.app.app_context():
        prefix = pictures.library.app.extensions["photosvc"].settings.sendfile_prefix
    assert set(re.findall(r"location \^~ (/[^/]*)/", files_of("nginx", Deployment())["nginx.conf"])) == {prefix}


def test_pages_of_long_queries_arrive_through_stock_buffers(nginx, pictures):
    token = pictures.library.token("photos", role="admin")
    found, cursor = 0, ""
    while found == 0 or cursor:
        path = f"/api/v1/photos?count=1&order=name&q=-{'z' * 3900}&cursor={cursor}"
        status, headers, _ = nginx(path, X_Auth_Token=token)
        assert status == 200
        found, cursor = found + 1, headers.get("X-Cursor", "")
    assert found == len(NAMES) + 1


def test_doubled_slashes_are_not_redirected(nginx):
    status, headers, _ = nginx("//api/v1//status?" + "a" * 3900)
    assert (status, "Location" in headers) == (404, False)


def test_a_body_over_the_limit_gets_the_answer_of_the_service_and_no_request_after_it_is_lost(nginx, pictures):
    headers = {"X-Auth-Token": pictures.library.token("*", role="admin"), "Content-Type": "application/json"}
    answers = []
    for number, path in product(range(20), ("/api/v1/albums", "/api/v1/session")):
        connection = http.client.HTTPConnection("127.0.0.1", nginx.port, timeout=60)
        for size in (3 << 20, 5):
            connection.request("POST", path, b'{"' + b"x" * size, headers)
            answer = connection.getresponse()
            answers.append((number, path, answer.status, answer.read()[:12]))
        connection.close()
    for number, path, *answer in answers[::2]:
        assert answer == [413, b'{"code":413,'], (number, path)
    for number, path, *answer in answers[1::2]:
        assert answer == [400, b'{"code":400,'], (number, path)
    assert len(answers) == 80
    assert "upstream prematurely" not in (nginx.log.parent / "error.log").read_text()


def test_nginx_gives_up_idle_connections_before_the_service_does():
    served = int(re.search(r"(?m)^keepalive = (\d+)$", files_of("gunicorn", Deployment())["gunicorn.conf.py"])[1])
    assert (
        int(re.search(r"(?m)^ *keepalive_timeout (\d+)s;$", files_of("nginx", Deployment())["nginx.conf"])[1]) + 10
        <= served
    )
