"""How much one owner, and all owners together, download at once."""

import signal
import subprocess
import sys

from photosvc.core.machine import Slots
from photosvc.web.current import ARCHIVES_EACH

TAKE_ALL = """
import sys
from pathlib import Path
from photosvc.core.machine import Slots
slots = Slots(Path(sys.argv[1]), each=3)
kept = [slots.take("alice") for _ in range(3)]
print(len([slot for slot in kept if slot]), flush=True)
sys.stdin.read()
"""


def test_an_owner_has_three_slots_and_others_have_their_own(tmp_path):
    slots = Slots(tmp_path / "new" / "archives.lock", each=ARCHIVES_EACH)
    taken = [slots.take("alice") for _ in range(ARCHIVES_EACH)]
    assert ARCHIVES_EACH == 3
    assert all(taken)
    assert slots.take("alice") is None
    assert slots.take("vera") is not None
    taken[1]()
    assert slots.take("alice") is not None
    assert slots.take("alice") is None


def test_slots_count_over_all_processes_and_those_of_a_killed_process_are_free(tmp_path):
    slots = Slots(tmp_path / "archives.lock", each=ARCHIVES_EACH)
    free = slots.take("alice")
    command = [sys.executable, "-c", TAKE_ALL, str(tmp_path / "archives.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "2\n"
        free()
        assert slots.take("alice") is not None
        assert slots.take("alice") is None
        other.send_signal(signal.SIGKILL)
    assert slots.take("alice") is not None
    assert slots.take("alice") is not None
    assert slots.take("alice") is None


def test_a_process_has_a_number_of_slots_for_all_owners_together(tmp_path):
    slots = Slots(tmp_path / "transfers.lock", each=2, total=3)
    free = slots.take("alice")
    assert slots.take("alice") is not None
    assert slots.take("alice") is None
    assert not slots.is_full
    assert slots.take("vera") is not None
    assert slots.is_full
    assert slots.take("vera") is None
    free()
    assert not slots.is_full
    assert slots.take("vera") is not None
    assert slots.is_full
