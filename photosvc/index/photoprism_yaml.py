"""The YAML that PhotoPrism writes for each photo, as a sidecar beside its pictures.

Only what a person entered, or a file said, is read; PhotoPrism's own guesses are not.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final

import yaml

from photosvc.media import text
from photosvc.media.metadata import (
    DAY,
    FURTHEST,
    MONTH,
    YEAR,
    Metadata,
    WrittenDate,
    read_date,
    valid_altitude,
    valid_position,
)
from photosvc.media.text import clean, clean_text
from photosvc.records import limits

#: Bytes of a file; the longest texts of PhotoPrism together are shorter.
MAX_YAML: Final = 1 << 16
#: Parts of a file, each a text or the beginning or end of a list or mapping.
_MOST_EVENTS: Final = 1000
#: UIDs of photos begin with `p`, those of albums with `a`.
_UID: Final = re.compile(r"p[a-z0-9]{1,31}", re.ASCII)
#: The sources of values that a person entered.
_ENTERED: Final = frozenset(("manual", "batch", "admin", "xmp"))
#: Sources of values that PhotoPrism did not make up.
_STATED: Final = _ENTERED | {"meta"}
_NUMBER: Final = re.compile(r"-?\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?", re.ASCII)
#: No zone is known.
_ZONELESS: Final = frozenset(("", "Local"))


def read_photoprism(content: bytes) -> Metadata | None:
    """Return the metadata of a photo; None when the file is not PhotoPrism's record of one.

    Raises:
        ValueError: it is no YAML, too long, or refers to other parts of itself.
    """
    record = _read_texts(content)
    if not _UID.fullmatch(record.get("UID", "")):
        return None
    date = _date(record)
    lat, lng = None, None
    if record.get("PlaceSrc") in _STATED:
        lat, lng = valid_position(_number(record, "Lat"), _number(record, "Lng"))
    altitude = valid_altitude(_number(record, "Altitude") or 0.0) if lat is not None else 0
    has_title = record.get("TitleSrc") in _STATED
    has_keywords = record.get("Details.KeywordsSrc") in _ENTERED
    has_subject = record.get("Details.SubjectSrc") in _STATED
    return Metadata(
        taken_local=date.local,
        utc_offset=date.offset,
        date_parts=date.parts,
        lat=lat,
        lng=lng,
        altitude=altitude,
        title=clean(record.get("Title", ""), limits.TITLE) if has_title else "",
        description=clean_text(_entered(record, "Caption") or _entered(record, "Description")),
        keywords=text.keywords([record.get("Details.Keywords", "")], split=True) if has_keywords else (),
        subject=clean(record.get("Details.Subject", "")) if has_subject else "",
        notes=clean_text(_entered(record, "Details.Notes")),
        artist=clean(_entered(record, "Details.Artist")),
        copyright=clean(_entered(record, "Details.Copyright")),
        license=clean(_entered(record, "Details.License")),
        original_name=clean(record.get("OriginalName", "")),
        favorite=record.get("Favorite") == "true",
        archived=bool(record.get("DeletedAt")),
        private=record.get("Private") == "true",
    )


def _entered(record: Mapping[str, str], name: str) -> str:
    """Return a text that PhotoPrism does not generate, unless a program wrote it; old records have no source of it."""
    return record.get(name, "") if record.get(f"{name}Src", "") in _STATED | {""} else ""


def _number(record: Mapping[str, str], name: str) -> float | None:
    written = record.get(name, "")
    return float(written) if _NUMBER.fullmatch(written) else None


def _date(record: Mapping[str, str]) -> WrittenDate:
    """Return the wall time that a person entered, with its offset; the year, or year and month, of a partial date."""
    if record.get("TakenSrc") not in _ENTERED:
        return WrittenDate()
    local, _ = text.parse_date(record.get("TakenAtLocal", ""))
    utc, _ = text.parse_date(record.get("TakenAt", ""))
    if local is None:
        return WrittenDate()
    parts = YEAR if record.get("Month") == "-1" else MONTH if record.get("Day") == "-1" else DAY
    if parts != DAY:
        return read_date(f"{local:%Y-%m}"[: 4 if parts == YEAR else 7])
    if utc is None or record.get("TimeZone", "") in _ZONELESS or abs(local - utc) > FURTHEST:
        return WrittenDate(local)
    return WrittenDate(local, round((local - utc).total_seconds() / 60))


def _read_texts(content: bytes) -> dict[str, str]:
    """Return the texts of a mapping by their names, and those of a mapping in it by `name.name`; lists are left out.

    The file is read as a sequence of events: nothing is made of tags, anchors or nested parts.
    """
    if len(content) > MAX_YAML:
        raise ValueError
    try:
        return dict(_texts(islice(yaml.parse(content, Loader=_LOADER), _MOST_EVENTS)))
    except yaml.YAMLError as error:
        raise ValueError from error


def _texts(events: Iterator[yaml.Event]) -> Iterator[tuple[str, str]]:
    path: list[str | None] = []
    """The name to which the next value belongs in each open mapping; None before a name and in lists."""
    lists: list[bool] = []
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise ValueError  # noqa: TRY004 - of the content
        if isinstance(event, yaml.CollectionStartEvent):
            lists.append(isinstance(event, yaml.SequenceStartEvent))
            path.append(None)
        elif isinstance(event, yaml.CollectionEndEvent):
            lists.pop()
            path.pop()
            if path:
                path[-1] = None
        elif isinstance(event, yaml.ScalarEvent) and path and not any(lists):
            if path[-1] is None:
                path[-1] = event.value
            else:
                if len(path) <= 2:
                    yield ".".join(map(str, path)), event.value
                path[-1] = None


_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
