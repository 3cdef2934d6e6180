"""Number: the plural of an English word and its singular stand for each other in free text.

Both databases compare plain words, so that a query names the other forms itself. A rule may give a form that is no
word, such as `leafe` of `leaves`: nothing contains it.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_SHORTEST: Final = 3

_IRREGULAR: Final = {
    "child": "children", "foot": "feet", "goose": "geese", "man": "men", "mouse": "mice", "ox": "oxen",
    "person": "people", "tooth": "teeth",
}  # fmt: skip
_REGULAR: Final = {plural: singular for singular, plural in _IRREGULAR.items()}

#: Endings of plurals, the first that fits, and what may stand for them in the singular.
_PLURALS: Final = (
    ("ies", ("y", "ie")),
    ("ves", ("f", "fe", "ve")),
    ("ses", ("s", "se")),
    ("xes", ("x", "xe")),
    ("zes", ("z", "ze")),
    ("ches", ("ch", "che")),
    ("shes", ("sh",)),
    ("oes", ("o", "oe")),
    ("men", ("man",)),
    ("ss", ()),
    ("us", ()),
    ("is", ()),
    ("s", ("",)),
)
#: Endings of singulars, the first that fits, and their plurals.
_SINGULARS: Final = (
    *((f"{vowel}y", (f"{vowel}ys",)) for vowel in "aeou"),
    ("y", ("ies", "ys")),
    ("fe", ("ves", "fes")),
    ("f", ("ves", "fs")),
    ("man", ("men", "mans")),
    *((sibilant, (f"{sibilant}es",)) for sibilant in ("s", "x", "z", "ch", "sh")),
    ("o", ("oes", "os")),
    ("", ("s",)),
)


@lru_cache(2048)
def other_forms(word: str, *, prefix: bool) -> tuple[str, ...]:
    """The singular of a folded plural, the plural of anything else: whole words, and none for what is not English.

    Args:
        word: the word.
        prefix: whether the word already stands for all that begin with it.

    """
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    found = tuple(_singulars(word)) or tuple(_plurals(word))
    return tuple(form for form in found if len(form) > 1 and not (prefix and form.startswith(word)))


def _singulars(word: str) -> Iterator[str]:
    if word in _REGULAR:
        yield _REGULAR[word]
    elif len(word) > _SHORTEST:
        ending, singulars = next(((end, found) for end, found in _PLURALS if word.endswith(end)), ("", ()))
        yield from (word.removesuffix(ending) + singular for singular in singulars)


def _plurals(word: str) -> Iterator[str]:
    if word in _IRREGULAR:
        yield _IRREGULAR[word]
    else:
        ending, plurals = next((end, found) for end, found in _SINGULARS if word.endswith(end))
        yield from (word.removesuffix(ending) + plural for plural in plurals)
