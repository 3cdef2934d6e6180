"""photosvc inside another app: neither sees the other's rows, tables or errors."""

from shutil import copytree

import pytest
from flask import Flask, request
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import event, inspect, select, text
from sqlalchemy.orm import Session

from photosvc.core.errors import SettingError
from photosvc.extension import PhotoService
from photosvc.index.run import IndexOptions, run_index
from photosvc.models import schema
from photosvc.web.service import current_service
from tests.helpers.clock import MovedClock
from tests.helpers.factories.accounts import add_token
from tests.helpers.library import migrated_database
from tests.helpers.pictures import jpeg


class Host:
    """A small app with its own users and photos, error pages and hooks, and photosvc below /media.

    With `like`, it has the files and databases of that closed one.
    """

    def __init__(self, folder, *, bind_key=None, pictures=1, engine_options=None, like=None):
        if like:
            copytree(like.app.instance_path, folder)
        else:
            folder.mkdir()
            (folder / ("media.db" if bind_key else "host.db")).write_bytes(migrated_database(of_a_host=True))
        self.app = Flask("host", instance_path=str(folder))
        self.app.config.update(
            SQLALCHEMY_DATABASE_URI=f"sqlite:///{folder / 'host.db'}",
            SQLALCHEMY_ENGINE_OPTIONS=engine_options or {},
            SQLALCHEMY_BINDS={"media": f"sqlite:///{folder / 'media.db'}"},
            PHOTOSVC_ORIGINALS=folder / "originals",
            PHOTOSVC_BASE_URL=f"https://{folder.name}.example.org/media",
        )
        self.db = SQLAlchemy(self.app)
        self.hooked = []
        self._declare()
        self.service = PhotoService(self.app, db=self.db, url_prefix="/media", bind_key=bind_key, clock=MovedClock())
        if like:
            self.token = like.token
            return
        (folder / "originals").mkdir()
        for number in range(pictures):
            (folder / "originals" / f"{folder.name}{number}.jpg").write_bytes(jpeg(64 + number, 48))
        with self.app.app_context():
            self.db.create_all()
            service = current_service()
            with Session(service.engine()) as session:
                run_index(session, service.settings, service.clock, IndexOptions(workers=1))
            with service.writing() as session:
                self.token = add_token(session, service.now(), "photos")
            self.db.session.add(self.user(nick=folder.name))
            self.db.session.commit()

    def _declare(self):
        app, db = self.app, self.db

        class User(db.Model):
            __tablename__ = "users"
            id = db.Column(db.Integer, primary_key=True)
            nick = db.Column(db.Text)

        class Photo(db.Model):
            __tablename__ = "photos"
            id = db.Column(db.Integer, primary_key=True)

        self.user, self.photo = User, Photo
        app.before_request(lambda: self.hooked.append(1))
        app.register_error_handler(404, lambda error: ("the host's 404", 404))
        app.register_error_handler(500, lambda error: ("the host's 500", 500))
        app.add_url_rule("/users", "users", lambda: ",".join(db.session.scalars(select(User.nick))))
        app.add_url_rule("/fail", "fail", lambda: 1 / 0)
        app.add_url_rule("/media/api/v1/weather", "weather", lambda: "sunny")

    def get(self, path, token=None):
        headers = {"X-Auth-Token": token} if token else {}
        return self.app.test_client().get(path, headers=headers)

    def names(self):
        return sorted(record["FileName"] for record in self.get("/media/api/v1/photos", self.token).json)

    def close(self):
        with self.app.app_context():
            for engine in self.db.engines.values():
                engine.dispose()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The host that `host` copies; most other tests of hosts have the tables in the default engine."""
    host = Host(tmp_path_factory.mktemp("prepared") / "first", bind_key="media", pictures=2)
    host.close()
    return host


@pytest.fixture
def host(prepared, tmp_path):
    host = Host(tmp_path / "first", bind_key="media", like=prepared)
    yield host
    host.close()


def test_the_number_of_proxies_is_refused_because_the_middleware_is_the_hosts(tmp_path):
    app = Flask("host", instance_path=str(tmp_path))
    app.config.update(SQLALCHEMY_DATABASE_URI="sqlite://", PHOTOSVC_PROXIES=2)
    with pytest.raises(SettingError, match=r"leave it out, and wrap that app in .*ProxyFix\(app\.wsgi_app, x_for=2"):
        PhotoService(app, db=SQLAlchemy(app))


def test_the_search_is_below_the_prefix_and_links_to_the_hosts_address(host):
    assert host.names() == ["first0.jpg", "first1.jpg"]
    answer = host.get("/media/api/v1/photos?count=1", host.token)
    assert answer.headers["Link"].startswith("<https://first.example.org/media/api/v1/photos?count=1&cursor=")
    assert host.get("/api/v1/photos", host.token).status_code == 404


def test_the_description_of_the_api_tells_of_photosvc_alone_at_the_hosts_address(host):
    document = host.get("/media/api/v1/openapi.json").json
    assert document["servers"] == [{"url": "https://first.example.org/media/api/v1"}]
    assert {"/photos", "/oauth/token"} <= set(document["paths"])
    assert not {"/fail", "/weather"} & set(document["paths"])


def test_the_hosts_routes_errors_and_hooks_stay_its_own(host):
    assert host.get("/users").text == "first"
    assert (host.get("/nothing").status_code, host.get("/nothing").text) == (404, "the host's 404")
    assert (host.get("/fail").status_code, host.get("/fail").text) == (500, "the host's 500")
    for path in ("/users", "/nothing", "/fail"):
        assert "X-Content-Type-Options" not in host.get(path).headers
    assert len(host.hooked) == 8


def test_errors_below_the_prefix_are_photosvcs(host):
    answer = host.get("/media/api/v1/photos")
    assert (answer.status_code, answer.json["code"]) == (401, 401)
    answer = host.get("/media/api/v1/photos?count=0", host.token)
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "count")


def test_a_surprise_below_the_prefix_is_not_the_hosts(host, monkeypatch):
    from photosvc.api import search

    monkeypatch.setattr(search, "parse_request", lambda *_, **__: 1 / 0)
    answer = host.get("/media/api/v1/photos", host.token)
    assert (answer.status_code, answer.json["error"]) == (500, "Internal error; the log has details.")


def test_tables_lie_where_the_host_wants_them_and_apart(host):
    with host.app.app_context():
        names = {key: set(inspect(engine).get_table_names()) for key, engine in host.db.engines.items()}
        ours = {name for name in names[None] | names["media"] if name.startswith("photosvc_")}
        own = "media" if "photosvc_photos" in names["media"] else None
        assert names[own] >= ours
        assert {"users", "photos"} <= names[None]
        assert not ours & names["media" if own is None else None]
        assert not any(name.startswith("photosvc_") for name in host.db.metadata.tables)
        assert schema.differences(current_service().engine()) == []


def test_two_hosts_in_one_process_never_see_each_others_rows(host, tmp_path):
    other = Host(tmp_path / "second", pictures=1)
    try:
        assert host.names() == ["first0.jpg", "first1.jpg"]
        assert other.names() == ["second0.jpg"]
        assert (host.get("/users").text, other.get("/users").text) == ("first", "second")
        assert other.get("/media/api/v1/photos", host.token).status_code == 401
        assert host.get("/media/api/v1/photos", other.token).status_code == 401
        keys = []
        for one in (host, other):
            with one.app.app_context():
                keys.append(current_service().settings.secret_key)
        assert keys[0] != keys[1]
        with other.app.app_context(), current_service().writing() as session:
            session.execute(text("DROP TABLE photosvc_search_documents"))
        assert other.get("/media/api/v1/photos", other.token).status_code == 503
        assert host.names() == ["first0.jpg", "first1.jpg"]
    finally:
        other.close()


def test_a_host_with_a_wrong_setting_does_not_start(tmp_path):
    app = Flask("host", instance_path=str(tmp_path))
    app.config.update(SQLALCHEMY_DATABASE_URI="sqlite://", PHOTOSVC_ORIGINALZ="/photos")
    with pytest.raises(SettingError, match=r"PHOTOSVC_ORIGINALZ \(app\) is not a setting"):
        PhotoService(app, db=SQLAlchemy(app))


def keep_a_diary(host):
    """The host notes each request before it and commits after it, whatever came of it; gives what it has noted."""
    db = host.db

    class Entry(db.Model):
        __tablename__ = "diary"
        id = db.Column(db.Integer, primary_key=True)
        path = db.Column(db.Text)

    def note():
        db.session.add(Entry(path=request.full_path))
        db.session.flush()

    def keep(answer):
        db.session.commit()
        return answer

    host.app.before_request(note)
    host.app.after_request(keep)
    with host.app.app_context():
        db.create_all()

    def read():
        with host.app.app_context():
            return list(db.session.scalars(select(Entry.path).order_by(Entry.id)))

    return read


def begin_strictly(host):
    """SQLAlchemy's recipe for real transactions in SQLite: reading begins one too."""
    with host.app.app_context():
        engine = current_service().engine()
        engine.dispose()
        event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))


