"""Parts of files: bytes at an offset, and several parts together as a file of their own."""

import errno
import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, BinaryIO, Final, NamedTuple

#: Errors of a file system that was asked for an offset beyond its longest file.
_BEYOND: Final = frozenset((errno.EINVAL, errno.EFBIG, errno.EOVERFLOW))


def read_at(source: BinaryIO, offset: int, size: int) -> bytes:
    """Return bytes of a file; none at an offset beyond any file, which a damaged header may state."""
    try:
        source.seek(offset)
    except (OverflowError, ValueError):
        return b""
    except OSError as error:  # the disk itself may fail too
        if error.errno not in _BEYOND:
            raise
        return b""
    return source.read(max(0, size))


class Slice(NamedTuple):
    """Bytes `start` up to but not including `stop` of a file."""

    start: int
    stop: int


def open_slices(source: BinaryIO, parts: Sequence[Slice]) -> BinaryIO:
    """Return parts of a file, one after the other, as a file for reading; closing it leaves the source open."""
    return io.BufferedReader(_SliceReader(source, parts))


class _SliceReader(io.RawIOBase):
    def __init__(self, source: BinaryIO, parts: Sequence[Slice]) -> None:
        self._source = source
        self._parts = parts
        self._ends = list(accumulate(part.stop - part.start for part in parts))
        self._position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset from the beginning, the position or the end of the parts."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._ends[-1]}[whence]
        if base + offset < 0:
            raise OSError("a position before the beginning")
        self._position = base + offset
        return self._position

    def readinto(self, buffer: Any, /) -> int:  # noqa: ANN401 - the type of buffers is new in Python 3.12
        """Fill the buffer up to the end of a part and return the number of bytes; 0 at the end of the last part."""
        number = bisect_right(self._ends, self._position)
        if number == len(self._ends):
            return 0
        left = self._ends[number] - self._position
        self._source.seek(self._parts[number].stop - left)
        data = self._source.read(min(len(buffer), left))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
