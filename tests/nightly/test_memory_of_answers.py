"""The memory that large answers take: it does not grow with their results, and workers give it back."""

import gc
import tracemalloc

import pytest

from photosvc.search.reading import pages, window
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library

#: Two sizes of answers. Each id takes eight bytes, and as many for where its result ends; arrays grow by reserves.
FEW, MANY = 100, 500
BYTES_EACH = 75


@pytest.fixture(scope="module")
def large_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("answers"))
    with library.session() as session:
        add_photos(session, MANY + 200, NOW)
    yield library
    library.close()


def most_memory(library, path):
    """The most bytes of Python's objects while an answer is found and sent, and its results."""
    client, headers = library.app.test_client(), {"X-Auth-Token": library.token(role="admin")}
    gc.collect()
    tracemalloc.start()
    try:
        with client.get(f"/api/v1{path}", headers=headers, buffered=False) as answer:
            assert answer.status_code == 200
            for _ in answer.iter_encoded():
                pass
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return most, int(answer.headers["X-Count"])


@pytest.mark.parametrize(
    "path",
    [
        "/photos?order=name",
        "/photos?order=newest&q=type:image",
        "/photos?order=newest&merged=true",
        "/photos?order=relevance&q=tree",
        "/geo?order=added",
    ],
)
def test_only_the_ids_of_a_large_answer_are_kept(large_library, monkeypatch, path):
    for module, name in ((pages, "CHUNK"), (pages, "PIECE"), (window, "_CHUNK")):
        monkeypatch.setattr(module, name, 20)
    few, many = f"{path}&count={FEW}", f"{path}&count={MANY}"
    # The first answers fill caches; the least of several is without garbage that happened to be left.
    (less, count), (more, larger) = (min(most_memory(large_library, asked) for _ in range(3)) for asked in (few, many))
    assert count == FEW
    assert larger > 3 * FEW
    assert more - less < BYTES_EACH * (larger - count)


def test_statements_of_long_queries_are_not_kept(large_library):
    with large_library.app.app_context():
        kept = current_service().engine().get_execution_options()["compiled_cache"]
    sizes = []
    for number in range(10, 16):
        large_library.find(q=" ".join(f"-(tree{word} or iso:{word})" for word in range(number)))
        sizes.append(len(kept))
    assert sizes[1:] == sizes[:1] * 5
    large_library.find(q="tree -iso:7 -iso:8")
    assert len(kept) > sizes[0]
