"""Public links to albums: making, listing, changing and ending them, and what opens a visit."""

from copy import copy
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from photosvc.core import ids
from photosvc.library.links import MOST_LINKS, MOST_VISITS
from photosvc.models import Client, Credential, Link, User, Visit
from tests.helpers.api_client import PASSWORD, check_error, open_api
from tests.helpers.pictures import jpeg

#: Tests of the SQL that counts, limits and locks; all others are about rules that no database changes.
ON_BOTH = pytest.mark.parametrize(
    "prepared", ["new_sqlite", pytest.param("new_postgres", marks=pytest.mark.slow)], indirect=True
)

FIELDS = {
    "UID", "ShareUID", "Slug", "Token", "Expires", "ExpiresAt", "Views", "LastViewAt", "MaxViews", "VerifyPassword",
    "CanDownload", "CanUpload", "ShowMetadata", "Comment", "Perm", "CreatedBy", "CreatedAt", "ModifiedAt",
}  # fmt: skip


class Sharing:
    """A library with an album of two photos that `alice` may share."""

    def __init__(self, api):
        self.api = api
        for side in (300, 310):
            api.library.put(f"{side}.jpg", jpeg(side, 200))
        api.library.index()
        self.token = api.app_password()
        self.photos = api.call("GET", "/photos", self.token).json
        self.album = self.make_album("Summer at the lake")
        chosen = {"photos": [photo["UID"] for photo in self.photos]}
        api.call("POST", f"/albums/{self.album}/photos", self.token, json=chosen)

    def make_album(self, title, **values):
        return self.api.call("POST", "/albums", self.token, json={"Title": title, **values}).json["UID"]

    def call(self, method, rest="", **values):
        json = values if method in {"POST", "PUT"} else None
        return self.api.call(method, f"/albums/{self.album}/links{rest}", self.token, json=json)

    def link(self, **values):
        answer = self.call("POST", **values)
        assert answer.status_code == 200, answer.text
        return answer.json

    def open(self, token, address="198.51.100.1", **values):
        return self.api.call("POST", "/session", json={"token": token, **values}, address=address)

    def visit(self, token, **values):
        answer = self.open(token, **values)
        assert answer.status_code == 200, answer.text
        return answer.json["access_token"]

    def sees(self, visitor):
        return self.api.call("GET", "/photos", visitor).status_code

    def events(self):
        lines = self.api.call("GET", "/audit?event=changes", self.api.session_of("ann")).json
        return [(line["event"], line["target"], line["detail"]) for line in lines]


@pytest.fixture(scope="module")
def prepared(request, tmp_path_factory):
    """The library that `sharing` copies, with the address of its database."""
    address = request.getfixturevalue(getattr(request, "param", "new_sqlite"))()
    with open_api(tmp_path_factory.mktemp("prepared"), settings={"PHOTOSVC_DATABASE_URI": address}) as api:
        made = Sharing(api)
    return made, address


@pytest.fixture
def sharing(prepared, copied_database, tmp_path):
    made, address = prepared
    settings = {"PHOTOSVC_DATABASE_URI": copied_database(address)}
    with open_api(tmp_path, like=made.api, settings=settings) as api:
        sharing = copy(made)
        sharing.api = api
        yield sharing


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """A library with an album for tests that change nothing."""
    with open_api(tmp_path_factory.mktemp("standing")) as api:
        yield Sharing(api)


