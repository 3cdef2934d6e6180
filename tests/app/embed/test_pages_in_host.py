"""The web page inside a host app: below its prefix, with its templates, beside its own pages."""

import re
from html import unescape

from sqlalchemy import delete
from sqlalchemy.orm import Session

from photosvc import HostUser
from photosvc.models import SearchRow, User
from tests.app.embed.host import open_host
from tests.app.pages.browser import text_of
from tests.helpers.api_client import HASH, PASSWORD
from tests.helpers.factories.accounts import add_user

OWN = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Dest": "document"}


def sign_in(app, prefix="/media"):
    with app.app_context(), Session(app.extensions["photosvc"].engine()) as session:
        if not session.query(User).filter_by(name="alice").count():
            add_user(session, "alice", password_hash=HASH)
        session.commit()
    client = app.test_client()
    answer = client.post(f"{prefix}/sign-in", data={"name": "alice", "password": PASSWORD}, headers=OWN)
    assert answer.status_code == 303, answer.text
    return client, answer


def addresses(page):
    """All addresses of a page, without those of other pages' parts."""
    found = re.findall(r'(?:href|src|action)="([^"#]+)"', page.text)
    return {unescape(address) for address in found}


def test_everything_of_the_page_lies_below_the_prefix(tmp_path):
    with open_host(tmp_path / "host") as app:
        client, answer = sign_in(app)
        assert answer.headers["Location"] == "/media/"
        (cookie,) = answer.headers.getlist("Set-Cookie")
        assert "; Path=/media; " in cookie
        for path in ("/media/", "/media/?q=lake", "/media/settings/account", "/media/settings/account/apps"):
            page = client.get(path, headers=OWN)
            assert page.status_code == 200, path
            assert all(address.startswith("/media/") for address in addresses(page)), path
        grid = client.get("/media/", headers=OWN).text
        uid = re.search(r"p[0-9a-z]{15}", grid[grid.index("data-first") :])[0]
        photo = re.search('data-photo="([^"]+)"', grid)[1].replace("UID", uid)
        page = client.get(photo, headers=OWN)
        assert all(address.startswith("/media/") for address in addresses(page))
        style = next(address for address in addresses(page) if address.endswith("base.css"))
        assert client.get(style).content_type == "text/css; charset=utf-8"
        client.delete_cookie(cookie.partition("=")[0], path="/media")
        back = client.get(photo, headers=OWN).headers["Location"]
        assert back == f"/media/sign-in?next={photo}".replace("?q", "%3Fq")


def test_over_https_the_cookie_is_of_the_whole_host_whatever_the_prefix(tmp_path):
    with open_host(tmp_path / "host") as app:
        sign_in(app)
        client = app.test_client()
        form = {"name": "alice", "password": PASSWORD}
        answer = client.post("/media/sign-in", data=form, headers=OWN, base_url="https://host.test")
        (cookie,) = answer.headers.getlist("Set-Cookie")
        assert cookie.startswith("__Host-photosvc-")
        assert "; Path=/; " in cookie


def test_requests_of_the_host_run_only_the_end_of_a_connection_that_it_opened(tmp_path):
    mine = []

    def prepare(app):
        app.before_request(lambda: mine.append("before"))
        app.after_request(lambda answer: mine.append("after") or answer)
        app.add_url_rule("/own", "own", lambda: ({"error": "No such thing."}, 404))
        app.before = hooks(app)

    def hooks(app):
        kinds = (
            app.before_request_funcs, app.after_request_funcs, app.teardown_request_funcs, app.url_default_functions,
            app.url_value_preprocessors, app.template_context_processors, app.error_handler_spec,
        )  # fmt: skip
        names = set(app.jinja_env.globals) | set(app.jinja_env.filters)
        return [*(repr(dict(kind).get(None)) for kind in kinds), names, app.wsgi_app, app.json]

    with open_host(tmp_path / "host", prepare=prepare) as app:
        assert hooks(app) == app.before
        assert app.teardown_appcontext_funcs[1:] == [app.extensions["photosvc"].end]  # after Flask-SQLAlchemy's
        script = {"X-Photosvc": "1", "Accept-Language": "de"}
        assert app.test_client().get("/own", headers=script).json == {"error": "No such thing."}
        assert mine == ["before", "after"]


def test_two_apps_in_one_process_keep_nothing_of_each_other(tmp_path):
    with open_host(tmp_path / "one") as one, open_host(tmp_path / "two") as two:  # copies of one library, in one state
        with two.app_context(), two.extensions["photosvc"].engine().begin() as connection:
            connection.execute(delete(SearchRow).where(SearchRow.photo_id == 1))
        shown = {app: summary(sign_in(app)[0]) for app in (one, two)}
        assert (shown[one], shown[two]) == ("3 photos", "2 photos")


def summary(client):
    return re.search("[0-9]+ photos", text_of(client.get("/media/", headers=OWN)))[0]


def test_templates_of_the_host_replace_those_of_the_page(tmp_path):
    templates = tmp_path / "templates" / "photosvc"
    templates.mkdir(parents=True)
    (templates / "head.html").write_text('<link rel="stylesheet" href="/house.css">')
    (templates / "error.html").write_text("<h1>Ours: {{ message }}</h1>")

    def prepare(app):
        app.template_folder = str(tmp_path / "templates")

    with open_host(tmp_path / "host", prepare=prepare) as app:
        client, _ = sign_in(app)
        assert '<link rel="stylesheet" href="/house.css">' in client.get("/media/", headers=OWN).text
        assert client.get("/media/photos/x", headers=OWN).text.startswith("<h1>Ours: This photo does not exist")


def test_a_host_that_turns_escaping_off_gets_escaped_pages(tmp_path):
    def prepare(app):
        app.select_jinja_autoescape = lambda _name: False

    with open_host(tmp_path / "host", prepare=prepare) as app:
        client, _ = sign_in(app)
        page = client.get("/media/", headers=OWN, query_string={"q": '"><script>alert(1)</script>'})
        assert "<script>alert" not in page.text


def test_all_pages_for_users_of_the_host_lie_below_its_prefix(tmp_path):
    with open_host(tmp_path / "host", principal_loader=lambda: HostUser(id="7", role="admin")) as app:
        client = app.test_client()
        form = {"Title": "Lake", "kind": "found", "Filter": "quality:0-", "Order": "oldest"}
        made = client.post("/media/albums/new", data=form, headers=OWN)
        album = made.headers["Location"].removesuffix("?done=made")
        assert album.startswith("/media/albums/a")
        names = (
            "library",
            "library/failures",
            "library/trash",
            "library/trash/empty",
            "look-alikes",
            "statistics",
        )
        paths = [f"/media/administration/{name}" for name in names]
        paths += [f"/media/{name}" for name in ("albums", "folders", "albums/new", "places?q=year:1990-")]
        for path in (*paths, album, f"{album}/edit"):
            page = client.get(path, headers=OWN)
            assert page.status_code == 200, path
            assert all(address.startswith("/media/") for address in addresses(page)), path
        data = dict(re.findall(r' data-(\w+)="([^"]*)"', client.get("/media/places", headers=OWN).text))
        assert [data[name].startswith("/media/") for name in ("api", "outline")] == [True, True]
