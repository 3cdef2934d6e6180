"""Fixed values: colours, the unknown, sources of values and kinds of stacks."""

from typing import Final

#: Names in the order of their numbers, 0 to 15, which are stored in `Color` and in the digits of `Colors`.
COLORS = (
    "black", "grey", "brown", "gold", "white", "purple", "blue", "cyan",
    "teal", "green", "lime", "yellow", "magenta", "orange", "red", "pink",
)  # fmt: skip
#: The types of photos in the order of their digits.
TYPES: Final = ("image", "raw", "live", "video", "animated", "vector", "audio", "document")
#: The name of an unknown place or camera, and the title of a photo of which nothing is known.
UNKNOWN: Final = "Unknown"
#: The id of the unknown place, cell and country.
UNKNOWN_PLACE: Final = "zz"
COLOR_NUMBERS = {name: number for number, name in enumerate(COLORS)} | {"gray": COLORS.index("grey")}
AUTO, DEFAULT, ESTIMATE, NAME, LOCATION = "", "default", "estimate", "name", "location"
META, XMP, MANUAL, ADMIN = "meta", "xmp", "manual", "admin"
#: The source of labels that a model saw in a picture; no value of a photo has it.
IMAGE = "image"
PRIORITY = {
    AUTO: 1, DEFAULT: 1, ESTIMATE: 2, NAME: 4, LOCATION: 8, META: 16, XMP: 32, MANUAL: 64, ADMIN: 128,
}  # fmt: skip
#: Kinds of stacks: Live Photos; edited copies; bursts; equal document identifiers; the same second, cell and camera;
#: numbered names.
LIVE, EDITED, BURST, DOCUMENT, MOMENT, NAMES = KINDS = ("live", "edited", "burst", "document", "moment", "names")
#: Without numbered names: `IMG (2).jpg` is more often another picture than a version of `IMG.jpg`.
DEFAULT_KINDS: Final = "live edited burst document moment"


def gives_way(current: str, new: str) -> bool:
    """Return whether a value from the source `new` replaces one from `current`; unknown sources count as `META`."""
    return PRIORITY.get(new, PRIORITY[META]) >= PRIORITY.get(current, PRIORITY[META])


def parse_kinds(written: str) -> frozenset[str]:
    """Return the kinds of stacks in a list with commas or spaces; `none` stands for the empty set.

    Raises:
        ValueError: a word names no kind.
    """
    words = set(written.lower().replace(",", " ").split()) - {"none"}
    if not written.strip() or not words <= set(KINDS):
        raise ValueError(f"expected none, or some of {', '.join(KINDS)}")
    return frozenset(words)
