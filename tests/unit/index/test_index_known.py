import pytest

from photosvc.index.known import COPY_OF, Known, needs_extra
from photosvc.index.scan import FoundFile
from photosvc.media.errors import MissingExtraError

FOUND = FoundFile("a.jpg", 10, 20)


@pytest.mark.parametrize(
    ("known", "same"),
    [
        (Known(10, 20, "", missing=False), True),
        (Known(11, 20, "", missing=False), False),
        (Known(10, 21, "", missing=False), False),
        (Known(10, 20, "", missing=True), False),
        (Known(10, 20, "the picture is damaged", missing=False), True),
        (Known(10, 20, "the file cannot be read: permission denied", missing=False), False),
        (Known(10, 20, MissingExtraError("nothing").message, missing=False), True),
        (Known(10, 20, MissingExtraError("heic").message, missing=False), False),
    ],
)
def test_a_file_is_read_again_when_there_is_something_to_learn(known, same):
    assert known.is_same(FOUND) is same


def test_a_copy_knows_of_which_file():
    assert Known(1, 1, f"{COPY_OF}a/b.jpg", missing=False).copy_of == "a/b.jpg"
    assert Known(1, 1, "the file is empty", missing=False).copy_of == ""


def test_the_reason_tells_whether_only_an_extra_is_wanting():
    assert needs_extra(MissingExtraError("raw").message)
    assert not needs_extra("the picture needs more memory than there is")
