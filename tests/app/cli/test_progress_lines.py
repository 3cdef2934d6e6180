"""The lines that tell how far a long index run of a server is."""

from photosvc.cli import terminal


def test_a_run_tells_its_progress_every_ten_seconds_and_short_runs_do_not(monkeypatch, capsys):
    now = 100.0
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now)
    show = terminal.progress_lines()
    now = 500.0  # a watcher had nothing to do
    for done in (1, 2, 3):
        show(done, 3)
    now = 900.0
    for done in range(1, 1801):
        show(done, 2000)
        now += 1 / 64
    assert capsys.readouterr().err.splitlines() == ["Indexing: 641 of 2,000 files", "Indexing: 1,281 of 2,000 files"]
