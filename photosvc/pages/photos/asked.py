"""The search that a page of photos shows, and the addresses that keep it."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import url_for
from werkzeug.datastructures import MultiDict

from photosvc.core.ids import ALBUM, is_uid

DEFAULT_ORDER: Final = "newest"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and an order, within all photos or one album."""

    query: str
    order: str
    """Empty: that of the query, or else `usual`."""
    seed: str
    album: str = ""
    """The UID of the album that is searched; empty: all photos."""
    usual: str = DEFAULT_ORDER
    """The order when nothing names one."""

    def pairs(self, **more: Any) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        """The parameters of the search as the API has them."""
        order = self.order or ("" if "order:" in self.query.lower() else self.usual)
        given = {"q": self.query, "s": self.album, "order": order, "seed": self.seed, "merged": "true", **more}
        return tuple((name, str(value)) for name, value in given.items())

    def link(self, **changes: object) -> str:
        """The address of its photos, with another page, query or order."""
        asked = {"q": self.query, "order": self.order, "seed": self.seed}
        asked |= {name: str(value) for name, value in changes.items()}
        if "q" in changes or "order" in changes:
            asked["seed"] = ""
        if asked["order"] == self.usual:
            asked["order"] = ""
        return self.address + _query_string(asked)

    @property
    def address(self) -> str:
        """The address of its page without a query."""
        return url_for(".album", uid=self.album) if self.album else url_for(".photos")

    @property
    def where(self) -> str:
        """It as the query string of a photo's page, which leads to the next ones and back."""
        # That page does not read the album, so that it does not know its usual order.
        order = "" if self.order == DEFAULT_ORDER and not self.album else self.order
        return _query_string({"s": self.album, "q": self.query, "order": order, "seed": self.seed})


def read_asked(given: MultiDict[str, str]) -> Asked:
    """The search that the parameters of a photo's page name; what is no album counts as none."""
    query, order, seed, album = (given.get(name, "").strip() for name in ("q", "order", "seed", "s"))
    return Asked(query, order, seed, album if is_uid(album, ALBUM) else "")


def _query_string(pairs: dict[str, str]) -> str:
    text = urlencode({name: value for name, value in pairs.items() if value})
    return f"?{text}" if text else ""
