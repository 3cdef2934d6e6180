"""Where the folder of originals is: its exact address, below the prefix of a host and that of a server."""

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy

from photosvc.extension import PhotoService
from photosvc.models import schema
from photosvc.web.current import current_service
from tests.helpers.api_client import HASH, ApiClient, open_api
from tests.helpers.clock import MovedClock
from tests.helpers.dav_client import DavClient
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import Library


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        api.library.put("a.jpg", b"a")
        yield DavClient(api)


@pytest.fixture(scope="module")
def hosted(tmp_path_factory):
    """The same in an app that mounts photosvc below `/Media`."""
    folder = tmp_path_factory.mktemp("host")
    app = Flask("host", instance_path=str(folder))
    app.config.update(
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{folder / 'host.db'}", PHOTOSVC_ORIGINALS=folder / "originals"
    )
    PhotoService(app, db=SQLAlchemy(app), url_prefix="/Media", clock=MovedClock())
    (folder / "originals").mkdir()
    (folder / "originals/a.jpg").write_bytes(b"a")
    with app.app_context():
        schema.upgrade(current_service().engine())
    library = Library(app, MovedClock(), folder)
    with library.session() as session:
        add_user(session, "alice", "user", password_hash=HASH)
    yield DavClient(ApiClient(library))
    library.close()


@pytest.mark.parametrize("path", ["/ORIGINALS/a.jpg", "/Originals/", "/originalsa.jpg", "/originals.jpg", "/a.jpg"])
def test_no_other_address_is_the_folder(standing, path):
    for method in ("GET", "PROPFIND"):
        assert standing.call(method, path, prefix="").status_code == 404, method


def test_options_of_the_server_are_no_error(standing):
    assert standing.call("OPTIONS", "/", environ_overrides={"PATH_INFO": "*"}, token=None).status_code == 404


def test_a_post_is_not_allowed(standing):
    answer = standing.call("POST", "/a.jpg")
    assert answer.status_code == 405
    assert "PROPFIND" in answer.headers["Allow"]


@pytest.mark.slow
def test_below_a_prefix_all_addresses_have_it(hosted):
    prefix = "/Media/originals"
    found = hosted.call("PROPFIND", "/", prefix=prefix, headers={"Depth": "1"})
    assert (found.status_code, f">{prefix}/a.jpg<" in found.text) == (207, True)
    moved = {"Destination": f"http://localhost{prefix}/b.jpg"}
    assert hosted.call("MOVE", "/a.jpg", prefix=prefix, headers=moved).status_code == 201
    outside = {"Destination": "http://localhost/originals/c.jpg"}
    assert hosted.call("MOVE", "/b.jpg", prefix=prefix, headers=outside).status_code == 502
    assert hosted.call("GET", "/b.jpg", prefix=prefix).data == b"a"
    assert hosted.call("GET", "/b.jpg").status_code == 404


def test_below_the_prefix_of_a_server_all_addresses_have_it(standing):
    server = {"environ_overrides": {"SCRIPT_NAME": "/app"}}
    found = standing.call("PROPFIND", "/a.jpg", headers={"Depth": "0"}, **server)
    assert ">/app/originals/a.jpg<" in found.text
    copied = {"Destination": "/app/originals/copied.jpg"}
    assert standing.call("COPY", "/a.jpg", headers=copied, **server).status_code == 201
    lost = {"Destination": "/originals/lost.jpg"}
    assert standing.call("COPY", "/a.jpg", headers=lost, **server).status_code == 502
    lock = b'<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>'
    locked = standing.call("LOCK", "/copied.jpg", lock, **server)
    assert ">/app/originals/copied.jpg<" in locked.text
    refused = standing.call("DELETE", "/copied.jpg", **server)
    assert (refused.status_code, ">/app/originals/copied.jpg<" in refused.text) == (423, True)
