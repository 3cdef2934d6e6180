import subprocess
import sys
from pathlib import Path

import pytest

from photosvc import samples
from photosvc.core.errors import SettingError
from photosvc.core.times import machine_zone
from photosvc.settings import load_settings, setting_fields
from photosvc.settings.instance import default_instance, make_instance, remember_originals
from photosvc.settings.sources import is_of_a_service

KEY = "k" * 32


def test_default_paths_are_in_the_instance_folder(tmp_path):
    settings = load_settings(tmp_path)
    assert settings.originals == tmp_path / "originals"
    assert settings.cache == tmp_path / "cache"
    assert settings.database_uri == f"sqlite:///{tmp_path / 'photosvc.db'}"
    assert settings.base_url == ""
    assert set(settings.origins) == set(setting_fields())
    assert {name: origin for name, origin in settings.origins.items() if origin != "default"} == {
        "secret_key": "instance/secret_key"
    }


def test_later_sources_win_and_each_value_records_its_source(tmp_path):
    (tmp_path / "config.py").write_text(
        "import os\nPHOTOSVC_SITE_NAME = 'file'\nPHOTOSVC_PROXIES = 1\nPHOTOSVC_INDEX_WORKERS = 1\n"
    )
    environ = {"PHOTOSVC_PROXIES": "2", "PHOTOSVC_INDEX_WORKERS": " 2 ", "HOME": "/x", "PHOTOSVC_INSTANCE": "/y"}
    settings = load_settings(tmp_path, environ=environ, overrides={"PHOTOSVC_INDEX_WORKERS": 3})
    assert (settings.site_name, settings.proxies, settings.index_workers) == ("file", 2, 3)
    origins = [settings.origins[name] for name in ("site_name", "proxies", "index_workers", "cache")]
    assert origins == ["instance/config.py", "environment", "app", "default"]


@pytest.mark.parametrize(
    ("variables", "localtime", "timezone", "zone"),
    [
        ({"TZ": "Asia/Tokyo"}, "Europe/Berlin", "", "Asia/Tokyo"),
        ({"TZ": ":/usr/share/zoneinfo/Asia/Tokyo"}, "Europe/Berlin", "", "Asia/Tokyo"),
        ({"TZ": ""}, "Europe/Berlin", "", "UTC"),
        ({"TZ": "CET-1CEST"}, "Europe/Berlin", "", "UTC"),  # the offset of this process
        ({}, "Europe/Berlin", "Asia/Tokyo", "Europe/Berlin"),
        ({}, "Etc/UTC", "", "UTC"),
        ({}, "", "Asia/Tokyo\n", "Asia/Tokyo"),
        ({}, "", "Mars/Olympus\n", "UTC"),
        ({}, "", "", "UTC"),
    ],
)
def test_the_usual_time_zone_is_that_of_the_machine(tmp_path, variables, localtime, timezone, zone):
    (tmp_path / "localtime").symlink_to(f"/usr/share/zoneinfo/{localtime}") if localtime else None
    (tmp_path / "timezone").write_text(timezone) if timezone else None
    assert machine_zone(variables, tmp_path) == zone


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "CET-1CEST", "../../etc/passwd", "Europe", "localtime", "\0", "x" * 5000, 1]
)
def test_an_unknown_time_zone_stops_the_start(tmp_path, zone):
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, overrides={"PHOTOSVC_TIMEZONE": zone})
    assert caught.value.message.startswith("PHOTOSVC_TIMEZONE (app) is not valid: expected ")
    assert load_settings(tmp_path, overrides={"PHOTOSVC_TIMEZONE": " Europe/Berlin "}).timezone == "Europe/Berlin"


@pytest.mark.parametrize("name", ["PHOTOSVC_ORIGINALZ", "PHOTOSVC_", "PHOTOSVC_ORIGINS", "PHOTOSVC_proxies"])
@pytest.mark.parametrize("origin", ["environment", "app"])
def test_an_unknown_name_stops_the_start(tmp_path, name, origin):
    sources = {"environ": {name: "1"}} if origin == "environment" else {"overrides": {name: "1"}}
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, **sources)
    assert caught.value.message.startswith(f"{name} ({origin}) is not a setting of photosvc; ")
    assert (caught.value.field, caught.value.exit_code) == (name, 2)


