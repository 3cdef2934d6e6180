"""Passwords that the installed command reads from bytes and from a terminal."""

from tests.app.cli.accounts.test_passwd_commands import NEW, passwd
from tests.helpers.api_client import PASSWORD
from tests.system.terminal import type_at


def test_a_new_password_ends_the_log_ins_and_keeps_the_app_passwords(api):
    login, app = api.session_of(), api.app_password()
    done = passwd(api, "alice", "--password-stdin", stdin=NEW.encode())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"The password is changed.\n")
    assert [api.is_alive(token) for token in (login, app)] == [False, True]
    assert [api.log_in(password=password).status_code for password in (PASSWORD, NEW)] == [401, 200]


def test_bytes_that_are_not_utf8_change_nothing(api):
    done = passwd(api, "alice", "--password-stdin", stdin=b"\xff\xfe not a text")
    assert (done.returncode, done.stdout) == (2, b""), done.stderr
    assert b"Traceback" not in done.stderr
    assert api.log_in().status_code == 200


def test_at_a_terminal_it_is_asked_for_twice_and_not_echoed(api):
    typed = [("Password", NEW + "\n"), ("Again", NEW + "\n")]
    code, out, err, shown = type_at(api.library.instance, ["passwd", "alice"], typed)
    assert (code, out) == (0, "")
    assert NEW not in err + shown
    assert api.log_in(password=NEW).status_code == 200
