"""The addresses of thumbnails and covers on pages."""

from collections.abc import Mapping
from typing import Final

from flask import url_for

from photosvc.auth.link_tokens import preview_token
from photosvc.auth.principal import Principal
from photosvc.pictures.sizes import Area
from photosvc.web.service import current_service

#: The sizes of covers in lists.
COVERS: Final = ("tile_224", "tile_500")


class ThumbnailAddresses:
    """The addresses of thumbnails that a principal may see."""

    def __init__(self, who: Principal, turns: Mapping[str, int], *, waits: bool = False) -> None:
        """Prepare addresses; `turns` is the result of `turns_of`.

        `waits`: requests wait until a thumbnail is made, for visitors without scripts, which would ask again.
        """
        token = preview_token(current_service().settings, who)
        quiet = "waits" if waits else 1
        address = url_for("photosvc.thumbnails.thumbnail", content_hash="HASH", token=token, size="SIZE", quiet=quiet)
        before, _, behind = address.partition("HASH")
        self._parts = before, *behind.split("SIZE", 1)
        self._turns = turns

    def address(self, content_hash: str, size: str, area: Area | None = None) -> str:
        """Return the address of a thumbnail or of an area of it; it differs by the turn, as browsers cache it."""
        before, between, behind = self._parts
        turn = f"{'&' if '?' in behind else '?'}turn={self._turns[content_hash]}" if content_hash in self._turns else ""
        part = "" if area is None else f"-{area}"
        return f"{before}{content_hash}{part}{between}{size}{behind}{turn}"

    def cover(self, content_hash: str, area: Area | None = None) -> tuple[str, str]:
        """Return the address of a square cover and the `srcset` of its sizes; both empty without a hash."""
        covers = {size: self.address(content_hash, size, area) for size in COVERS} if content_hash else {}
        return next(iter(covers.values()), ""), cover_sizes(covers)


def cover_sizes(covers: Mapping[str, str]) -> str:
    """Return the `srcset` of a cover from its addresses by size."""
    return ", ".join(f"{address} {size.removeprefix('tile_')}w" for size, address in covers.items())
