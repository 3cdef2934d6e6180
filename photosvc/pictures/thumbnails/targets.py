"""Which thumbnails are made together, which of them are equal, and what the cache calls them."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from photosvc.pictures.originals import Original
from photosvc.pictures.thumbnails.geometry import Target
from photosvc.pictures.thumbnails.sizes import NAMED, ROW, SIZES, USUAL, WHOLE, Area, Size

_TURNED: Final = re.compile(r"turn([2-8])_")
#: Sizes that a viewer asks for together with a small one; their decode is the same.
_SMALL: Final = tuple(size for size in USUAL if max(size.width, size.height) <= 720)


def canonical(original: Original, target: Target) -> Target:
    """The smallest size that gives the same pixels, turned as the original is.

    A `fit` size beyond the picture is the picture itself.
    """
    target = replace(target, turn=original.turn)
    size = target.size
    if size.fills or not (original.width and original.height) or target.area != WHOLE:
        return target
    if size == ROW and max(original.width, original.height) <= ROW.width:
        return replace(target, size=SIZES["fit_720"])
    for other in SIZES.values():
        holds = other.width >= original.width and other.height >= original.height
        if not other.fills and holds and other.width * other.height < size.width * size.height:
            return replace(target, size=other)
    return target


def together(target: Target) -> Sequence[Size]:
    """The sizes worth making from the same decode.

    Who asks for the largest usual size first gets all of them from its decode. Who asks for a small one first gets
    the other small ones. `tile_500` and `fit_1280`, which most clients ask for alone, are made alone, and so are rows
    of the web page: a screen of them is there in a third of the time.
    """
    if target.area != WHOLE or target.size == ROW or target.size.name in ("tile_500", "fit_1280"):
        return ()
    if target.size.name == "fit_1920":
        return USUAL
    return _SMALL if target.size in _SMALL else ()


def file_name(target: Target) -> str:
    """What the cache calls it."""
    area = "" if target.area == WHOLE else f"{target.area}_"
    turn = "" if target.turn == 1 else f"turn{target.turn}_"
    return f"{turn}{area}{target.size.name}.{target.encoding}"


def named_target(name: str) -> Target | None:
    """The thumbnail that the cache calls so; None for other derived files."""
    turned = _TURNED.match(name)
    stem, _, encoding = name[turned.end() if turned else 0 :].partition(".")
    area, _, size = stem.partition("_")
    shown = Area.parse(area)
    known = NAMED.get(stem if shown is None else size)
    if known is None or encoding not in ("jpg", "webp"):
        return None
    return Target(known, shown or WHOLE, encoding, int(turned[1]) if turned else 1)


def encoding_of(size: Size, target: Target) -> str:
    """The format of another size that is made from the decode of this thumbnail."""
    return target.encoding if size.fills else "jpg"