def test_variables_of_kubernetes_and_docker_for_a_service_of_this_name_are_no_error(tmp_path):
    environ = {
        "PHOTOSVC_SERVICE_HOST": "10.0.0.1",
        "PHOTOSVC_SERVICE_PORT": "80",
        "PHOTOSVC_SERVICE_PORT_HTTP": "80",
        "PHOTOSVC_PORT": "tcp://10.0.0.1:80",
        "PHOTOSVC_PORT_80_TCP": "tcp://10.0.0.1:80",
        "PHOTOSVC_PORT_80_TCP_PROTO": "tcp",
        "PHOTOSVC_PORT_80_TCP_PORT": "80",
        "PHOTOSVC_PORT_80_TCP_ADDR": "10.0.0.1",
        "PHOTOSVC_PORT_53_UDP_ADDR": "10.0.0.1",
        "PHOTOSVC_DB_SERVICE_HOST": "10.0.0.2",
        "PHOTOSVC_DB_PORT_5432_TCP_ADDR": "10.0.0.2",
        "PHOTOSVC_NAME": "/app/photosvc",
        "PHOTOSVC_ENV_PATH": "/usr/bin",
    }
    found = load_settings(tmp_path, environ={**environ, "PHOTOSVC_SITE_NAME": "Ours"})
    assert found.site_name == "Ours"
    assert "environment" not in {found.origins[name] for name in found.origins if name != "site_name"}
    assert not [name for name in setting_fields() if is_of_a_service(f"PHOTOSVC_{name.upper()}")]
    for name in (
        "PHOTOSVC_SERVICE",
        "PHOTOSVC_PORTS",
        "PHOTOSVC_PORT_X",
        "PHOTOSVC_SERVICE_HOSTS",
        "PHOTOSVC_SITENAME",
    ):
        with pytest.raises(SettingError, match="is not a setting"):
            load_settings(tmp_path, environ={name: "1"})


def test_an_unknown_name_in_the_configuration_file_stops_the_start(tmp_path):
    (tmp_path / "config.py").write_text("ORIGINALS = '/photos'\n")
    with pytest.raises(SettingError, match=r"^ORIGINALS \(instance/config\.py\) is not a setting of photosvc"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PROXIES", "-1", "expected a whole number from 0 to 8"),
        ("PROXIES", "two", "expected a whole number from 0 to 8"),
        ("PROXIES", "", "expected a whole number from 0 to 8"),
        ("PROXIES", "9" * 5000, "expected a whole number from 0 to 8"),
        ("INDEX_MEMORY", "255", "expected a whole number from 256 to 65536"),
        ("BASE_URL", "photos.example.org", "expected an http or https address such as https://photos.example.org"),
        ("BASE_URL", "ftp://a", "expected an http or https address such as https://photos.example.org"),
        ("BASE_URL", "https://a/?b=c", "expected an http or https address such as https://photos.example.org"),
        *(
            ("CORS_ORIGINS", text, "expected origins such as https://gallery.example.org, separated by spaces")
            for text in ("https://a/b", "HTTPS://a", "https://a https://b/c", "*", "null")
        ),
        ("BASE_URL", "https://u:p@a", "expected an http or https address such as https://photos.example.org"),
        ("BASE_URL", "http://[1", "expected an http or https address such as https://photos.example.org"),
        ("SECRET_KEY", "k" * 32 + " short", "expected keys of at least 32 characters, separated by spaces"),
        ("ORIGINALS", " ", "expected a path that is not empty"),
        ("CACHE", "~nobody-at-all/x", "there is no home folder for ~nobody-at-all"),
        ("IMPORT_FOLDER", "a\0b", "expected a path without NUL characters"),
        ("SITE_NAME", "", "expected a text that is not empty"),
        ("DATABASE_URI", "nonsense", "expected an address such as sqlite:////folder/photosvc.db or postgresql://…"),
        ("DATABASE_URI", "oracle://a/b", "expected an address such as sqlite:////folder/photosvc.db or postgresql://…"),
    ],
)  # fmt: skip
def test_an_invalid_value_stops_the_start_with_its_name_and_source(tmp_path, name, value, reason):
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path, environ={f"PHOTOSVC_{name}": value})
    assert caught.value.message == f"PHOTOSVC_{name} (environment) is not valid: {reason}"


@pytest.mark.parametrize("value", [True, 1.5, None, [1]])
def test_whole_numbers_from_the_app_are_not_converted_from_other_types(tmp_path, value):
    with pytest.raises(SettingError, match="PHOTOSVC_PROXIES"):
        load_settings(tmp_path, overrides={"PHOTOSVC_PROXIES": value})


def test_an_address_loses_its_last_slash(tmp_path):
    settings = load_settings(tmp_path, overrides={"PHOTOSVC_BASE_URL": "https://photos.example.org/sub/"})
    assert settings.base_url == "https://photos.example.org/sub"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 +", "instance/config.py stops with SyntaxError"),
        ("1 / 0", "instance/config.py stops with ZeroDivisionError: division by zero"),
    ],
)
def test_an_error_in_the_configuration_file_stops_the_start(tmp_path, text, message):
    (tmp_path / "config.py").write_text(text)
    with pytest.raises(SettingError) as caught:
        load_settings(tmp_path)
    assert caught.value.message.startswith(message)


def test_a_configuration_file_that_is_not_text_stops_the_start(tmp_path):
    (tmp_path / "config.py").write_bytes(b"\xff")
    with pytest.raises(SettingError, match=r"^instance/config\.py cannot be read: UnicodeDecodeError$"):
        load_settings(tmp_path)