@pytest.mark.slow
@ON_BOTH
def test_a_link_shows_its_album_until_it_is_ended(sharing):
    link = sharing.link(Comment="for the family")
    assert set(link) == FIELDS
    assert (link["ShareUID"], link["Slug"], link["Comment"]) == (sharing.album, "summer-at-the-lake", "for the family")
    assert (link["Expires"], link["ExpiresAt"], link["CreatedBy"]) == (0, None, sharing.api.uids["alice"])
    answer = sharing.open(link["Token"])
    assert (answer.json["expires_in"], answer.json["provider"], answer.json["user"]["Role"]) == (
        86_400,
        "link",
        "visitor",
    )
    assert (answer.json["config"]["count"], answer.json["config"]["years"]) == (None, [])
    visitor = answer.json["access_token"]
    page = sharing.api.call("GET", "/photos", visitor)
    assert {photo["Hash"] for photo in page.json} == {photo["Hash"] for photo in sharing.photos}
    picture = f"/t/{sharing.photos[0]['Hash']}/{page.headers['X-Preview-Token']}/tile_224"
    shown = sharing.api.call("GET", picture, buffered=True)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "private, no-cache")
    ended = sharing.call("DELETE", f"/{link['UID']}").json
    assert (ended["UID"], ended["Views"], ended["Token"]) == (link["UID"], 1, "")
    assert sharing.sees(visitor) == 401
    assert sharing.api.call("GET", picture).status_code == 403
    fresh = {"If-None-Match": page.headers["ETag"], "Authorization": f"Bearer {visitor}"}
    assert sharing.api.call("GET", "/photos", headers=fresh).status_code == 401
    check_error(sharing.open(link["Token"]), 404)
    assert sharing.call("GET").json == []
    with sharing.api.library.session() as session:
        assert session.scalar(select(func.count()).select_from(Visit)) == 0


def test_a_token_is_shown_once_and_stored_as_its_digest(sharing):
    link = sharing.link()
    assert ids.is_link_token(link["Token"])
    (listed,) = sharing.call("GET").json
    assert listed == {**link, "Token": ""}
    assert sharing.call("PUT", f"/{link['UID']}", Token="mine").json["Token"] == ""
    with sharing.api.library.session() as session:
        stored = session.scalars(select(Link)).one()
        assert stored.digest == ids.digest(link["Token"])
        assert link["Token"] not in str(vars(stored))


@ON_BOTH
def test_visits_and_the_last_one_are_counted_and_limited(sharing):
    link = sharing.link(MaxViews=2)
    first = sharing.visit(link["Token"])
    sharing.api.clock.move(minutes=5)
    sharing.visit(link["Token"])
    check_error(sharing.open(link["Token"]), 404)
    assert sharing.sees(first) == 200
    (listed,) = sharing.call("GET").json
    assert (listed["Views"], listed["MaxViews"], listed["LastViewAt"]) == (2, 2, "2026-03-01T12:05:00Z")
    sharing.call("PUT", f"/{link['UID']}", MaxViews=0)
    sharing.visit(link["Token"])


def test_a_link_and_its_visits_end_at_its_end(sharing):
    link = sharing.link(Expires=3600)
    assert (link["Expires"], link["ExpiresAt"]) == (3600, "2026-03-01T13:00:00Z")
    answer = sharing.open(link["Token"])
    assert answer.json["expires_in"] == 3600
    sharing.api.clock.move(minutes=59)
    assert sharing.sees(answer.json["access_token"]) == 200
    sharing.api.clock.move(minutes=1)
    assert sharing.sees(answer.json["access_token"]) == 401
    check_error(sharing.open(link["Token"]), 404)


def test_an_earlier_end_counts_for_open_visits_and_a_later_one_does_not_lengthen_them(sharing):
    link = sharing.link()
    visitor = sharing.visit(link["Token"])
    sharing.call("PUT", f"/{link['UID']}", Expires=60)
    assert sharing.sees(visitor) == 200
    sharing.api.clock.move(seconds=60)
    assert sharing.sees(visitor) == 401
    sharing.call("PUT", f"/{link['UID']}", Expires=0)
    assert sharing.sees(sharing.visit(link["Token"])) == 200
    sharing.api.clock.move(hours=24)
    assert sharing.sees(visitor) == 401


def test_a_visit_lasts_a_day_and_its_visitor_can_end_it(sharing):
    link = sharing.link()
    visitor = sharing.visit(link["Token"])
    assert sharing.api.call("GET", "/session", visitor).json["user"]["Role"] == "visitor"
    assert sharing.api.call("DELETE", "/session", visitor).status_code == 200
    assert sharing.sees(visitor) == 401
    later = sharing.visit(link["Token"])
    sharing.api.clock.move(hours=24)
    assert sharing.sees(later) == 401


