"""The actions on photos that need no scripts: favorite, private, archive and review, of one photo or of ticked ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from sqlalchemy import select
from sqlalchemy.orm import Session

from photosvc.core.ids import PHOTO, is_uid
from photosvc.index.quality import HIDDEN, REVIEW_BELOW
from photosvc.library import batches
from photosvc.library.apply import apply
from photosvc.library.changing import changing, load_with_catalog
from photosvc.library.journal import Actor, Change
from photosvc.models import Photo
from photosvc.models.statements import among
from photosvc.pages.forms import chosen, read_form
from photosvc.pages.language import N_, NP_, P_, _, ngettext
from photosvc.pages.layout import page, pages, safe_path, see_other
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.searching import searching

#: The most ticked photos: more than a page shows.
_MOST: Final = 200
#: The most characters of an address with the photos that an action changed; longer ones leave them out, and Undo too.
_LONGEST: Final = 3500
_FAVORITE: Final = "favorite"
_NONE, _SAME = "none", "same"
_TOLD: Final = {_NONE: N_("Select photos first."), _SAME: N_("Nothing changed: that was done before.")}


@dataclass(frozen=True, slots=True)
class Act:
    """An action."""

    name: str
    """The value of its button."""
    label: str
    icon: str
    journal: str
    """Its name in the history of photos."""
    done: str
    """The message that it is done, of one photo."""
    done_many: str
    """The same of several photos."""
    undo: str
    """The name of the action that takes it back; empty: none does."""
    flagging: batches.Flagging | None = None
    """The change of flags; None for favorites."""


ACTS: Final = {
    act.name: act
    for act in (
        Act(_FAVORITE, NP_("action", "Favorite"), "heart", "photos.like",
            *P_("Photo added to the favorites.", "%(num)s photos added to the favorites."), "plain"),
        Act("plain", NP_("action", "Remove from favorites"), "heart", "photos.like",
            *P_("Photo removed from the favorites.", "%(num)s photos removed from the favorites."), _FAVORITE),
        Act("archive", NP_("action", "Archive"), "archive", "photos.archive",
            *P_("Photo archived.", "%(num)s photos archived."), "restore", batches.archive),
        Act("restore", NP_("action", "Restore"), "archive", "photos.restore",
            *P_("Photo restored from the archive.", "%(num)s photos restored from the archive."),
            "archive", batches.unarchive),
        Act("approve", NP_("action", "Approve"), "check", "photos.approve",
            *P_("Photo approved.", "%(num)s photos approved."), "", batches.approve_many),
        Act("private", NP_("action", "Private"), "lock", "photos.private",
            *P_("Photo made private.", "%(num)s photos made private."), "public", batches.make_private(wanted=True)),
        Act("public", NP_("action", "Not private"), "lock", "photos.private",
            *P_("Photo no longer private.", "%(num)s photos no longer private."),
            "private", batches.make_private(wanted=False)),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Marked:
    """The outcome of an action, told on the page that it leads to."""

    message: str
    undo: str = ""
    """The name of the action that takes it back; empty: it cannot be taken back here."""
    photos: Sequence[str] = ()
    is_error: bool = False


def acts(*names: str) -> list[Act]:
    """Return actions by their names."""
    return [ACTS[name] for name in names]


def acts_of(record: dict[str, Any]) -> list[Act]:
    """Return the actions on a photo, given its record: those that change it."""
    review = not record["DeletedAt"] and HIDDEN < record["Quality"] < REVIEW_BELOW
    return acts(
        "plain" if record["Favorite"] else _FAVORITE,
        *(["approve"] if review else []),
        "restore" if record["DeletedAt"] else "archive",
        "public" if record["Private"] else "private",
    )


@pages.post("/marks", endpoint="mark")
@page("photos.update")
def mark() -> Response:
    """Do an action with the ticked photos, and lead back to the page, which tells the outcome."""
    form = read_form()
    back, act = safe_path(form.get("next", "")), ACTS.get(form.get("act", ""))
    uids = [uid for uid in chosen("photo", _MOST) if is_uid(uid, PHOTO)]
    if not uids or act is None:
        return see_other(_with(back, done=_NONE))
    changed = _change(uids, act)
    if not changed:
        return see_other(_with(back, done=_SAME))
    address = _with(back, done=act.name, photo=changed)
    return see_other(address if len(address) <= _LONGEST else _with(back, done=act.name))


def _with(address: str, **more: str | Sequence[str]) -> str:
    return f"{address}{'&' if '?' in address else '?'}{urlencode(more, doseq=True)}"


def _change(uids: Sequence[str], act: Act) -> list[str]:
    """Do an action with photos, and return the UIDs of those that it changed."""
    service, who, changed = current_service(), principal(), list[str]()
    now, entry = service.now(), Change(act.journal, Actor.of(who))
    with searching(who.owner_uid, "photo") as connection:
        given = {"photos": uids, "q": None}
        photo_ids = batches.selected_photos(
            connection, given, service.today(), most=_MOST, sees_private=who.sees_private
        )

    def change_some(session: Session, portion: Sequence[int]) -> int:
        columns = (Photo.id, Photo.uid, Photo.favorite, Photo.private, Photo.archived_at, Photo.approved)
        rows = session.execute(select(*columns).where(among(session, Photo.id, portion)).with_for_update())
        differing = {row.id: row.uid for row in rows if _differs(row, act, now)}
        if act.flagging is None:
            _favor(session, list(differing), entry, now, favorite=act.name == _FAVORITE)
        else:
            batches.change_flags(session, list(differing), act.flagging, entry, now)
        changed.extend(differing.values())
        return len(differing)

    batches.change_in_portions(service.writing, photo_ids, change_some, "changed", service.clock)
    return changed


def _differs(photo: Any, act: Act, now: datetime) -> bool:  # noqa: ANN401 - a row with the flags of a photo
    if act.flagging is None:
        return bool(photo.favorite) != (act.name == _FAVORITE)
    return bool(act.flagging(photo, now))


def _favor(session: Session, photo_ids: Sequence[int], entry: Change, now: datetime, *, favorite: bool) -> None:
    """Make photos favorites or not; unlike the other flags, this changes their quality in both directions."""
    catalog, loaded = load_with_catalog(session, photo_ids, current_service().settings.timezone)
    with changing(session, catalog, loaded, entry, now):
        for photo in loaded.photos:
            apply(photo, {"favorite": favorite}, catalog)


def read_marked() -> Marked | None:
    """Return the outcome of an action that led to this page; None if none did."""
    done = request.args.get("done", "")
    if done in _TOLD:
        return Marked(_(_TOLD[done]), is_error=done == _NONE)
    if (act := ACTS.get(done)) is None:
        return None
    photos = [uid for uid in request.args.getlist("photo")[:_MOST] if is_uid(uid, PHOTO)]
    message = ngettext(act.done, act.done_many, len(photos)) if photos else _("Done.")
    return Marked(message, act.undo if photos else "", photos)
