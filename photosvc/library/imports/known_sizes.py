"""Sizes of the files that the library has: a file of another size is new, without reading it."""

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.models import File, UploadedFile

#: Bits of the filter: with a million files, one size in nine that no file has counts as known, and costs one read.
_BITS: Final = 1 << 23
_ROWS: Final = 10_000


class KnownSizes:
    """A filter of one mebibyte: `has` is true for all known sizes and for some others."""

    def __init__(self, session: Session) -> None:
        self._bits = bytearray(_BITS // 8)
        for column in (File.size, UploadedFile.size):
            for size in session.execute(select(column).execution_options(yield_per=_ROWS)).scalars():
                self.add(size)

    def add(self, size: int) -> None:
        """Remember the size of a further file."""
        byte, bit = divmod(size % _BITS, 8)
        self._bits[byte] |= 1 << bit

    def has(self, size: int) -> bool:
        """Whether there may be a file of this size."""
        byte, bit = divmod(size % _BITS, 8)
        return bool(self._bits[byte] >> bit & 1)
