import pytest

from photosvc.core.private_file import own_file


def test_the_file_is_made_once_with_its_folder_for_its_owner_only(tmp_path):
    path = tmp_path / "a/b/key"
    assert own_file(path, lambda: "first") == "first"
    assert own_file(path, lambda: "second") == "first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_who_comes_second_takes_what_the_first_one_made(tmp_path):
    path = tmp_path / "key"

    def make():
        path.write_text("the other's\n")
        return "ours"

    assert own_file(path, make) == "the other's"
    assert list(tmp_path.iterdir()) == [path]


def test_a_maker_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(ZeroDivisionError):
        own_file(tmp_path / "key", lambda: str(1 / 0))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_its_place_is_an_os_error(tmp_path):
    (tmp_path / "key").mkdir()
    with pytest.raises(IsADirectoryError):
        own_file(tmp_path / "key", lambda: "x")