def test_a_password_is_asked_for_and_another_one_ends_the_visits(sharing):
    link = sharing.link(Password="open sesame")
    assert link["VerifyPassword"] is True
    needed = check_error(sharing.open(link["Token"]), 401)
    assert needed["details"][0]["field"] == "password"
    check_error(sharing.open(link["Token"], password="wrong"), 401)
    visitor = sharing.visit(link["Token"], password="open sesame")
    sharing.call("PUT", f"/{link['UID']}", Comment="the same password")
    assert sharing.sees(visitor) == 200
    sharing.call("PUT", f"/{link['UID']}", Password="another one")
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link["Token"], password="open sesame"), 401)
    sharing.call("PUT", f"/{link['UID']}", Password="")
    sharing.visit(link["Token"])


@pytest.mark.slow
def test_wrong_passwords_are_limited_by_address_and_by_link(sharing):
    link = sharing.link(Password="open sesame")
    statuses = [sharing.open(link["Token"], password=f"wrong {n}").status_code for n in range(11)]
    assert statuses == [401] * 10 + [429]
    assert sharing.open(link["Token"], password="open sesame").status_code == 429
    assert sharing.open(link["Token"], password="open sesame", address="203.0.113.9").status_code == 200
    assert sharing.api.log_in(address="198.51.100.1").status_code == 200  # log-ins are counted apart
    for number in range(30):
        sharing.open(link["Token"], password="wrong", address=f"203.0.113.{number + 20}")
    blocked = sharing.open(link["Token"], password="open sesame", address="203.0.113.200")
    assert (blocked.status_code, int(blocked.headers["Retry-After"]) > 0) == (429, True)
    sharing.api.clock.move(minutes=30)
    sharing.visit(link["Token"], password="open sesame")


@pytest.mark.slow
def test_visits_of_a_link_are_limited_by_address(sharing):
    link, other = sharing.link(), sharing.link()
    first = sharing.visit(link["Token"], address="203.0.113.9")
    statuses = [sharing.open(link["Token"]).status_code for _ in range(101)]
    assert statuses == [200] * 100 + [429]
    blocked = sharing.open(link["Token"])
    assert (blocked.status_code, int(blocked.headers["Retry-After"])) == (429, 10)
    assert blocked.json["error"] == "Too many visits: try again in 10 s."
    assert [one["Views"] for one in sharing.call("GET").json if one["UID"] == link["UID"]] == [101]
    sharing.visit(other["Token"])
    sharing.visit(link["Token"], address="203.0.113.9")
    assert sharing.sees(first) == 200
    sharing.api.clock.move(seconds=10)
    sharing.visit(link["Token"])


def test_the_security_log_names_the_link_of_a_visitor_who_is_refused(sharing):
    link = sharing.link()
    visitor = sharing.visit(link["Token"])
    token = sharing.api.call("GET", "/photos", visitor).headers["X-Preview-Token"]
    for path in (
        "/labels",
        "/photos?q=lake",
        f"/albums/{sharing.album}/dl",
        f"/albums/{sharing.album}/t/{token}/tile_100",
    ):
        assert sharing.api.call("GET", path, visitor if token not in path else None).status_code == 403, path
    lines = sharing.api.call("GET", "/audit?event=access.refused", sharing.api.session_of("ann")).json
    assert [(line["actor_kind"], line["actor_uid"], line["detail"]) for line in lines] == [
        ("visitor", link["UID"], "photos.preview"),
        ("visitor", link["UID"], "photos.download"),
        ("visitor", link["UID"], "photos.search"),
        ("visitor", link["UID"], "labels.search"),
    ]


