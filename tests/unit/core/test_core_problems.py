import pickle
import re

import pytest

from photosvc.core.problems import FileProblemError, Problem, Reason, Severity, Validity, signal_symbol, system_symbol
from photosvc.media.errors import MissingExtraError


def example(reason):
    """A problem with as many details as its sentence has slots."""
    slots = {slot or str(number) for number, slot in enumerate(re.findall(r"{(\d?)}", reason.template))}
    return Problem.of(reason, *("raw", "150")[: len(slots)])


@pytest.mark.parametrize("reason", Reason)
def test_every_problem_has_a_sentence_and_survives_its_columns(reason):
    problem = example(reason)
    assert "{" not in problem.sentence
    assert Problem.from_columns(problem.reason.value, problem.detail) == problem


def test_codes_are_words_of_their_own():
    assert len({reason.value for reason in Reason}) == len(Reason)
    assert all(re.fullmatch("[a-z_]+", reason.value) for reason in Reason)


def test_an_empty_code_is_no_problem():
    assert Problem.from_columns("", "") is None


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (Problem.of(Reason.UNREADABLE, "EACCES"), "the file cannot be read: permission denied"),
        (Problem.of(Reason.UNREADABLE, "ENOSUCH"), "the file cannot be read: input/output error"),
        (Problem.of(Reason.UNREADABLE_FOLDER, "ENOENT"), "the folder cannot be read: no such file or directory"),
        (Problem.of(Reason.SYMBOLIC_LINK), "a symbolic link, which is not followed"),
        (Problem.of(Reason.NOT_REGULAR), "not a regular file"),
        (Problem.of(Reason.TOO_DEEP, 2), "more than 2 folders deep"),
        (Problem.of(Reason.KILLED, "SIGKILL"), "The file made its reader crash (Killed)."),
        (Problem.of(Reason.KILLED, "40"), "The file made its reader crash (40)."),
        (Problem.of(Reason.OVER_PIXEL_LIMIT, 144, 100), "the picture has 144 megapixels, the limit is 100"),
        (Problem.of(Reason.MISSING_EXTRA, "raw"), "needs the extra \"raw\": pip install 'photosvc[raw]'"),
    ],
)
def test_symbols_are_shown_in_words(problem, sentence):
    assert problem.sentence == sentence


def test_errors_and_signals_have_symbols():
    assert [system_symbol(error) for error in (PermissionError(13, "no"), OSError("odd"))] == ["EACCES", "EIO"]
    assert [signal_symbol(number) for number in (9, 40)] == ["SIGKILL", "40"]


def test_an_error_carries_its_problem_between_processes():
    error = pickle.loads(pickle.dumps(MissingExtraError("heic")))
    assert isinstance(error, FileProblemError)
    assert error.problem == Problem.of(Reason.MISSING_EXTRA, "heic")
    assert error.message == error.problem.sentence


def test_the_reason_decides_how_a_file_is_reported_and_when_it_is_read_again():
    assert (Reason.EMPTY.severity, Reason.EMPTY.validity) == (Severity.SKIPPED, Validity.UNTIL_CHANGED)
    assert (Reason.TRUNCATED.severity, Reason.TRUNCATED.validity) == (Severity.FAILED, Validity.UNTIL_CHANGED)
    assert (Reason.UNREADABLE.severity, Reason.UNREADABLE.validity) == (Severity.FAILED, Validity.TRANSIENT)
    assert (Reason.CHANGED.severity, Reason.CHANGED.validity) == (Severity.FAILED, Validity.NOT_STORED)
