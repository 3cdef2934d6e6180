"""Whether a cached thumbnail is what its name says."""

from pathlib import Path

from PIL import Image

from photosvc.core.values.orientation import swaps_sides
from photosvc.media.errors import DecodeError
from photosvc.media.pixels.decode import guarded
from photosvc.pictures.thumbnails.geometry import thumbnail_size
from photosvc.pictures.thumbnails.targets import named_target


def is_sound(path: str, name: str, whole: tuple[int, int], turn: int = 1) -> bool:
    """Whether the file can be decoded and has the pixels of this thumbnail; true for derived files of other kinds.

    Args:
        path: of the file.
        name: what the cache calls it.
        whole: pixels of the upright original; zeros when unknown.
        turn: that of the original; thumbnails with other turns are older.

    Raises:
        OSError: it cannot be opened.

    """
    target = named_target(name)
    if target is None:
        return True
    with Path(path).open("rb") as file:
        if not file.read(1):
            return True  # counts as missing, and is made again
        file.seek(0)
        try:
            with guarded(), Image.open(file, formats=("JPEG" if target.encoding == "jpg" else "WEBP",)) as picture:
                picture.load()
                size = picture.size
        except DecodeError:
            return False
    if swaps_sides(turn) != swaps_sides(target.turn):
        whole = whole[::-1]
    return not all(whole) or size == thumbnail_size(whole, target.size, target.area)
