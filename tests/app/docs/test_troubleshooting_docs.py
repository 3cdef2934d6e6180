"""Every command in docs/troubleshooting.md runs on a service with the bundled samples."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from photosvc import samples
from tests.helpers.library import call_svc
from tests.helpers.programs.forks import SURROUNDINGS, launcher
from tests.helpers.programs.server import serve

GUIDE = (Path(__file__).parents[3] / "docs/troubleshooting.md").read_text()
COMMANDS = list(dict.fromkeys(re.findall(r"`((?:svc|curl) [^`]+)`", GUIDE)))
#: They run until they are stopped, or ask for a password on a terminal.
ON_A_TERMINAL = {"svc watch", "svc passwd alice"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Runs a command of the guide beside a service with an account and the samples."""
    folder = tmp_path_factory.mktemp("trouble")
    shutil.copytree(samples.ORIGINALS, folder / "originals")
    instance, environ = folder / "instance", {"PHOTOSVC_ORIGINALS": str(folder / "originals")}
    call_svc("db", "upgrade", instance=instance)
    assert call_svc("index", "--workers", "1", instance=instance, environ=environ).returncode == 0
    made = call_svc("auth", "add", "--name", "laptop", "--scope", "*", "--csv", instance=instance).stdout
    token = re.search("^Access Token,(.+)", made, re.MULTILINE)[1]
    path = f"{launcher(folder).parent}{os.pathsep}{SURROUNDINGS['PATH']}"
    with serve(instance, workers=1, environ=environ) as base:
        own = {**SURROUNDINGS, **environ, "PATH": path, "PHOTOSVC_INSTANCE": str(instance), "BASE": base}

        def run(command):
            return subprocess.run(
                ["bash", "-c", command.replace("/var/backups/photosvc", str(folder))],
                env={**own, "TOKEN": token},
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )

        made = run("echo correct horse 9 | svc users add alice --role admin --password-stdin")
        assert made.returncode == 0, made.stderr
        yield run


def test_every_row_has_a_command_and_advice():
    rows = [line.strip("| ").split(" | ") for line in GUIDE.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0] != "what you see"]
    assert len(rows) > 25
    assert [row for row in rows if len(row) != 3 or not re.fullmatch("`(svc|curl) [^`]+`", row[1])] == []


@pytest.mark.slow
@pytest.mark.parametrize("command", sorted(set(COMMANDS) - ON_A_TERMINAL))
def test_each_command_runs(run, command):
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr != ""


@pytest.mark.parametrize("command", sorted(ON_A_TERMINAL))
def test_the_commands_for_a_terminal_are_in_the_guide_and_exist(tmp_path, command):
    assert command in COMMANDS
    assert call_svc(command.split()[1], "--help", instance=tmp_path).returncode == 0
