"""Administration > Look-alikes: groups of similar photos; the worse ones are archived, or the group is kept."""

from typing import Any, Final

from flask import Response, request, url_for
from sqlalchemy import select

from photosvc.core.errors import InvalidValueError, PhotosvcError
from photosvc.core.ids import PHOTO, is_uid
from photosvc.core.vocabulary import UNKNOWN
from photosvc.library import look_alikes
from photosvc.library.batches import Flagging, change_flags, flag_archived, flag_restored, selected_photos
from photosvc.library.journal import Author, Change
from photosvc.models import Photo
from photosvc.pages.administration.frame import administration_page, show_administration
from photosvc.pages.forms import read_form, whole_number
from photosvc.pages.language import N_
from photosvc.pages.layout import form_page, pages, see_other
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.search.reading.files import turns_of
from photosvc.web.indexer import Indexer, wake_indexer
from photosvc.web.protector import principal
from photosvc.web.service import current_service

_PATH: Final = "/administration/look-alikes"
#: The most groups on a page.
_COUNT: Final = 12
_LAST: Final = 2**31 - 1
_LAST_SET: Final = 2**62
_FIELD: Final = "photo-"
_DONE: Final = {
    "starts": N_("The search for look-alikes starts in a moment."),
    "waits": N_("The search for look-alikes is waiting: no indexer is running. Start svc watch or svc run."),
    "restored": N_("Photos restored from the archive."),
    "taken_back": N_("Group restored."),
}


@pages.post(f"{_PATH}/look")
@administration_page("library.tidy")
def look() -> Response:
    """Ask an indexer to look for look-alikes."""
    service = current_service()
    with service.writing() as session:
        look_alikes.request_search(session, service.now())
    begins = wake_indexer(service) is not Indexer.NONE
    return see_other(url_for(".look_alikes", done="starts" if begins else "waits"))


@pages.post(f"{_PATH}/archive")
@administration_page("library.tidy")
def archive_worse() -> Response:
    """Archive the chosen photos."""
    form = read_form()
    uids = _chosen(form)
    try:
        _flag(uids, "photos.archive", flag_archived)
    except PhotosvcError as error:
        return _look_alikes(error)
    return see_other(_here(form, archived=" ".join(uids)))


@pages.post(f"{_PATH}/restore")
@administration_page("library.tidy")
def restore_worse() -> Response:
    """Restore the photos that were archived."""
    form = read_form()
    try:
        _flag(_chosen(form), "photos.restore", flag_restored)
    except PhotosvcError as error:
        return _look_alikes(error)
    return see_other(_here(form, done="restored"))


@pages.post(f"{_PATH}/apart")
@administration_page("library.tidy")
def keep_apart() -> Response:
    """Record that the photos of a group are different."""
    service, form = current_service(), read_form()
    uids = form.get("group", "").split()[: look_alikes.MOST_DECIDED]
    if len(uids) < 2 or not all(is_uid(uid, PHOTO) for uid in uids):
        return _look_alikes(InvalidValueError(N_("This group no longer exists.")))
    with service.writing(library=True) as session:
        ids = session.scalars(select(Photo.id).where(Photo.uid.in_(uids))).all()
        number = look_alikes.set_apart(session, ids) if len(ids) > 1 else 0
    return see_other(_here(form, apart=str(number)))


@pages.post(f"{_PATH}/together")
@administration_page("library.tidy")
def put_together() -> Response:
    """Undo the decision that the photos of a group are different."""
    service, form = current_service(), read_form()
    with service.writing() as session:
        look_alikes.take_back(session, whole_number(form.get("set", ""), low=1, high=_LAST_SET, default=0))
    return see_other(_here(form, done="taken_back"))


@form_page(_PATH, "look_alikes", administration_page("library.tidy"))
def _look_alikes(error: PhotosvcError | None = None) -> Response:
    """Show groups of photos that look alike and wait for a decision."""
    service, parameters = current_service(), request.args
    after = whole_number(request.values.get("after", ""), low=0, high=_LAST, default=0)
    with service.reading(orm=True) as session:
        connection = session.connection()
        archived = parameters.get("archived", "").split()[: look_alikes.MOST_DECIDED]
        archived = [uid for uid in archived if is_uid(uid, PHOTO)]
        gone = select(Photo.uid).where(Photo.uid.in_(archived), Photo.archived_at.is_not(None))
        page = look_alikes.read_look_alikes(connection, after=after, count=_COUNT)
        turns = turns_of(connection, {member.content_hash for group in page.groups for member in group.members})
        return show_administration(
            "look-alikes",
            "look_alikes",
            error=error,
            done_texts=_DONE,
            page=page,
            unknown=UNKNOWN,
            after=after,
            total=look_alikes.count_look_alikes(connection),
            looked_at=look_alikes.last_search_at(session),
            looking=look_alikes.is_search_requested(session),
            archived=session.scalars(gone).all() if archived else (),
            apart=whole_number(parameters.get("apart", ""), low=1, high=_LAST_SET, default=0),
            thumbs=ThumbnailAddresses(principal(), turns),
        )


def _chosen(form: dict[str, str]) -> list[str]:
    return [name.removeprefix(_FIELD) for name in form if name.startswith(_FIELD)][: look_alikes.MOST_DECIDED]


def _flag(uids: list[str], action: str, flagging: Flagging) -> None:
    """Change a flag of photos, as the batches of the API do."""
    if not uids:
        raise InvalidValueError(N_("No photo is selected."), field="photos")
    service, who = current_service(), principal()
    selection = {"photos": uids, "q": None, "expected": None}
    with service.writing(library=True) as session:
        connection, most = session.connection(), look_alikes.MOST_DECIDED
        ids = selected_photos(connection, selection, service.today(), most=most, sees_private=who.sees_private)
        change_flags(session, ids, flagging, Change(action, Author.of(who)), service.now())


def _here(form: dict[str, str], **outcome: str) -> str:
    after = whole_number(form.get("after", ""), low=0, high=_LAST, default=0)
    values: dict[str, Any] = {"after": after or None, **outcome}
    return url_for(".look_alikes", **values)
