"""Memories: photos of earlier years to look back at, GET /memories."""

from dataclasses import asdict
from typing import Final

from flask import Response

from photosvc.search.reading.library import state_tag
from photosvc.search.reading.memories import MOST, read_memories
from photosvc.web.contract import ETAG, NUMBER, TEXT, answers, json_object
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import cached_answer, require_modified
from photosvc.web.searching import searching
from photosvc.web.service import current_service

memories = OwnBlueprint("memories", __name__)

_DATE: Final = {"type": "string", "format": "date"}
_MEMORY: Final = json_object(
    kind={"type": "string", "enum": ["day", "years", "trip", "month"]},
    first=_DATE, last=_DATE, years=NUMBER, place=TEXT, count=NUMBER, query=TEXT, hash=TEXT, turn=NUMBER,
)  # fmt: skip
_MEMORIES: Final = {"type": "array", "items": _MEMORY, "maxItems": MOST}


@memories.get("/memories")
@require("photos.timeline")
@answers(_MEMORIES, "The memories.", headers=ETAG)
def list_memories() -> Response:
    """List photos of earlier years around today: of this day, of trips, and the best ones of this month.

    `query` finds the photos of a memory, `count` is their number, and `hash` is the one to show.
    """
    who, today = principal(), current_service().today()
    with searching(who.owner_uid) as connection:
        etag = state_tag(connection, "memories", sees_private=who.sees_private, today=today)
        require_modified(etag)
        found = read_memories(connection, today, sees_private=who.sees_private)
    return cached_answer([asdict(memory) for memory in found], etag)
