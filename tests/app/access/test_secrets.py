"""A secret is in the answer that issues it, and nowhere else: not in logs, rows, other answers or addresses."""

import json
import logging

import pyotp
from sqlalchemy import select

from photosvc.core.logs import JsonFormatter, LineFormatter
from photosvc.models import AuditEntry, Base
from photosvc.web.service import current_service
from tests.app.oauth.oauth_client import basic
from tests.helpers.api_client import PASSWORD, open_api

NEW = "new horse battery"


class Recorder:
    """Keeps every answer under the name of its step."""

    def __init__(self, api):
        self.api, self.answers, self.secrets = api, [], {}

    def call(self, step, method, path, token=None, **options):
        answer = self.api.call(method, path, token, **options)
        header_text = "\n".join(f"{name}: {value}" for name, value in answer.headers)
        self.answers.append((step, f"{path}\n{header_text}\n{answer.text}", answer))
        return answer

    def secret(self, value, *steps):
        """Remember a secret and the steps that may tell it."""
        self.secrets[value] = set(steps)
        return value


def walk(api):
    """Every kind of credential made, used, misused and ended."""
    seen = Recorder(api)
    path = api.user_path
    seen.secret(PASSWORD)
    seen.secret(NEW)
    login = seen.call("log in", "POST", "/session", json={"username": "alice", "password": PASSWORD}).json
    own = seen.secret(login["access_token"], "log in", "read session")
    seen.call("read session", "GET", "/session", own)
    seen.call("search", "GET", "/photos", own)
    seen.call("search by an unknown name", "GET", "/photos?order=nonsense", own)
    body = {"name": "frame", "scope": "*", "password": PASSWORD}
    made = seen.call("make app password", "POST", path(rest="/app-passwords"), own, json=body).json
    app = seen.secret(made["secret"], "make app password")
    seen.call("refused app password", "POST", path(rest="/app-passwords"), own, json={**body, "scope": "nonsense"})
    seen.call("list app passwords", "GET", path(rest="/app-passwords"), own)
    child = seen.call("exchange", "POST", "/session", json={"username": "alice", "password": app}).json
    seen.secret(child["access_token"], "exchange")
    seen.call("use child", "GET", "/photos", child["access_token"])
    seen.call("use app password", "GET", "/users", app)
    enrolment = seen.call("enrol", "POST", path(rest="/passcode"), own, json={"password": PASSWORD}).json
    totp = pyotp.TOTP(seen.secret(enrolment["secret"], "enrol"))
    code = totp.at(api.clock())
    codes = seen.call("confirm", "POST", path(rest="/passcode/confirm"), own, json={"code": code}).json
    for recovery in codes["recovery_codes"]:
        seen.secret(recovery, "confirm")
        seen.secret(recovery.replace("-", ""))
    api.clock.move(minutes=5)
    for name, code in [("log in with code", totp.at(api.clock())), ("recover", codes["recovery_codes"][0])]:
        answer = seen.call(name, "POST", "/session", json={"username": "alice", "password": PASSWORD, "code": code})
        seen.secret(answer.json["access_token"], name)
    seen.call("wrong password", "POST", "/session", json={"username": "alice", "password": "wrong " + PASSWORD})
    seen.call("wrong code", "POST", "/session", json={"username": "alice", "password": PASSWORD, "code": "000000"})
    seen.call("name and password swapped", "POST", "/session", json={"username": PASSWORD, "password": "alice"})
    access = seen.secret(json.loads(api.svc("auth", "add", "-n", "t", "-s", "photos", "--json").stdout)["secret"])
    robot = json.loads(api.svc("clients", "add", "-n", "robot", "-s", "photos", "--json").stdout)
    shown = {"Authorization": basic(robot["client_id"], seen.secret(robot["client_secret"]))}
    grant = seen.call("grant", "POST", "/oauth/token", data={"grant_type": "client_credentials"}, headers=shown)
    client = seen.secret(grant.json["access_token"], "grant")
    for token in (access, client):
        seen.call("client search", "GET", "/photos?count=1", token)
        seen.call("client refused", "GET", "/session", token)
        seen.call("client log-in", "POST", "/session", json={"username": "alice", "password": token})
    seen.call("two tokens", "GET", "/photos", headers={"X-Auth-Token": app, "X-Session-ID": access})
    seen.call("broken token", "GET", "/photos", own + "x")
    admin = seen.call("admin", "POST", "/session", json={"username": "ann", "password": PASSWORD}).json
    seen.secret(admin["access_token"], "admin")
    new = {"Name": "bob", "Password": NEW}
    seen.call("add", "POST", "/users", admin["access_token"], json=new)
    seen.call("add again", "POST", "/users", admin["access_token"], json=new)
    seen.call("list", "GET", "/users", admin["access_token"])
    seen.call("change password", "PUT", path(rest="/password"), own, json={"old": PASSWORD, "new": NEW})
    seen.call("not json", "PUT", path(rest="/password"), own, data=f'{{"new": "{NEW}"', content_type="application/json")
    seen.call("revoke", "POST", "/oauth/revoke", data={"token": client})
    api.svc("auth", "rm", access, "--yes")
    seen.call("log out", "DELETE", "/session", own)
    seen.call("revoked", "GET", "/photos", own)
    return seen


