"""The lines that tell how far a long index run of a server is."""

from photosvc.cli import terminal
from tests.helpers.clock import MovedClock


def test_a_run_tells_its_progress_every_ten_seconds_and_short_runs_do_not(capsys):
    clock = MovedClock()
    show = terminal.progress_lines(clock)
    clock.move(seconds=400)  # a watcher had nothing to do
    for done in (1, 2, 3):
        show(done, 3)
    clock.move(seconds=400)
    for done in range(1, 1801):
        show(done, 2000)
        clock.move(seconds=1 / 64)
    assert capsys.readouterr().err.splitlines() == ["Indexing: 641 of 2,000 files", "Indexing: 1,281 of 2,000 files"]
