"""The table of filters: complete rows whose examples run."""

import pytest

from photosvc.query.filters import FILTERS, NAMES, ValueKind
from photosvc.query.nodes import Choice, Everything, Filter, InvalidQueryError, conjuncts
from photosvc.query.parser import find_filter
from tests.helpers.parsing import parse_query


def test_every_filter_explains_itself_in_one_sentence() -> None:
    for spec in FILTERS.values():
        assert spec.help[0].isupper(), spec.name
        assert spec.help.endswith("."), spec.name
        assert spec.columns or spec.kind in {ValueKind.DISTANCE, ValueKind.STATE}, spec.name


def test_every_example_parses_and_uses_its_filter() -> None:
    for spec in FILTERS.values():
        node = parse_query(spec.example)
        assert node != Everything(), spec.name
        if spec.kind is not ValueKind.STATE:  # which stands for other filters
            assert spec.name in {part.name for part in conjuncts(node) if isinstance(part, Filter)}


def test_only_flags_and_switches_have_values_that_count_as_true() -> None:
    for name in [name for name, spec in FILTERS.items() if spec.means is not None]:
        assert FILTERS[name].kind in {ValueKind.FLAG, ValueKind.SWITCH}
        assert FILTERS[name].means != Choice()


def test_every_kind_describes_its_valid_values() -> None:
    assert all(kind.expected for kind in ValueKind)


def test_names_are_unique_and_none_is_a_paging_parameter() -> None:
    aliases = [alias for spec in FILTERS.values() for alias in spec.aliases]
    assert len(NAMES) == len(FILTERS) + len(aliases)
    assert not NAMES.keys() & {"q", "s", "count", "offset", "order", "merged", "filter", "cursor", "seed", "total"}


def test_aliases_lead_to_their_filter() -> None:
    for alias, name in (
        ("folder", "path"),
        ("person", "subject"),
        ("people", "subjects"),
        ("caption", "description"),
        ("keyword", "keywords"),
        ("labels", "label"),
        ("colour", "color"),
        ("COLOR", "color"),
    ):
        assert find_filter(alias, field="q", position=0).name == name


def test_an_unknown_filter_hears_of_the_nearest_name() -> None:
    with pytest.raises(InvalidQueryError) as caught:
        find_filter("colr", field="q", position=4)
    assert caught.value.message == 'unknown filter "colr"; did you mean "color"? (character 5)'
    assert (caught.value.field, caught.value.position, caught.value.status) == ("q", 4, 400)
    with pytest.raises(InvalidQueryError, match=r'^unknown filter "xyzzyx" \(character 1\)$'):
        find_filter("xyzzyx", field="q", position=0)
