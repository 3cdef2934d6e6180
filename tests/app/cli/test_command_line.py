"""The command line: exit codes, what goes to stdout and stderr, and that nothing asks without a terminal."""

import csv
import io
import json
import re
import sys
from datetime import datetime

import click
import pytest
from click.testing import CliRunner

from photosvc import __version__
from photosvc.app import create_app
from photosvc.cli import svc as group
from tests.helpers.library import call_svc, open_library
from tests.helpers.pictures import jpeg

ADD = ("auth", "add", "--name", "frame", "--scope", "photos")


@pytest.fixture(scope="module")
def instance(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("cli"))
    library.put("a.jpg", jpeg())
    library.index()
    for call in ("albums add Trip type:image --new --yes", "clients add --name frame --scope photos"):
        assert call_svc(*call.split(), instance=library.instance).returncode == 0
    return library.instance


def test_the_table_for_people_holds_the_secret_unbroken(instance):
    done = call_svc(*ADD, instance=instance)
    assert done.returncode == 0
    assert re.search(r"\b[0-9a-f]{48}\b", done.stdout)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("missing", ["--name", "--scope"])
def test_without_a_terminal_nothing_asks(instance, missing):
    given = {"--name": "frame", "--scope": "photos"}
    del given[missing]
    done = call_svc("auth", "add", *(word for pair in given.items() for word in pair), instance=instance)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{missing} is needed when there is no terminal to ask on" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["auth", "add", "-n", "x", "-s", "fotos"], 2),
        (["auth", "add", "-n", "x", "-s", "photos", "-e", "-2"], 2),
        (["auth", "add", "-n", "x", "-s", "photos", "-e", "soon"], 2),
        (["auth", "add", "-n", "\n", "-s", "photos"], 2),
        (["nothing"], 2),
        (["index", "nowhere"], 3),
        (["index", "../.."], 2),
        (["index", "--workers", "0"], 2),
        (["index", "--nothing"], 2),
    ],
)
def test_errors_are_printed_on_stderr_with_their_exit_codes(instance, arguments, code):
    done = call_svc(*arguments, instance=instance)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


#: Calls that name something that is not there; the library has the album Trip.
GONE = (
    "albums show nothing",
    "albums add nothing year:2024 --yes",
    "albums rm nothing --yes",
    "auth add nobody -n x -s photos",
    "auth show sess0a0a0a0a",
    "auth rm nothing --yes",
    "backup /nonexistent/x.zip",
    "backup /nonexistent",
    "check nowhere",
    "clients add nobody -n x -s photos",
    "clients show nothing",
    "clients mod nothing --name x",
    "clients rm nothing --yes",
    "import /nonexistent",
    "import",
    "import archive /nonexistent",
    "import immich http://127.0.0.1:9 --key-file /nonexistent",
    "import photoprism /nonexistent",
    "import takeout /nonexistent",
    "import undo 7 --yes",
    "index nowhere",
    "links ls nothing",
    "links add nothing",
    "links add Trip --account nobody",
    "links mod nothing --slug x",
    "links rm nothing --yes",
    "locks rm nothing --yes",
    "passwd nobody --password-stdin",
    "restore /nonexistent.zip",
    "restore /nonexistent.zip --dry-run",
    "search --album at00000000000000",
    "search near:pt00000000000000",
    "shares ls nothing",
    "shares add nothing nobody",
    "shares add Trip nobody",
    "shares mod nothing nobody --role viewer",
    "shares mod Trip nobody --role viewer",
    "shares rm nothing nobody --yes",
    "shares rm Trip nobody --yes",
    "trash restore nothing",
    "users show nobody",
    "users mod nobody --disable",
    "users rm nobody --yes",
    "users sessions nobody",
    "users logout nobody --yes",
)
#: Commands whose arguments are texts to search for, new names, words of a list, or the address of a database.
NAMES_NOTHING = {
    "albums ls", "auth ls", "clients ls", "db copy", "deploy show", "export archive",
    "export xmp", "search", "thumbs", "trash ls",
    "users add", "users ls",
}  # fmt: skip


