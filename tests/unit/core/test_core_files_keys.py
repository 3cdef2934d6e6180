import pytest

from photosvc.core.files import read_or_create


def test_the_file_is_made_once_with_its_folder_and_readable_by_its_owner_only(tmp_path):
    path = tmp_path / "a/b/key"
    assert read_or_create(path, lambda: "first") == "first"
    assert read_or_create(path, lambda: "second") == "first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_the_second_process_takes_the_text_of_the_first(tmp_path):
    path = tmp_path / "key"

    def make():
        path.write_text("the other's\n")
        return "ours"

    assert read_or_create(path, make) == "the other's"
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_remains_when_make_raises(tmp_path):
    with pytest.raises(ZeroDivisionError):
        read_or_create(tmp_path / "key", lambda: str(1 / 0))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_at_the_path_raises_an_os_error(tmp_path):
    (tmp_path / "key").mkdir()
    with pytest.raises(IsADirectoryError):
        read_or_create(tmp_path / "key", lambda: "x")
