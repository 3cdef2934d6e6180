import pickle
import re

import pytest

from photosvc.core.problems import (
    FileProblemError,
    Problem,
    Reason,
    Severity,
    Validity,
    pause_after,
    signal_symbol,
    system_symbol,
)
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


#: Stored reasons that last as long as the file stays as it is: their cause is in the file, or a person's decision.
FINAL = {
    Reason.BAD_SIDECAR, Reason.UNRELATED, Reason.EMPTY, Reason.TOO_LARGE, Reason.WRONG_CONTENT, Reason.MISSING_EXTRA,
    Reason.TRUNCATED, Reason.UNDECODABLE, Reason.BAD_HEADER, Reason.READ_ERROR, Reason.OVER_MEMORY, Reason.BOMB,
    Reason.NO_PIXELS, Reason.UNREAD_PIXELS, Reason.UNDECODABLE_RAW, Reason.RAW_WITHOUT_COLORS, Reason.TRUNCATED_VIDEO,
    Reason.UNDECODABLE_VIDEO, Reason.NO_VIDEO, Reason.NO_FRAME, Reason.VIDEO_SIZE, Reason.CONVERTED_TOO_LARGE,
    Reason.REMOVED, Reason.DUPLICATE, Reason.NO_PICTURE,
}  # fmt: skip


def test_only_faults_of_a_file_are_final():
    final = {reason for reason in Reason if not reason.may_pass and reason.validity is not Validity.NOT_STORED}
    assert final == FINAL, (
        "if the cause may lie outside the file, give the reason Validity.SPACED; else list it in FINAL"
    )


def test_problems_that_may_pass_are_tried_again_after_pauses_that_grow_to_a_day():
    assert [pause_after(attempts).total_seconds() for attempts in (0, 1, 2, 3, 4, 5, 6, 1000)] == [
        60, 60, 600, 3600, 21_600, 86_400, 86_400, 86_400,
    ]  # fmt: skip


def test_only_answers_about_problems_that_may_pass_say_when_to_try_again():
    error = FileProblemError(Reason.TIMEOUT, 60)
    assert (error.status, error.retry_after) == (503, 60)
    assert FileProblemError(Reason.UNDECODABLE).status == 422


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
        (Problem.of(Reason.KILLED, "SIGKILL"), "The reader of the file was killed (Killed)."),
        (Problem.of(Reason.KILLED, "40"), "The reader of the file was killed (40)."),
        (Problem.of(Reason.BOMB, 144, 900), "the picture has 144 megapixels and unpacks to 900 times its size"),
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
