"""Merged pages: photos with their files, by the paging rule of files.

A page is a window of files. A photo appears once, in the window that contains its first file, with all of its
matching files, also those behind the end of the window. Files at the start of a window whose photo was on the page
before are counted but not repeated. Over all pages every photo so comes once and complete, and `X-Count` counts files
as the specification says.
"""

from array import array
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from photosvc.models import FileKey
from photosvc.search.reading.documents import LibraryChangedError
from photosvc.search.reading.window import Found, Search, photo_of


class Groups:
    """The ids of the files of each result, the file that represents it first.

    Arrays of machine integers, because an answer may have 100,000 results.
    """

    def __init__(self) -> None:
        self._files, self._ends = array("q"), array("q", [0])

    def add(self, files: Iterable[int]) -> None:
        """Append a result with these files."""
        self._files.extend(files)
        self._ends.append(len(self._files))

    def part(self, start: int, stop: int) -> list[list[int]]:
        """The results from `start` up to but not including `stop`; fewer at the end."""
        ends = self._ends[start : stop + 1].tolist()
        return [self._files[begin:end].tolist() for begin, end in pairwise(ends)]

    def __len__(self) -> int:
        return len(self._ends) - 1


def single_files(found: Iterable[Found]) -> Groups:
    """One result for each file."""
    groups = Groups()
    for one in found:
        groups.add((one[0],))
    return groups


def merged_window(search: Search) -> tuple[Sequence[Found], Groups]:
    """The files of the request's window, and the photos that its page shows.

    Raises:
        LibraryChangedError: the last photo was removed meanwhile.

    """
    request = search.request
    peek = request.cursor is None and request.offset > 0
    found = search.window(request.offset - peek, request.count + peek)
    before = photo_of(found[0]) if peek and found else None
    if request.cursor:
        before = FileKey.unpack_photo_id(int(request.cursor.values[-1]))
    window = found[peek:]
    # The last photo may have further files behind the end of the window.
    last = photo_of(window[-1]) if len(window) == request.count else None
    groups = Groups()
    for photo_id, files in groupby(window, key=photo_of):
        if photo_id != before:
            groups.add(_whole(search, photo_id) if photo_id == last else (one[0] for one in files))
    return window, groups


def _whole(search: Search, photo_id: int) -> list[int]:
    files = search.files_of(photo_id)
    if not files:
        raise LibraryChangedError
    return files
