"""The parts that a host app mounts, errors at its start, and the sources of its settings."""

import subprocess
import sys

import pytest
from flask import Flask, url_for
from flask_sqlalchemy import SQLAlchemy
from werkzeug.routing import BuildError, Rule

import photosvc
from photosvc import PhotoService
from photosvc.app import create_app
from photosvc.core.errors import SettingError
from photosvc.web.parts import PARTS
from photosvc.web.service import current_service
from tests.app.embed.host import found, new_app, open_host, token_of

#: One address of each part, below the prefix.
ADDRESSES = {
    "search": "/media/api/v1/photos",
    "session": "/media/api/v1/session",
    "oauth": "/media/api/v1/oauth/authorize",
    "media": "/media/api/v1/photos/ps0000000000000/dl",
    "well_known": "/media/.well-known/jwks.json",
    "dav": "/media/originals/",
    "pages": "/media/sign-in",
}


def served(app):
    client = app.test_client()
    return {name for name, path in ADDRESSES.items() if client.get(path).status_code != 404}


@pytest.mark.parametrize(
    "chosen",
    [None, ("search",), ["session", "dav"], {"oauth", "well_known"}],
)
def test_a_host_mounts_the_parts_that_it_chooses(tmp_path, chosen):
    with open_host(tmp_path / "host", parts=chosen) as app:
        assert served(app) == set(chosen or ADDRESSES)


def test_the_description_of_the_api_tells_of_the_mounted_parts_alone(tmp_path):
    with open_host(tmp_path / "host", parts=("search", "media")) as app:
        paths = set(app.test_client().get("/media/api/v1/openapi.json").json["paths"])
    assert {"/photos", "/zip", "/status", "/config"} <= paths
    assert not {"/session", "/oauth/token", "/users"} & paths


@pytest.mark.parametrize("chosen", [("search",), None])
def test_a_challenge_names_the_metadata_only_where_they_are_served(tmp_path, chosen):
    with open_host(
        tmp_path / "host", parts=chosen, config={"PHOTOSVC_BASE_URL": "https://host.example.org/media"}
    ) as app:
        challenge = app.test_client().get("/media/api/v1/photos").headers["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="photosvc"')
    assert ("resource_metadata=" in challenge) == (chosen is None)


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (("search", "serach"), '"serach" is not a part of photosvc; did you mean "search"?'),
        (("blog",), '"blog" is not a part of photosvc; there are "search", "session", "oauth"'),
        (("well_known",), 'the part "well_known" needs "oauth": add it to parts, or leave "well_known" out'),
        ("search", 'parts must be several names, as in parts=("search",)'),
        (("pages", "search"), 'the part "pages" needs "media", "session": add it to parts, or leave "pages" out'),
        ((), 'parts is empty; there are "search"'),
        ((None,), '"None" is not a part of photosvc'),
    ],
)
def test_parts_that_cannot_be_mounted_are_refused_with_a_sentence(tmp_path, chosen, sentence):
    app, db = new_app(tmp_path / "host")
    with pytest.raises(SettingError) as refused:
        PhotoService(app, db=db, parts=chosen)
    assert refused.value.message.startswith(sentence)


def test_without_a_prefix_the_page_at_the_root_is_the_hosts_unless_it_chooses_ours(tmp_path):
    with open_host(tmp_path / "default", prefix=None) as app:
        assert app.test_client().get("/sign-in").status_code == 404
        assert app.test_client().get("/api/v1/photos").status_code == 401
    with open_host(tmp_path / "chosen", prefix="", parts=tuple(PARTS)) as app:
        assert app.test_client().get("/sign-in").status_code == 303


def test_every_part_is_described():
    assert set(ADDRESSES) == set(PARTS)


@pytest.mark.parametrize("prefix", ["/media", "/media/", "/media//"])
def test_a_slash_at_the_end_of_the_prefix_says_nothing(tmp_path, prefix):
    with open_host(tmp_path / "host", prefix=prefix) as app:
        assert found(app.test_client().get("/media/api/v1/photos", headers=token(app))) == ["lake.jpg", "moon.jpg"]
        assert served(app) == set(ADDRESSES)


@pytest.mark.parametrize("prefix", ["media", "http://x", "/a//b", "/a?b", "/<lang>", 5, b"/media"])
def test_a_prefix_that_is_no_path_is_refused_with_a_sentence(tmp_path, prefix):
    app, db = new_app(tmp_path / "host")
    with pytest.raises(SettingError, match='url_prefix must be a path such as "/media", not'):
        PhotoService(app, db=db, url_prefix=prefix)


def test_a_database_extension_that_is_not_initialised_is_one_sentence_at_mount(tmp_path):
    app = Flask("host", instance_path=str(tmp_path))
    sentence = r"db is not initialised on the app 'host': call db\.init_app\(app\) before photosvc is mounted"
    with pytest.raises(SettingError, match=sentence):
        PhotoService(app, db=SQLAlchemy())
    with pytest.raises(SettingError, match=sentence):
        PhotoService(app, db=None)
    other, _ = new_app(tmp_path / "other")
    with pytest.raises(SettingError, match=sentence):
        PhotoService(app, db=other.extensions["sqlalchemy"])


