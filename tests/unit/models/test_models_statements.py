"""Portions of long lists."""

import pytest

from photosvc.models.statements import in_portions


@pytest.mark.parametrize(
    ("number", "portions"),
    [(0, []), (1, [[0]]), (3, [[0, 1, 2]]), (4, [[0, 1, 2], [3]]), (7, [[0, 1, 2], [3, 4, 5], [6]])],
)
def test_each_value_is_in_one_portion_and_only_the_last_portion_is_shorter(number, portions):
    assert list(in_portions(list(range(number)), 3)) == portions
