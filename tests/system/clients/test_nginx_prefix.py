"""Below a path of an address with TLS, behind nginx as `svc deploy show` configures it."""

import re
import ssl
import subprocess
from base64 import b64encode
from http.client import HTTPSConnection
from urllib.parse import urlsplit

import pytest

from photosvc.cli.deploy import Deployment, files_of, has_new_http2
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.pictures import encoded, quarters
from tests.helpers.programs.needed import require
from tests.helpers.programs.ports import free_port, wait_for
from tests.helpers.programs.server import serve

ADDRESS = "https://photos.home.test/photos"


def links(page):
    """The addresses that a page names, other than those of this page and of other hosts."""
    found = re.findall(r"""(?:href|src|action|data-[a-z-]+)=["']?(/[^"' >]*)""", page)
    return {one.partition("#")[0].replace("&amp;", "&") for one in found}


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A function that asks nginx over TLS, and the pictures of the service."""
    require("nginx", "openssl")
    folder = tmp_path_factory.mktemp("nginx")
    with open_api(tmp_path_factory.mktemp("behind")) as api:
        pictures = PictureClient(api)
        api.clock.present = api.clock.present.now(api.clock.present.tzinfo)
        for number in range(3):
            pictures.library.put(f"a b/{number}.png", encoded(quarters(100 + number, 40), "PNG"))
        pictures.library.index()
        environ = {
            "PHOTOSVC_BASE_URL": ADDRESS,
            "PHOTOSVC_SENDFILE_HEADER": "X-Accel-Redirect",
            "PHOTOSVC_PROXIES": "1",
        }
        with serve(pictures.library.instance, workers=1, threads=16, environ=environ) as address:
            port = free_port()
            process = subprocess.Popen(_command(folder, port, urlsplit(address).netloc, pictures.library))
            trust = ssl.create_default_context(cafile=folder / "fullchain.pem")
            trust.check_hostname = False

            def ask(path, method="GET", body=None, **headers):
                connection = HTTPSConnection("127.0.0.1", port, timeout=60, context=trust)
                sent = {name.replace("_", "-"): value for name, value in headers.items()}
                connection.request(method, path, body, {"Host": "photos.home.test", **sent})
                answer = connection.getresponse()
                text = answer.read()
                connection.close()
                return answer.status, answer.headers, text

            try:
                wait_for(port)
                yield ask, pictures
            finally:
                process.terminate()
                process.wait(60)


def _command(folder, port, upstream, library):
    """The command of nginx with its file for this address, made to listen on another port and to log into a folder."""
    key = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=photos.home.test", "-days", "2"]
    files = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    subprocess.run([*key, *files], cwd=folder, capture_output=True, check=True)
    cache = library.instance / "cache"
    given = {"base_url": ADDRESS, "listen": ("127.0.0.1",), "new_http2": has_new_http2()}
    values = Deployment(originals=library.originals, cache=cache, bind=upstream, **given)
    (text,) = files_of("nginx", values).values()
    text = text.replace("/var/log/nginx", str(folder)).replace("/etc/letsencrypt/live/photos.home.test", str(folder))
    text = text.replace("127.0.0.1:80;", f"127.0.0.1:{free_port()};").replace("127.0.0.1:443 ", f"127.0.0.1:{port} ")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    main = folder / "nginx.conf"
    main.write_text(
        f"user root; daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ types {{ }} default_type text/html; {paths} {text} }}"
    )
    return ["nginx", "-c", str(main), "-e", str(folder / "error.log")]


def test_pages_link_to_nothing_outside_of_the_path(behind):
    ask, _ = behind
    assert ask("/photos")[0] == 301
    status, _, page = ask("/photos/", Accept="text/html")
    if status in {302, 303}:
        status, _, page = ask("/photos/sign-in", Accept="text/html")
    assert status == 200
    found = links(page.decode())
    assert {one for one in found if not one.startswith("/photos/")} == set()
    assert {ask(one)[0] for one in found if one.endswith((".js", ".css", ".svg"))} == {200}


def test_the_api_its_links_pictures_and_metadata_are_below_the_path(behind):
    ask, pictures = behind
    token = pictures.library.token()
    status, headers, body = ask("/photos/api/v1/photos?count=2", X_Auth_Token=token)
    assert (status, body.count(b'"FileName"')) == (200, 2)
    following = re.match("<([^>]*)>", headers["Link"])[1]
    assert following.startswith(f"{ADDRESS}/api/v1/photos?count=2&cursor=")
    assert ask(following.removeprefix("https://photos.home.test"), X_Auth_Token=token)[0] == 200
    preview, _ = pictures.tokens()
    content = pictures.library.find(count=1)[0]["Hash"]
    status, headers, _ = ask(f"/photos/api/v1/t/{content}/{preview}/tile_50")
    assert (status, headers["Content-Type"].split("/")[0]) == (200, "image")
    for document in ("oauth-authorization-server", "oauth-protected-resource", "openid-configuration"):
        status, _, body = ask(f"/.well-known/{document}/photos")
        assert (status, f'"{ADDRESS}'.encode() in body) == (200, True), document
    assert ask("/photos/.well-known/jwks.json")[0] == 200
    assert ask("/api/v1/status")[0] == 404


def test_webdav_names_and_moves_files_below_the_path(behind):
    ask, pictures = behind
    basic = "Basic " + b64encode(f"alice:{pictures.api.app_password(scope='webdav')}".encode()).decode()
    status, _, body = ask("/photos/originals/", "PROPFIND", Authorization=basic, Depth="1")
    assert (status, b"<D:href>/photos/originals/a%20b/</D:href>" in body) == (207, True), body
    moved = ask(
        "/photos/originals/a%20b/2.png", "MOVE", Authorization=basic, Destination=f"{ADDRESS}/originals/a%20b/3.png"
    )
    assert moved[0] == 201, moved
