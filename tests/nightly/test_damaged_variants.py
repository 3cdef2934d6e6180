"""Damaged files of every format end as an extraction, perhaps with a problem, or are refused for a typed reason."""

from collections import Counter
from functools import partial
from itertools import islice

import pytest

from photosvc.core.problems import FileProblemError, Problem, Reason
from photosvc.index.extract import Extraction, extract
from photosvc.index.file_columns import dump_metadata, load_metadata
from photosvc.workers.pool import WorkerPool
from photosvc.workers.process import WorkerDiedError, WorkerTimeoutError
from tests.helpers.library import CAMERA_ORIGINALS
from tests.nightly.damage import samples, variants

#: Reasons that say that our own code failed rather than the file.
OURS = {Reason.READER_ERROR, Reason.CRASHED, Reason.KILLED, Reason.TIMEOUT}


def readers(workers):
    return WorkerPool(partial(extract), result=Extraction, workers=workers, timeout=30, memory_bytes=1 << 30)


def check(found):
    for name, result in found.items():
        if isinstance(result, Extraction):
            assert load_metadata(dump_metadata(result.metadata)) == result.metadata, name
            assert result.problem is None or isinstance(result.problem, Problem), name
            assert min(result.width, result.height) >= 0, name
        else:
            assert isinstance(result, FileProblemError), (name, result)
            assert not isinstance(result, WorkerDiedError | WorkerTimeoutError), (name, result)
            assert result.problem.reason not in OURS, (name, result)


@pytest.mark.timeout(900)
def test_every_damaged_variant_ends_as_an_extraction_or_a_typed_reason(tmp_path):
    (tmp_path / "whole").mkdir()
    whole = samples(tmp_path / "whole")
    for name, content in (*whole.items(), *variants(whole, cuts=50, flips=60)):
        (tmp_path / name).write_bytes(content)
    with readers(2) as pool:
        found = {
            path.name: result for path, result in pool.run([path for path in tmp_path.iterdir() if path.is_file()])
        }
    check(found)
    assert {name for name in whole if getattr(found[name], "problem", "refused") is not None} == set()
    kinds = Counter(type(result).__name__ for result in found.values())
    assert len(found) > 2000
    assert kinds["Extraction"] > len(found) / 2


@pytest.mark.timeout(900)
@pytest.mark.skipif(not CAMERA_ORIGINALS.is_dir(), reason="the folder of camera originals is absent")
def test_every_damaged_variant_of_camera_originals_ends_as_an_extraction_or_a_typed_reason_unchanged(tmp_path):
    originals = sorted(path for path in CAMERA_ORIGINALS.rglob("*") if path.is_file() and path.suffix != ".tsv")
    files = {f"{number}{path.suffix}": path.read_bytes() for number, path in enumerate(originals)}
    left = variants(files, cuts=50, flips=10)
    kinds = Counter()
    with readers(2) as pool:
        while contents := {tmp_path / name: content for name, content in islice(left, 200)}:
            for path, content in contents.items():
                path.write_bytes(content)
            found = {path.name: result for path, result in pool.run(contents)}
            check(found)
            kinds.update(type(result).__name__ for result in found.values())
            for path, content in contents.items():
                assert path.read_bytes() == content, path.name
                path.unlink()
    assert kinds.total() == len(files) * (49 + 10 + 2)
    assert kinds["Extraction"] > kinds.total() / 2
