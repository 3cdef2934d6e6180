"""The place of the instance folder, and errors when it cannot be made."""

import sys

import pytest

from photosvc.core.errors import SettingError
from photosvc.settings.instance import default_instance, list_of_moves, make_instance, require_finished


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package as pip installs it, in a virtual environment."""
    site = tmp_path / "venv" / "lib" / "site-packages"
    (site / "photosvc").mkdir(parents=True)
    (site / "photosvc-1.0.dist-info").mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return site / "photosvc"


def test_a_named_folder_is_made_for_its_owner_alone(tmp_path):
    folder = make_instance(None, {"PHOTOSVC_INSTANCE": str(tmp_path / "a" / "b")})
    assert folder == tmp_path / "a" / "b"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_tilde_of_a_named_folder_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert make_instance(None, {"PHOTOSVC_INSTANCE": "~/mine"}) == tmp_path / "mine"


def test_the_folder_of_a_caller_overrides_the_variable(tmp_path):
    assert make_instance(tmp_path / "given", {"PHOTOSVC_INSTANCE": str(tmp_path / "named")}) == tmp_path / "given"
    assert not (tmp_path / "named").exists()


@pytest.mark.parametrize(
    ("named", "message"),
    [
        (" ", "PHOTOSVC_INSTANCE is not valid: expected a path that is not empty"),
        ("~no-such-user/x", "PHOTOSVC_INSTANCE is not valid: there is no home folder for ~no-such-user"),
    ],
)
def test_an_error_of_an_invalid_path_names_its_variable(named, message):
    with pytest.raises(SettingError) as error:
        make_instance(None, {"PHOTOSVC_INSTANCE": named})
    assert (str(error.value), error.value.field) == (message, "PHOTOSVC_INSTANCE")


def test_an_error_says_that_a_file_is_in_place_of_the_folder(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(SettingError, match=rf"^PHOTOSVC_INSTANCE \({file}\) cannot be made: it is a file$"):
        make_instance(None, {"PHOTOSVC_INSTANCE": str(file)})


def test_an_error_says_that_a_folder_is_in_place_of_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match=r"/file/below\) cannot be made: Not a directory$"):
        make_instance(None, {"PHOTOSVC_INSTANCE": str(tmp_path / "file" / "below")})


def test_the_instance_of_a_checkout_is_beside_the_package(tmp_path):
    assert default_instance({}, tmp_path / "photosvc") == tmp_path / "instance"


def test_the_instance_of_an_installed_package_is_among_the_data_of_the_user(installed, tmp_path, monkeypatch):
    assert default_instance({"XDG_DATA_HOME": "/srv/data"}, installed).as_posix() == "/srv/data/photosvc"
    monkeypatch.setattr(sys, "platform", "linux")
    for environ in ({}, {"XDG_DATA_HOME": "relative"}):
        assert default_instance(environ, installed) == tmp_path / "home" / ".local" / "share" / "photosvc"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert default_instance({}, installed) == tmp_path / "home" / "Library" / "Application Support" / "photosvc"


def test_a_default_folder_that_cannot_be_made_names_the_variable(monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setattr("photosvc.settings.instance.default_instance", lambda _: tmp_path / "file" / "instance")
    with pytest.raises(SettingError, match=r"/instance, the default of PHOTOSVC_INSTANCE, cannot be made: Not a dir"):
        make_instance(None, {})


def test_an_unfinished_restore_is_an_error_with_the_command_that_finishes_it(tmp_path):
    require_finished(tmp_path)
    list_of_moves(tmp_path).parent.mkdir()
    list_of_moves(tmp_path).touch()
    with pytest.raises(SettingError, match=rf"^A restore into {tmp_path} was not finished: run the same `svc restore`"):
        require_finished(tmp_path)
