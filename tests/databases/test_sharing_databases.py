"""Links and shares of albums on both databases: visits, quotas and numbers are counted and limited."""

import pytest

from photosvc.library import links, shares
from tests.app.library.sharing import Sharing
from tests.app.uploads.upload_client import open_uploads, picture
from tests.helpers.api_client import check_error


@pytest.fixture
def sharing(new_database, tmp_path):
    with open_uploads(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_database()}) as api:
        yield Sharing(api)


def test_visits_numbers_and_quotas_are_counted_and_limited(sharing, monkeypatch):
    monkeypatch.setattr(links, "MOST_LINKS", 2)
    monkeypatch.setattr(links, "MOST_VISITS", 2)
    monkeypatch.setattr(shares, "MOST_SHARES", 1)
    link, _other = sharing.link(MaxViews=2, CanUpload=True), sharing.link()
    check_error(sharing.links("POST"), 409)
    visit, last = sharing.visit(link), sharing.visit(link)
    check_error(sharing.open(link), 404)
    (listed,) = (one for one in sharing.links().json if one["UID"] == link["UID"])
    assert (listed["Views"], listed["LastViewAt"]) == (2, "2026-03-01T12:00:00Z")
    assert sharing.share().status_code == 200
    check_error(sharing.share("vera"), 409)
    check_error(sharing.share(album=sharing.make_album("Other")), 409)
    for name, token in (("alice", visit), ("gus", sharing.guest)):
        for data in (picture(9), sharing.pictures["private"]):
            before = sharing.used(name)
            for _ in range(2):
                answer = sharing.add(token, ("a.jpg", data))
                assert answer.json["message"] == "1 file added", answer.text
            assert sharing.used(name) == before + len(data)
    assert len(sharing.in_album(last)) == 5
    sharing.change(link, MaxViews=0)
    sharing.visit(link)  # in place of the oldest visit
    assert [sharing.sees(token) for token in (visit, last)] == [401, 200]
    sharing.end(link)
    assert sharing.sees(last) == 401
