"""The page of the API: every operation of the document, and commands that work as they are pasted."""

import gzip
import html
import json
import re
import shlex
import subprocess

import pytest
from jsonschema import Draft202012Validator

from photosvc.pages import api_docs
from tests.helpers.api_client import open_api
from tests.helpers.browser import TYPED, Browser, text_of
from tests.helpers.pictures import jpeg
from tests.helpers.programs.server import serve

#: Values that an example cannot know.
SECRET = {"password", "old", "code", "username"}


def operations(answer):
    return re.findall(r'<span class="method \w+">(\w+)</span> <code>([^<]+)</code>', answer.text)


def command(answer, operation):
    """The example of an operation, as a person copies it."""
    return html.unescape(re.search(rf'<pre id="curl-{operation}">(.*?)</pre>', answer.text, re.DOTALL)[1])


@pytest.fixture
def document(api):
    return api.call("GET", "/openapi.json").json


def test_every_operation_of_the_document_is_on_the_page_once(browser, document):
    described = [(method.upper(), path) for path, methods in document["paths"].items() for method in methods]
    answer = browser.open("/api-docs")
    assert sorted(operations(answer)) == sorted(described)
    assert f"{len(described)} operations" in text_of(answer)


def test_every_link_within_the_page_leads_somewhere(browser):
    text = browser.open("/api-docs").text
    named = re.findall(r' id="([^"]+)"', text)
    assert len(named) == len(set(named))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= {*named, "content"}


def test_the_filter_keeps_operations_that_contain_all_words(browser):
    answer = browser.open("/api-docs?q=ZIP+get")
    assert operations(answer) == [("GET", "/zip/{name}")]
    assert "1 operation with zip get" in text_of(answer).casefold()


def sent_bodies(answer, document):
    """Operations whose command sends JSON: method, path, the schema, and the body as the API gets it."""
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            arguments = shlex.split(command(answer, one["operationId"]).replace("\\\n", ""))
            if "--json" in arguments:
                schema = one["requestBody"]["content"]["application/json"]["schema"]
                yield method, path, schema, json.loads(arguments[arguments.index("--json") + 1])


def test_the_body_of_each_command_is_one_that_the_api_takes(browser, api, document):
    token, wrong = api.access_token(), []
    for method, path, schema, body in sent_bodies(browser.open("/api-docs"), document):
        whole = {**schema, "components": document["components"]}
        assert list(Draft202012Validator(whole).iter_errors(body)) == [], (method, path)
        assert body, (method, path)
        answer = api.call(method.upper(), re.sub(r"\{\w+\}", "ptouqe1kbhlaydg7", path), token, json=body)
        fields = {detail["field"] for detail in (answer.json or {}).get("details", ())}
        if (answer.status_code in {400, 415, 422} and not fields & SECRET) or answer.status_code >= 500:
            wrong.append((method, path, body, answer.text))
    assert wrong == []


def test_a_filter_is_shown_as_text_and_finds_nothing(browser):
    answer = browser.open("/api-docs?q=%3Cscript%3Ealert(1)%3C/script%3E" + "%E2%80%AE" * 300)
    assert answer.status_code == 200
    assert "<script>alert" not in answer.text
    assert "No operation contains all of these words." in text_of(answer)


def test_an_operation_tells_its_scope_parameters_and_schemas(browser):
    text = text_of(browser.open("/api-docs?q=albums+put+photos"))
    assert "PUT /albums/{album_uid}/photos" in text
    assert "Needs the scope albums write" in text
    assert "album_uid path string required" in text


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("nas:8080", "http://nas:8080/api/v1"),
        ("192.168.1.20", "http://192.168.1.20/api/v1"),
        ("[::1]:8080", "http://[::1]:8080/api/v1"),
        ('x";reboot;"', "$URL/api/v1"),
        ("$(reboot)", "$URL/api/v1"),
    ],
)
def test_commands_have_the_address_that_the_browser_typed_if_it_is_one(browser, host, address):
    answer = browser.open("/api-docs?q=healthz", headers={**TYPED, "Host": host})
    assert command(answer, "healthz").endswith(f'"{address}/healthz"')


