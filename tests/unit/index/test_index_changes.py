import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.index.changes import KnownFile
from photosvc.index.scan import FoundFile

FOUND = FoundFile("a.jpg", 10, 20)


@pytest.mark.parametrize(
    ("known", "same"),
    [
        (KnownFile(10, 20, None), True),
        (KnownFile(11, 20, None), False),
        (KnownFile(10, 21, None), False),
        (KnownFile(10, 20, None, missing=True), False),
        (KnownFile(10, 20, Problem(Reason.UNDECODABLE)), True),
        (KnownFile(10, 20, Problem.of(Reason.UNREADABLE, "EACCES")), False),
        (KnownFile(10, 20, Problem.of(Reason.MISSING_EXTRA, "nothing")), True),
        (KnownFile(10, 20, Problem.of(Reason.MISSING_EXTRA, "heic")), False),
    ],
)
def test_a_file_is_read_again_when_there_is_something_to_learn(known, same):
    assert known.is_same(FOUND) is same


def test_a_duplicate_knows_of_which_file():
    assert KnownFile(1, 1, Problem.of(Reason.DUPLICATE, "a/b.jpg")).duplicate_of == "a/b.jpg"
    assert KnownFile(1, 1, Problem(Reason.EMPTY)).duplicate_of == ""
    assert KnownFile(1, 1, None).duplicate_of == ""
