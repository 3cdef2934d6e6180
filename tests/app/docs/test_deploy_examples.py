"""The examples in deploy/: the files are valid, and ask for what is served."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from photosvc.models.counters import WATCHED, set_counters
from tests.helpers.pictures import jpeg

FOLDER = Path(__file__).parents[3] / "deploy"
METRIC = re.compile(r"\bphotosvc_\w+")


@pytest.fixture
def served(library):
    """Name -> labels of all samples that a library with photos, requests and a backup serves."""
    library.put("one.jpg", jpeg())
    library.index()
    library.app.test_cli_runner().invoke(
        library.app.cli, ["svc", "backup", str(library.instance / "x.zip")], catch_exceptions=False
    )
    library.get(token=library.token())
    with library.session() as session:
        set_counters(session, {WATCHED: 1})
    text = library.get(path="/api/v1/metrics", token=library.token("metrics")).text
    names = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            names.setdefault(sample.name, set()).update(sample.labels)
    return names


def check_expression(expression, served):
    names = METRIC.findall(expression)
    assert [name for name in names if name not in served] == [], expression
    for name, labels in re.findall(r"\b(photosvc_\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)(?:=~|!~|!=|=)", labels)) <= served[name], expression
    grouped = {label.strip() for labels in re.findall(r"\bby \(([^)]*)\)", expression) for label in labels.split(",")}
    assert grouped <= set().union(*(served[name] for name in names)), expression


def test_each_alert_and_each_panel_asks_for_metrics_and_labels_that_are_served(served):
    groups = yaml.safe_load((FOLDER / "photosvc-alerts.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert {rule["labels"]["severity"] for rule in rules} == {"critical", "warning"}
    for rule in rules:
        labels = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
        assert labels <= set().union(*(served[name] for name in METRIC.findall(rule["expr"])), set()), rule
    panels = json.loads((FOLDER / "photosvc-dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for expression in [rule["expr"] for rule in rules] + [one["expr"] for panel in panels for one in panel["targets"]]:
        check_expression(expression, served)


def test_the_token_that_the_file_for_prometheus_names_reads_the_metrics(library):
    (command,) = re.findall(r"#   svc (.*) \|", (FOLDER / "prometheus.yml").read_text())
    done = library.app.test_cli_runner().invoke(library.app.cli, ["svc", *command.split()], catch_exceptions=False)
    (token,) = re.findall(r"^Access Token,(.+)$", done.stdout, re.MULTILINE)
    assert library.get(path="/api/v1/metrics", token=token).status_code == 200


@pytest.mark.needs("promtool")
def test_promtool_accepts_the_files():
    for command in (["check", "config", "--syntax-only", "prometheus.yml"], ["check", "rules", "photosvc-alerts.yml"]):
        done = subprocess.run(["promtool", *command], cwd=FOLDER, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_manifests_for_kubernetes_are_yaml_and_use_one_image():
    text = (FOLDER / "kubernetes.yaml").read_text()
    kinds = [document["kind"] for document in yaml.safe_load_all(text)]
    assert {"Deployment", "Service", "Ingress", "PersistentVolumeClaim"} <= set(kinds)
    assert len(set(re.findall(r"image: (\S+)", text))) == 1
