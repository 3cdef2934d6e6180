"""Lines of the log: one for each message, whatever it contains."""

import json
import logging
import sys

import pytest

from photosvc.core.logs import (
    FIELDS,
    JsonFormatter,
    LineFormatter,
    as_text,
    write_lines,
    write_warnings_only,
)


def record(message, *arguments, error=None, **fields):
    found = logging.LogRecord("photosvc.security", logging.WARNING, "x.py", 1, message, arguments, error)
    found.created = 1_772_366_400.25
    if fields:
        setattr(found, FIELDS, fields)
    return found


def test_a_line_of_text_has_no_characters_that_begin_another_or_control_a_terminal():
    line = LineFormatter().format(record("address %s", "a\n2026 forged\r\x1b[31m\u2028\u202e\x00é"))
    expected = r"address a\x0a2026 forged\x0d\x1b[31m\x2028\x202e\x00é"
    assert line == f"2026-03-01T12:00:00.250Z WARNING photosvc.security: {expected}"


def test_a_line_of_json_is_one_object_in_ascii():
    line = JsonFormatter().format(record("unused", event="login", detail='a"b\n\u2028é', times=3))
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line) == {
        "time": "2026-03-01T12:00:00.250Z",
        "level": "WARNING",
        "logger": "photosvc.security",
        "event": "login",
        "detail": 'a"b\n\u2028é',
        "times": 3,
    }


def test_errors_are_written_in_both_formats():
    try:
        raise ValueError("bad\n\x1b[2Jvalue")
    except ValueError:
        found = record("went wrong", error=sys.exc_info())
    told = json.loads(JsonFormatter().format(found))
    assert (told["message"], told["exception"].splitlines()[-2:]) == ("went wrong", ["ValueError: bad", "\x1b[2Jvalue"])
    first, *trace = LineFormatter().format(found).split("\n")
    assert first.endswith("WARNING photosvc.security: went wrong")
    assert trace[-2:] == ["    ValueError: bad", r"    \x1b[2Jvalue"]
    assert all(line.startswith("    ") for line in trace)


def test_values_that_are_not_plain_are_quoted():
    fields = {"a": "alice", "b": "two words", "c": 'quo"te', "d": "k=v", "e": "2001:db8::/64", "f": 3, "g": "née"}
    assert as_text(fields) == 'a=alice b="two words" c="quo\\"te" d="k=v" e=2001:db8::/64 f=3 g=née'


@pytest.fixture
def log():
    """A logger of its own."""
    found = logging.getLogger("photosvc_lines_test")
    found.setLevel(logging.INFO)
    yield found
    found.handlers.clear()


def test_lines_are_written_once_in_the_last_chosen_format(log, capsys, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])  # as where the operator has not configured logging
    write_lines(log.name, "text")
    write_lines(log.name, "json")
    log.getChild("below").info("hello")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["message"] == "hello"


def test_commands_write_warnings_only(log, capsys, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [])
    write_lines(log.name, "text")
    write_warnings_only(log.name)
    log.info("hello")
    log.warning("careful")
    assert capsys.readouterr().err.endswith("WARNING photosvc_lines_test: careful\n")


def test_an_app_that_configures_logging_gets_the_lines_and_stderr_none(log, capsys, monkeypatch):
    monkeypatch.setattr(logging.root, "handlers", [logging.NullHandler()])
    write_lines(log.name, "text")
    log.warning("careful")
    assert capsys.readouterr().err == ""


def test_a_logger_that_writes_no_lines_stays_so():
    write_warnings_only("photosvc.nobody")
    assert logging.getLogger("photosvc.nobody").handlers == []