@pytest.mark.parametrize("strict", [False, True])
def test_uncommitted_changes_of_the_host_stay_its_own(host, strict):
    if strict:
        begin_strictly(host)
    diary = keep_a_diary(host)
    asked = {"?x=first": 200, "?x=second": 200, "?q=nosuch:1": 400, "?count=0": 400, "?x=last": 200}
    for query, status in asked.items():
        assert host.get("/media/api/v1/photos" + query, host.token).status_code == status
    assert host.get("/media/api/v1/photos?x=token", "0" * 48).status_code == 401
    assert diary() == [f"/media/api/v1/photos{query}" for query in (*asked, "?x=token")]


def test_changes_that_the_host_rolls_back_stay_undone(host):
    diary = keep_a_diary(host)
    host.app.after_request_funcs[None].clear()
    host.app.after_request(lambda answer: host.db.session.rollback() or answer)
    assert host.get("/media/api/v1/photos", host.token).status_code == 200
    assert diary() == []


def test_when_all_connections_are_in_use_clients_shall_try_again(tmp_path):
    host = Host(tmp_path / "busy", engine_options={"pool_size": 1, "max_overflow": 0, "pool_timeout": 0.1})
    with host.app.app_context(), current_service().engine().connect():
        answers = [host.get(f"/media/api/v1/{path}", host.token) for path in ("photos", "session")]
        token = host.app.test_client().post("/media/api/v1/oauth/token", auth=("cs5gfen1bgxz7s9i", "0" * 32))
    assert [answer.status_code for answer in (*answers, token)] == [503, 503, 503]
    assert [answer.headers["Retry-After"] for answer in (*answers, token)] == ["5", "5", "5"]
    assert host.names() == ["busy0.jpg"]
    host.close()