@pytest.mark.slow
def test_guessed_tokens_are_limited_by_address(sharing):
    statuses = {sharing.open(ids.new_link_token()).status_code for _ in range(60)}
    assert statuses == {404}
    assert sharing.open(ids.new_link_token()).status_code == 429
    sharing.visit(sharing.link()["Token"])  # a right token never waits


@pytest.mark.parametrize("token", ["x", "0" * 26, "A" * 26, "\u0663" * 26, "a" * 5000, "\0" * 26, "a" * 25 + "\n"])
def test_texts_that_are_no_token_are_unknown_links(standing, token):
    check_error(standing.open(token), 404)


@pytest.mark.parametrize("token", [{"a": 1}, ["x"], 5, True])
def test_other_values_for_the_token_are_no_log_in(standing, token):
    assert standing.open(token).status_code in {400, 401}


def test_a_name_and_a_password_count_before_the_token_of_a_link(sharing):
    body = {"username": "alice", "password": PASSWORD, "token": sharing.link()["Token"]}
    assert sharing.api.call("POST", "/session", json=body).json["user"]["Name"] == "alice"


def test_rights_change_at_once(sharing):
    link, photo = sharing.link(), sharing.photos[0]
    visitor = sharing.visit(link["Token"])
    assert sharing.api.call("GET", f"/dl/{photo['Hash']}", visitor).status_code == 403
    sharing.call("PUT", f"/{link['UID']}", CanDownload=True, ShowMetadata=True)
    assert sharing.api.call("GET", f"/dl/{photo['Hash']}", visitor, buffered=True).status_code == 200
    assert {one["FileName"] for one in sharing.api.call("GET", "/photos", visitor).json} == {"300.jpg", "310.jpg"}
    sharing.call("PUT", f"/{link['UID']}", CanDownload=False, ShowMetadata=False)
    assert sharing.api.call("GET", f"/dl/{photo['Hash']}", visitor).status_code == 403
    assert {one["FileName"] for one in sharing.api.call("GET", "/photos", visitor).json} == {""}


def test_an_archive_that_is_being_selected_is_not_sent_after_the_end(sharing):
    link = sharing.link(CanDownload=True, ShowMetadata=True)
    visitor = sharing.visit(link["Token"])
    chosen = {"photos": [photo["UID"] for photo in sharing.photos]}
    stored = sharing.api.call("POST", "/zip", visitor, json=chosen).json
    assert stored["count"] == 2
    path = f"/zip/{stored['filename']}"
    assert sharing.api.call("GET", path, visitor, buffered=True).data[:2] == b"PK"
    sharing.call("DELETE", f"/{link['UID']}")
    assert sharing.api.call("GET", path, visitor).status_code == 401


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"CanDownload": True}, "CanDownload"),
        ({"Expires": -5}, "expires"),
        ({"Expires": 10**12}, "expires"),
        ({"Expires": "soon"}, "Expires"),
        ({"Expires": 0.5}, "Expires"),  # not 0, which is no limit
        ({"MaxViews": -1}, "MaxViews"),
        ({"MaxViews": 10**9}, "MaxViews"),
        ({"MaxViews": 0.5}, "MaxViews"),
        ({"Password": "abc"}, "Password"),
        ({"Password": "x" * 129}, "Password"),
        ({"Password": 5}, "Password"),
        ({"Comment": "x" * 501}, "Comment"),
        ({"Slug": "x" * 161}, "Slug"),
        ({"ShowMetadata": "yes"}, "ShowMetadata"),
    ],
)
def test_a_value_that_is_not_valid_is_named(standing, values, field):
    body = check_error(standing.call("POST", **values), 400)
    assert field in str(body)
    assert standing.call("GET").json == []


def test_names_of_a_published_client_are_understood(sharing):
    link = sharing.link(link_expires=60, share_slug="Our Lake!", max_views=3, can_edit=None)
    assert (link["Expires"], link["Slug"], link["MaxViews"]) == (60, "our-lake", 3)


