"""Archives for users of a host app: only the user who selected photos downloads them, if they may still be seen."""

import io
from zipfile import ZipFile

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from photosvc import HostUser
from photosvc.models import ZipSelection
from photosvc.pictures.archives import MOST_WAITING
from photosvc.web.service import current_service
from tests.app.embed.host import NAMES, open_host, who_signed_in

API = "/media/api/v1"
OWN = {"Sec-Fetch-Site": "same-origin"}
#: Those that a viewer sees.
OPEN = [*NAMES[:2]]


def with_foreign_keys(app):
    """Let the engine of a host check foreign keys, as many hosts do."""
    with app.app_context():
        engine = app.extensions["sqlalchemy"].engine
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON"))


@pytest.fixture
def host(tmp_path):
    with open_host(tmp_path / "host", prepare=with_foreign_keys, principal_loader=who_signed_in) as app:
        yield app


def signed_in(app, name):
    client = app.test_client()
    client.post(f"/sign-in/{name}")
    return client


def select(client, **selection):
    answer = client.post(f"{API}/zip", json=selection or {"q": "jpg"}, headers=OWN)
    assert answer.status_code == 200, answer.text
    return f"{API}/zip/{answer.json['filename']}"


def names(answer):
    """The names of the originals in an archive."""
    assert answer.status_code == 200, answer.text
    with ZipFile(io.BytesIO(answer.data)) as archive:
        assert archive.testzip() is None
        return sorted(archive.namelist())


def test_users_of_a_host_download_selected_photos_that_they_may_see(host):
    user, viewer = signed_in(host, "user"), signed_in(host, "viewer")
    assert names(user.get(select(user) + "?name=file")) == [*NAMES]
    assert names(viewer.get(select(viewer) + "?name=file")) == OPEN


def test_a_selection_is_open_only_to_the_user_who_sent_it(host):
    user, viewer, admin = (signed_in(host, name) for name in ("user", "viewer", "admin"))
    path = select(user)
    link = user.get(f"{API}/photos").headers["X-Download-Token"]
    for other in (viewer, admin):
        assert other.get(path).status_code == 404
        assert other.get(f"{path}?t={link}").status_code == 403
    assert host.test_client().get(f"{path}?t={link}").status_code == 403
    assert names(user.get(f"{path}?name=file&t={link}")) == [*NAMES]


def test_selections_of_one_user_push_out_none_of_another(host):
    user, viewer = signed_in(host, "user"), signed_in(host, "viewer")
    first = select(user)
    for _ in range(MOST_WAITING + 1):
        select(viewer)
    assert names(user.get(first + "?name=file")) == [*NAMES]
    with host.app_context(), Session(current_service().engine()) as session:
        assert session.query(ZipSelection).count() == MOST_WAITING + 1


def test_the_rights_of_the_user_at_the_download_count(tmp_path):
    rights = {"sees_private": True}

    def load():
        return HostUser(id="7", role="user", **rights)

    with open_host(tmp_path / "host", prepare=with_foreign_keys, principal_loader=load) as app:
        client = app.test_client()
        path = select(client)
        rights["sees_private"] = False
        assert names(client.get(path + "?name=file")) == ["NOT INCLUDED.txt", *OPEN]
        rights["scope"] = "albums"
        assert client.get(path).status_code == 403
