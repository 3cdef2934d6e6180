"""What shells complete after `svc`."""

import os

import pytest
from click.shell_completion import BashComplete

from photosvc.app import create_app
from photosvc.cli import svc
from tests.helpers.api_client import open_api
from tests.helpers.library import call_svc
from tests.helpers.pictures import jpeg


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("completion")) as api:
        api.library.put("2023/lake/a.jpg", jpeg())
        (api.library.originals / "2024").mkdir()
        (api.library.originals / ".hidden").mkdir()
        api.library.close()
        for arguments in (("auth", "add", "-n", "frame", "-s", "photos"), ("clients", "add", "-n", "lamp", "-s", "*")):
            assert call_svc(*arguments, instance=api.library.instance).returncode == 0
        yield api.library.instance


@pytest.fixture
def complete(instance, monkeypatch):
    """Gives the words that a shell offers for the last one."""

    def run(*words, instance=instance):
        monkeypatch.setattr(os, "environ", dict(os.environ))
        make = lambda: create_app(environ={"PHOTOSVC_INSTANCE": str(instance)})  # noqa: E731
        *before, typed = words
        found = BashComplete(svc, {"obj": make}, "svc", "_SVC_COMPLETE").get_completions(before, typed)
        return [item.value for item in found]

    return run


def test_commands_and_options_are_completed(complete):
    assert complete("sta") == ["status"]
    assert complete("users", "se") == ["sessions"]
    assert complete("run", "--ph") == ["--photos"]


@pytest.mark.parametrize(
    "words", [("users", "show"), ("users", "rm"), ("passwd",), ("auth", "add"), ("clients", "add"), ("audit", "--user")]
)
def test_accounts_are_completed_by_their_names(complete, words):
    every = complete(*words, "")
    assert every == sorted(every)
    assert len(every) > 1
    assert complete(*words, every[0][:-1].upper())[0] == every[0]
    assert complete(*words, "nobody") == []


def test_clients_and_credentials_are_completed_by_id_or_name(complete):
    (client,) = complete("clients", "show", "lam")
    assert client.startswith("c")
    assert complete("clients", "mod", client[:5]) == [client]
    (credential,) = complete("auth", "rm", "fra")
    assert complete("auth", "show", credential[:-1]) == [credential]


def test_scopes_orders_and_folders_are_completed(complete):
    assert complete("auth", "add", "--scope", "phot") == ["photos"]
    assert complete("clients", "add", "-s", "met") == ["metrics"]
    assert complete("search", "--order", "ne") == ["newest"]
    assert complete("index", "") == ["2023", "2024"]
    assert complete("index", "2023/") == ["2023/lake"]
    assert complete("check", "../") == []
    assert complete("index", "nowhere/") == []


def test_without_a_database_nothing_is_completed_and_nothing_said(complete, tmp_path, capfd):
    assert complete("users", "show", "a", instance=tmp_path / "none") == []
    assert complete("users", "show", "a", instance="/proc/none") == []
    assert capfd.readouterr() == ("", "")
