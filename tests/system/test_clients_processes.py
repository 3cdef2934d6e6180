"""The installed commands about clients and keys."""

import json

from tests.app.cli.accounts import test_clients_commands as everyday
from tests.helpers.library import SVC, call_svc, svc

oauth = everyday.oauth


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
