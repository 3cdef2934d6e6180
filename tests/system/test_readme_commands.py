"""The commands of README.md and docs/quick-start.md work as they are pasted, in a clone whose samples are served."""

import os
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from photosvc import samples
from tests.helpers.library import call_svc
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.helpers.programs.server import serve

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs/quick-start.md").read_text()
SHOWING = re.findall(r"`(\.venv/bin/svc [^`]+)`", README)


def blocks(heading):
    """The indented blocks of the guide below a heading, as they are pasted."""
    section = GUIDE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(r"(?:^ {4}.*\n|^\n(?= {4}))+", section, re.MULTILINE)
    return ["\n".join(line[4:] for line in block.splitlines()).strip() for block in found]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Runs a block in a folder that has `.venv/bin/svc` and `instance/` as a clone after `make run`."""
    folder = tmp_path_factory.mktemp("clone")
    instance = folder / "instance"
    environ = {"PHOTOSVC_ORIGINALS": str(samples.ORIGINALS)}
    call_svc("db", "upgrade", instance=instance)
    assert call_svc("index", "--workers", "1", instance=instance, environ=environ).returncode == 0
    token = call_svc("auth", "add", "-n", "svc run", "-s", "photos albums", "--csv", instance=instance).stdout
    (instance / "run_token").write_text(re.search("Access Token,(.+)", token)[1] + "\n")
    (folder / ".venv/bin").mkdir(parents=True)
    launcher(folder / ".venv/bin")
    with serve(instance, workers=1, environ=environ) as address:

        def run(block):
            return subprocess.run(
                ["bash", "-ec", block.replace("http://localhost:8080", address)],
                env={**SURROUNDINGS, **environ, "PHOTOSVC_INSTANCE": str(instance), "HOME": str(folder)},
                cwd=folder,
                input="correct horse 9\n",
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        yield run


@pytest.mark.parametrize("command", SHOWING)
def test_the_command_beside_a_feature_runs_and_prints_something(clone, command):
    done = clone(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_every_feature_of_the_readme_has_a_command():
    rows = re.findall(r"^\| .+ \| (.+) \|$", README.partition("|---|---|\n")[2], re.MULTILINE)
    assert len(rows) >= 8
    assert [row for row in rows if not row.startswith(("`.venv/bin/svc ", "`make "))] == []


def test_the_search_finds_what_the_page_shows(clone):
    search, shown, *_ = blocks("Search")
    done = clone(search)
    assert done.returncode == 0, done.stderr
    found = [line.strip() for line in done.stdout.splitlines()]
    for line in (line.strip() for line in shown.splitlines()):
        if '"UID"' not in line and line != "…" and '"ID"' not in line:
            assert line in found


def test_the_commands_without_http_print_what_the_library_has(clone):
    done = clone(blocks("Search")[-1])
    assert done.returncode == 0, done.stderr
    assert "Stars over the lake" in done.stdout
    assert re.search(r"Photos +\d+ \(", done.stdout)


def test_accounts_and_credentials_are_made(clone):
    (block,) = blocks("Accounts and credentials")
    done = clone(block.replace("--role admin", "--role admin --password-stdin"))  # here is no terminal to ask on
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"App Password|Access Token|Client Secret", done.stdout)) == 3
    (until,) = re.findall(r"(\S+T\S+Z)", clone(".venv/bin/svc auth ls 'photo frame' --csv | cut -d, -f9").stdout)
    left = datetime.fromisoformat(until) - datetime.now(UTC)
    assert 89 <= left.days <= 90
    network = blocks("A network folder")[0]
    secret = clone(network.partition("\n")[0] + '; echo "$PASSWORD"').stdout.strip()
    assert re.fullmatch(r"([A-Za-z0-9]{6}-){3}[A-Za-z0-9]{6}", secret)


def test_every_command_of_the_page_has_the_path_that_it_has_in_a_clone():
    pasted = [line for part in re.findall(r"^ {4}\S.*$", README, re.MULTILINE) for line in [part.strip()]]
    assert [line for line in pasted if line.startswith(("svc ", "$ "))] == []
    assert os.access(ROOT / "Makefile", os.R_OK)
    assert re.search(r"`?make test`?.*\n*.*minutes", README)
