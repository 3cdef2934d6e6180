"""docs/security-log.md names every event and value; the documented access logs have neither tokens nor user names."""

import re
import runpy
from pathlib import Path

import pytest

from photosvc.app import create_app
from photosvc.auth.audit import PARTS, Event
from photosvc.cli.deploy import Deployment, files_of
from photosvc.records.accounts import AuditEntrySchema
from photosvc.settings import setting_fields

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/security-log.md").read_text()
NGINX = files_of("nginx", Deployment())["nginx.conf"]
GUNICORN = files_of("gunicorn", Deployment())["gunicorn.conf.py"]


def cells(line):
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_the_guide_names_every_event_in_its_part():
    listed = {part: re.search(rf"^\| {part} \| (.*) \|$", GUIDE, re.MULTILINE)[1] for part in PARTS}
    for part, names in listed.items():
        assert re.findall("`([a-z_.]+)`", names) == [event.value for event in Event if event.part == part]


def test_the_guide_names_every_value_of_an_entry():
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", GUIDE.partition("## Entries")[2].partition("| part")[0], re.MULTILINE)
    assert set(re.findall("`([a-z_]+)`", " ".join(rows))) == set(AuditEntrySchema().fields) - {"id"}


def test_the_guide_has_the_settings_that_there_are():
    settings = set(re.findall(r"PHOTOSVC_([A-Z_]+)", GUIDE))
    assert settings <= {name.upper() for name in setting_fields()}
    assert f"{setting_fields()['audit_entries']['default']:,}" in GUIDE


def test_the_shipped_log_formats_have_nothing_that_can_contain_a_token_or_user_name(tmp_path):
    log_format = re.search(r"log_format photosvc (.*?);", NGINX, re.DOTALL)[1]
    assert re.findall(r"\$(\w+)", log_format) == [
        *("remote_addr", "time_local", "request_method", "photosvc_path", "photosvc_query", "server_protocol"),
        *("status", "body_bytes_sent", "http_user_agent", "request_time", "request_id"),
    ]
    (tmp_path / "gunicorn.conf.py").write_text(GUNICORN)
    gunicorn = runpy.run_path(str(tmp_path / "gunicorn.conf.py"))["access_log_format"]
    for atom in re.findall(r"`%\((\w)\)s`", GUIDE):
        assert f"%({atom})s" not in gunicorn


def masked(address):
    """Apply the maps of nginx.conf to an address."""
    return "".join(mapped(name, address) for name in ("photosvc_path", "photosvc_query"))


def mapped(name, address):
    body = re.search(rf"map \$request_uri \${name} \{{(.*?)\n\}}", NGINX, re.DOTALL)[1]
    for pattern, shown in re.findall(r'^\s*"~((?:[^"\\]|\\.)*)" (\S+);$', body, re.MULTILINE):
        flags = re.IGNORECASE if pattern.startswith("*") else 0
        if match := re.search(pattern.removeprefix("*").replace("(?<", "(?P<"), address, flags):
            groups = {key: value or "" for key, value in match.groupdict().items()}
            return re.sub(r"\$(\w+)", lambda found, groups=groups: groups[found[1]], shown.strip('"'))
    return ""


@pytest.mark.parametrize(
    ("address", "logged"),
    [
        ("/api/v1/t/hash/TOKEN/tile_50", "/api/v1/t/hash/-/tile_50"),
        ("/api/v1/videos/hash/TOKEN/avc?t=TOKEN", "/api/v1/videos/hash/-/avc?-"),
        ("/api/v1/dl/hash?name=file&t=TOKEN", "/api/v1/dl/hash?-"),
        ("/api/v1/albums/uid/t/TOKEN/tile_50?x=1", "/api/v1/albums/uid/t/-/tile_50?x=1"),
        ("/api/v1/labels/uid//t/TOKEN", "/api/v1/labels/uid//t/-"),
        ("/api/v1/folders/t/uid/TOKEN/tile_50", "/api/v1/folders/t/uid/-/tile_50"),
        ("/api/v1/session/TOKEN", "/api/v1/session/-"),
        ("/api/v1/sessions//TOKEN?a=1", "/api/v1/sessions//-?a=1"),
        ("/media/api/v1/session/TOKEN/", "/media/api/v1/session/-"),
        ("/api/v1/photos?access_token=TOKEN", "/api/v1/photos?-"),
        ("/api/v1/photos?q=a&X-AUTH-TOKEN=TOKEN", "/api/v1/photos?-"),
        ("/api/v1/oauth/token?client_secret=TOKEN", "/api/v1/oauth/token?-"),
        ("/api/v1/session?password=TOKEN", "/api/v1/session?-"),
        ("/api/v1/photos?%74=TOKEN", "/api/v1/photos?-"),
        ("/api/v1/photos?q=lake&count=3", "/api/v1/photos?q=lake&count=3"),
        ("/originals/a/b.jpg", "/originals/a/b.jpg"),
    ],
)
def test_addresses_are_logged_without_tokens(address, logged):
    assert masked(address) == logged


def test_no_route_that_a_link_token_opens_is_logged_with_it(tmp_path):
    routes = create_app(instance=tmp_path, environ={}).url_map.iter_rules()
    links = [route.rule for route in routes if "<token>" in route.rule and "GET" in route.methods]
    assert len(links) >= 5
    for link in links:
        address = re.sub("<[a-z_]+>", "x", link.replace("<token>", "TOKEN"))
        assert masked(address) == address.replace("TOKEN", "-")
