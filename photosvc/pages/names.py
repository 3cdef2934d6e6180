"""Labels and People: lists with covers, which lead to the photos, and forms that rename, merge and remove."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request, url_for
from marshmallow import Schema

from photosvc.auth.policy import may
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError, PhotosvcError
from photosvc.library.renames import QueuedRename, RenameContext, change_label, change_person, remove_labels
from photosvc.pages.errors import show_form
from photosvc.pages.forms import page_number, read_form
from photosvc.pages.language import N_, _
from photosvc.pages.layout import page, pages, see_other, show_cacheable
from photosvc.pages.search_state import query_string, with_value
from photosvc.pages.thumbnails import ThumbnailAddresses
from photosvc.pictures.sizes import Area
from photosvc.query.fold import fold
from photosvc.records import limits
from photosvc.records.people import LabelEditSchema, SubjectEditSchema
from photosvc.search.reading.covers import with_covers
from photosvc.search.reading.files import turns_of
from photosvc.search.reading.library import CachedValue
from photosvc.search.reading.people import (
    Label,
    Person,
    areas_on_covers,
    read_labels,
    read_people,
    with_covers_of_labels,
)
from photosvc.web.changes import rename_context
from photosvc.web.contract import InvalidBodyError, load_values
from photosvc.web.indexer import wake_indexer
from photosvc.web.protector import principal
from photosvc.web.searching import searching
from photosvc.web.service import current_service

#: Names on a page.
COUNT: Final = 60
_LONGEST: Final = 200
Named = Label | Person


@dataclass(frozen=True, slots=True)
class NameKind:
    """A kind of names."""

    endpoint: str
    """The endpoint of their list."""
    title: str
    every: str
    """The text of the link to the whole list."""
    icon: str
    filter: str
    """The filter of the search that finds their photos."""
    action: str
    """The action of the policy that changes them."""
    most: int
    """The most characters of a name."""
    nothing: str
    """The message when there are none."""
    missing: str
    """The message for an unknown UID."""
    find: Callable[[RenameContext, str], Named]
    """Find a label or person by UID."""
    change: Callable[..., object]
    """Changes the name and the mark of one; returns an `QueuedRename` if a job does the rest."""
    schema: Schema
    """The schema of changes at the API, which checks the name."""
    kept: Callable[[], CachedValue[list[Any]]]
    """Return the cache of all names."""
    with_covers: Callable[..., list[Any]]


LABELS: Final = NameKind(
    "labels", N_("Labels"), N_("All labels"), "tag", "label", "labels.update", limits.KEYWORD,
    N_("There are no labels yet. They are the keywords of photos: from their files, or typed when a photo is edited."),
    N_("This label does not exist, or you have no permission to see it."), RenameContext.find_label, change_label,
    LabelEditSchema(), lambda: current_service().cached(read_labels), with_covers_of_labels,
)  # fmt: skip
PEOPLE: Final = NameKind(
    "people", N_("People"), N_("All people"), "person", "subject", "people.update", limits.NAME,
    N_("There are no people yet. They come from areas with names, which other programs mark in pictures."),
    N_("This person does not exist, or you have no permission to see them."), RenameContext.find_person, change_person,
    SubjectEditSchema(), lambda: current_service().cached(read_people), with_covers,
)  # fmt: skip
_ORDERS: Final[dict[str, tuple[str, Callable[[Named], Any]]]] = {
    "name": (N_("By name"), lambda named: fold(named.name)),
    "count": (N_("Most photos"), lambda named: (-named.photo_count, fold(named.name))),
    "favorites": (N_("Favorites first"), lambda named: (not named.favorite, fold(named.name))),
}
_DONE: Final = {
    "saved": N_("Saved."),
    "merged": N_("The two are one now."),
    "removed": N_("Removed from all photos."),
    "shown": N_("The person is shown again."),
    "job": N_("Over 1,000 photos change: this takes a while, and goes on by itself."),
}


@pages.get("/labels", endpoint="labels")
@page("labels.search")
def show_labels() -> Response:
    """List the labels, a page at a time."""
    return _list(LABELS)


@pages.get("/people", endpoint="people")
@page("people.search")
def show_people() -> Response:
    """List the people, or the hidden ones, a page at a time."""
    return _list(PEOPLE)


def _list(kind: NameKind) -> Response:
    who, number, done = principal(), page_number(), request.args.get("done", "")
    text, order = request.args.get("q", "").strip().replace("\0", "")[:_LONGEST], request.args.get("order", "")
    order = order if order in _ORDERS else next(iter(_ORDERS))
    with searching(who.owner_uid) as connection:
        every: Sequence[Named] = kind.kept().read(connection, sees_private=who.sees_private)
        hidden = [named for named in every if _is_hidden(named)]
        shown = [named for named in every if not _is_hidden(named)]
        is_hidden = kind is PEOPLE and bool(request.args.get("hidden"))
        every = hidden if is_hidden else shown
        matches = sorted((named for named in every if fold(text) in fold(named.name)), key=_ORDERS[order][1])
        shown = matches[(number - 1) * COUNT : number * COUNT]
        shown = kind.with_covers(connection, shown, sees_private=who.sees_private)
        turns = turns_of(connection, {named.thumb for named in shown if named.thumb})
        faces = areas_on_covers(connection, [named for named in shown if isinstance(named, Person)])
    thumbs = ThumbnailAddresses(who, turns)
    return show_cacheable(
        "names",
        kind=kind,
        order=order,
        orders=[(key, label) for key, (label, _) in _ORDERS.items()],
        text=text,
        cards=[_card(named, kind, thumbs, faces.get(named.uid)) for named in shown],
        number=number,
        more=len(matches) > number * COUNT,
        changes=may(who, kind.action),
        hidden=len(hidden),
        is_hidden=is_hidden,
        # The person whom the last form hid, if they still are.
        undone=next((named for named in hidden if done == "hidden" and named.uid == request.args.get("person")), None),
        done=_DONE.get(done, ""),
        link=lambda **changes: _link(
            kind, {"q": text, "order": order, "hidden": "yes" if is_hidden else "", **changes}
        ),
    )


def _is_hidden(named: Named) -> bool:
    return isinstance(named, Person) and named.hidden


def _link(kind: NameKind, parameters: dict[str, object]) -> str:
    if parameters["order"] == next(iter(_ORDERS)):
        parameters["order"] = ""
    return url_for(f".{kind.endpoint}") + query_string(parameters)


def _card(
    named: Named, kind: NameKind, thumbs: ThumbnailAddresses, face: tuple[float, float, float, float] | None
) -> dict[str, Any]:
    """Return the values of a name in the list, with the address of the search for its photos."""
    area = None if face is None else Area.around(*face)
    cover, srcset = thumbs.cover(named.thumb, area)
    shown = {"uid": named.uid, "name": named.name, "count": named.photo_count, "favorite": named.favorite}
    href = url_for(".photos", q=with_value(kind.filter, named.name))
    return {**shown, "href": href, "cover": cover, "srcset": srcset}


@pages.get("/labels/<uid>", endpoint="label")
@page("labels.update")
def edit_label(uid: str) -> Response:
    """Show the form of a label."""
    return _form(LABELS, _find(LABELS, uid))


@pages.post("/labels/<uid>", endpoint="change_label")
@page("labels.update")
def send_label(uid: str) -> Response:
    """Rename a label or change its mark. Two labels are merged only if the form confirms it."""
    return _save(LABELS, _find(LABELS, uid))


@pages.post("/labels/<uid>/remove", endpoint="remove_label")
@page("labels.update")
def remove_label(uid: str) -> Response:
    """Remove a label from all photos."""
    removed = remove_labels(rename_context("q"), [_find(LABELS, uid)])
    return _leave(LABELS, "removed", by_job=isinstance(removed, QueuedRename))


@pages.get("/people/<uid>", endpoint="person")
@page("people.update")
def edit_person(uid: str) -> Response:
    """Show the form of a person."""
    return _form(PEOPLE, _find(PEOPLE, uid))


@pages.post("/people/<uid>", endpoint="change_person")
@page("people.update")
def send_person(uid: str) -> Response:
    """Rename a person or change their mark. Two people are merged only if the form confirms it."""
    return _save(PEOPLE, _find(PEOPLE, uid))


@pages.post("/people/<uid>/hide", endpoint="hide_person")
@page("people.update")
def hide_person(uid: str) -> Response:
    """Hide a person, or show them again."""
    hidden = read_form().get("hidden") != "no"
    change_person(rename_context("q"), _find(PEOPLE, uid), None, hidden=hidden)
    return see_other(url_for(".people", done="hidden" if hidden else "shown", person=uid if hidden else None))


def _find(kind: NameKind, uid: str) -> Any:  # noqa: ANN401 - a label or a person, as the kind changes them
    try:
        return kind.find(rename_context("q"), uid)
    except NotFoundError:
        raise NotFoundError(kind.missing) from None


def _save(kind: NameKind, named: Named) -> Response:
    """Save the form of a name, and lead to the list."""
    form, who = read_form(), principal()
    typed, favorite = form.get("name", ""), form.get("favorite") == "yes"
    birth_date = {"BirthDate": form["birth_date"].strip()} if "birth_date" in form and kind is PEOPLE else {}
    try:
        values = load_values(kind.schema, {"Name": typed, **birth_date})
        name: str = values.pop("name")
        with searching(who.owner_uid) as connection:
            every: Sequence[Named] = kind.kept().read(connection, sees_private=who.sees_private)
        other = next((known for known in every if known.uid != named.uid and fold(known.name) == fold(name)), None)
        if other is not None and form.get("merge") != other.uid:
            return _form(kind, named, typed=name, favorite=favorite, other=other)
        by_job = isinstance(kind.change(rename_context("q"), named, name, favorite=favorite, **values), QueuedRename)
    except NotFoundError:  # it is gone meanwhile, or has only archived photos
        return _leave(kind, "saved", by_job=False)
    except InvalidValueError as error:
        if isinstance(error, InvalidBodyError) and error.details[0]["field"] == "BirthDate":
            wrong: PhotosvcError = InvalidValueError(N_("Type a date such as 1950-12-31."), field="birth_date")
        else:
            wrong = _in_words(kind, typed)
        return _form(kind, named, typed=typed, favorite=favorite, error=wrong)
    return _leave(kind, "merged" if other else "saved", by_job=by_job)


def _leave(kind: NameKind, done: str, *, by_job: bool) -> Response:
    if by_job:
        wake_indexer(current_service())
    return see_other(url_for(f".{kind.endpoint}", done="job" if by_job else done))


def _in_words(kind: NameKind, typed: str) -> PhotosvcError:
    """Return the error about a typed name in the words of the page."""
    if len(typed) > kind.most:
        return InvalidValueError(_("Type a name of at most %(number)s characters.", number=kind.most), field="name")
    has_commas = kind is LABELS and "," in typed
    msg = N_("Type a name without commas.") if has_commas else N_("Type a name with letters or digits.")
    return InvalidValueError(msg, field="name")


def _form(
    kind: NameKind,
    named: Named,
    *,
    typed: str | None = None,
    favorite: bool | None = None,
    other: Named | None = None,
    error: PhotosvcError | None = None,
) -> Response:
    """Show the form of a name with the typed values. `other` has the typed name already: the form offers to merge."""
    birth_date = getattr(named, "birth_date", None) or ""
    if request.method == "POST":
        birth_date = read_form().get("birth_date", "")
    answer = show_form(
        "name-edit",
        error,
        kind=kind,
        named=named,
        typed=named.name if typed is None else typed,
        favorite=named.favorite if favorite is None else favorite,
        birth_date=birth_date,
        other=other,
        photos=url_for(".photos", q=with_value(kind.filter, named.name)),
        removable=kind is LABELS,
    )
    if other is not None:
        answer.status_code = ConflictError.status
    return answer