@pytest.mark.parametrize("call", GONE)
def test_what_is_not_there_is_a_sentence_and_the_exit_code_3(instance, call):
    done = call_svc(*call.split(), instance=instance)
    assert (done.returncode, done.stdout) == (3, ""), done.stderr
    assert re.fullmatch(r"Error: .+\n", done.stderr)


def test_each_command_that_takes_a_name_is_among_these_calls():
    named = {" ".join(path) for path, one in commands(group) if any(isinstance(p, click.Argument) for p in one.params)}
    called = {name for name in named if any(f"{call} ".startswith(f"{name} ") for call in GONE)}
    assert named == called | NAMES_NOTHING


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        ("import /nonexistent", "There is no folder /nonexistent."),
        ("import", "There is no folder {instance}/import: make it, name a FOLDER, or set PHOTOSVC_IMPORT_FOLDER."),
        ("import {instance}/secret_key", "{instance}/secret_key is a file: name the folder around it."),
        ("backup /nonexistent/x.zip", "There is no folder /nonexistent: make it, or name another one."),
        ("backup /proc/x.zip", "No such file or directory: /proc"),
        ("restore /nonexistent.zip", "There is no file /nonexistent.zip."),
        ("users show nobody", "no such user: 'nobody'"),
        ("clients rm frame --yes", "'frame' is the name of a client: give its ID, {client}"),
        ("clients mod frame --name x", "'frame' is the name of a client: give its ID, {client}"),
        ("clients show other", "no such client: 'other'"),
        ("auth rm 0123456789abcdef --yes", "no such credential: give an ID of `svc auth ls`"),
        ("search -snow", "Put -- before a value that begins with a dash: svc search -- QUERY"),
    ],
)
def test_a_message_names_what_was_given(instance, call, sentence):
    (client, *_) = json.loads(call_svc("clients", "ls", "frame", "--json", instance=instance).stdout)
    values = {"instance": instance, "client": client["client_id"]}
    done = call_svc(*call.format(**values).split(), instance=instance)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("Error: ")
    assert done.stderr.endswith(f" {sentence.format(**values)}\n")


def test_a_query_that_begins_with_a_dash_comes_after_two(instance):
    assert call_svc("search", "--json", "--", "-snow", instance=instance).returncode == 0


def test_two_formats_at_once_are_refused(instance):
    done = call_svc("show", "scopes", "--json", "--csv", instance=instance)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--json and --csv exclude each other; give one" in done.stderr


def test_lists_come_in_each_format_with_the_same_rows(instance):
    found = {name: call_svc("show", "scopes", f"--{name}", instance=instance).stdout for name in ("json", "csv")}
    names = [row["scope"] for row in json.loads(found["json"])]
    assert names[:3] == ["*", "read", "write"]
    assert [line[0] for line in csv.reader(io.StringIO(found["csv"]))][1:] == names


def test_settings_are_shown_without_their_secrets(instance):
    uri = "postgresql+psycopg://me:hunter2hunter2@db.example.org/photos"
    environ = {"PHOTOSVC_DATABASE_URI": uri, "PHOTOSVC_SECRET_KEY": "s" * 40, "PHOTOSVC_PROXIES": "1"}
    done = call_svc("show", "config", "--json", instance=instance, environ=environ)
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["PHOTOSVC_DATABASE_URI"]["value"] == uri.replace("hunter2hunter2", "***")
    assert rows["PHOTOSVC_SECRET_KEY"]["value"] == "********"
    assert (rows["PHOTOSVC_PROXIES"]["value"], rows["PHOTOSVC_PROXIES"]["origin"]) == ("1", "environment")
    assert rows["PHOTOSVC_CACHE"]["origin"] == "default"
    key = (instance / "secret_key").read_text()
    for form in ("--json", "--csv"):
        text = call_svc("show", "config", form, instance=instance).stdout
        assert key not in text


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"PHOTOSVC_ORIGINALZ": "/x"}, "PHOTOSVC_ORIGINALZ (environment) is not a setting of photosvc"),
        ({"PHOTOSVC_PROXIES": "x"}, "PHOTOSVC_PROXIES (environment) is not valid: expected a whole number"),
        ({"PHOTOSVC_DATABASE_URI": "mysql://a:secret@b/c"}, "PHOTOSVC_DATABASE_URI (environment) is not valid"),
        ({"PHOTOSVC_DATABASE_URI": "sqlite:////nowhere/at/all.db"}, "cannot be used: there is no folder /nowhere/at"),
        ({"PHOTOSVC_INSTANCE": "/proc/nothing"}, "PHOTOSVC_INSTANCE (/proc/nothing) cannot be made"),
    ],
)
def test_a_start_that_fails_is_one_sentence_with_an_exit_code(instance, environ, sentence):
    done = call_svc("index", instance=instance, environ=environ)
    assert done.returncode in {1, 2}
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert "secret" not in done.stderr


