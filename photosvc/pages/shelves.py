"""The pages of photos that have a name: Favorites, Archive and Review, each with its own words and actions."""

from dataclasses import dataclass
from typing import Final

from flask import Response

from photosvc.auth.policy import may
from photosvc.pages.language import N_
from photosvc.pages.layout import page, pages
from photosvc.pages.photos import ORDERS, show_search
from photosvc.web.contract import uses
from photosvc.web.protector import principal


@dataclass(frozen=True, slots=True)
class Shelf:
    """The words and actions of a named page."""

    title: str
    about: str
    nothing: str
    """The message when no photo is on it."""
    marks: tuple[str, ...]
    """The actions on its photos."""
    every: tuple[str, ...] = ()
    """The actions on all photos of the page at once."""
    scripted: bool = True
    """False if the page always has boxes to tick, because the grid of the scripts lacks its actions."""


_FAVORITES: Final = Shelf(
    N_("Favorites"),
    N_("Photos that somebody marked with the heart."),
    N_("There are no favorites yet. Mark a photo with the heart, and it is here, too."),
    ("plain", "archive", "private"),
)
_ARCHIVE: Final = Shelf(
    N_("Archive"),
    N_("Photos that are kept, but left out of all searches and albums."),
    N_("The archive is empty. Archive a photo to keep it out of sight; restore it here."),
    ("restore", "favorite"),
)
_REVIEW: Final = Shelf(
    N_("Review"),
    N_(
        "Photos that may not be worth keeping in sight, such as small pictures and screenshots. "
        "Approve or archive them."
    ),
    N_("There is nothing to review. Small pictures, screenshots, and photos without a date come here."),
    ("approve", "archive"),
    ("approve",),
    scripted=False,
)
NAMED: Final = {"favorites": _FAVORITES, "archive": _ARCHIVE, "review": _REVIEW}


@pages.get("/favorites", endpoint="favorites")
@page("photos.search")
def show_favorites() -> Response:
    """Show the favorites."""
    return _show("favorites", _FAVORITES)


@pages.get("/archive", endpoint="archive")
@page("photos.search")
@uses("trash.empty")
def show_archive() -> Response:
    """Show the archived photos."""
    return _show("archive", _ARCHIVE, trash=may(principal(), "trash.empty"))


@pages.get("/review", endpoint="review")
@page("photos.search")
def show_review() -> Response:
    """Show the photos in review."""
    return _show("review", _REVIEW)


def _show(name: str, shelf: Shelf, *, trash: bool = False) -> Response:
    return show_search(
        "shelf", shelf=name, scripted=shelf.scripted, marks=shelf.marks, orders=ORDERS, named=shelf, trash=trash
    )