def test_a_bind_key_that_the_host_does_not_have_is_one_sentence_at_mount(tmp_path):
    app, db = new_app(tmp_path / "host", SQLALCHEMY_BINDS={"media": "sqlite://"})
    with pytest.raises(SettingError, match=r"no bind_key 'photos' .* its SQLALCHEMY_BINDS have: 'media'"):
        PhotoService(app, db=db, bind_key="photos")


def test_a_database_in_memory_is_warned_of(tmp_path, caplog):
    app, db = new_app(tmp_path / "host", SQLALCHEMY_BINDS={"media": "sqlite://"})
    PhotoService(app, db=db, bind_key="media")
    assert "The database of the app 'host' is in memory: photosvc shares its only connection" in caplog.text


def test_a_second_library_in_one_app_is_refused_with_a_sentence(tmp_path):
    sentence = "the app 'host' has a PhotoService already: an app has one library"
    with open_host(tmp_path / "host") as app, pytest.raises(SettingError, match=sentence):
        PhotoService(app, db=app.extensions["sqlalchemy"], url_prefix="/second")


def token(app):
    return {"X-Auth-Token": token_of(app)}


def settings_of(app):
    with app.app_context():
        return current_service().settings


def test_settings_come_from_the_host_before_the_environment_before_the_defaults(tmp_path):
    environ = {"PHOTOSVC_SITE_NAME": "of the environment", "PHOTOSVC_ZIP_SIZE": "7", "PATH": "/bin"}
    app, db = new_app(tmp_path / "host", PHOTOSVC_SITE_NAME="of the host")
    (tmp_path / "host/config.py").write_text("PHOTOSVC_ZIP_SIZE = 9\nA_SETTING_OF_THE_HOST = 1\n")
    PhotoService(app, db=db, environ=environ)
    settings = settings_of(app)
    assert (settings.site_name, settings.zip_size, settings.upload_files) == ("of the host", 7, 500)
    named = {name: settings.origins[name] for name in ("site_name", "zip_size", "upload_files")}
    assert named == {"site_name": "app", "zip_size": "environment", "upload_files": "default"}


def test_the_environment_of_the_process_counts_in_a_host(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOTOSVC_SITE_NAME", "of the process")
    app, db = new_app(tmp_path / "host")
    PhotoService(app, db=db)
    assert settings_of(app).site_name == "of the process"


@pytest.mark.parametrize(("where", "origin"), [("config", "app"), ("environment", "environment")])
def test_a_database_of_its_own_is_refused_because_the_host_has_it(tmp_path, where, origin):
    given = {"PHOTOSVC_DATABASE_URI": "sqlite:////elsewhere.db"}
    app, db = new_app(tmp_path / "host", **(given if where == "config" else {}))
    with pytest.raises(SettingError, match=rf"PHOTOSVC_DATABASE_URI \({origin}\) has no effect inside another app"):
        PhotoService(app, db=db, environ=given if where == "environment" else {})


def test_the_package_exports_all_names_for_hosts_and_only_existing_ones():
    assert {"PhotoService", "HostUser"} <= set(dir(photosvc))
    assert photosvc.PhotoService is PhotoService
    with pytest.raises(AttributeError, match="module 'photosvc' has no attribute 'Photos'"):
        photosvc.Photos  # noqa: B018


def test_the_package_imports_neither_flask_nor_the_database_before_they_are_used():
    program = "import sys, photosvc; print(sorted({'flask', 'sqlalchemy', 'msgspec'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


def test_the_extension_imports_nothing_that_only_views_and_searches_need():
    rare = "{'marshmallow', 'authlib', 'msgspec', 'PIL', 'babel', 'photosvc.query.parser', 'photosvc.web.contract'}"
    program = f"import sys; from photosvc import PhotoService; print(sorted({rare} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


def test_an_app_is_made_without_compiling_addresses_of_ours_and_builds_them_when_they_are_used(tmp_path, monkeypatch):
    compiled, compile_builder = [], Rule._compile_builder
    monkeypatch.setattr(
        Rule, "_compile_builder", lambda rule, *given: compiled.append(rule.endpoint) or compile_builder(rule, *given)
    )
    app, db = new_app(tmp_path / "host")
    PhotoService(app, db=db, url_prefix="/media")
    app.add_url_rule("/own/<name>", "own", lambda name: name)
    assert set(compiled) == {"static", "own"}
    with app.test_request_context():
        for _ in range(2):
            assert (
                url_for("photosvc.photos.like_photo", photo_uid="p x", a="b", _anchor="c")
                == "/media/api/v1/photos/p%20x/like?a=b#c"
            )
        assert url_for("own", name="n", rule=1) == "/own/n?rule=1"
        with pytest.raises(BuildError):
            url_for("photosvc.photos.like_photo")
    assert compiled.count("photosvc.photos.like_photo") == 1


def test_the_service_alone_chooses_its_parts_too(tmp_path):
    app = create_app(instance=tmp_path, environ={}, parts=("search",))
    assert app.test_client().get("/api/v1/session").status_code == 404
