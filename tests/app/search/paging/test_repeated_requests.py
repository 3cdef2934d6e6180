"""A client that has a page is told so, and never after a change."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from photosvc.core.ids import digest
from photosvc.models import Credential, Photo
from tests.helpers.factories.photos import edit_photos


@pytest.fixture(scope="module")
def filled_library(new_library):
    return new_library(20)


def get(library, token=None, **headers):
    shown = {"X-Auth-Token": token or library.token(), **headers}
    return library.app.test_client().get("/api/v1/photos?count=5&order=name", headers=shown)


def test_a_page_that_the_client_has_is_confirmed(filled_library):
    token = filled_library.token(role="admin")
    first = get(filled_library, token)
    fresh = get(filled_library, token, **{"If-None-Match": first.headers["ETag"]})
    assert (fresh.status_code, fresh.data) == (304, b"")


def test_a_change_of_the_library_is_seen_at_once(filled_library):
    before = get(filled_library).json
    with filled_library.session() as session:
        edit_photos(session, [session.query(Photo.id).filter_by(uid=before[0]["UID"]).scalar()], title="Quite another")
    assert get(filled_library).json[0]["Title"] == "Quite another"


def test_a_revoked_token_is_refused_at_once(filled_library):
    token = filled_library.token("photos")
    assert [get(filled_library, token).status_code for _ in range(2)] == [200, 200]
    with filled_library.session() as session:
        session.execute(delete(Credential).where(Credential.digest == digest(token)))
    assert get(filled_library, token).status_code == 401


def test_an_expired_token_is_refused_although_nothing_was_committed(filled_library):
    token = filled_library.token("photos files")
    with filled_library.session() as session:
        expires = filled_library.clock() + timedelta(hours=1)
        session.execute(update(Credential).where(Credential.digest == digest(token)).values(expires_at=expires))
    assert [get(filled_library, token).status_code for _ in range(2)] == [200, 200]
    usual = filled_library.clock.present
    filled_library.clock.present = expires
    try:
        assert get(filled_library, token).status_code == 401
    finally:
        filled_library.clock.present = usual


def test_clients_that_see_no_private_photos_get_pages_of_their_own(filled_library):
    with filled_library.session() as session:
        ids = [one for (one,) in session.query(Photo.id).limit(3)]
        edit_photos(session, ids, private=True)
    path = "/api/v1/photos?count=1&total=true"
    totals = []
    for role in ("admin", ""):
        token = filled_library.token(role=role)
        answers = [filled_library.app.test_client().get(path, headers={"X-Auth-Token": token}) for _ in range(2)]
        totals.append({int(answer.headers["X-Total-Count"]) for answer in answers})
    (all_files,), (public,) = totals
    assert all_files > public
