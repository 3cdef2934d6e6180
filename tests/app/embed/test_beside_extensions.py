"""photosvc beside Flask-Login, Flask-WTF, Flask-Limiter, Flask-Talisman and a wall before every request."""

import pytest
from flask import redirect, request

from photosvc import HostUser
from tests.app.embed.host import NAMES, found, open_host, token_of

flask_login, flask_wtf, flask_limiter, flask_talisman = (
    pytest.importorskip(name, reason="needs the extra `test`")
    for name in ("flask_login", "flask_wtf", "flask_limiter", "flask_talisman")
)

API = "/media/api/v1"
OWN = {"Sec-Fetch-Site": "same-origin"}


def with_login(app):
    """Flask-Login with users that are their roles."""

    class User(flask_login.UserMixin):
        def __init__(self, role):
            self.id = role

    manager = flask_login.LoginManager(app)
    manager.user_loader(User)
    manager.login_view = "start"
    app.add_url_rule("/start", "start", lambda: "start")
    app.add_url_rule("/log-in/<role>", "log_in", lambda role: str(flask_login.login_user(User(role))), methods=["POST"])
    app.add_url_rule("/log-out", "log_out", lambda: str(flask_login.logout_user()), methods=["POST"])
    app.add_url_rule("/private", "private", flask_login.login_required(lambda: "private"))


def loaded():
    return (
        HostUser(id=flask_login.current_user.get_id(), role=flask_login.current_user.get_id())
        if flask_login.current_user.is_authenticated
        else None
    )


@pytest.fixture
def client(tmp_path):
    with open_host(tmp_path / "host", prepare=with_login, principal_loader=loaded) as app:
        yield app.test_client()


def test_users_of_flask_login_are_principals_while_they_are_logged_in(client):
    assert client.get(f"{API}/photos").status_code == 401
    assert client.get("/private").status_code == 302
    client.post("/log-in/user")
    assert found(client.get(f"{API}/photos")) == list(NAMES)
    assert client.get("/private").text == "private"
    client.post("/log-out")
    assert client.get(f"{API}/photos").status_code == 401


def test_requests_with_a_token_leave_the_session_of_flask_login_alone(tmp_path):
    with open_host(tmp_path / "host", prepare=with_login, principal_loader=loaded) as app:
        answer = app.test_client().get(f"{API}/photos", headers={"X-Auth-Token": token_of(app)})
        assert found(answer) == ["lake.jpg", "moon.jpg"]
        assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("exempt", [True, False])
def test_one_call_exempts_every_route_that_changes_something_from_csrf_protect(tmp_path, exempt):
    with open_host(tmp_path / "host") as app:
        csrf = flask_wtf.CSRFProtect(app)
        if exempt:
            app.service.exempt(csrf)
        headers = {"X-Auth-Token": token_of(app)}
        client = app.test_client()
        photo = client.get(f"{API}/photos", headers=headers).json[0]["UID"]
        answers = [
            client.post(f"{API}/photos/{photo}/like", headers=headers),
            client.post(f"{API}/session", json={}),
            client.post(f"{API}/oauth/token", data={"grant_type": "client_credentials"}),
            client.put("/media/originals/new.jpg", data=b""),
            client.post("/media/sign-in", data={}, headers=OWN),
        ]
        refused = [b"CSRF" in answer.data for answer in answers]
        assert refused == [not exempt] * len(answers)
        assert b"CSRF" in client.post("/sign-out").data


@pytest.mark.parametrize("exempt", [True, False])
def test_one_call_exempts_every_route_from_the_limits_of_flask_limiter(tmp_path, exempt):
    def who():
        return request.remote_addr or ""

    with open_host(tmp_path / "host") as app:
        limiter = flask_limiter.Limiter(who, app=app, default_limits=["2 per hour"], storage_uri="memory://")
        if exempt:
            app.service.exempt(limiter)
        client, headers = app.test_client(), {"X-Auth-Token": token_of(app)}
        for method, path in (
            ("GET", f"{API}/photos"),
            ("GET", f"{API}/status"),
            ("POST", f"{API}/oauth/token"),
            ("GET", "/media/.well-known/jwks.json"),
            ("OPTIONS", "/media/originals/"),
            ("GET", "/media/sign-in"),
        ):
            statuses = [client.open(path, method=method, headers=headers).status_code for _ in range(4)]
            assert (429 in statuses) is not exempt, (path, statuses)
        assert [client.post("/sign-out").status_code for _ in range(3)] == [200, 200, 429]


def test_one_call_takes_several_extensions_and_leaves_blueprints_of_the_host_alone(tmp_path):
    from flask import Blueprint

    with open_host(tmp_path / "host") as app:
        names = sorted({name.rpartition(".")[2] for name in app.blueprints if "." in name})
        assert {"albums", "oauth", "photos", "search", "session"} <= set(names)
        for name in names:
            own = Blueprint(name, __name__)
            own.add_url_rule(f"/own/{name}", "own", lambda: "own", methods=["GET", "POST"])
            app.register_blueprint(own)
        csrf = flask_wtf.CSRFProtect(app)
        limiter = flask_limiter.Limiter(lambda: "all", app=app, default_limits=["1 per hour"], storage_uri="memory://")
        app.service.exempt(csrf, limiter)
        client = app.test_client()
        for name in names:
            assert b"CSRF" in client.post(f"/own/{name}").data
            assert [client.get(f"/own/{name}").status_code for _ in range(2)][-1] == 429, name
        assert client.post(f"{API}/session", json={}).status_code == 401


def test_talisman_redirects_to_https_and_sets_its_headers_and_everything_answers(tmp_path):
    with open_host(tmp_path / "host", prepare=with_login, principal_loader=loaded) as app:
        flask_talisman.Talisman(app)
        client = app.test_client()
        assert client.get(f"{API}/photos").status_code == 302
        client.post("/log-in/user", base_url="https://localhost")
        answer = client.get(f"{API}/photos", base_url="https://localhost")
        assert found(answer) == list(NAMES)
        assert "Strict-Transport-Security" in answer.headers
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert client.get("/media/sign-in", base_url="https://localhost").status_code == 303


def test_a_wall_lets_the_requests_of_photosvc_pass_by_one_line(tmp_path):
    def with_wall(app):
        @app.before_request
        def wall():
            if request.endpoint == "sign_in" or app.service.owns_request():
                return None
            return redirect("/nowhere")

    with open_host(tmp_path / "host", prepare=with_wall) as app:
        client, headers = app.test_client(), {"X-Auth-Token": token_of(app)}
        assert client.get(f"{API}/photos", headers=headers).status_code == 200
        assert client.post(f"{API}/oauth/token").json["error"] == "invalid_request"
        assert client.options("/media/originals/").status_code == 200
        assert client.post("/sign-out").status_code == 302
        assert client.get("/elsewhere").status_code == 302


def test_a_wall_without_that_line_closes_photosvc_too_and_breaks_nothing(tmp_path):
    def with_wall(app):
        app.before_request(lambda: ("closed", 403))

    with open_host(tmp_path / "host", prepare=with_wall) as app:
        answer = app.test_client().get(f"{API}/photos", headers={"X-Auth-Token": token_of(app)})
        assert (answer.status_code, answer.text) == (403, "closed")
