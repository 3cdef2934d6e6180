"""Merged pages: photos with their files, by the paging rule of files.

The page is a window of files. A photo appears in the window that holds its first file, once, with all of its matching
files, also those past the edge. Files that lead a window and belong to a photo given already are counted and not
shown again, so over all pages every photo comes once and whole, and `X-Count` pages as the specification says.
"""

from collections.abc import Sequence
from itertools import groupby

from photosvc.search.documents import LibraryChangedError
from photosvc.search.row import RANKS
from photosvc.search.window import Found, Search, photo_of

#: The files of one photo, the first one leading.
Group = list[int]


def merged_window(search: Search) -> tuple[Sequence[Found], list[Group]]:
    """The files of the request's window, and the photos to show for it.

    Raises:
        LibraryChangedError: the last photo is gone.

    """
    request = search.request
    peek = request.cursor is None and request.offset > 0
    found = search.window(request.offset - peek, request.count + peek)
    before = photo_of(found[0]) if peek and found else None
    if request.cursor:
        before = int(request.cursor.values[-1]) // RANKS
    window = found[peek:]
    groups = [
        (photo_id, [one[0] for one in files]) for photo_id, files in groupby(window, key=photo_of) if photo_id != before
    ]
    if groups and len(window) == request.count:  # the last photo may reach past the edge
        photo_id, _ = groups[-1]
        whole = search.files_of(photo_id)
        if not whole:
            raise LibraryChangedError
        groups[-1] = photo_id, whole
    return window, [group for _, group in groups]
