"""The kinds of stacks that the setting `PHOTOSVC_STACK_BY` switches on. A raw and its JPEG are always one photo."""

from typing import Final

# Live Photos; edited copies; bursts; equal document identifiers; the same second, cell and camera; numbered names.
LIVE, EDITED, BURST, DOCUMENT, MOMENT, NAMES = KINDS = ("live", "edited", "burst", "document", "moment", "names")

#: Numbered names are off: `IMG (2).jpg` is more often another picture than a version of `IMG.jpg`.
DEFAULT_KINDS: Final = "live edited burst document moment"


def parse_kinds(written: str) -> frozenset[str]:
    """The kinds in a list with commas or spaces; `none` stands for the empty set.

    Raises:
        ValueError: a word names no kind.

    """
    words = set(written.lower().replace(",", " ").split()) - {"none"}
    if not written.strip() or not words <= set(KINDS):
        msg = f"expected none, or some of {', '.join(KINDS)}"
        raise ValueError(msg)
    return frozenset(words)
