"""Index runs and thumbnails by workers of dask.distributed: real schedulers and workers, which are killed."""

import sys
from datetime import timedelta
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from photosvc import __version__
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.problems import Reason
from photosvc.workers import scheduler as schedulers
from photosvc.workers.process import WorkerDiedError
from photosvc.workers.scheduler import Landmarks, SchedulerError, connected
from tests.helpers import shared
from tests.helpers.library import call_svc, open_library, svc
from tests.helpers.pictures import jpeg
from tests.system import dask_cluster as programs
from tests.system.dask_cluster import DaskCluster, dask_cluster, kill

# Its import takes half a second, which every process of a test run would pay.
pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="the extra cluster is not installed")


@pytest.fixture(scope="module")
def two_workers():
    """A scheduler with two workers, which no test kills."""
    with shared.new_folder() as folder, dask_cluster(Path(folder), 2) as cluster:
        yield cluster


@pytest.fixture
def own_cluster(tmp_path):
    """A scheduler without workers."""
    cluster = DaskCluster(tmp_path)
    yield cluster
    cluster.close()


@pytest.fixture
def reports():
    """The sentences about workers that are refused."""
    return []


def fill(library, count=24):
    for number in range(count):
        library.put(f"{number % 3}/{number}.jpg", jpeg(64 + number, 48))
    library.put("broken.jpg", jpeg(99, 48)[:300])
    library.close()


def results(cluster, function, items, reports, folder):
    with connected(cluster.address, str(folder), reports.append) as found:
        pool = found.pool(function, result=int, timeout=20, memory_bytes=1 << 30)
        return dict(pool.run(items))


def index(library, address, *options):
    return call_svc("index", "--scheduler", address, *options, instance=library.instance)


def test_files_read_by_workers_are_indexed_as_those_read_here(library, two_workers, tmp_path):
    fill(library)
    done = index(library, two_workers.address)
    assert (done.returncode, done.stderr) == (1, "failed broken.jpg: the picture is truncated\n"), done.stdout
    assert done.stdout.startswith("24 indexed, 0 updated, 0 unchanged, 0 missing, 0 skipped, 1 failed in ")
    local = open_library(tmp_path / "local")
    fill(local)
    local.index()
    fields = ("FileName", "Hash", "Width", "Height", "Color", "TakenAt", "Quality")
    assert [[record[name] for name in fields] for record in library.find(order="name", count=100)] == [
        [record[name] for name in fields] for record in local.find(order="name", count=100)
    ]
    local.close()
    again = index(library, two_workers.address, "--force")
    assert again.stdout.startswith("0 indexed, 24 updated, 0 unchanged, 0 missing, 0 skipped, 1 failed in ")


def test_thumbnails_by_workers_are_in_the_cache_of_this_machine(library, two_workers):
    fill(library)
    library.index()
    library.close()
    done = call_svc("thumbs", "--scheduler", two_workers.address, "--sizes", "tile_100", instance=library.instance)
    assert (done.returncode, done.stdout) == (0, "24 made, 0 kept, 0 failed\n"), done.stderr
    again = call_svc("thumbs", "--sizes", "tile_100", instance=library.instance)
    assert again.stdout == "0 made, 24 kept, 0 failed\n"


def test_a_file_that_kills_its_reader_costs_that_file_alone(two_workers, reports, tmp_path):
    found = results(two_workers, programs.refuse_seven, range(60), reports, tmp_path)
    error = found.pop(7)
    assert isinstance(error, WorkerDiedError)
    assert (error.problem.reason, error.problem.details) == (Reason.KILLED, ("SIGSEGV",))
    assert found == {number: number for number in range(60) if number != 7}
    assert reports == []


def test_a_worker_that_is_killed_loses_nothing(own_cluster, reports, tmp_path):
    own_cluster.add()
    found = {}
    with connected(own_cluster.address, str(tmp_path), reports.append) as scheduler:
        pool = scheduler.pool(programs.double, result=int, timeout=20, memory_bytes=1 << 30)
        for number, (item, result) in enumerate(pool.run(range(200))):
            found[item] = result
            if number in {20, 80}:
                own_cluster.add()
                kill(next(worker for worker in own_cluster.workers if worker.poll() is None))
    assert found == {number: 2 * number for number in range(200)}
    assert reports == []
    assert [worker.poll() for worker in own_cluster.workers].count(None) == 1


def test_a_file_that_kills_each_worker_is_reported_and_costs_no_other(own_cluster, reports, tmp_path):
    own_cluster.add(nanny=True)
    found = results(own_cluster, programs.kill_the_worker_at_seven, range(12), reports, tmp_path)
    error = found.pop(7)
    assert isinstance(error, WorkerDiedError)
    assert (error.problem.reason, error.problem.reason.may_pass) == (Reason.KILLED, True)
    assert found == {number: number for number in range(12) if number != 7}


