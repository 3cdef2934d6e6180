"""`svc deploy show` for Prometheus, Grafana and containers: the files are valid, and ask for what is served."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import photosvc
from photosvc import __version__
from photosvc.cli.deploy import FILES, Deployment, files_of
from tests.helpers.library import call_svc
from tests.helpers.pictures import jpeg

ODD = 'my $HOME "pictures": #1'
METRIC = re.compile(r"\bphotosvc_\w+")
needs_promtool = pytest.mark.needs("promtool")


def alerts():
    """The rules, by the name of their alert."""
    groups = yaml.safe_load(files_of("prometheus", Deployment())["photosvc-alerts.yml"])["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def panels():
    return json.loads(files_of("grafana", Deployment())["photosvc-dashboard.json"])["panels"]


@pytest.fixture
def served(library):
    """Name -> labels of all samples that a library with photos, requests and a backup serves."""
    library.put("one.jpg", jpeg())
    library.index()
    library.app.test_cli_runner().invoke(
        library.app.cli, ["svc", "backup", str(library.instance / "x.zip")], catch_exceptions=False
    )
    library.get(token=library.token())
    text = library.get(path="/api/v1/metrics", token=library.token("metrics")).text
    names = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            names.setdefault(sample.name, set()).update(sample.labels)
    return names


def check_expression(expression, served):
    names = METRIC.findall(expression)
    assert [name for name in names if name not in served] == []
    for name, labels in re.findall(r"\b(photosvc_\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)(?:=~|!~|!=|=)", labels)) <= served[name], expression
    grouped = {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", expression) for label in labels.split(",")}
    assert grouped <= set().union(*(served[name] for name in names)), expression


def test_each_alert_asks_for_metrics_and_labels_that_are_served(served):
    assert len(alerts()) == 15
    for rule in alerts().values():
        check_expression(rule["expr"], served)
        labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels <= set().union(*(served[name] for name in METRIC.findall(rule["expr"])), set())
        assert rule["labels"]["severity"] in {"critical", "warning"}


def test_each_panel_of_the_dashboard_asks_for_metrics_and_labels_that_are_served(served):
    asked = set()
    for panel in panels():
        for target in panel["targets"]:
            check_expression(target["expr"], served)
            names = METRIC.findall(target["expr"])
            asked.update(names)
            labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
            assert labels <= set().union(*(served[name] for name in names))
    assert {"photosvc_requests_total", "photosvc_photos", "photosvc_disk_free_bytes"} <= asked


def test_the_panels_of_the_dashboard_have_numbers_of_their_own_and_do_not_overlap():
    assert len({panel["id"] for panel in panels()}) == len(panels())
    cells = [
        (column, row)
        for place in (panel["gridPos"] for panel in panels())
        for column in range(place["x"], place["x"] + place["w"])
        for row in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(column for column, _ in cells) == 23


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("", ("http", "photos.example.org", "/api/v1/metrics")),
        ("https://home.test:8443/photos", ("https", "home.test:8443", "/photos/api/v1/metrics")),
    ],
)
def test_prometheus_asks_the_public_address(address, target):
    text = files_of("prometheus", Deployment(base_url=address))["prometheus.yml"]
    (job,) = yaml.safe_load(text)["scrape_configs"]
    assert (job["scheme"], *job["static_configs"][0]["targets"], job["metrics_path"]) == target


def test_the_token_that_the_file_for_prometheus_names_reads_the_metrics(library):
    (command,) = re.findall(r"#   svc (.*) \|", files_of("prometheus", Deployment())["prometheus.yml"])
    done = library.app.test_cli_runner().invoke(library.app.cli, ["svc", *command.split()], catch_exceptions=False)
    (token,) = re.findall(r"^Access Token,(.+)$", done.stdout, re.MULTILINE)
    assert library.get(path="/api/v1/metrics", token=token).status_code == 200


@needs_promtool
def test_promtool_accepts_the_files(tmp_path):
    for name, text in files_of("prometheus", Deployment(base_url="https://home.test/a")).items():
        (tmp_path / name).write_text(text)
    for command in (["check", "config", "--syntax-only", "prometheus.yml"], ["check", "rules", "photosvc-alerts.yml"]):
        done = subprocess.run(["promtool", *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


#: Alert -> series with a value a minute, and the time at which it fires.
FIRING = {
    "PhotosvcAway": ({'up{job="photosvc"}': "1x10 0x60"}, "1h"),
    "PhotosvcErrors": (
        {'photosvc_requests_total{status="200"}': "0+9x60", 'photosvc_requests_total{status="503"}': "0+1x60"},
        "1h",
    ),
    "PhotosvcSlow": (
        {
            'photosvc_request_seconds_bucket{route="/api/v1/photos",le="1.0"}': "0+5x60",
            'photosvc_request_seconds_bucket{route="/api/v1/photos",le="5.0"}': "0+9x60",
            'photosvc_request_seconds_bucket{route="/api/v1/photos",le="+Inf"}': "0+9x60",
        },
        "1h",
    ),
    "PhotosvcSearchesEnded": ({'photosvc_searches_ended_total{reason="busy"}': "0+1x60"}, "1h"),
    "PhotosvcOriginalsAway": ({"photosvc_originals_available": "1x10 0x50"}, "1h"),
    "PhotosvcFilesMissing": ({"photosvc_files_missing": "0+3x60"}, "1h"),
    "PhotosvcNotIndexed": ({"photosvc_index_whole_run_timestamp_seconds": "0x1800"}, "26h"),
    "PhotosvcIndexFailures": ({"photosvc_index_failures": "0+1x60"}, "1h"),
    "PhotosvcBackupOld": ({"photosvc_backup_timestamp_seconds": "0x2300"}, "37h"),
    "PhotosvcNoBackup": ({'up{job="photosvc"}': "1x3000"}, "49h"),
    "PhotosvcDiskFull": (
        {'photosvc_disk_free_bytes{folder="cache"}': "4x60", 'photosvc_disk_size_bytes{folder="cache"}': "100x60"},
        "1h",
    ),
    "PhotosvcDiskFullSoon": ({'photosvc_disk_free_bytes{folder="cache"}': "5000-1x2000"}, "30h"),
    "PhotosvcCacheOverLimit": ({"photosvc_cache_bytes": "16x1600", "photosvc_cache_limit_bytes": "10x1600"}, "25h"),
    "PhotosvcMemory": ({"photosvc_process_memory_bytes": "3e9x60", "photosvc_processes": "2x60"}, "1h"),
    "PhotosvcOpenFiles": ({"photosvc_process_open_files": "1700x60", "photosvc_processes": "2x60"}, "1h"),
}


@pytest.mark.slow
@needs_promtool
def test_each_alert_fires_on_the_figures_that_it_is_for_and_on_no_others(tmp_path):
    assert set(FIRING) == set(alerts())
    (tmp_path / "rules.yml").write_text(files_of("prometheus", Deployment())["photosvc-alerts.yml"])
    cases = []
    for name, (series, when) in FIRING.items():
        values = [{"series": series_name, "values": value} for series_name, value in series.items()]
        cases.append(
            {
                "interval": "1m",
                "input_series": values,
                "promql_expr_test": [
                    {
                        "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                        "eval_time": when,
                        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1}],
                    },
                    {"expr": 'ALERTS{alertstate="firing"}', "eval_time": "1m", "exp_samples": []},
                ],
            }
        )
    (tmp_path / "test.yml").write_text(json.dumps({"rule_files": ["rules.yml"], "tests": cases}))
    done = subprocess.run(
        ["promtool", "test", "rules", "test.yml"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


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


@pytest.mark.slow
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