def test_commands_have_the_public_address_where_it_is_set(tmp_path):
    settings = {"PHOTOSVC_BASE_URL": "https://photos.example.org/family"}
    with open_api(tmp_path, settings=settings) as api:
        answer = Browser(api).open("/api-docs?q=healthz", headers={**TYPED, "Host": "evil.example"})
    assert command(answer, "healthz").endswith('"https://photos.example.org/family/api/v1/healthz"')


@pytest.mark.slow
def test_commands_run_in_a_shell_as_they_are_pasted(tmp_path):
    with open_api(tmp_path) as api:
        api.library.put("lake.jpg", jpeg(8, 6))
        api.library.index()
        token, browser = api.app_password(), Browser(api)
        with serve(api.library.instance, workers=1, threads=2) as base:

            def run(operation, **values):
                page = browser.open("/api-docs", headers={**TYPED, "Host": base.removeprefix("http://")})
                done = subprocess.run(
                    ["sh", "-ec", command(page, operation)],
                    env={"PATH": "/usr/bin:/bin", "TOKEN": token, **values},
                    capture_output=True,
                    check=True,
                    timeout=20,
                    cwd=tmp_path,
                )
                return json.loads(done.stdout)

            uid = run("search_photos")[0]["UID"]
            assert run("read_photo", UID=uid, PHOTO_UID=uid)["UID"] == uid
            album = run("create_album")["UID"]
            assert run("read_album", ALBUM_UID=album)["UID"] == album


def test_the_page_is_made_once_revalidated_and_packed_for_those_who_are_not_signed_in(browser):
    client = browser.api.library.app.test_client()
    first = client.get("/api-docs")
    kept = api_docs._parts.cache_info().misses
    again = client.get("/api-docs", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    packed = client.get("/api-docs", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == first.data
    assert (packed.headers["Content-Encoding"], len(packed.data) < len(first.data) / 5) == ("gzip", True)
    assert packed.headers["ETag"] != first.headers["ETag"]
    assert {"Accept-Encoding", "Cookie"} <= set(packed.vary)
    assert api_docs._parts.cache_info().misses == kept
    other = client.get("/api-docs", headers={"Host": "other.example"})
    assert other.headers["ETag"] != first.headers["ETag"]
    assert b"http://other.example/api/v1" in other.data
    assert api_docs._parts.cache_info().misses == kept  # the parts are those of all addresses of a client


@pytest.mark.slow
def test_pages_of_two_apps_in_a_process_and_of_two_prefixes_are_kept_apart(browser, tmp_path):
    with open_api(tmp_path / "other", settings={"PHOTOSVC_BASE_URL": "https://photos.example.org"}) as other:
        both = [one.library.app.test_client().get("/api-docs") for one in (browser.api, other)]
        assert b"https://photos.example.org/api/v1" in both[1].data
        assert b"https://photos.example.org" not in both[0].data
    below = browser.api.library.app.test_client().get("/api-docs", environ_overrides={"SCRIPT_NAME": "/below"})
    assert b'action="/below/api-docs"' in below.data
    assert b'action="/below/api-docs"' not in both[0].data
    assert below.headers["ETag"] != both[0].headers["ETag"]


def test_the_document_is_revalidated_and_packed(api):
    client = api.library.app.test_client()
    whole = client.get("/api/v1/openapi.json")
    packed = client.get("/api/v1/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert gzip.decompress(packed.data) == whole.data
    for one in (whole, packed):
        tag = {"If-None-Match": one.headers["ETag"], "Accept-Encoding": one.headers.get("Content-Encoding", "")}
        assert client.get("/api/v1/openapi.json", headers=tag).status_code == 304
