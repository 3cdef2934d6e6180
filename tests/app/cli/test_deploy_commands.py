"""`svc deploy show`: files of nginx, gunicorn and systemd, checked by the programs that read them."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from photosvc.cli.deploy import FILES, Deployment, files_of, has_new_http2
from photosvc.cli.group import PlainError
from tests.helpers.library import call_svc

ODD = 'my "pictures" 100% of 2\\3'


def show(instance, *arguments, **environ):
    return call_svc("deploy", "show", *arguments, instance=instance, environ=environ)


def exposure(unit: Path) -> float:
    """Ask `systemd-analyze security` about a unit: 0 is closed, 10 is open."""
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return float(re.search(r"Overall exposure level for .*: ([0-9.]+)", done.stdout)[1])


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize("name", ["pictures", ODD])
def test_systemd_accepts_the_units_without_a_warning_and_finds_them_closed(tmp_path, name):
    folder = tmp_path / "units"
    done = show(
        tmp_path / "instance",
        *("systemd", "--to", str(folder), "--user", "games", "--backups", str(tmp_path / name)),
        PHOTOSVC_ORIGINALS=str(tmp_path / name),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [str(folder / one) for one in FILES["systemd"]]
    units = sorted(folder.iterdir())
    checked = subprocess.run(
        ["systemd-analyze", "verify", *map(str, units)], capture_output=True, text=True, check=False
    )
    assert [line for line in checked.stderr.splitlines() if str(folder) in line] == []
    assert checked.returncode == 0, checked.stderr
    assert [one.name for one in units if one.suffix == ".service" and exposure(one) > 3] == []


def test_units_have_the_settings_of_the_environment_and_no_secret(tmp_path):
    done = show(
        tmp_path,
        "systemd",
        PHOTOSVC_ORIGINALS=str(tmp_path / "a b"),
        PHOTOSVC_TRASH_DAYS="7",
        PHOTOSVC_SECRET_KEY="s" * 40,
    )
    service = done.stdout.partition("# photosvc.service\n")[2].partition("# photosvc-watch.service\n")[0]
    assert re.findall("^Environment=(.*)$", service, re.MULTILINE) == [
        f"PHOTOSVC_INSTANCE={tmp_path}",
        f'"PHOTOSVC_ORIGINALS={tmp_path}/a b"',
        "PHOTOSVC_TRASH_DAYS=7",
        "PHOTOSVC_PROXIES=1",
        "PHOTOSVC_SENDFILE_HEADER=X-Accel-Redirect",
        "MALLOC_ARENA_MAX=2",
    ]
    assert "EnvironmentFile=/etc/photosvc/secrets" in service
    assert "sss" not in done.stdout


def test_the_socket_of_gunicorn_may_be_a_file_that_nginx_alone_may_use():
    given = Deployment(bind="unix:/run/photosvc/gunicorn.sock", user="games")
    lines = files_of("systemd", given)["photosvc.socket"].splitlines()
    assert {"ListenStream=/run/photosvc/gunicorn.sock", "SocketMode=0660", "SocketUser=games"} <= {*lines}
    assert "SocketMode" not in files_of("systemd", Deployment())["photosvc.socket"]
    assert 'bind = "unix:/run/photosvc/gunicorn.sock"' in files_of("gunicorn", given)["gunicorn.conf.py"]


def test_a_library_that_may_not_be_written_is_closed_to_the_service():
    units = files_of("systemd", Deployment(readonly=True))
    writes = re.findall("^ReadWritePaths=(.*)$", units["photosvc.service"], re.MULTILINE)
    assert writes == ["/var/lib/photosvc", "/var/cache/photosvc"]


def test_gunicorn_reads_its_address_and_number_of_processes(tmp_path):
    (tmp_path / "made").mkdir()
    done = show(tmp_path / "made", "gunicorn", "--bind", "[::1]:9000", "--workers", "5")
    (tmp_path / "gunicorn.conf.py").write_text(done.stdout)
    values = runpy.run_path(str(tmp_path / "gunicorn.conf.py"))
    assert (values["bind"], values["workers"], values["worker_class"]) == ("[::1]:9000", 5, "gthread")
    assert callable(values["post_worker_init"])


def nginx_checks(folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    """Check a configuration by `nginx -t`, with certificates that are made here."""
    key = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=photos", "-days", "2"]
    subprocess.run(
        [*key, "-keyout", "privkey.pem", "-out", "fullchain.pem"], cwd=folder, capture_output=True, check=True
    )
    text = re.sub(r"/etc/letsencrypt/live/[^/]+/", f"{folder}/", text).replace("/var/log/nginx", str(folder))
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(f"pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ {paths} {text} }}")
    command = ["nginx", "-t", "-c", str(main), "-e", str(folder / "error.log")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


needs_nginx = pytest.mark.needs("nginx", "openssl")


@needs_nginx
def test_nginx_accepts_its_file_for_containers(tmp_path):
    given = Deployment(base_url="https://photos.home.test", new_http2=has_new_http2())
    text = files_of("compose", given)["nginx.conf"]
    checked = nginx_checks(tmp_path, text.replace("web:8080", "127.0.0.1:8080"))
    assert "syntax is ok" in checked.stderr


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"originals": Path("/srv/a$b")},
            "nginx cannot serve the folder '/srv/a$b/', because of the dollar sign in it.",
        ),
        ({"cache": Path("/srv/a\nb")}, "'/srv/a\\nb' has control characters, which no configuration file can contain."),
        (
            {"base_url": "https://home.test/a%20b"},
            "nginx would not compare the path '/a%20b' of PHOTOSVC_BASE_URL as it is: choose letters, digits and -._~",
        ),
    ],
)
def test_values_that_nginx_cannot_have_are_refused(values, message):
    with pytest.raises(PlainError) as caught:
        files_of("nginx", Deployment(**values))
    assert (caught.value.message, caught.value.exit_code) == (message, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        ["apache"],
        ["gunicorn", "--bind", 'x"; import os; "'],
        ["systemd", "--user", "root\nExecStart=/bin/sh"],
        *(["nginx", "--behind", one] for one in ("", "proxy", "192.0.2.1/33", "192.0.2.1/24", "fe80::1%lo", "::/0")),
        ["nginx", "--behind", "192.0.2.1", "--behind", "192.0.2.2; deny all"],
        ["gunicorn", "--behind", "192.0.2.1"],
        ["systemd", "--listen", "192.0.2.1"],
        ["systemd", "--hsts", "1y"],
        ["nginx", "--hsts", "1y"],  # the address has no https
        ["nginx", "--hsts", "-1"],
        *(["nginx", "--listen", one] for one in ("", "localhost", "192.0.2.1; x", "fe80::1%lo")),
        *(["gunicorn", "--bind", one] for one in ("unix:", "unix:relative", 'unix:/a"b', "unix:/a/../b c")),
        ["compose", "--bind", "unix:/run/x.sock"],
    ],
)
def test_wrong_arguments_are_refused_without_a_file(tmp_path, arguments):
    done = show(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
