"""The identifier of a machine, drawn once and kept in its cache folder."""

from photosvc.core import machine


def test_the_identifier_is_drawn_once_and_kept_in_the_folder(tmp_path):
    first = machine.machine_of(tmp_path)
    assert machine.machine_of(tmp_path) == first
    drawn, _, name = first.partition("-")
    assert (tmp_path / "machine").read_text().startswith(drawn)
    assert (len(drawn), len(name)) == (16, 8)


def test_machines_that_share_the_folder_differ_by_their_names(tmp_path, monkeypatch):
    first = machine.machine_of(tmp_path)
    monkeypatch.setattr("socket.gethostname", lambda: "another")
    second = machine.machine_of(tmp_path)
    assert second != first
    assert second.partition("-")[0] == first.partition("-")[0]


def test_a_folder_that_cannot_be_made_leaves_the_name_alone(tmp_path):
    (tmp_path / "file").touch()
    assert machine.machine_of(tmp_path / "file/cache") == machine.machine_of(tmp_path).partition("-")[2]