def test_a_worker_of_another_version_is_refused_and_the_others_work(own_cluster, reports, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sitecustomize.py").write_text("import photosvc\nphotosvc.__version__ = '0.0.9'\n")
    path = f"{tmp_path / 'other'}:{programs._ROOT}"
    own_cluster.add(environ={"PYTHONPATH": path})
    own_cluster.add()
    found = results(own_cluster, programs.double, range(20), reports, tmp_path)
    assert found == {number: 2 * number for number in range(20)}
    (sentence,) = reports
    assert sentence.endswith(f" is not used: it runs photosvc 0.0.9, not {__version__}.")


def test_a_worker_without_the_originals_is_refused_and_nothing_is_missing(library, own_cluster, monkeypatch):
    monkeypatch.setattr(schedulers, "PATIENCE", 3.0)
    fill(library, 3)
    library.index()
    library.put("new.jpg", jpeg(99, 33))
    hidden = f'mount -t tmpfs none {library.originals} && exec "$@"'
    try:
        own_cluster.add(within=["unshare", "--mount", "sh", "-c", hidden, "sh"])
    except AssertionError as error:
        pytest.skip(f"no mount namespaces here: {error}")
    library.close()
    done = index(library, own_cluster.address)
    refusal, failure = (line for line in done.stderr.splitlines() if "broken.jpg" not in line)
    assert refusal.endswith(f" is not used: it does not see the originals in {library.originals}.")
    assert failure == f"Error: The scheduler {own_cluster.address} has no worker that can be used."
    assert done.returncode == 1
    assert len(library.names(count=100)) == 3
    assert library.call("GET", "/index", token=library.token(role="admin"))["running"] is False


def test_a_scheduler_that_dies_in_a_run_is_one_sentence_and_nothing_is_missing(library, own_cluster, monkeypatch):
    monkeypatch.setattr(schedulers, "_ANSWER", 3)
    fill(library, 3)
    library.index()
    for number in range(400):
        library.put(f"new/{number}.jpg", jpeg(64 + number, 90))
    (library.originals / "0" / "0.jpg").unlink()
    library.close()
    own_cluster.add()
    submit, taken = schedulers.SchedulerPool._submit, count()

    def kill_once_begun(pool, task):
        if next(taken) == 20:
            kill(own_cluster.scheduler)
        submit(pool, task)

    monkeypatch.setattr(schedulers.SchedulerPool, "_submit", kill_once_begun)
    done = index(library, own_cluster.address)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"Error: The scheduler {own_cluster.address} ")
    assert library.call("GET", "/index", token=library.token(role="admin"))["runs"][0]["Missing"] == 0
    assert "0/0.jpg" in library.names(count=1000)


def certificate(folder):
    """The environment of a process with a certificate that it shares with all others, and trusts alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "photosvc")])
    now = SYSTEM_CLOCK()
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    signed = made.sign(key, hashes.SHA256())
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "cert.pem").write_bytes(signed.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(secret)
    found = {"DASK_DISTRIBUTED__COMM__TLS__CA_FILE": str(folder / "cert.pem")}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__CERT"] = str(folder / "cert.pem")
        found[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] = str(folder / "key.pem")
    return found


def test_connections_are_encrypted_with_the_certificates_of_dasks_configuration(library, tmp_path):
    environ = certificate(tmp_path)
    fill(library, 3)
    cluster = DaskCluster(tmp_path, "tls", environ)
    try:
        cluster.add()
        assert cluster.address.startswith("tls://")
        done = svc("index", "--scheduler", cluster.address, instance=library.instance, environ=environ, timeout=300)
        assert done.stdout.startswith("3 indexed, "), done.stderr
        (tmp_path / "other").mkdir()
        other = certificate(tmp_path / "other")
        stranger = svc("index", "--scheduler", cluster.address, instance=library.instance, environ=other, timeout=300)
        assert (stranger.returncode, stranger.stdout) == (1, "")
        assert stranger.stderr == f"Error: No scheduler of dask answers at {cluster.address}.\n"
        without = svc("index", "--scheduler", cluster.address, instance=library.instance, timeout=300)
        assert (without.returncode, without.stdout) == (1, "")
        assert without.stderr.startswith("Error: A scheduler at tls:// needs certificates: ")
    finally:
        cluster.close()


def test_an_address_without_a_scheduler_is_one_sentence(library, monkeypatch):
    monkeypatch.setattr(schedulers, "_ANSWER", 1)
    fill(library, 1)
    done = index(library, "tcp://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "Error: No scheduler of dask answers at tcp://127.0.0.1:1.\n"
    assert library.names() == []


def test_an_address_of_another_form_and_options_for_this_machine_are_usage_errors(library):
    library.close()
    form = "is no address such as tcp://host:8786 or tls://host:8786"
    wrong = ("127.0.0.1:8786", "http://127.0.0.1:8786", "tcp://", "tcp://host", "tcp://a b:1")
    for sentence, *arguments in (
        *((form, address) for address in wrong),
        ("--workers counts processes of this machine", "tcp://127.0.0.1:8786", "--workers", "2"),
        ("--thumbs fills the cache of the machine that reads a file", "tcp://127.0.0.1:8786", "--thumbs"),
    ):
        done = index(library, *arguments)
        assert (done.returncode, sentence in done.stderr) == (2, True), (arguments, done.stderr)


def test_without_the_extra_the_error_has_the_command_to_install_it(library, monkeypatch):
    library.close()
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = index(library, "tcp://127.0.0.1:8786")
    assert done.returncode == 1
    assert done.stderr == "Error: A scheduler needs the extra \"cluster\": pip install 'photosvc[cluster]'\n"


def test_a_machine_is_fit_if_it_has_the_version_and_one_of_the_names(tmp_path):
    for name in ("2023", "2024"):
        (tmp_path / name).mkdir()
    marks = Landmarks.of(str(tmp_path))
    assert (marks.version, marks.names, marks.unfitness()) == (__version__, ("2023", "2024"), "")
    (tmp_path / "2023").rmdir()
    assert marks.unfitness() == ""
    (tmp_path / "2024").rmdir()
    assert marks.unfitness() == f"does not see the originals in {tmp_path}"
    assert Landmarks("0.0.9", str(tmp_path), ()).unfitness() == f"runs photosvc {__version__}, not 0.0.9"


def test_a_lost_scheduler_is_an_error_that_may_pass():
    error = SchedulerError("The scheduler is gone.")
    assert (error.status, error.retry_after, error.exit_code) == (503, 60, 1)
