"""The source distribution holds what one needs to test and run it; links in a package's description lead somewhere."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
from configparser import ConfigParser
from email.parser import HeaderParser

import pytest

from tests.helpers.programs.forks import ROOT

HOME = "https://code.example.org/photosvc"
PROGRAM = "from setuptools import build_meta; build_meta.build_sdist('dist')"


def built(folder, home):
    """The files of a source distribution, by their names in it."""
    ignored = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info")
    shutil.copytree(ROOT, folder / "source", ignore=ignored)
    shutil.copytree(ROOT / ".ci", folder / "source" / ".ci")
    environ = {**os.environ, "PROJECT_URL": home}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=folder / "source", env=environ, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    (archive,) = (folder / "source" / "dist").iterdir()
    with tarfile.open(archive) as opened:
        members = [member for member in opened.getmembers() if member.isfile()]
        return {member.name.partition("/")[2]: opened.extractfile(member).read() for member in members}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return built(tmp_path_factory.mktemp("sdist"), HOME)


def test_it_holds_documents_tests_and_all_that_is_needed_to_run_and_build(files):
    expected = {"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "requirements.lock", "setup.cfg", "wsgi.py"}
    expected |= {"bench/RESULTS.md", "docs/operations.md", "docs/photo-grid.jpg"}
    expected |= {"tests/conftest.py", "tests/system/test_packages.py"}
    assert expected - files.keys() == set()
    of_package = {str(path.relative_to(ROOT)) for path in (ROOT / "photosvc").rglob("*") if path.is_file()}
    of_package = {name for name in of_package if "__pycache__" not in name}
    assert of_package - files.keys() == set()
    assert [name for name in files if "__pycache__" in name or name.endswith((".pyc", ".db"))] == []
    assert [name for name in files if name.startswith("instance/")] == ["instance/README.md"]


def test_its_metadata_have_project_urls_and_links_to_files_that_are_there(files):
    head = HeaderParser().parsestr(files["PKG-INFO"].decode())
    urls = dict(url.split(", ", 1) for url in head.get_all("Project-URL"))
    assert urls == {
        "Source": HOME,
        "Documentation": f"{HOME}/tree/HEAD/docs",
        "Changelog": f"{HOME}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{HOME}/issues",
    }
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", files["PKG-INFO"].decode())
    assert len(links) > 10
    assert [link for mark, link in links if mark] == [f"{HOME}/raw/HEAD/docs/photo-grid.jpg"]
    for mark, link in links:
        assert link.removeprefix(f"{HOME}/{'raw' if mark else 'blob'}/HEAD/") in files, link


def test_an_older_python_is_told_which_one_is_needed_and_looks_for_no_requirement(files):
    head = HeaderParser().parsestr(files["PKG-INFO"].decode())
    assert head["Requires-Python"] == ">=3.11"
    config = ConfigParser(interpolation=None)
    config.read_string(files["setup.cfg"].decode())
    extras = [lines for name, lines in config["options.extras_require"].items() if name not in {"all", "test", "lint"}]
    needed = "\n".join([config["options"]["install_requires"], *extras]).split("\n")
    assert [line for line in needed if line and not line.endswith('; python_version >= "3.11"')] == []


def test_a_package_of_a_source_distribution_has_the_same_urls(files, tmp_path):
    for name in ("setup.py", "README.md", "PKG-INFO"):
        (tmp_path / name).write_bytes(files[name])
    program = (
        "import setuptools; setuptools.setup = lambda **found: print(found['project_urls']['Source']); import setup"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{HOME}\n", done.stderr


def test_without_an_address_nothing_is_invented(tmp_path):
    shutil.copy(ROOT / "setup.py", tmp_path)
    program = "import setuptools; setuptools.setup = lambda **found: print(found); import setup"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "{}\n", done.stderr
