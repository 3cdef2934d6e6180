"""The installed commands about clients and keys."""

import json

import pytest

from tests.helpers.clients.oauth_client import open_oauth_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import SVC, call_svc, svc


@pytest.fixture(scope="module")
def oauth(tmp_path_factory):
    with open_oauth_api(tmp_path_factory.mktemp("oauth")) as oauth:
        with oauth.library.session() as session:
            add_user(session)
        yield oauth


def test_the_installed_command_does_the_same_without_a_terminal(oauth):
    instance = oauth.library.instance
    installed = (str(SVC),)
    done = svc("clients", "add", "-n", "frame", "-s", "photos", "--json", instance=instance, command=installed)
    client_id = json.loads(done.stdout)["client_id"]
    assert svc("clients", "rm", client_id, instance=instance).returncode == 2
    assert call_svc("clients", "reset", instance=instance).returncode == 2
    assert call_svc("clients", "show", client_id, instance=instance).returncode == 0
    assert call_svc("clients", "rm", client_id, "-y", instance=instance).returncode == 0
    assert svc("clients", "rm", client_id, "-y", instance=instance).returncode == 3
    assert call_svc("keys", "ls", instance=instance).returncode == 0
