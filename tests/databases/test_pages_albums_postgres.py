"""Albums as pages on PostgreSQL."""

from sqlalchemy import select

from photosvc.library import albums
from photosvc.models import Photo
from photosvc.search.rows.write import project
from tests.app.pages.albums.test_pages_albums import make, open_text, uids
from tests.app.pages.browser import Browser
from tests.helpers.api_client import open_api
from tests.helpers.factories.photos import add_photos


def test_on_postgresql_a_deleted_album_comes_back_too(tmp_path, new_postgres, monkeypatch):
    monkeypatch.setattr(albums, "MOST_AT_ONCE", 2)
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        with api.library.session() as session:
            add_photos(session, 6, api.clock())
            project(session, list(session.scalars(select(Photo.id))))
        alice = Browser(api)
        alice.sign_in()
        uid = make(alice, kind="found", Filter="quality:0-")
        expected = uids(api, s=uid)
        assert len(expected) > 4
        alice.send(f"/albums/{uid}/delete", {})
        assert "is deleted" in open_text(alice, "/albums", deleted=uid)
        assert alice.send(f"/albums/{uid}/restore", {}).status_code == 303
        assert uids(api, s=uid) == expected
