"""pytest, which runs a few failed tests once more: tests that start servers fail on a machine with other work.

`python -m tools.repeated_tests` takes the arguments of pytest. Only failures of tests are repeated, at most five, one
after the other and once; each that passes then is printed as `FLAKY: name`. A run that ended otherwise, or that ran
fewer tests than it had collected, as after the crash of a process, has failed whatever its own exit code is.
"""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

import pytest

#: More failures than these are no accident.
MOST_REPEATED: Final = 5
#: The exit code of a run that did not run all tests; those of pytest end at 5.
_INCOMPLETE: Final = 6
#: Precedes the arguments of a repetition, in which a skipped test is no success.
_ALL_MUST_PASS: Final = "--all-must-pass"  # noqa: S105 - no password


class Record:
    """The tests of a run, as a plugin of pytest: in the process that starts those of pytest-xdist, too."""

    def __init__(self) -> None:
        self.collected: set[str] = set()
        self.executed: set[str] = set()
        self.passed: set[str] = set()
        self.failed: dict[str, None] = {}
        """In the order in which they failed."""
        self.failures = 0
        self.other_failures = 0
        """Failures of the run that no test has, as those of its coverage."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Remember the tests of this process."""
        self.collected.update(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Remember the tests that a process of pytest-xdist has collected."""
        self.collected.update(ids)

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 - a report of pytest or of pytest-xdist
        """Remember a test that ran, was skipped, or during which its process died."""
        self.executed.add(report.nodeid)
        if report.failed:
            self.failed[report.nodeid] = None
            self.failures += 1
        elif report.when == "call" and report.passed:
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note failures beside those of the tests."""
        self.other_failures = session.testsfailed - self.failures


def run(arguments: Sequence[str]) -> tuple[int, Record]:
    """Run pytest; return its exit code, or another one than 0 if it ran fewer tests than it had collected."""
    record = Record()
    code = int(pytest.main([*arguments], plugins=[record]))
    if missed := record.collected - record.executed:
        _write(f"FAILED: {len(missed)} of {len(record.collected)} collected tests did not run\n")
        return code if code not in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED} else _INCOMPLETE, record
    return code, record


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(arguments: Sequence[str]) -> int:
    """Run the tests, then a few that failed; return the exit code."""
    if arguments[:1] == [_ALL_MUST_PASS]:
        code, record = run(arguments[1:])
        return code or int(record.passed != record.collected)
    code, record = run(arguments)
    failed = list(record.failed)
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= MOST_REPEATED or record.other_failures:
        return code
    # In a process of its own: the failures may have left anything in this one.
    command = [sys.executable, "-m", "tools.repeated_tests", _ALL_MUST_PASS, "-n", "0", *failed]
    again = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own program
    for name in failed if again.returncode == 0 else ():
        _write(f"FLAKY: {name}\n")
    _write(again.stdout)  # its closing line is the last one
    return again.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
