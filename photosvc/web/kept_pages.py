"""The pages of results sent last: requested again, they are the same bytes until something is committed."""

from collections import OrderedDict
from dataclasses import dataclass, replace
from threading import Lock
from typing import Final

from photosvc.search.reading.pages import Page

#: Bytes of all pages that a process keeps, and of one page.
_MOST_BYTES: Final = 4 * 2**20
_LARGEST: Final = 2 * 2**20


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page as it is sent."""

    page: Page
    """The page without its body."""
    body: bytes


class KeptPages:
    """The pages requested last, by their entity tags, which identify the whole request."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number: int | None = None
        self._pages: OrderedDict[str, KeptPage] = OrderedDict()
        self._bytes = 0

    def get(self, etag: str | None, number: int | None) -> KeptPage | None:
        """Return the page with this tag if it was read at this number of commits (`unchanged.Commits`)."""
        if etag is None or number is None:
            return None
        with self._lock:
            found = self._pages.get(etag) if number == self._number else None
            if found is not None:
                self._pages.move_to_end(etag)
            return found

    def add(self, etag: str | None, page: Page, number: int | None) -> KeptPage:
        """Return a whole page as it is sent; keep it if it has a tag and is not too large.

        `number` is the number of commits before the page was read.
        """
        kept = KeptPage(replace(page, pieces=()), page.body.encode())
        if etag is None or number is None or len(kept.body) > _LARGEST:
            return kept
        with self._lock:
            if number != self._number:
                self._pages.clear()
                self._number, self._bytes = number, 0
            if etag not in self._pages:
                self._pages[etag] = kept
                self._bytes += len(kept.body)
            while self._bytes > _MOST_BYTES:
                _, oldest = self._pages.popitem(last=False)
                self._bytes -= len(oldest.body)
        return kept
