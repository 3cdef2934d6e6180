import tracemalloc

import pytest

from photosvc.core.problems import Problem, Reason
from photosvc.index import worklist
from photosvc.index.run_log import Summary
from photosvc.index.scan import ScannedFile, Unreachable
from photosvc.index.worklist import KnownFile, Worklist, find_changes


@pytest.fixture
def compare(monkeypatch):
    """Compare found files with known ones; gives what is to be read, what is gone, and the summary."""

    def compare(found, known, *, force=False):
        monkeypatch.setattr(worklist, "scan", lambda *_: iter(found))
        summary = Summary()
        with Worklist() as work:
            find_changes(None, "", iter(known), summary, work, force=force)
            return [file.name for file, _ in work.to_read()], list(work.gone()), summary

    return compare


def found(*names):
    return [ScannedFile(name, 1, 1) for name in names]


def known(*names, problem=None, missing=False, size=1):
    return [(name, KnownFile(size, 1, problem, missing=missing)) for name in names]


def unreadable(name, reason=Reason.UNREADABLE_FOLDER):
    return Unreachable(name, Problem.of(reason, "EACCES"))


def test_new_files_are_read_and_absent_ones_are_gone_unless_their_folder_or_disk_may_be_away(compare):
    read, gone, summary = compare(found("b.jpg", "c.jpg", "e.jpg"), known("a.jpg", "c.jpg", "d.jpg", "f.jpg"))
    assert (read, gone, summary.unchanged) == (["b.jpg", "e.jpg"], ["a.jpg", "d.jpg", "f.jpg"], 1)
    for case, entries, before, expected in (
        ("missing before", found("b.jpg"), known("a.jpg", "b.jpg", missing=True), (["b.jpg"], [], 0)),
        ("nothing found", [], known("a.jpg"), ([], [], 0)),
        ("no picture found", found("notes.txt"), known("a.jpg"), ([], [], 0)),
        ("no originals", [unreadable("")], known("a.jpg", "b/1.jpg"), ([], [], 1)),
        (
            "unreadable folder and file",
            [*found("a.jpg"), unreadable("b"), *found("c.jpg"), unreadable("d.jpg", Reason.UNREADABLE)],
            known("a.jpg", "b-/1.jpg", "b/1.jpg", "b/c/2.jpg", "b0.jpg", "d.jpg"),
            (["c.jpg"], ["b-/1.jpg", "b0.jpg"], 2),
        ),
    ):
        read, gone, summary = compare(entries, before)
        assert (read, gone, summary.failed) == expected, case


def test_a_duplicate_is_read_last_when_the_other_file_is_changed_or_absent(compare):
    for other, read in (
        (known("a.jpg"), []),
        (known("a.jpg", size=2), ["a.jpg", "c.jpg"]),
        (known("b.jpg"), ["a.jpg", "c.jpg"]),
        (known("b.jpg", missing=True), ["a.jpg", "c.jpg"]),
    ):
        duplicate = known("c.jpg", problem=Problem.of(Reason.DUPLICATE, other[0][0]))
        assert compare(found("a.jpg", "c.jpg"), sorted(other + duplicate))[0] == read, other


def test_memory_does_not_grow_with_the_number_of_files(compare):
    def peak(count):
        names = (f"{number:06}.jpg" for number in range(0, 2 * count, 2))
        rows = ((f"{number:06}.jpg", KnownFile(1, 1, None)) for number in range(1, 2 * count, 2))
        tracemalloc.start()
        work = Worklist()
        with work, pytest.MonkeyPatch.context() as patch:
            patch.setattr(worklist, "scan", lambda *_: (ScannedFile(name, 1, 1) for name in names))
            find_changes(None, "", rows, Summary(), work, force=False)
            assert (sum(1 for _ in work.to_read()), sum(1 for _ in work.gone())) == (count, count)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # Other threads of the process may allocate meanwhile.
    assert min(peak(2000) for _ in range(3)) < 1.5 * min(peak(200) for _ in range(3))
