"""The host app of examples/embed: each step of `make example`, and what its users see."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

for needed in ("flask_login", "flask_migrate", "flask_wtf"):
    pytest.importorskip(needed, reason="needs the extra `test`")


ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/embed"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """The example after the steps of `make example`, with its database in a folder of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSTANCE", str(tmp_path_factory.mktemp("example")))
        patch.setenv("PHOTOS", "")
        spec = importlib.util.spec_from_file_location("example_app", FOLDER / "app.py")
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "example_app", module)  # Flask finds its templates by it
        spec.loader.exec_module(module)
    app = module.app
    app.photos = module.photos
    for arguments in (["db", "upgrade"], ["svc", "db", "upgrade"], ["svc", "index", "--workers", "1"], ["db", "check"]):
        done = app.test_cli_runner().invoke(args=arguments)
        assert done.exit_code == 0, done.output
    yield app
    with app.app_context():
        module.db.engine.dispose()


def enter(app, name, password="correct horse"):
    client = app.test_client()
    form = {"csrf_token": token_in(client.get("/enter").text), "name": name, "password": password}
    return client, client.post("/enter", data=form)


def token_in(page):
    return re.search(r'name="csrf_token" value="([^"]+)"', page)[1]


def test_nobody_sees_photos_before_entering(app):
    client = app.test_client()
    assert client.get("/").headers["Location"].startswith("/enter")
    assert client.get("/media/api/v1/photos").status_code == 401


def test_a_user_searches_looks_at_thumbnails_and_writes_a_note(app):
    client, answer = enter(app, "ann")
    assert answer.headers["Location"] == "/"
    page = client.get("/?q=stars").text
    assert re.findall(r"<b>(.+?)</b>", page) == ["Stars over the lake"]
    with client.get(re.search(r'src="(/media/api/v1/t/[^"]+)"', page)[1]) as thumbnail:
        assert (thumbnail.status_code, thumbnail.content_type) == (200, "image/jpeg")
    note = {"csrf_token": token_in(page), "text": "<b>cold</b>", "q": "stars"}
    assert client.post(re.search(r'action="(/notes/[^"]+)"', page)[1], data=note).status_code == 302
    assert "<p>&lt;b&gt;cold&lt;/b&gt;</p>" in client.get("/?q=stars").text


def test_pages_of_photos_lead_to_all_of_them(app):
    client, _ = enter(app, "ann")
    titles, address = [], "/"
    while address:
        page = client.get(address).text
        titles += re.findall(r"<b>(.*?)</b>", page)
        following = re.search(r'<a href="([^"]+)">More', page)
        address = following and following[1].replace("&amp;", "&")
    assert len(titles) == len(app.photos.search(primary=True)) > 12


def test_a_wrong_query_is_a_sentence_and_a_wrong_password_lets_nobody_in(app):
    client, _ = enter(app, "ann")
    assert "unknown filter &#34;nosuch&#34;" in client.get("/?q=nosuch:1").text
    client, answer = enter(app, "ann", "wrong password")
    assert "Wrong password" in answer.text
    assert client.get("/media/api/v1/photos").status_code == 401


def test_forms_of_other_sites_are_refused(app):
    client, _ = enter(app, "ann")
    assert client.post("/notes/x", data={"text": "spam"}).status_code == 400
    assert client.post("/media/api/v1/photos/x/like", headers={"Origin": "https://evil.example"}).status_code == 403


def test_its_migrations_never_speak_of_photosvc():
    assert "photosvc" not in "".join(path.read_text() for path in (FOLDER / "migrations/versions").glob("*.py"))


def test_it_has_about_sixty_lines():
    lines = (FOLDER / "app.py").read_text().splitlines()
    own = [line for line in lines if line.strip() and not re.match(r'import |from |"""', line)]
    assert len(own) <= 66
