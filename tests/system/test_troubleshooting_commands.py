"""The commands of the guide to troubleshooting."""

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

GUIDE = (Path(__file__).parents[2] / "docs/troubleshooting.md").read_text()
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


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - ON_A_TERMINAL))
def test_each_command_runs(run, command):
    done = run(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr != ""
