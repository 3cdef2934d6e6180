"""`svc passwd`: a new password, by the owner of the machine."""

from subprocess import run

import pytest

from tests.helpers.library import SURROUNDINGS, SVC

NEW = "new horse battery"


def passwd(api, *arguments, stdin):
    """The result of the installed command, whose standard input is a pipe of bytes."""
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(api.library.instance), "PYTHONIOENCODING": "utf-8:strict"}
    return run([str(SVC), "passwd", *arguments], env=environ, input=stdin, capture_output=True, timeout=60, check=False)


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
def test_invalid_values_change_nothing(api, arguments, stdin, code):
    done = api.svc("passwd", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert "Traceback" not in done.stderr
    assert api.log_in().status_code == 200
