"""Failed pictures are remembered for a while, and a worker's death only from the second in a row on."""

import pytest

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError, Reason
from photosvc.media.errors import DecodeError, MissingExtraError
from photosvc.pictures.on_demand import Failures
from photosvc.workers.pool import WorkerDiedError, WorkerTimeoutError
from tests.helpers.clock import MovedClock

HASH = "ab" * 20


@pytest.fixture
def clock():
    return MovedClock()


@pytest.fixture
def failures(clock):
    return Failures(clock)


def is_known(failures, side=500, content_hash=HASH):
    try:
        failures.check(content_hash, side)
    except FileProblemError:
        return True
    return False


@pytest.mark.parametrize(
    "error", [DecodeError(Reason.UNDECODABLE), MissingExtraError("heic"), WorkerTimeoutError(Reason.TIMEOUT, "60")]
)
def test_the_same_error_is_raised_again_until_five_minutes_are_over(failures, clock, error):
    failures.add(HASH, 500, error)
    clock.move(seconds=299)
    with pytest.raises(type(error)) as caught:
        failures.check(HASH, 500)
    assert caught.value is not error
    assert (caught.value.message, caught.value.problem) == (error.message, error.problem)
    clock.move(seconds=2)
    assert not is_known(failures)


def test_a_death_counts_from_the_second_in_a_row_on(failures, clock):
    died = WorkerDiedError(Reason.KILLED, "SIGKILL")
    for others, known in ((None, False), (None, True), (lambda: clock.move(seconds=301), False)):
        if others:
            others()
        failures.add(HASH, 500, died)
        assert is_known(failures) is known
    failures.forget(HASH, 500)  # a success came between
    failures.add(HASH, 500, died)
    assert not is_known(failures)


def test_a_failure_of_a_large_thumbnail_is_none_of_smaller_ones(failures):
    failures.add(HASH, 3000, DecodeError(Reason.UNDECODABLE_RAW))
    failures.forget(HASH, 500)
    assert [is_known(failures, side) for side in (500, 2999, 3000, 7680)] == [False, False, True, True]


def test_other_pictures_and_errors_of_other_causes_are_not_remembered(failures):
    failures.add(HASH, 500, PhotosvcError())
    failures.add("cd" * 20, 500, DecodeError(Reason.UNDECODABLE))
    assert not is_known(failures)


def test_only_so_much_is_remembered(failures, monkeypatch):
    monkeypatch.setattr("photosvc.pictures.on_demand._MOST", 20)
    for number in range(21):
        failures.add(f"{number:040x}", 500, DecodeError(Reason.UNDECODABLE))
    assert [is_known(failures, content_hash=f"{n:040x}") for n in (0, 1, 20)] == [False, True, True]
