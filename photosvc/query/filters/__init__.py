"""The table of search filters: every name that `key:value` and GET parameters may use."""

from photosvc.query.errors import InvalidQueryError, did_you_mean, shown
from photosvc.query.filter_spec import FilterSpec
from photosvc.query.filters.pictures import PICTURES
from photosvc.query.filters.places import PLACES
from photosvc.query.filters.states import STATES
from photosvc.query.filters.texts import TEXTS

_ROWS = (*TEXTS, *STATES, *PICTURES, *PLACES)

FILTERS: dict[str, FilterSpec] = {spec.name: spec for spec in _ROWS}
"""Every filter by its name."""

NAMES: dict[str, FilterSpec] = FILTERS | {alias: spec for spec in _ROWS for alias in spec.aliases}
"""Every filter by its name and its aliases."""


def find_filter(key: str, *, field: str, position: int) -> FilterSpec:
    """The filter with this name or alias, in any case.

    Raises:
        InvalidQueryError: there is none.

    """
    spec = NAMES.get(key.lower())
    if spec is None:
        raise InvalidQueryError(
            f"unknown filter {shown(key)}{did_you_mean(key, NAMES)}", field=field, position=position
        )
    return spec