def misuse(api, own, secrets):
    """Show every secret in every place where another belongs."""
    for secret in secrets:
        api.log_in(secret, secret, address="198.51.100.3")
        api.log_in("alice", secret, code=secret, address="198.51.100.4")
        headers = {"Authorization": basic(secret, secret)}
        api.call("POST", "/oauth/token", headers=headers, data={"grant_type": secret})
        api.call("GET", "/users", secret)
        api.call("GET", f"/session/{secret}", own)
        api.call("GET", f"/t/{'0' * 40}/{secret}/fit_720")
        api.call("GET", f"/dl/{'0' * 40}?t={secret}")
    api.clock.move(minutes=1)
    api.call("GET", "/status")


def test_secrets_are_shown_once_and_are_in_no_row_file_log_or_other_answer(tmp_path, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.INFO, "sqlalchemy.engine")
    with open_api(tmp_path) as api:
        seen = walk(api)
        assert len(seen.secrets) >= 30
        for secret, steps in seen.secrets.items():
            shown = {step for step, text, _ in seen.answers if secret in text}
            assert shown <= steps, f"{secret} of {sorted(steps)} is shown by {sorted(shown)}"
            assert not steps or shown, secret
        for step, text, answer in seen.answers:
            if any(secret in text for secret in seen.secrets) or answer.status_code >= 400:
                assert answer.headers["Cache-Control"] == "no-store", step
        logged = caplog.text
        misuse(api, api.session_of("ann"), seen.secrets)
        with api.library.session() as session:
            rows = "\n".join(
                repr(tuple(row)) for table in Base.metadata.sorted_tables for row in session.execute(table.select())
            )
            assert len(set(session.scalars(select(AuditEntry.event)))) >= 12
        audit = api.svc("audit", "--json", "--count", "1000").stdout
        files = b"\n".join(path.read_bytes() for path in api.library.instance.rglob("*") if path.is_file())
    lines = [record for record in caplog.records if record.name == "photosvc.security"]
    lines = "\n".join(LineFormatter().format(line) + JsonFormatter().format(line) for line in lines)
    printed = "".join(capfd.readouterr())
    assert "INSERT INTO photosvc_credentials" in logged
    assert "event=login " in lines
    for secret in seen.secrets:
        if secret != PASSWORD:  # typed into the name field above, it is a parameter of a statement
            assert secret not in logged, secret
        assert secret not in lines, secret
        assert secret not in audit, secret
        assert secret not in rows, secret
        assert secret.encode() not in files, secret
        assert secret not in printed, secret


def test_no_setting_or_service_shows_its_key(tmp_path):
    with open_api(tmp_path) as api, api.library.app.app_context():
        settings = current_service().settings
        assert settings.secret_key not in repr(settings) + repr(current_service())
