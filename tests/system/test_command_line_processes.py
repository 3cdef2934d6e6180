"""The command line in processes of its own: its streams, its imports and flask svc."""

import json
import re
import subprocess
import sys

from tests.app.cli import test_command_line as everyday
from tests.app.cli.test_command_line import ADD
from tests.helpers.library import SURROUNDINGS, SVC, svc
from tests.helpers.programs.forks import launcher

instance = everyday.instance

FLASK = (str(SVC.with_name("flask")), "--app", "photosvc.app:create_app", "svc")


def test_a_new_token_is_printed_once_and_only_on_stdout(instance):
    done = svc(*ADD, "--json", instance=instance)
    assert done.returncode == 0
    record = json.loads(done.stdout)
    secret = next(value for value in record.values() if re.fullmatch("[0-9a-f]{48}", str(value)))
    assert done.stdout.count(secret) == 1
    assert secret not in done.stderr
    assert done.stderr.count("\n") == 1
    for path in instance.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


def test_flask_svc_and_svc_are_the_same_command(instance):
    ours = svc("show", "scopes", "--json", instance=instance)
    theirs = svc("show", "scopes", "--json", instance=instance, command=FLASK)
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    done = svc("index", instance=instance, command=FLASK)
    assert done.stdout.startswith("0 indexed, 0 updated, 1 unchanged")


def test_flask_svc_in_an_app_without_the_service_says_so(instance, tmp_path):
    (tmp_path / "bare.py").write_text("from flask import Flask\napp = Flask('bare')\n")
    command = (FLASK[0], "--app", str(tmp_path / "bare.py"), "svc")
    done = svc("show", "config", instance=instance, command=command)
    assert done.returncode == 2
    assert "The app 'bare' has no PhotoService" in done.stderr


def test_commands_import_no_views(instance):
    program = (
        "import sys\nfrom photosvc.main import main\n"
        "for command in sys.argv[1:]:\n    sys.argv = ['svc', *command.split()]\n"
        "    try: main()\n    except SystemExit as end: assert not end.code, (command, end.code)\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance)}
    command = [sys.executable, "-c", program, "status", "users ls", "search", "albums ls", "show config"]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    modules = set(done.stderr.split())
    assert "photosvc.web.service" in modules
    assert {"photosvc.api", "photosvc.dav", "photosvc.pages", "photosvc.web.responses", "authlib"} & modules == set()


def test_the_list_of_commands_imports_none_of_them():
    program = "import sys; from photosvc.cli import svc; svc(['--help'], standalone_mode=False); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    modules = set(done.stdout.split())
    loaded = {name for name in modules if name.startswith("photosvc.cli")}
    assert "Commands:" in done.stdout
    assert {"flask", "sqlalchemy", "rich"} & modules == set()
    assert loaded == {"photosvc.cli", "photosvc.cli.group"}


def test_the_instance_folder_of_an_option_counts_more_than_that_of_the_environment(instance, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(tmp_path / "other")}

    def call(*arguments):
        return subprocess.run(
            [launcher(folder), *arguments], env=environ, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    done = call("--instance", str(instance), "show", "config", "--json")
    assert json.loads(done.stdout)[0]["value"] == str(instance)
    assert call("--instance", "", "status").stderr.endswith(
        "Invalid value for --instance: the name of the folder is empty.\n"
    )
    assert call("--instance", str(instance / "photosvc.db"), "status").returncode == 2
    assert not (tmp_path / "other").exists()


def test_an_app_that_contains_photosvc_chooses_its_instance_folder_itself(tmp_path):
    done = subprocess.run(
        [*FLASK, "--instance", str(tmp_path), "status"],
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "the app that contains photosvc chooses its instance folder." in done.stderr
