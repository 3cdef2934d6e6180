"""The access log: a line for each request, with its credential, and no secret wherever clients write one."""

import json
import logging
import re

import pytest

from photosvc.core.logs import FIELDS
from photosvc.web.access_log import LOGGER, masked_path, masked_query
from tests.helpers.api_client import PASSWORD, open_api

ON = {"PHOTOSVC_ACCESS_LOG": "true"}
TOKEN, APP, SECRET = "0123456789abcdef" * 3, "abcdef-012345-ghijkl-678901", "aB3" * 10 + "xY"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl-_"


@pytest.fixture
def logging_api(tmp_path):
    with open_api(tmp_path, settings=ON) as api:
        yield api


def fields(caplog):
    return [getattr(record, FIELDS) for record in caplog.records if record.name == LOGGER]


def test_a_line_has_the_client_the_request_and_the_answer(logging_api, caplog):
    api, token = logging_api, logging_api.access_token()
    api.library.clock.step = 0.25
    answer = api.call("GET", "/photos?count=3", token, headers={"User-Agent": "frame/1"}, buffered=True)
    (line,) = fields(caplog)
    assert re.fullmatch(r"[0-9a-f]{16}", line.pop("request_id"))
    assert line.pop("ms") > 0
    assert line.pop("credential") in api.svc("auth", "ls", "--json").stdout
    assert line == {
        "address": "192.0.2.7", "method": "GET", "path": "/api/v1/photos?count=3", "status": 200,
        "bytes": len(answer.data), "credential_kind": "access_token", "agent": "frame/1",
    }  # fmt: skip
    assert caplog.records[-1].levelno == logging.INFO


def test_tokens_of_public_links_are_masked_wherever_they_stand():
    link = "k3jd9s0a8x7c6v5b4n3m2q1w0e"
    assert masked_path(f"/s/{link}/summer") == "/s/-/summer"
    assert masked_path("/s/anything") == "/s/-"
    assert masked_path(f"/api/v1/photos/{link}") == "/api/v1/photos/-"
    assert masked_query(f"q={link}&token=x") == "?q=-&token=-"
    assert masked_path("/api/v1/photos/pt5m2xk4a8qzr1dw") == "/api/v1/photos/pt5m2xk4a8qzr1dw"


def test_it_is_off_unless_it_is_set(library, caplog):
    assert library.get().status_code == 200
    assert fields(caplog) == []


def test_refused_requests_and_requests_without_a_route_have_a_line_too(logging_api, caplog):
    api = logging_api
    refused = api.call("GET", "/photos", "f" * 48, buffered=True)
    api.library.app.test_client().get("/nothing/here?t=x", buffered=True)
    api.library.app.test_client().get("/originals/", buffered=True)
    found = [(line["path"], line["status"], line["credential"]) for line in fields(caplog)]
    assert found == [
        ("/api/v1/photos", 401, ""), ("/nothing/here?t=-", 404, ""), ("/originals/", 401, ""),
    ]  # fmt: skip
    assert fields(caplog)[0]["request_id"] == refused.headers["X-Request-ID"]


def test_no_line_has_a_token_password_or_user_name(logging_api, caplog):
    api = logging_api
    with api.log_in() as answer:
        login = answer.json
    token, preview = login["access_token"], login["config"]["previewToken"]
    download, secrets = login["config"]["downloadToken"], [login["access_token"], PASSWORD]
    secrets += [preview, download]
    for path in (
        f"/t/{'0' * 40}/{preview}/fit_720", f"/videos/{'0' * 40}/{preview}/avc", f"/dl/{'0' * 40}?t={download}",
        f"/albums/a/t/{preview}/fit_720", f"/session/{token}", f"/sessions/{token}/x", f"/photos/{token}",
        f"/photos?q=lake&access_token={token}", f"/photos?q={token}", f"/photos?{token}", f"/x/{token}/y",
        f"/photos?%74oken={token}", f"/photos?a=1&t={preview}&b=2", f"/photos?password={PASSWORD}",
    ):  # fmt: skip
        api.call("GET", path, token, buffered=True)
    api.library.app.test_client().get("/originals/", auth=("the name of somebody", PASSWORD), buffered=True)
    text = json.dumps(fields(caplog))
    assert len(fields(caplog)) == 16
    assert [secret for secret in [*secrets, "the name of somebody"] if secret in text] == []
    assert {line["credential_kind"] for line in fields(caplog)} == {"", "login_session"}


@pytest.mark.parametrize("secret", [TOKEN, APP, SECRET, JWT, TOKEN.upper()])
def test_texts_like_secrets_are_masked_wherever_they_stand(secret):
    assert masked_path(f"/api/v1/x/{secret}/y") == "/api/v1/x/-/y"
    assert masked_path(f"/{secret}.jpg") in {"/-.jpg", "/-"}
    assert masked_query(f"q=a+{secret}&b=2") == "?q=-&b=2"
    assert masked_query(secret) == "?-"
    assert masked_query(f"{secret}=1") == "?-"


@pytest.mark.parametrize(
    ("path", "masked"),
    [
        (f"/api/v1/files/{'a1' * 20}", f"/api/v1/files/{'a1' * 20}"),
        ("/api/v1/photos/ptouoynsid185ytj", "/api/v1/photos/ptouoynsid185ytj"),
        ("/media/api/v1/t/hash/secret/tile_50", "/media/api/v1/t/hash/-/tile_50"),
        ("/api/v1//t//hash//secret//tile_50", "/api/v1//t//hash//-//tile_50"),
        ("/originals/2024/IMG_20240101_120000.jpg", "/originals/2024/IMG_20240101_120000.jpg"),
        ("/" + "a/" * 3000, ("/" + "a/" * 3000)[:2000]),
    ],
)
def test_paths_stay_readable(path, masked):
    assert masked_path(path) == masked


@pytest.mark.parametrize(
    "name", ["t", "T", "token", "access_token", "client_secret", "Password", "code", "%74", "x-auth"]
)
def test_values_of_names_for_secrets_are_masked(name):
    assert masked_query(f"a=1&{name}=short&b=&=&c") == f"?a=1&{name}=-&b=&=&c"
