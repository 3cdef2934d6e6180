"""The names that are like that of an unknown town, and the cost of the error."""

from difflib import SequenceMatcher
from types import SimpleNamespace

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.search.reading import towns
from photosvc.search.reading.towns import _names_like, find_town


def test_few_of_the_names_like_an_unknown_place_are_compared_letter_by_letter(monkeypatch):
    compared, ratio = [], SequenceMatcher.ratio
    monkeypatch.setattr(SequenceMatcher, "ratio", lambda self: (compared.append(self), ratio(self))[1])
    for name, like in (
        ("san drian de juarrosxz", "san adrian de juarros"),
        ("santago cuautlalpanxz", "santiago cuautlalpan"),
    ):
        compared.clear()
        assert len([*_names_like(name)]) > 1900
        with pytest.raises(NotFoundError, match=f'no place "{name}"; did you mean "{like}"'):
            find_town(name, "")
        assert 0 < len(compared) < 500, name


def test_an_unknown_place_is_refused_after_few_rows_at_each_of_which_other_threads_may_interrupt_it(monkeypatch):
    rows = []

    class Counted:
        def execute(self, *asked):
            return (rows.append(row) or row for row in table.connection.execute(*asked))

    table = towns._TABLE
    monkeypatch.setattr(towns, "_TABLE", SimpleNamespace(connection=Counted()))
    with pytest.raises(NotFoundError, match='no place "san migueeel"; did you mean "san miguel"'):
        find_town("san migueeel", "")
    assert len(rows) < 5
