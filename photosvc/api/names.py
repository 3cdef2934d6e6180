"""Functions shared by people and labels: their lists, and changes of one in all photos that have it.

A change of few photos is made at once, one of many by a job.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from flask import Response, request, url_for
from marshmallow import Schema

from photosvc.api.index_runs import INDEXER, MESSAGES
from photosvc.core.errors import InvalidValueError
from photosvc.library.names import Asked
from photosvc.query.fold import fold
from photosvc.search.reading.figures import Kept, state_tag
from photosvc.search.reading.people import Label, Person
from photosvc.web.answers import is_fresh, json_answer, not_modified, page_headers, page_parameters, read_page
from photosvc.web.contract import NUMBER, TEXT, Contract, Header, describe, json_object, read_switch
from photosvc.web.current import current_service
from photosvc.web.indexer import wake_indexer
from photosvc.web.protector import principal
from photosvc.web.searching import searching

PAGE_HEADERS: Final = page_headers("entries")
#: Orders of the lists: by name, the most frequent first, or favourites first.
_ORDERS: Final[dict[str, Callable[[Person | Label], Any]]] = {
    "name": lambda entry: fold(entry.name),
    "slug": lambda entry: fold(entry.name),
    "count": lambda entry: -entry.photo_count,
    "relevance": lambda entry: -entry.photo_count,
    "favorites": lambda entry: not entry.favorite,
}
#: The answer of a view that leaves a change to a job.
JOB: Final = Contract(
    json_object("code message job indexer", code=NUMBER, message=TEXT, job=NUMBER, indexer=INDEXER),
    meaning="Over 1,000 photos have it, so a job changes them; its `State` says whether it is done.",
    status=202,
    headers={"Location": Header("string", "The address of the job's progress.")},
)


def list_parameters(**more: tuple[dict[str, Any], str]) -> list[dict[str, Any]]:
    """Return the parameters of a list, and `more` of them, as OpenAPI has them."""
    described = {
        **page_parameters("entries"),
        "q": (TEXT, "Part of the name."),
        "favorite": ({"type": "boolean", "default": False}, "Favourites only."),
        "order": ({"type": "string", "enum": [*_ORDERS], "default": "name"}, "The order of the entries."),
        **more,
    }
    return describe(described)


def list_entries(
    name: str,
    kept: Kept[list[Any]],
    schema: Schema,
    with_covers: Callable[..., list[Any]],
    *,
    hidden: bool | None = None,
) -> Response:
    """Answer with a page of the entries that the caller may see; `with_covers` adds the hashes of their covers.

    Args:
        name: the name of the list.
        kept: all entries.
        schema: the schema of an entry.
        with_covers: returns entries with the hashes of their covers.
        hidden: whether hidden entries are listed, or the others; None where none can be hidden.

    Raises:
        InvalidValueError: a parameter is not valid.
    """
    sees_private = principal().sees_private
    page = read_page()
    wanted, order = fold(request.args.get("q", "")), request.args.get("order", "").strip().lower() or "name"
    if order not in _ORDERS:
        raise InvalidValueError(f"order {order[:40]!r} is unknown: use one of {', '.join(_ORDERS)}", field="order")
    favorite = read_switch("favorite")
    with searching(principal().owner_uid) as connection:
        asked = (page.count, page.offset, wanted, order, favorite, hidden)
        etag = state_tag(connection, name, *asked, sees_private=sees_private)
        if is_fresh(etag):
            return not_modified(etag)
        every: Sequence[Any] = kept.read(connection, sees_private=sees_private)
        if hidden is not None:
            every = [entry for entry in every if entry.hidden == hidden]
        found = [entry for entry in every if wanted in fold(entry.name) and (entry.favorite or not favorite)]
        found = sorted(found, key=_ORDERS[order])[page.offset : page.offset + page.count]
        found = with_covers(connection, found, sees_private=sees_private)
    return page.answer(json_answer([schema.dump(entry) for entry in found], etag=etag), len(found))


def accepted(asked: Asked) -> Response:
    """Answer with the number of a job, and start an indexer for it unless one runs."""
    indexer = wake_indexer(current_service())
    answer = json_answer(
        {"code": 202, "message": MESSAGES[indexer], "job": asked.job_id, "indexer": indexer.value}, JOB.status
    )
    answer.headers["Location"] = url_for("photosvc.index_runs.show_job", job_id=asked.job_id)
    return answer
