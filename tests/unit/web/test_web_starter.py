"""A program is started one at a time, and once more for all requests in the meantime."""

from threading import Event

import pytest

from photosvc.web.indexer import Starter
from tests.helpers.clock import until


class Program:
    """Programs that end when they are told to."""

    def __init__(self):
        self.runs = []

    def launch(self):
        run = Event()
        self.runs.append(run)
        return run  # `wait` is that of a process


def test_a_program_that_runs_is_not_started_again():
    program, starter = Program(), Starter()
    for _ in range(100):
        starter.start(program.launch)
    assert len(program.runs) == 1


def test_requests_during_a_run_get_one_more_run():
    program, starter = Program(), Starter()
    for _ in range(100):
        starter.start(program.launch)
    program.runs[0].set()
    until(lambda: len(program.runs) == 2)
    program.runs[1].set()
    until(lambda: not starter._running)
    starter.start(program.launch)
    assert len(program.runs) == 3


def test_a_program_that_cannot_be_started_is_tried_again_by_the_next():
    program, starter = Program(), Starter()

    def fail():
        raise FileNotFoundError

    with pytest.raises(FileNotFoundError):
        starter.start(fail)
    starter.start(program.launch)
    assert len(program.runs) == 1