def test_an_empty_request_makes_a_link(sharing):
    answer = sharing.api.call("POST", f"/albums/{sharing.album}/links", sharing.token)
    assert (answer.status_code, answer.json["Slug"]) == (200, "summer-at-the-lake")


def test_only_albums_of_people_that_all_accounts_see_are_shared(sharing):
    private = sharing.make_album("Diary", Private=True)
    check_error(sharing.api.call("POST", f"/albums/{private}/links", sharing.token, json={}), 409)
    month = sharing.api.call("GET", "/albums?type=folder&count=9", sharing.token).json
    check_error(sharing.api.call("POST", "/albums/atb7yo0000000000/links", sharing.token, json={}), 404)
    for album in month:
        check_error(sharing.api.call("POST", f"/albums/{album['UID']}/links", sharing.token, json={}), 409)


@pytest.mark.parametrize("change", ["private", "deleted"])
def test_a_link_opens_nothing_while_its_album_is_private_or_deleted(sharing, change):
    link = sharing.link()
    visitor = sharing.visit(link["Token"])
    if change == "private":
        sharing.api.call("PUT", f"/albums/{sharing.album}", sharing.token, json={"Private": True})
    else:
        sharing.api.call("DELETE", f"/albums/{sharing.album}", sharing.token)
    assert sharing.sees(visitor) == 404
    for photo in sharing.photos:
        preview = sharing.api.call("GET", "/session", visitor).json["config"]["previewToken"]
        assert sharing.api.call("GET", f"/t/{photo['Hash']}/{preview}/tile_224").status_code == 404
    check_error(sharing.open(link["Token"]), 404)
    if change == "private":
        sharing.api.call("PUT", f"/albums/{sharing.album}", sharing.token, json={"Private": False})
        assert sharing.sees(visitor) == 200


def test_a_link_stops_with_the_account_that_made_it(sharing):
    link, admin = sharing.link(), sharing.api.session_of("ann")
    visitor, path = sharing.visit(link["Token"]), sharing.api.user_path()
    sharing.api.call("PUT", path, admin, json={"Disabled": True})
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link["Token"]), 404)
    sharing.api.call("PUT", path, admin, json={"Disabled": False})
    assert sharing.sees(visitor) == 200
    sharing.api.call("DELETE", path, admin)
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link["Token"]), 404)
    with sharing.api.library.session() as session:
        assert session.scalar(select(func.count()).select_from(Link)) == 0


@pytest.mark.slow
def test_a_link_opens_nothing_while_the_account_that_made_it_may_make_none(sharing):
    link, admin = sharing.link(), sharing.api.session_of("ann")
    visitor = sharing.visit(link["Token"])
    preview = sharing.api.call("GET", "/session", visitor).json["config"]["previewToken"]
    picture = f"/t/{sharing.photos[0]['Hash']}/{preview}/tile_224"
    sharing.api.call("PUT", sharing.api.user_path(), admin, json={"Role": "viewer"})
    assert (sharing.sees(visitor), sharing.api.call("GET", picture).status_code) == (401, 403)
    check_error(sharing.open(link["Token"]), 404)
    sharing.api.call("PUT", sharing.api.user_path(), admin, json={"Role": "user"})
    assert (sharing.sees(visitor), sharing.api.call("GET", picture, buffered=True).status_code) == (200, 200)


def test_a_link_that_a_client_made_stops_with_the_account_of_the_client(sharing):
    admin = sharing.api.session_of("ann")
    client = sharing.api.client_token(role="admin")
    with sharing.api.library.session() as session:
        account = select(User.id).where(User.name == "alice").scalar_subquery()
        session.execute(update(Client).values(user_id=account))
        session.commit()
    path = f"/albums/{sharing.album}/links"
    link = sharing.api.call("POST", path, client, json={}).json
    visitor = sharing.visit(link["Token"])
    sharing.api.call("PUT", sharing.api.user_path(), admin, json={"Disabled": True})
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link["Token"]), 404)
    sharing.api.call("DELETE", sharing.api.user_path(), admin)
    assert sharing.api.call("GET", path, admin).json == []


