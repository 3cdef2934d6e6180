"""Public links to albums: making, listing, changing and ending them, and what opens a visit."""

from sqlalchemy import func, select, update

from photosvc.auth.throttle import Allowance
from photosvc.core import ids
from photosvc.models import Client, Link, User, Visit
from photosvc.web import visits
from tests.helpers.api_client import PASSWORD, check_error

FIELDS = {
    "UID", "ShareUID", "Slug", "Token", "Expires", "ExpiresAt", "Views", "LastViewAt", "MaxViews", "VerifyPassword",
    "CanDownload", "CanUpload", "ShowMetadata", "Comment", "Perm", "CreatedBy", "CreatedAt", "ModifiedAt",
}  # fmt: skip


def preview(sharing, visitor):
    """The path of a picture for a visitor."""
    page = sharing.call("GET", "/photos", visitor)
    return f"/t/{sharing.photos['member']['Hash']}/{page.headers['X-Preview-Token']}/tile_224"


def count(sharing, model):
    with sharing.api.library.session() as session:
        return session.scalar(select(func.count()).select_from(model))


def test_a_link_shows_its_album_until_it_is_ended(sharing):
    link = sharing.link(Comment="for the family")
    assert set(link) == FIELDS
    assert (link["ShareUID"], link["Slug"], link["Comment"]) == (sharing.album, "summer-at-the-lake", "for the family")
    assert (link["Expires"], link["ExpiresAt"], link["CreatedBy"]) == (0, None, sharing.api.uids["alice"])
    opened = sharing.open(link).json
    assert (opened["expires_in"], opened["provider"], opened["user"]["Role"]) == (86_400, "link", "visitor")
    assert (opened["config"]["count"], opened["config"]["years"]) == (None, [])
    visitor = opened["access_token"]
    page, picture = sharing.call("GET", "/photos", visitor), preview(sharing, visitor)
    assert [photo["Hash"] for photo in page.json] == [sharing.photos["member"]["Hash"]]
    shown = sharing.api.call("GET", picture, buffered=True)
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "private, no-cache")
    ended = sharing.links("DELETE", f"/{link['UID']}").json
    assert (ended["UID"], ended["Views"], ended["Token"]) == (link["UID"], 1, "")
    assert sharing.sees(visitor) == 401
    assert sharing.api.call("GET", picture).status_code == 403
    assert sharing.call("GET", "/photos", visitor, headers={"If-None-Match": page.headers["ETag"]}).status_code == 401
    check_error(sharing.open(link), 404)
    assert (sharing.links().json, count(sharing, Visit)) == ([], 0)


def test_a_token_is_shown_once_and_stored_as_its_digest(sharing):
    link = sharing.link()
    assert ids.is_link_token(link["Token"])
    assert sharing.links().json == [{**link, "Token": ""}]
    assert sharing.change(link, Token="mine").json["Token"] == ""
    with sharing.api.library.session() as session:
        stored = session.scalars(select(Link)).one()
        assert stored.digest == ids.digest(link["Token"])
        assert link["Token"] not in str(vars(stored))


def test_a_visit_lasts_a_day_or_until_the_end_of_its_link_or_its_visitor_ends_it(sharing):
    hour, plain = sharing.link(Expires=3600), sharing.link()
    assert (hour["Expires"], hour["ExpiresAt"]) == (3600, "2026-03-01T13:00:00Z")
    opened = sharing.open(hour).json
    short, later, ended, shortened = opened["access_token"], *(sharing.visit(plain) for _ in range(3))
    assert opened["expires_in"] == 3600
    assert sharing.call("GET", "/session", ended).json["user"]["Role"] == "visitor"
    assert sharing.call("GET", "/config", short).json == opened["config"]
    assert (opened["config"]["count"], opened["config"]["years"]) == (None, [])
    assert sharing.call("DELETE", "/session", ended).status_code == 200
    assert sharing.sees(ended) == 401
    sharing.api.clock.move(minutes=59)
    assert sharing.sees(short) == 200
    sharing.api.clock.move(minutes=1)
    assert sharing.sees(short) == 401
    check_error(sharing.open(hour), 404)
    sharing.change(plain, Expires=60)  # an earlier end counts for open visits
    assert sharing.sees(shortened) == 200
    sharing.api.clock.move(seconds=60)
    assert sharing.sees(shortened) == 401
    sharing.change(plain, Expires=0)  # and a later one does not lengthen them
    assert sharing.sees(later) == 200
    sharing.api.clock.move(hours=23)
    assert sharing.sees(later) == 401


