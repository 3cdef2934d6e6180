from types import SimpleNamespace

from photosvc.core.problems import Problem, Reason
from photosvc.index.scan import ScannedFile
from photosvc.index.worklist import Conditions, KnownFile

FOUND = ScannedFile("a.jpg", 10, 20)


def test_a_file_is_read_again_when_there_is_something_to_learn():
    for known, same in (
        (KnownFile(10, 20, None), True),
        (KnownFile(11, 20, None), False),
        (KnownFile(10, 21, None), False),
        (KnownFile(10, 20, None, missing=True), False),
        (KnownFile(10, 20, Problem(Reason.UNDECODABLE)), True),
        (KnownFile(10, 20, Problem.of(Reason.UNREADABLE, "EACCES")), False),
        (KnownFile(10, 20, Problem.of(Reason.UNREADABLE, "EACCES"), rests=True), False),
        (KnownFile(10, 20, Problem.of(Reason.TIMEOUT, "60")), False),
        (KnownFile(10, 20, Problem.of(Reason.TIMEOUT, "60"), rests=True), True),
        (KnownFile(10, 20, Problem.of(Reason.TOO_LARGE, "1000")), True),
        (KnownFile(10, 20, Problem.of(Reason.TOO_LARGE, "1000"), is_unsettled=True), False),
    ):
        assert known.is_same(FOUND) is same, known


def test_a_verdict_holds_as_long_as_the_setting_or_extra_that_it_depends_on():
    for problem, changed in (
        (Problem.of(Reason.MISSING_EXTRA, "nothing"), False),
        (Problem.of(Reason.MISSING_EXTRA, "heic"), True),
        (Problem.of(Reason.TOO_LARGE, "1000"), False),
        (Problem.of(Reason.TOO_LARGE, "999"), True),
        (Problem.of(Reason.OVER_MEMORY, "5000", "2048 vips"), False),
        (Problem.of(Reason.OVER_MEMORY, "5000", "2048"), True),
        (Problem.of(Reason.OVER_MEMORY, "5000"), True),
        (Problem(Reason.UNDECODABLE), False),
    ):
        settings = SimpleNamespace(max_file_size=1000, index_memory=2048)
        assert Conditions.of(settings).have_changed(problem) is changed, problem