def test_a_database_without_tables_is_one_sentence_that_names_the_command(tmp_path):
    for arguments in (["index"], ["auth", "add", "-n", "x", "-s", "photos"], ["db", "check"], ["db", "current"]):
        done = call_svc(*arguments, instance=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "Error: The database has no photosvc tables yet: run `svc db upgrade`.\n"


def test_the_schema_is_made_checked_and_named(tmp_path):
    from photosvc.models import SCHEMA_VERSION

    done = call_svc("db", "upgrade", instance=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"The schema is now at {SCHEMA_VERSION} (was empty).\n")
    assert call_svc("db", "upgrade", instance=tmp_path).stderr == f"The schema is at {SCHEMA_VERSION} already.\n"
    assert call_svc("db", "current", instance=tmp_path).stdout == f"{SCHEMA_VERSION}\n"
    done = call_svc("db", "check", instance=tmp_path)
    assert (done.returncode, done.stderr) == (0, "The tables are as this version needs them.\n")


def test_an_old_schema_is_one_sentence_that_names_what_to_do(tmp_path):
    import sqlite3

    call_svc("db", "upgrade", instance=tmp_path)
    with sqlite3.connect(tmp_path / "photosvc.db") as connection:
        connection.execute("UPDATE photosvc_schema SET version_num = '0000'")
    connection.close()
    done = call_svc("index", instance=tmp_path)
    assert done.returncode == 1
    assert "The database is at schema 0000" in done.stderr
    assert "this photosvc needs " in done.stderr


@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg", "postgresql+psycopg2"])
def test_postgresql_without_its_driver_is_one_sentence(tmp_path, scheme, monkeypatch):
    for module in ("psycopg", "psycopg2"):
        monkeypatch.setitem(sys.modules, module, None)
    environ = {"PHOTOSVC_DATABASE_URI": f"{scheme}://localhost/none"}
    done = call_svc("users", "ls", instance=tmp_path, environ=environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: PHOTOSVC_DATABASE_URI names a database whose driver cannot be imported (")
    assert done.stderr.endswith("run pip install 'photosvc[postgres]'\n")


def test_the_version_is_that_of_the_package(instance):
    done = call_svc("--version", instance=instance)
    assert (done.returncode, done.stdout) == (0, f"photosvc {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["user"], "No such command 'user'. Did you mean 'users'?"),
        (["serach"], "No such command 'serach'. Did you mean 'search'?"),
        (["users", "lst"], "No such command 'lst'. Did you mean 'ls'?"),
        (["nothing-like-it"], "No such command 'nothing-like-it'.\n"),
    ],
)
def test_a_wrong_name_of_a_command_or_group_is_answered_with_the_nearest(instance, arguments, hint):
    done = call_svc(*arguments, instance=instance)
    assert done.returncode == 2
    assert hint in done.stderr


def commands(group, path=()):
    """Each command with its path."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def test_the_list_of_commands_has_the_first_sentence_of_their_help():
    ctx, formatter = click.Context(group), click.HelpFormatter(width=1000)
    group.format_commands(ctx, formatter)
    listed = dict(line.split(maxsplit=1) for line in formatter.getvalue().strip().splitlines()[1:])
    assert len(listed) > 20
    assert list(listed) == group.list_commands(ctx)
    assert listed == {name: group.get_command(ctx, name).get_short_help_str(980) for name in listed}


def test_one_letter_means_one_thing_in_every_command():
    meanings = {}
    for path, command in commands(group):
        for option in command.params:
            if isinstance(option, click.Option):
                long = max(option.opts, key=len)
                for letter in option.opts:
                    if len(letter) == 2:
                        meanings.setdefault(letter, {}).setdefault(long, []).append(path)
    assert {letter: list(found) for letter, found in meanings.items() if len(found) > 1} == {}
    specified = {"-n": "--name", "-s": "--scope", "-e": "--expires", "-r": "--role", "-t": "--tokens", "-y": "--yes"}
    assert {letter: [*meanings[letter]] for letter in specified} == {key: [name] for key, name in specified.items()}


@pytest.mark.parametrize(
    ("given", "seconds"), [("30d", 2_592_000), ("12h", 43_200), ("90m", 5400), ("45s", 45), ("1Y", 31_536_000)]
)
def test_a_lifetime_may_have_a_unit(instance, given, seconds):
    made = json.loads(call_svc(*ADD, "--expires", given, "--json", instance=instance).stdout)
    shown = json.loads(call_svc("auth", "show", made["id"], "--json", instance=instance).stdout)
    times = [datetime.fromisoformat(shown[name]) for name in ("created_at", "expires_at")]
    assert (times[1] - times[0]).total_seconds() == seconds


@pytest.mark.parametrize("given", ["30 days", "d", "-1d", "1.5h", "1234567d", "²d", "0d", "101y"])
def test_an_invalid_lifetime_is_refused(instance, given):
    done = call_svc(*ADD, "--expires", given, instance=instance)
    assert (done.returncode, done.stdout) == (2, "")


VALID = ("alice@example.org", "a.b+c@mail.example.org", "älice@exämple.org", "root@localhost", "")
INVALID = (
    "alice",
    "alice@",
    "@example.org",
    "a b@example.org",
    "a@b@example.org",
    "a@example..org",
    "A <a@b.org>",
    "\t@b",
)


def test_an_email_address_is_checked_when_it_is_given_and_when_it_is_changed(instance):
    for number, email in enumerate((*VALID, *INVALID)):
        name = f"mail{number}"
        done = CliRunner().invoke(
            group, ["users", "add", name, "--email", email, "--password-stdin"], input="correct horse 9",
            obj=lambda: create_app(environ={"PHOTOSVC_INSTANCE": str(instance)}),
        )  # fmt: skip
        assert done.exit_code == (0 if email in VALID else 2), (email, done.stderr)
        changed = call_svc("users", "mod", "mail0", "--email", email, instance=instance)
        assert changed.returncode == (0 if email in VALID else 2), (email, changed.stderr)
        assert email in VALID or "an email address is one such as me@example.org" in changed.stderr


def test_each_command_with_json_has_the_short_option_and_the_other_formats():
    found = {}
    for path, command in commands(group):
        options = {option for one in command.params for option in one.opts if isinstance(one, click.Option)}
        if "--json" in options:
            found[" ".join(path)] = options & {"-j", "-c", "--csv"}
    streams = {name for name, options in found.items() if options == {"-j"}}
    assert streams == {"export archive", "export xmp", "index", "watch"}
    rest = {frozenset(options) for name, options in found.items() if name not in streams}
    assert rest == {frozenset({"-j", "-c", "--csv"})}


def test_the_figures_of_a_run_are_printed_as_a_table_without_its_lists(instance):
    done = call_svc("purge", "--csv", instance=instance)
    assert done.stdout.splitlines()[:3] == ["Name,Value", "missing,0", "marked,0"]
    assert {"removed files,0", "dry_run,no"} <= set(done.stdout.splitlines())
    assert "examples" not in done.stdout
    assert json.loads(call_svc("purge", "-j", instance=instance).stdout)["examples"] == []
