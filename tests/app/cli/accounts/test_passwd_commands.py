"""`svc passwd`: a new password, by the owner of the machine."""

from subprocess import run

import pytest

from tests.helpers.api_client import PASSWORD
from tests.helpers.library import SURROUNDINGS, SVC
from tests.helpers.programs.terminal import type_at

NEW = "new horse battery"


def passwd(api, *arguments, stdin):
    """The result of the installed command, whose standard input is a pipe of bytes."""
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(api.library.instance), "PYTHONIOENCODING": "utf-8:strict"}
    return run([str(SVC), "passwd", *arguments], env=environ, input=stdin, capture_output=True, timeout=60, check=False)


@pytest.mark.slow
def test_a_new_password_ends_the_log_ins_and_keeps_the_app_passwords(api):
    login, app = api.session_of(), api.app_password()
    done = passwd(api, "alice", "--password-stdin", stdin=NEW.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"The password is changed.\n")
    assert [api.is_alive(token) for token in (login, app)] == [False, True]
    assert [api.log_in(password=password).status_code for password in (PASSWORD, NEW)] == [401, 200]


@pytest.mark.parametrize("line", ["pässwörd ñ", "  blanks stay  ", "tab\tstays", "x" * 128])
def test_the_whole_line_is_the_password(api, line):
    assert api.svc("passwd", "alice", "--password-stdin", stdin=line.encode() + b"\r\n").returncode == 0
    assert api.log_in(password=line).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["alice"], b"new horse battery", 2),
        (["alice", NEW], b"", 2),
        (["alice", "--password-stdin"], b"", 2),
        (["alice", "--password-stdin"], b"\n" + NEW.encode(), 2),
        (["alice", "--password-stdin"], b"alice", 2),
        (["alice", "--password-stdin"], b"Passw0rd\n", 2),
        (["alice", "--password-stdin"], b"x" * 100_000, 2),
        (["nobody", "--password-stdin"], NEW.encode(), 3),
        (["\x80", "--password-stdin"], NEW.encode(), 3),
    ],
)
def test_what_is_not_fit_changes_nothing(api, arguments, stdin, code):
    done = api.svc("passwd", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert api.log_in().status_code == 200


@pytest.mark.slow
def test_bytes_that_are_not_utf8_change_nothing(api):
    done = passwd(api, "alice", "--password-stdin", stdin=b"\xff\xfe not a text")
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert b"Traceback" not in done.stderr
    assert api.log_in().status_code == 200


@pytest.mark.slow
def test_at_a_terminal_it_is_asked_for_twice_and_not_echoed(api):
    typed = [("Password", NEW + "\n"), ("Again", NEW + "\n")]
    code, out, err, shown = type_at(api.library.instance, ["passwd", "alice"], typed)
    assert (code, out) == (0, "")
    assert NEW not in err + shown
    assert api.log_in(password=NEW).status_code == 200
