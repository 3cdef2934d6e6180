"""`svc deploy show compose`: the files are valid, and agree with each other."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

import photosvc
from photosvc import __version__
from photosvc.cli.deploy import FILES, Deployment, files_of
from tests.helpers.library import call_svc

ODD = 'my $HOME "pictures": #1'


def compose(tmp_path, **environ):
    folder = tmp_path / "made"
    done = call_svc("deploy", "show", "compose", "--to", str(folder), instance=tmp_path / "instance", environ=environ)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES["compose"])
    return folder


def test_containers_get_the_folder_of_originals_and_the_settings_but_no_secret(tmp_path):
    folder = compose(
        tmp_path,
        PHOTOSVC_ORIGINALS=str(tmp_path / ODD),
        PHOTOSVC_READONLY="true",
        PHOTOSVC_SITE_NAME='50 $ "Ü" #',
        PHOTOSVC_CACHE="/elsewhere",
        PHOTOSVC_SECRET_KEY="s" * 40,
        PHOTOSVC_BASE_URL="https://home.test",
    )
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    assert sorted(services) == ["database", "nginx", "upgrade", "watch", "web"]
    for name in ("upgrade", "web", "watch"):
        service = services[name]
        assert service["environment"] == {
            "PHOTOSVC_DATABASE_URI": "postgresql+psycopg://photosvc@database/photosvc",
            "PGPASSWORD": "${DATABASE_PASSWORD:?write it into the file .env}",
            "PHOTOSVC_PROXIES": "1",
            "PHOTOSVC_BASE_URL": "https://home.test",
            "PHOTOSVC_READONLY": "true",
            "PHOTOSVC_SITE_NAME": '50 $$ "Ü" #',
            "PHOTOSVC_SECRET_KEY": "${PHOTOSVC_SECRET_KEY:?write it into the file .env}",
        }
        source = str(tmp_path / ODD).replace("$", "$$")
        assert service["volumes"][0] == {"type": "bind", "source": source, "target": "/originals", "read_only": True}
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert service["image"] == f"photosvc:{__version__}"
    assert services["nginx"]["ports"] == ["80:80", "443:443"]
    assert "ssss" not in "".join(path.read_text() for path in folder.iterdir())


def test_nginx_in_its_container_reaches_the_port_that_gunicorn_listens_on(tmp_path):
    folder = compose(tmp_path, PHOTOSVC_BASE_URL="http://home.test:8000")
    assert 'bind = "0.0.0.0:8080"' in (folder / "gunicorn.conf.py").read_text().splitlines()
    nginx = (folder / "nginx.conf").read_text()
    assert "    server web:8080;" in nginx
    assert "access_log /dev/stdout photosvc;" in nginx
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    assert services["nginx"]["ports"] == ["8000:8000"]
    assert "http://127.0.0.1:8080/api/v1/healthz" in services["web"]["healthcheck"]["test"][-1]


def test_the_containerfile_installs_this_version_and_copies_files_that_are_made_with_it(tmp_path):
    folder = compose(tmp_path)
    text = (folder / "Containerfile").read_text().replace("\\\n", "")
    steps = [line.split(" ", 1) for line in text.splitlines() if line and not line.startswith("#")]
    assert steps[0] == ["FROM", "python:3.13-slim-trixie"]
    assert {name for name, _ in steps} <= {"FROM", "RUN", "COPY", "ARG", "ENV", "USER", "WORKDIR", "EXPOSE", "CMD"}
    assert f"'photosvc[all]=={__version__}'" in text
    copied = [name for step, rest in steps if step == "COPY" for name in rest.split()[:-1] if "*" not in name]
    assert [name for name in copied if not (folder / name).is_file()] == []
    for step, rest in steps:
        if step == "RUN":
            assert subprocess.run(["sh", "-nc", rest], check=False).returncode == 0


@pytest.mark.needs("docker-compose")
def test_docker_compose_accepts_its_file_and_asks_for_the_password(tmp_path):
    folder = compose(tmp_path, PHOTOSVC_ORIGINALS=str(tmp_path / ODD), PHOTOSVC_BASE_URL="http://home.test/photos")

    def config():
        return subprocess.run(
            ["docker-compose", "-f", "compose.yaml", "config"], cwd=folder, capture_output=True, text=True, check=False
        )

    refused = config()
    assert refused.returncode != 0
    assert "write it into the file .env" in refused.stderr
    (folder / ".env").write_text("DATABASE_PASSWORD=p\n")
    done = config()
    assert done.returncode == 0, done.stderr
    assert yaml.safe_load(done.stdout)["services"]["web"]["environment"]["PGPASSWORD"] == "p"


def test_no_file_names_a_host_from_which_images_are_fetched():
    for text in files_of("compose", Deployment()).values():
        assert re.findall(r"(?:image:|FROM) \S*\.\S+/", text) == []


def test_folders_of_deployments_have_templates_for_all_their_files():
    folder = Path(photosvc.__file__).parent / "data/deploy"
    made = {f"{name}.jinja" for names in FILES.values() for name in names}
    assert {path.name for path in folder.iterdir()} - made == {"hardening.jinja"}


def test_chosen_addresses_are_those_of_the_machine_and_not_of_the_container():
    given = Deployment(base_url="https://home.test:8443", listen=("192.0.2.5", "[2001:db8::5]"))
    files = files_of("compose", given)
    ports = yaml.safe_load(files["compose.yaml"])["services"]["nginx"]["ports"]
    assert ports == ["192.0.2.5:80:80", "192.0.2.5:8443:8443", "[2001:db8::5]:80:80", "[2001:db8::5]:8443:8443"]
    assert "192.0.2.5" not in files["nginx.conf"]
