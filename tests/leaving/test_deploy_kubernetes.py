"""`svc deploy show kubernetes`: a manifest that the schema of Kubernetes accepts, for pods with few rights."""

import kubernetes_validate
import pytest
import yaml

from photosvc import __version__
from photosvc.cli.deploy import Deployment, files_of
from photosvc.cli.group import PlainError
from tests.helpers.library import call_svc

#: Values that YAML or Kubernetes could take for something else.
ODD = '50 $(HOME) "Ü" #: yes'


def documents(**values):
    """The objects of a manifest, by kind and name, each of which the schema has accepted."""
    (text,) = files_of("kubernetes", Deployment(**values)).values()
    found = [one for one in yaml.safe_load_all(text) if one is not None]
    for one in found:
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    return {(one["kind"], one["metadata"]["name"]): one for one in found}


def pods(found):
    return [one["spec"]["template"]["spec"] for (kind, _), one in found.items() if kind == "Deployment"]


def containers(found):
    return [one for pod in pods(found) for one in (*pod.get("initContainers", ()), *pod["containers"])]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"base_url": "https://home.test/photos", "readonly": True},
        {"base_url": "http://home.test", "bind": "[::1]:9000", "index_workers": 5, "cache_size": 16},
        {"environment": {"PHOTOSVC_SITE_NAME": ODD}, "secrets": ("PHOTOSVC_READ_DATABASE_URI",)},
    ],
)
def test_the_schema_accepts_every_manifest(values):
    assert sorted(documents(**values)) == [
        ("Deployment", "photosvc"),
        ("Deployment", "photosvc-watch"),
        ("Ingress", "photosvc"),
        ("PersistentVolumeClaim", "photosvc-originals"),
        ("Service", "photosvc"),
    ]


def test_the_schema_refuses_a_wrong_manifest():
    service = documents()["Service", "photosvc"]
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(
            {**service, "spec": {**service["spec"], "port": 80}}, kubernetes_validate.latest_version(), strict=True
        )


def test_containers_have_no_rights_and_nothing_but_volumes_to_write_to():
    found = documents()
    for pod in pods(found):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 1000
        assert pod["automountServiceAccountToken"] is False
        volumes = {one["name"] for one in pod["volumes"]}
        for one in (*pod.get("initContainers", ()), *pod["containers"]):
            assert {mount["name"] for mount in one["volumeMounts"]} == volumes
    for one in containers(found):
        context = one["securityContext"]
        assert (context["readOnlyRootFilesystem"], context["allowPrivilegeEscalation"]) == (True, False)
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert one["image"] == f"photosvc:{__version__}"


def test_requests_lead_from_the_address_to_the_port_of_the_pods():
    found = documents(base_url="https://home.test/photos", bind="127.0.0.1:9000")
    ingress, service = found["Ingress", "photosvc"]["spec"], found["Service", "photosvc"]["spec"]
    (rule,) = ingress["rules"]
    assert rule["host"] == "home.test"
    assert [one["path"] for one in rule["http"]["paths"]] == ["/photos", "/.well-known"]
    assert ingress["tls"] == [{"hosts": ["home.test"], "secretName": "photosvc-tls"}]
    for one in rule["http"]["paths"]:
        assert one["backend"]["service"] == {"name": "photosvc", "port": {"name": service["ports"][0]["name"]}}
    web = found["Deployment", "photosvc"]["spec"]
    labels = web["template"]["metadata"]["labels"]
    assert service["selector"] == web["selector"]["matchLabels"] == labels
    assert found["Deployment", "photosvc-watch"]["spec"]["template"]["metadata"]["labels"] != labels
    assert web["template"]["spec"]["containers"][0]["ports"] == [{"name": "http", "containerPort": 9000}]
    assert 'bind = "0.0.0.0:9000"' in files_of("compose", Deployment(bind="127.0.0.1:9000"))["gunicorn.conf.py"]


def test_probes_ask_addresses_that_answer_without_a_token(library):
    (web,) = documents()["Deployment", "photosvc"]["spec"]["template"]["spec"]["containers"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert library.app.test_client().get(web[probe]["httpGet"]["path"]).status_code == 200


def test_memory_is_that_of_the_processes_which_read_and_make_pictures():
    found = documents(index_memory=1000, index_workers=3, thumb_workers=2, workers=2, cache_size=1000)
    web, watch = (pod["containers"][0]["resources"]["limits"]["memory"] for pod in pods(found))
    assert (web, watch) == (f"{512 + 2 * 2 * 1000}Mi", f"{512 + 3 * 1000}Mi")
    (cache,) = [one["ephemeral"] for one in pods(found)[0]["volumes"] if one["name"] == "cache"]
    assert cache["volumeClaimTemplate"]["spec"]["resources"]["requests"] == {"storage": "1100Mi"}


def test_pods_get_the_settings_of_the_environment_and_no_secret(tmp_path):
    given = {"PHOTOSVC_SITE_NAME": ODD, "PHOTOSVC_INDEX_WORKERS": "4", "PHOTOSVC_READONLY": "true"}
    done = call_svc(
        "deploy",
        "show",
        "kubernetes",
        instance=tmp_path / "instance",
        environ={**given, "PHOTOSVC_SECRET_KEY": "s" * 40, "PHOTOSVC_ORIGINALS": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "ssss" not in done.stdout
    deployments = [one for one in yaml.safe_load_all(done.stdout) if one and one["kind"] == "Deployment"]
    for deployment in deployments:
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        variables = {one["name"]: one.get("value", one.get("valueFrom")) for one in container["env"]}
        assert variables == {
            "PHOTOSVC_BASE_URL": "https://photos.example.org",
            "PHOTOSVC_SITE_NAME": ODD.replace("$", "$$"),
            "PHOTOSVC_READONLY": "true",
            "PHOTOSVC_PROXIES": "1",
            "PHOTOSVC_INSTANCE": "/var/lib/photosvc/instance",
            "PHOTOSVC_CACHE": "/var/cache/photosvc/cache",
            "PHOTOSVC_INDEX_WORKERS": "4",
            "PHOTOSVC_THUMB_WORKERS": "1",
            "PHOTOSVC_CACHE_SIZE": "20480",
            "PHOTOSVC_DATABASE_URI": {"secretKeyRef": {"name": "photosvc", "key": "PHOTOSVC_DATABASE_URI"}},
            "PHOTOSVC_SECRET_KEY": {"secretKeyRef": {"name": "photosvc", "key": "PHOTOSVC_SECRET_KEY"}},
        }
        assert {"name": "originals", "mountPath": "/originals", "readOnly": True} in container["volumeMounts"]


@pytest.mark.parametrize("host", ["[::1]", "192.168.1.20"])
def test_an_address_that_no_ingress_can_have_is_refused(host):
    with pytest.raises(PlainError) as caught:
        files_of("kubernetes", Deployment(base_url=f"http://{host}:8080"))
    shown = host.strip("[]")
    assert caught.value.message == f"an Ingress needs a name of a host in PHOTOSVC_BASE_URL, not '{shown}'"
