"""The filters as plain rows, for documentation and command line."""

from photosvc.query.filters import FILTERS
from photosvc.query.values import EXPECTED

#: Keys of the rows, and their headings.
HEADINGS = {
    "filter": "Filter",
    "aliases": "Also",
    "help": "Finds",
    "values": "Values",
    "operators": "Operators",
    "example": "Example",
}

_OPERATORS = {"|": "or", "!": "not", "-": "not", "*": "wildcard", "&": "and", "~": "ranges"}


def filter_rows() -> list[dict[str, str]]:
    """A row for each filter, in the order of the table of filters."""
    return [
        {
            "filter": spec.name,
            "aliases": ", ".join(spec.aliases),
            "help": spec.help,
            "values": EXPECTED[spec.kind],
            "operators": ", ".join(dict.fromkeys(_OPERATORS[sign] for sign in spec.operators)),
            "example": spec.example,
        }
        for spec in FILTERS.values()
    ]
