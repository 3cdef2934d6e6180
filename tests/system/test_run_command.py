"""`svc run`: serves, watches, and takes its watcher along when it ends."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import requests

from photosvc.auth.first_account import is_code, is_offered
from photosvc.models import File, schema
from tests.helpers.clock import until
from tests.helpers.factories.accounts import add_user
from tests.helpers.library import DATABASE, SURROUNDINGS, SVC, call_svc, migrated_database, open_library
from tests.helpers.pictures import jpeg
from tests.helpers.programs.ports import free_port, wait_for
from tests.system.terminal import type_at
from tests.system.watching import QUICK


def children(process):
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def watchers(process):
    return [child for child in children(process) if b"watch" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs `svc run` up to where it starts its indexer and becomes the server; gives the result of the command.

    Its library has the tables already, unless `migrates`: that takes longer than all else.
    """
    monkeypatch.setenv("HOME", str(tmp_path))

    def call(*arguments, environ=None, instance=tmp_path / "instance", migrates=False):
        started = []
        if not migrates and not (instance / DATABASE).exists():
            instance.mkdir(mode=0o700, exist_ok=True)
            (instance / DATABASE).write_bytes(migrated_database())
        port = str(free_port())
        with monkeypatch.context() as patch:
            patch.setattr(os, "execv", lambda _program, command: started.append(command))
            patch.setattr(subprocess, "Popen", lambda command, **_options: started.append(command))
            patch.setattr(os, "environ", dict(os.environ))
            if not migrates:
                patch.setattr(schema, "upgrade", lambda _engine: None)
            done = call_svc("run", "--port", port, *arguments, instance=instance, environ=environ)
        done.port, done.started = port, started
        return done

    call.instance = tmp_path / "instance"
    return call