def test_the_key_file_is_made_once_and_readable_by_its_owner_only(tmp_path):
    first = load_settings(tmp_path).secret_key
    path = tmp_path / "secret_key"
    assert load_settings(tmp_path).secret_key == first == path.read_text()
    assert len(first) == 64
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret_key"]


def test_a_given_key_is_not_written_to_a_file(tmp_path):
    assert load_settings(tmp_path, overrides={"PHOTOSVC_SECRET_KEY": KEY}).secret_key == KEY
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_key_file_stops_the_start(tmp_path):
    (tmp_path / "secret_key").write_text("half")
    with pytest.raises(SettingError, match="instance/secret_key cannot be used: expected keys of at least 32"):
        load_settings(tmp_path)


def test_eight_processes_at_once_agree_on_one_key(tmp_path):
    program = (
        "import sys, pathlib; sys.stdin.readline()\n"
        "from photosvc.settings import load_settings\n"
        "print(load_settings(pathlib.Path(sys.argv[1])).secret_key)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    for process in running:
        process.stdin.write("\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=30)[0] for process in running}
    assert keys == {(tmp_path / "secret_key").read_text() + "\n"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["secret_key"]


def test_settings_never_show_a_secret(tmp_path):
    settings = load_settings(tmp_path, overrides={"PHOTOSVC_SECRET_KEY": KEY})
    assert KEY not in f"{settings!r} {settings}"


def test_a_tilde_is_the_home_folder_in_every_path(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    paths = {"PHOTOSVC_ORIGINALS": "~/a", "PHOTOSVC_CACHE": "~/b", "PHOTOSVC_IMPORT_FOLDER": "~/c"}
    settings = load_settings(tmp_path, environ={**paths, "PHOTOSVC_DATABASE_URI": "sqlite:///~/d.db"})
    home = tmp_path / "home"
    assert (settings.originals, settings.cache, settings.import_folder) == (home / "a", home / "b", home / "c")
    assert settings.database_uri == f"sqlite:///{home}/d.db"
    assert make_instance(None, {"PHOTOSVC_INSTANCE": "~/e"}) == home / "e"
    assert (home / "e").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"PHOTOSVC_INSTANCE": "/proc/nothing"}, "PHOTOSVC_INSTANCE (/proc/nothing) cannot be made: No such file or"),
        ({"PHOTOSVC_INSTANCE": "/etc/passwd"}, "PHOTOSVC_INSTANCE (/etc/passwd) cannot be made: it is a file"),
        ({"PHOTOSVC_INSTANCE": "~nobody-at-all"}, "PHOTOSVC_INSTANCE is not valid: there is no home folder for"),
        ({"PHOTOSVC_INSTANCE": " "}, "PHOTOSVC_INSTANCE is not valid: expected a path that is not empty"),
    ],
)
def test_an_impossible_instance_folder_is_an_error_that_names_its_variable(environ, sentence):
    with pytest.raises(SettingError) as caught:
        make_instance(None, environ)
    assert caught.value.message.startswith(sentence)


def test_an_installed_package_keeps_its_instance_outside_its_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    package = tmp_path / "venv/lib/python3.11/site-packages/photosvc"
    (package.parent / "photosvc-1.0.dist-info").mkdir(parents=True)
    assert default_instance({}, package) == tmp_path / ".local/share/photosvc"
    assert default_instance({"XDG_DATA_HOME": "relative"}, package) == tmp_path / ".local/share/photosvc"
    assert default_instance({"XDG_DATA_HOME": "/data"}, package) == Path("/data/photosvc")
    assert default_instance({}, tmp_path / "checkout/photosvc") == tmp_path / "checkout/instance"


def test_the_remembered_folder_is_a_source_of_its_own(tmp_path):
    remember_originals(tmp_path, tmp_path / "a\nb\udcff")
    settings = load_settings(tmp_path)
    assert (settings.originals, settings.origins["originals"]) == (tmp_path / "a\nb\udcff", "instance/photos_folder")
    assert load_settings(tmp_path, reads_config=False).originals == tmp_path / "originals"
    assert load_settings(tmp_path, environ={"PHOTOSVC_ORIGINALS": "/b"}).originals == Path("/b")
    remember_originals(tmp_path, samples.ORIGINALS)
    assert (tmp_path / "photos_folder").read_text() == "samples\n"
    assert load_settings(tmp_path).originals == samples.ORIGINALS
    (tmp_path / "originals").mkdir()
    assert load_settings(tmp_path).originals == tmp_path / "originals"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "secret_key") == [
        "originals",
        "photos_folder",
    ]


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
def test_postgresql_means_the_driver_of_the_extra(tmp_path, scheme):
    settings = load_settings(
        tmp_path, overrides={"PHOTOSVC_DATABASE_URI": f"{scheme}://me:p%40ss@db/photos?sslmode=require"}
    )
    assert settings.database_uri == "postgresql+psycopg://me:p%40ss@db/photos?sslmode=require"