def test_a_password_is_required_and_another_one_ends_the_visits(sharing):
    link = sharing.link(Password="open sesame")
    assert link["VerifyPassword"] is True
    assert check_error(sharing.open(link), 401)["details"][0]["field"] == "password"
    check_error(sharing.open(link, password="wrong"), 401)
    visitor = sharing.visit(link, password="open sesame")
    sharing.change(link, Comment="the same password")
    assert sharing.sees(visitor) == 200
    sharing.change(link, Password="another one")
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link, password="open sesame"), 401)
    sharing.change(link, Password="")
    sharing.visit(link)


def test_wrong_passwords_are_limited_by_address_and_by_link(sharing, monkeypatch):
    monkeypatch.setattr(visits, "_PASSWORD_BY_ADDRESS", Allowance("link-password-address", burst=2, seconds=60))
    monkeypatch.setattr(visits, "_PASSWORD_BY_LINK", Allowance("link-password", burst=4, seconds=30))
    link = sharing.link(Password="open sesame")
    assert [sharing.open(link, password="wrong").status_code for _ in range(3)] == [401, 401, 429]
    assert sharing.open(link, password="open sesame").status_code == 429
    assert sharing.open(link, password="open sesame", address="203.0.113.9").status_code == 200
    assert sharing.api.log_in(address="198.51.100.1").status_code == 200  # log-ins have a count of their own
    for number in range(3):
        sharing.open(link, password="wrong", address=f"203.0.113.{number + 20}")
    blocked = sharing.open(link, password="open sesame", address="203.0.113.200")
    assert (blocked.status_code, int(blocked.headers["Retry-After"]) > 0) == (429, True)
    sharing.api.clock.move(minutes=30)
    sharing.visit(link, password="open sesame")


def test_visits_of_a_link_are_limited_by_address(sharing, monkeypatch):
    monkeypatch.setattr(visits, "_VISITS_BY_ADDRESS", Allowance("link-visits", burst=3, seconds=10))
    link, other = sharing.link(), sharing.link()
    first = sharing.visit(link, address="203.0.113.9")
    assert [sharing.open(link).status_code for _ in range(4)] == [200, 200, 200, 429]
    blocked = sharing.open(link)
    assert (blocked.headers["Retry-After"], blocked.json["error"]) == ("10", "Too many visits: try again in 10 s.")
    assert [one["Views"] for one in sharing.links().json if one["UID"] == link["UID"]] == [4]
    sharing.visit(other)
    sharing.visit(link, address="203.0.113.9")
    assert sharing.sees(first) == 200
    sharing.api.clock.move(seconds=10)
    sharing.visit(link)


def test_guessed_tokens_are_limited_by_address(sharing):
    assert {sharing.open(ids.random_text(26, ids.BASE36)).status_code for _ in range(60)} == {404}
    assert sharing.open(ids.random_text(26, ids.BASE36)).status_code == 429
    sharing.visit(sharing.link())  # a right token never waits


def test_texts_and_values_that_are_no_token_open_nothing(sharing):
    for token in ("x", "0" * 26, "A" * 26, "\u0663" * 26, "a" * 5000, "\0" * 26, "a" * 25 + "\n"):
        assert sharing.open(token).status_code == 404, token
    for value in (["x"], 5, True, {"a": 1}):
        answer = sharing.api.call("POST", "/session", json={"token": value})
        assert answer.status_code in {400, 401}, value
    body = {"username": "alice", "password": PASSWORD, "token": sharing.link()["Token"]}
    assert sharing.api.call("POST", "/session", json=body).json["user"]["Name"] == "alice"


