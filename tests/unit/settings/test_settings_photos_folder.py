"""The folder of originals that an instance remembers."""

from pathlib import Path

import pytest

from photosvc import samples
from photosvc.settings.instance import FILE, is_same, remember_originals, remembered_originals


def test_nothing_is_remembered_at_first(tmp_path):
    assert remembered_originals(tmp_path) is None


@pytest.mark.parametrize("name", ["plain", "with blank ", "line\nbreak", "h\udcfflle", "Ärger"])
def test_a_folder_is_remembered_whatever_its_name(tmp_path, name):
    remember_originals(tmp_path, tmp_path / name)
    assert remembered_originals(tmp_path) == tmp_path / name
    assert [path.name for path in tmp_path.iterdir()] == [FILE]
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_the_samples_are_remembered_wherever_they_are_installed(tmp_path):
    remember_originals(tmp_path, samples.ORIGINALS)
    assert (tmp_path / FILE).read_bytes() == b"samples\n"
    assert remembered_originals(tmp_path) == samples.ORIGINALS


def test_the_last_folder_replaces_the_former(tmp_path):
    remember_originals(tmp_path, Path("/one"))
    remember_originals(tmp_path, Path("/two"))
    assert remembered_originals(tmp_path) == Path("/two")


@pytest.mark.parametrize("data", [b"", b"relative\n", b"/a\0b\n"])
def test_a_file_without_an_absolute_path_is_refused(tmp_path, data):
    (tmp_path / FILE).write_bytes(data)
    with pytest.raises(ValueError, match=r"^expected an absolute path$"):
        remembered_originals(tmp_path)


def test_a_link_means_the_same_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert is_same(tmp_path / "link", tmp_path / "real")
    assert not is_same(tmp_path / "link", tmp_path / "other")
