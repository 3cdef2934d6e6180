"""No secret is in an entry, in a line of either format, or in what `svc audit` prints."""

import json
import logging

import pyotp

from photosvc.core.logs import JsonFormatter, LineFormatter
from tests.helpers.api_client import PASSWORD
from tests.helpers.audit_rows import rows
from tests.helpers.clients.oauth_client import basic

NEW = "new horse battery"


def test_every_kind_of_secret_made_used_misused_and_ended_leaves_no_trace(api, caplog):
    caplog.set_level(logging.DEBUG)
    call, path = api.call, api.user_path
    own = api.session_of("alice")
    app = call("POST", path(rest="/app-passwords"), own, json={"name": "f", "scope": "*", "password": PASSWORD}).json
    child = api.log_in("alice", app["secret"]).json["access_token"]
    totp = pyotp.TOTP(call("POST", path(rest="/passcode"), own, json={"password": PASSWORD}).json["secret"])
    first = totp.at(api.clock())
    recovery = call("POST", path(rest="/passcode/confirm"), own, json={"code": first}).json["recovery_codes"]
    api.clock.move(minutes=1)
    second = totp.at(api.clock())
    secrets = [PASSWORD, NEW, own, app["secret"], child, totp.secret, *recovery]
    secrets += [code.replace("-", "") for code in recovery]
    secrets.append(api.log_in("alice", PASSWORD, code=recovery[0]).json["access_token"])
    body = {"old": PASSWORD, "new": NEW, "code": second}
    assert call("PUT", path(rest="/password"), own, json=body).status_code == 200
    made = json.loads(api.svc("clients", "add", "-n", "robot", "-s", "photos", "--json").stdout)
    header = {"Authorization": basic(made["client_id"], made["client_secret"])}
    token = call("POST", "/oauth/token", data={"grant_type": "client_credentials"}, headers=header).json["access_token"]
    access = json.loads(api.svc("auth", "add", "-n", "t", "-s", "*", "--json").stdout)["secret"]
    secrets += [made["client_secret"], token, access]
    for secret in secrets:
        api.log_in(secret, secret, address="198.51.100.3")
        api.log_in("alice", secret, code=secret, address="198.51.100.4")
        call("POST", "/oauth/token", headers={"Authorization": basic(secret, secret)}, data={"grant_type": secret})
        call("GET", "/users", secret)
        call("GET", f"/session/{secret}", own)
        call("GET", f"/t/{'0' * 40}/{secret}/fit_720")
        call("GET", f"/dl/{'0' * 40}?t={secret}")
    call("POST", "/oauth/revoke", data={"token": token})
    api.svc("auth", "rm", access, "--yes")
    api.clock.move(minutes=1)
    call("GET", "/status")
    lines = [record for record in caplog.records if record.name == "photosvc.security"]
    assert len({row.event for row in rows(api.library)}) >= 12
    texts = [repr(row) for row in rows(api.library)]
    texts += [LineFormatter().format(line) + JsonFormatter().format(line) for line in lines]
    texts += [api.svc("audit", "--json", "--count", "1000").stdout]
    assert len(lines) == len(rows(api.library))
    for secret in secrets:
        assert not [text for text in texts if secret in text], secret