def test_the_security_log_names_the_link_of_a_visitor_who_is_refused(sharing):
    link = sharing.link()
    visitor = sharing.visit(link)
    picture = preview(sharing, visitor).split("/")[3]
    for path in ("/labels", "/photos?q=lake", f"/albums/{sharing.album}/dl"):
        assert sharing.call("GET", path, visitor).status_code == 403, path
    assert sharing.api.call("GET", f"/albums/{sharing.album}/t/{picture}/tile_100").status_code == 403
    refused = [(line["actor_kind"], line["actor_uid"], line["detail"]) for line in sharing.audit("access.refused")]
    actions = ("photos.preview", "photos.download", "photos.search", "labels.search")
    assert refused == [("visitor", link["UID"], action) for action in actions]


def test_rights_change_at_once(sharing):
    link, photo = sharing.link(), sharing.photos["member"]
    visitor = sharing.visit(link)
    for status, name in ((403, ""), (200, "member.jpg"), (403, "")):
        sharing.change(link, CanDownload=status == 200, ShowMetadata=status == 200)
        assert sharing.call("GET", f"/dl/{photo['Hash']}", visitor, buffered=True).status_code == status
        assert [one["FileName"] for one in sharing.call("GET", "/photos", visitor).json] == [name]


def test_an_archive_that_is_being_selected_is_not_sent_after_the_end(sharing):
    link = sharing.link(CanDownload=True, ShowMetadata=True)
    visitor = sharing.visit(link)
    stored = sharing.call("POST", "/zip", visitor, json={"photos": [sharing.uids["member"]]}).json
    path = f"/zip/{stored['filename']}"
    assert sharing.call("GET", path, visitor, buffered=True).data[:2] == b"PK"
    sharing.end(link)
    assert sharing.call("GET", path, visitor).status_code == 401


def test_a_value_that_is_not_valid_is_named(sharing):
    for values, field in (
        ({"CanDownload": True}, "CanDownload"), ({"Expires": -5}, "expires"), ({"Expires": 10**12}, "expires"),
        ({"Expires": "soon"}, "Expires"), ({"Expires": 0.5}, "Expires"),  # not 0, which is no limit
        ({"MaxViews": -1}, "MaxViews"), ({"MaxViews": 10**9}, "MaxViews"), ({"MaxViews": 0.5}, "MaxViews"),
        ({"Password": "abc"}, "Password"), ({"Password": "x" * 129}, "Password"), ({"Password": 5}, "Password"),
        ({"Comment": "x" * 501}, "Comment"), ({"Slug": "x" * 161}, "Slug"), ({"ShowMetadata": "yes"}, "ShowMetadata"),
    ):  # fmt: skip
        assert field in str(check_error(sharing.links("POST", **values), 400)), values
    assert sharing.links().json == []
    link = sharing.link(link_expires=60, share_slug="Our Lake!", max_views=3, can_edit=None)  # of a published client
    assert (link["Expires"], link["Slug"], link["MaxViews"]) == (60, "our-lake", 3)
    answer = sharing.call("POST", f"/albums/{sharing.album}/links")
    assert (answer.status_code, answer.json["Slug"]) == (200, "summer-at-the-lake")


def test_only_albums_of_people_that_all_accounts_see_are_shared(sharing):
    computed = sharing.call("GET", "/albums?type=month&count=9").json
    assert computed
    for album in (sharing.make_album("Diary", Private=True), *(album["UID"] for album in computed)):
        check_error(sharing.links("POST", album=album), 409)
    check_error(sharing.links("POST", album="atb7yo0000000000"), 404)


def test_a_link_opens_nothing_while_its_album_is_private_or_deleted(sharing):
    link = sharing.link()
    visitor = sharing.visit(link)
    token = sharing.call("GET", "/session", visitor).json["config"]["previewToken"]
    path, picture = f"/albums/{sharing.album}", f"/t/{sharing.photos['member']['Hash']}/{token}/tile_224"
    for change in ({"Private": True}, {"Private": False}, None):
        sharing.call("PUT" if change else "DELETE", path, json=change)
        status = 200 if change == {"Private": False} else 404
        assert sharing.sees(visitor) == status, change
        assert sharing.api.call("GET", picture, buffered=True).status_code == status, change
        assert sharing.open(link).status_code == status, change