def fill(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(jpeg(ord(name[0]), 30))
    return folder


def index(*arguments, instance, environ=None):
    return call_svc("index", "--workers", "1", *arguments, instance=instance, environ=environ)


def test_it_serves_before_anything_is_indexed(run, tmp_path):
    photos = fill(tmp_path / "photos", "a.jpg")
    done = run("--photos", str(photos), migrates=True)
    assert (done.returncode, done.stderr) == (0, "")
    indexer, server = done.started
    assert indexer[-3:-1] == ["watch", "--parent"]
    assert server[1:3] == ["-m", "gunicorn"]
    assert call_svc("search", "--csv", instance=run.instance).stdout == "UID,Taken,Title,File\n"


def test_without_a_watcher_the_folder_is_indexed_once_beside_the_server(run, tmp_path):
    indexer, _ = run("--photos", str(fill(tmp_path / "photos")), "--no-watch").started
    assert indexer[-3:-1] == ["index", "--parent"]


def test_it_prints_the_folder_the_library_the_address_and_three_things_to_try(run, tmp_path):
    photos = fill(tmp_path / "photos", "a.jpg")
    done = run("--photos", str(photos))
    token = (run.instance / "run_token").read_text()
    lines = done.stdout.splitlines()
    assert lines[:4] == [
        f"Photos    {photos}",
        f"Instance  {run.instance} (another library: --instance FOLDER)",
        f"Library   {run.instance / 'photosvc.db'}",
        f"Address   http://localhost:{done.port}",
    ]
    tries = [line.strip() for line in lines if line.startswith("  ")]
    assert tries[0] == f"TOKEN=$(cat {run.instance}/run_token)"
    assert [line.split(" # ")[0].split("/")[-1].strip() for line in tries[1:]] == [
        "photos?count=3'",
        "svc status",
        "svc search 'year:2020-2026' --count 5",
    ]
    assert token not in done.stdout


def test_what_it_prints_to_try_works_as_pasted(run, tmp_path):
    done = run("--photos", str(fill(tmp_path / "photos", "a.jpg")))
    commands = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
    shown = subprocess.run(
        ["/bin/sh", "-c", f'{commands[0]}; curl() {{ echo "$@"; }}; {commands[1]}'],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    token = (run.instance / "run_token").read_text()
    assert shown == f"-H X-Auth-Token: {token.strip()} http://localhost:{done.port}/api/v1/photos?count=3\n"


def test_the_folder_is_remembered_for_later_commands(run, tmp_path):
    photos = fill(tmp_path / "photos", "a.jpg", "b.jpg")
    run("--photos", str(photos))
    assert index(instance=run.instance).stdout.startswith("2 indexed, ")
    again = run()
    assert f"Photos    {photos}\n" in again.stdout
    config = call_svc("show", "config", "--csv", instance=run.instance).stdout
    assert f"PHOTOSVC_ORIGINALS,{photos},instance/photos_folder," in config


def test_a_home_folder_is_expanded_where_no_shell_did(run, tmp_path):
    fill(tmp_path / "pictures", "a.jpg")
    assert f"Photos    {tmp_path}/pictures\n" in run("--photos", "~/pictures").stdout
    instance = tmp_path / "other"
    run("--photos=~/pictures", instance="~/other", migrates=True)
    assert (instance / "photosvc.db").is_file()
    unknown = run("--photos", "~nobody-at-all/pictures")
    assert unknown.returncode == 2
    assert "there is no home folder for ~nobody-at-all" in unknown.stderr


def test_another_folder_for_the_same_library_stops_with_a_sentence(run, tmp_path):
    first, second = fill(tmp_path / "first", "a.jpg", "b.jpg"), fill(tmp_path / "second", "c.jpg")
    run("--photos", str(first))
    index(instance=run.instance)
    done = run("--photos", str(second))
    sentence = (
        f"Error: The library in {run.instance} shows 2 photos of {first}, and one library shows one folder. Pass "
        f"--replace to index {second} instead, or set PHOTOSVC_INSTANCE to another folder for a second library.\n"
    )
    assert (done.returncode, done.started, done.stderr) == (2, [], sentence)
    assert run().stdout.startswith(f"Photos    {first}\n")
    other = index(instance=run.instance, environ={"PHOTOSVC_ORIGINALS": str(second)})
    assert (other.returncode, other.stderr) == (2, sentence)
    nowhere = run("--photos", f"{second}/nowhere", "--replace")
    assert (nowhere.returncode, nowhere.stderr) == (
        3,
        f"Error: The folder of originals '{second}/nowhere' does not exist.\n",
    )
    assert run("--photos", str(second), "--replace").stdout.startswith(f"Photos    {second}\n")
    assert index(instance=run.instance).stdout.startswith("1 indexed, 0 updated, 0 unchanged, 2 missing")


def test_on_a_terminal_another_folder_is_asked_for(run, tmp_path):
    first, second = fill(tmp_path / "first", "a.jpg"), fill(tmp_path / "second", "c.jpg")
    run("--photos", str(first))
    index(instance=run.instance)
    question = f"Index {second} instead?"
    code, _, asked, _ = type_at(run.instance, ["run", "--photos", str(second)], [(question, "n\n")])
    assert (code, asked.rpartition("[y/N]: ")[2]) == (0, "Nothing was changed.\n")
    assert run().stdout.startswith(f"Photos    {first}\n")


def test_the_bundled_samples_give_way_without_a_question_and_do_not_come_back(run, tmp_path):
    assert "(the bundled samples)" in run().stdout.splitlines()[0]
    assert " indexed" in index(instance=run.instance).stdout
    photos = fill(tmp_path / "photos", "a.jpg")
    assert run("--photos", str(photos)).returncode == 0
    assert run().stdout.startswith(f"Photos    {photos}\n")


def test_the_default_folder_of_originals_is_not_replaced_without_a_question(run, tmp_path):
    fill(run.instance / "originals", "a.jpg")
    call_svc("db", "upgrade", instance=run.instance)
    index(instance=run.instance)
    done = run("--photos", str(fill(tmp_path / "photos", "b.jpg")))
    assert done.returncode == 2
    assert f"shows 1 photo of {run.instance}/originals" in done.stderr


def test_a_setting_that_names_another_folder_wins_over_neither(run, tmp_path):
    first, second = fill(tmp_path / "first", "a.jpg"), fill(tmp_path / "second", "c.jpg")
    environ = {"PHOTOSVC_ORIGINALS": str(first)}
    done = run("--photos", str(second), environ=environ)
    assert done.returncode == 2
    assert f"PHOTOSVC_ORIGINALS (environment) is {first}: leave out --photos, or change that setting" in done.stderr
    assert run("--photos", f"{tmp_path}/second/../first", environ=environ).returncode == 0


def test_an_empty_or_missing_folder_is_told_with_the_photos_that_the_library_shows(run, tmp_path):
    photos = fill(tmp_path / "photos", "a.jpg", "b.jpg")
    run("--photos", str(photos))
    index(instance=run.instance)
    for name in ("a.jpg", "b.jpg"):
        (photos / name).unlink()
    warning = "Is its disk mounted? The library still shows 2 photos of it.\n"
    done = run()
    assert (done.returncode, done.stderr) == (0, f"WARNING: {photos} is empty. {warning}")
    assert index(instance=run.instance).stderr.startswith(f"WARNING: {photos} is empty. {warning}")
    photos.rmdir()
    for again in (run(), run("--photos", str(photos))):
        assert (again.returncode, again.stderr) == (0, f"WARNING: {photos} does not exist. {warning}")


def test_a_folder_that_does_not_exist_ends_the_start(run, tmp_path):
    done = run("--photos", str(tmp_path / "nowhere"))
    assert (done.returncode, done.started) == (3, [])
    assert done.stderr == f"Error: The folder of originals {str(tmp_path / 'nowhere')!r} does not exist.\n"
    assert not (run.instance / "photos_folder").exists()


def test_a_damaged_memory_of_the_folder_is_a_sentence(run):
    run.instance.mkdir()
    for data in (b"", b"relative", b"/a\0b"):
        (run.instance / "photos_folder").write_bytes(data)
        done = run()
        assert done.returncode == 2
        assert done.stderr.startswith("Error: instance/photos_folder cannot be used: expected an absolute path.")


def test_it_warns_when_other_machines_reach_it_without_a_proxy(run):
    alone, others = ("127.0.0.1", "[::1]", "localhost"), ("0.0.0.0", "[::]")
    for host, proxies, warns in (
        *((host, 0, False) for host in alone),
        ("0.0.0.0", 1, False),
        *((host, 0, True) for host in others),
    ):
        done = run("--no-watch", "--host", host.strip("[]"), environ={"PHOTOSVC_PROXIES": str(proxies)})
        assert (done.returncode, len(done.started)) == (0, 2), host
        assert ("Warning: it accepts requests from other machines" in done.stderr) == warns, (host, proxies)
        assert f"{host}:{done.port}" in done.started[1], host


def test_a_running_service_indexes_what_comes_and_its_watcher_ends_with_it(library):
    library.put("a.jpg", jpeg())
    port = free_port()
    server = subprocess.Popen(
        [str(SVC), "run", "--port", str(port), "--workers", "1"],
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance), **QUICK},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until(lambda: watchers(server.pid))
        (watcher,) = watchers(server.pid)
        library.put("b.jpg", jpeg(80, 48))
        wait_for(port)
        issuer = requests.get(f"http://127.0.0.1:{port}/.well-known/openid-configuration", timeout=20).json()["issuer"]
        assert issuer == f"http://localhost:{port}"
        with library.session() as session:
            until(lambda: (session.rollback(), session.query(File).count() == 2)[1])
            assert session.query(File).count() == 2
        server.send_signal(signal.SIGKILL)
        server.wait(20)
        until(lambda: not Path(f"/proc/{watcher}").exists())
        assert not Path(f"/proc/{watcher}").exists()
    finally:
        for process in (*children(server.pid), server.pid) if server.poll() is None else ():
            os.kill(process, signal.SIGKILL)
        server.wait(20)


def test_a_fresh_library_offers_its_first_account_by_a_code(run):
    first, second = run(migrates=True), run(migrates=True)
    codes = [re.search(r"type the code ([2-9A-Z]{4}-[2-9A-Z]{4})\n", done.stdout)[1] for done in (first, second)]
    assert codes[0] != codes[1]
    assert [is_code(run.instance, code) for code in codes] == [False, True]
    with open_library(run.instance, upgrade=False).session() as session:
        add_user(session, "ann")
    assert "type the code" not in run().stdout
    assert not is_offered(run.instance)
