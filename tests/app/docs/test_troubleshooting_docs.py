"""Every command in docs/troubleshooting.md runs on a service with the bundled samples."""

import re
from pathlib import Path

import pytest

from tests.helpers.library import call_svc

GUIDE = (Path(__file__).parents[3] / "docs/troubleshooting.md").read_text()
COMMANDS = list(dict.fromkeys(re.findall(r"`((?:svc|curl) [^`]+)`", GUIDE)))
#: They run until they are stopped, or ask for a password on a terminal.
ON_A_TERMINAL = {"svc watch", "svc passwd alice"}


def test_every_row_has_a_command_and_advice():
    rows = [line.strip("| ").split(" | ") for line in GUIDE.splitlines() if line.startswith("| ")]
    rows = [row for row in rows if row[0] != "what you see"]
    assert len(rows) > 25
    assert [row for row in rows if len(row) != 3 or not re.fullmatch("`(svc|curl) [^`]+`", row[1])] == []


@pytest.mark.parametrize("command", sorted(ON_A_TERMINAL))
def test_the_commands_for_a_terminal_are_in_the_guide_and_exist(tmp_path, command):
    assert command in COMMANDS
    assert call_svc(command.split()[1], "--help", instance=tmp_path).returncode == 0