def test_a_link_stops_with_the_account_that_made_it(sharing):
    link = sharing.link()
    visitor = sharing.visit(link)
    picture = preview(sharing, visitor)
    for values, seen, shown in (
        ({"Role": "viewer"}, 401, 403), ({"Role": "user"}, 200, 200),
        ({"Disabled": True}, 401, 403), ({"Disabled": False}, 200, 200),
    ):  # fmt: skip
        sharing.set_account(**values)
        assert sharing.sees(visitor) == seen, values
        assert sharing.api.call("GET", picture, buffered=True).status_code == shown, values
        assert sharing.open(link).status_code == (200 if seen == 200 else 404), values
    sharing.call("DELETE", sharing.api.user_path(), sharing.api.session_of("ann"))
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link), 404)
    assert count(sharing, Link) == 0


def test_a_link_that_a_client_made_stops_with_the_account_of_the_client(sharing):
    client = sharing.api.client_token(role="admin")
    with sharing.api.library.session() as session:
        account = select(User.id).where(User.name == "alice").scalar_subquery()
        session.execute(update(Client).values(user_id=account))
    link = sharing.link(token=client)
    visitor = sharing.visit(link)
    sharing.set_account(Disabled=True)
    assert sharing.sees(visitor) == 401
    check_error(sharing.open(link), 404)
    admin = sharing.api.session_of("ann")
    sharing.call("DELETE", sharing.api.user_path(), admin)
    assert sharing.links(token=admin).json == []


def test_albums_have_the_number_of_links_for_accounts_that_may_list_links(sharing):
    paths = ("/albums", f"/albums/{sharing.album}")

    def counts(token):
        listed, album = (sharing.call("GET", path, token) for path in paths)
        return sorted(one["LinkCount"] for one in listed.json), album.json["LinkCount"]

    sharing.make_album("Other")
    tags = [sharing.call("GET", path).headers["ETag"] for path in paths]
    assert counts(sharing.token) == ([0, 0], 0)
    first, second = sharing.link(), sharing.link(Expires=60)
    for path, tag in zip(paths, tags, strict=True):
        assert sharing.call("GET", path, headers={"If-None-Match": tag}).status_code == 200, path
    assert counts(sharing.token) == ([0, 2], 2)
    assert sharing.call("PUT", paths[1], json={"Title": "Winter"}).json["LinkCount"] == 2
    for token in (sharing.api.app_password("vera"), sharing.api.app_password(scope="albums")):
        assert counts(token) == ([0, 0], 0)
    assert sharing.call("GET", paths[1], sharing.visit(first)).json["LinkCount"] == 0
    sharing.end(second)
    assert counts(sharing.token) == ([0, 1], 1)


def test_a_link_belongs_to_its_album(sharing):
    link, other = sharing.link(), sharing.make_album("Other")
    for method, path, album in (("PUT", link["UID"], other), ("DELETE", link["UID"], other), ("DELETE", "no", None)):
        check_error(sharing.links(method, f"/{path}", album=album), 404)
    assert len(sharing.links().json) == 1


def test_the_security_log_names_the_accounts_that_made_changed_and_ended_a_link(sharing):
    link = sharing.link(Password="open sesame", MaxViews=9)
    sharing.change(link, Password="different one", Expires=60)
    sharing.end(link)
    lines = [line for line in sharing.audit("changes") if line["event"].startswith("link.")]
    album = f"album {sharing.album}"
    before = f"{album}, pictures only, without end, at most 9 visits, password"
    after = f"{album}, pictures only, until 2026-03-01 12:01, at most 9 visits, password"
    assert [(line["event"], line["target"], line["detail"]) for line in lines] == [
        ("link.ended", link["UID"], album),
        ("link.changed", link["UID"], f"another password, {before} to {after}"),
        ("link.made", link["UID"], before),
    ]
    for secret in (link["Token"], "open sesame", "different one"):
        assert secret not in str(sharing.audit("changes"))