def test_albums_tell_the_number_of_their_links_to_those_who_may_list_them(sharing):
    def counts(token, **headers):
        headers["Authorization"] = f"Bearer {token}"
        listed, one = (
            sharing.api.call("GET", path, headers=headers) for path in ("/albums", f"/albums/{sharing.album}")
        )
        tags.update({"list": listed.headers["ETag"], "one": one.headers["ETag"]})
        return sorted(album["LinkCount"] for album in listed.json), one.json["LinkCount"]

    tags = {}
    sharing.make_album("Other")
    assert counts(sharing.token) == ([0, 0], 0)
    first, second = sharing.link(), sharing.link(Expires=60)
    for path, tag in (("/albums", tags["list"]), (f"/albums/{sharing.album}", tags["one"])):
        headers = {"Authorization": f"Bearer {sharing.token}", "If-None-Match": tag}
        assert sharing.api.call("GET", path, headers=headers).status_code == 200
    assert counts(sharing.token) == ([0, 2], 2)
    changed = sharing.api.call("PUT", f"/albums/{sharing.album}", sharing.token, json={"Title": "Winter"})
    assert changed.json["LinkCount"] == 2
    assert counts(sharing.api.app_password("vera")) == ([0, 0], 0)
    assert counts(sharing.api.app_password(scope="albums")) == ([0, 0], 0)
    visitor = sharing.visit(first["Token"])
    assert sharing.api.call("GET", f"/albums/{sharing.album}", visitor).json["LinkCount"] == 0
    sharing.call("DELETE", f"/{second['UID']}")
    assert counts(sharing.token) == ([0, 1], 1)


def test_a_link_belongs_to_its_album(sharing):
    link = sharing.link()
    other = sharing.make_album("Other")
    for method in ("PUT", "DELETE"):
        path = f"/albums/{other}/links/{link['UID']}"
        check_error(sharing.api.call(method, path, sharing.token, json={} if method == "PUT" else None), 404)
    check_error(sharing.call("DELETE", "/nothing"), 404)
    assert len(sharing.call("GET").json) == 1


@pytest.mark.slow
@ON_BOTH
def test_the_number_of_links_and_of_open_visits_is_limited(sharing):
    link = sharing.link()
    now = sharing.api.clock()
    with sharing.api.library.session() as session:
        stored = session.scalars(select(Link)).one()
        for number in range(MOST_VISITS):
            visit = Credential(
                uid=f"sess{number:08}", kind="visit", digest=str(number), scope="photos", created_at=now,
                expires_at=now + timedelta(hours=1),
            )  # fmt: skip
            session.add(visit)
            session.flush()
            session.add(Visit(credential_id=visit.id, link_id=stored.id))
        for number in range(MOST_LINKS - 1):
            values = {name: getattr(stored, name) for name in ("slug", "album_uid", "created_at", "updated_at")}
            session.add(Link(uid=f"s{number:015}", digest=str(number), **values))
        session.commit()
    sharing.visit(link["Token"])
    with sharing.api.library.session() as session:
        assert session.scalar(select(func.count()).select_from(Visit)) == MOST_VISITS
    check_error(sharing.call("POST"), 409)


def test_the_security_log_has_who_made_changed_and_ended_a_link(sharing):
    link = sharing.link(Password="open sesame", MaxViews=9)
    sharing.call("PUT", f"/{link['UID']}", Password="another one", Expires=60)
    sharing.call("DELETE", f"/{link['UID']}")
    found = [event for event in sharing.events() if event[0].startswith("link.")]
    album = f"album {sharing.album}"
    before = f"{album}, pictures only, without end, at most 9 visits, password"
    after = f"{album}, pictures only, until 2026-03-01 12:01, at most 9 visits, password"
    assert found == [
        ("link.ended", link["UID"], album),
        ("link.changed", link["UID"], f"another password, {before} to {after}"),
        ("link.made", link["UID"], before),
    ]
    assert link["Token"] not in str(sharing.events())
