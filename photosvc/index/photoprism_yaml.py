"""The YAML that PhotoPrism writes for each photo, as a sidecar beside its pictures.

Only what a person entered, or a file said, is read; PhotoPrism's own guesses are not.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from typing import Final, TypeAlias

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
#: Lists and mappings in each other.
_DEEPEST: Final = 8
#: UIDs of photos begin with `p`, those of albums with `a`.
_UID: Final = re.compile(r"p[a-z0-9]{1,31}", re.ASCII)
#: The sources of values that a person entered.
ENTERED: Final = frozenset(("manual", "batch", "admin", "xmp"))
#: Sources of values that PhotoPrism did not make up.
STATED: Final = ENTERED | {"meta"}
_NUMBER: Final = re.compile(r"-?\d{1,9}(?:\.\d{1,20})?(?:e-?\d{1,2})?", re.ASCII)
Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
#: No zone is known.
_ZONELESS: Final = frozenset(("", "Local"))


def read_photoprism(content: bytes) -> Metadata | None:
    """Return the metadata of a photo; None when the file is not PhotoPrism's record of one.

    Raises:
        ValueError: it is no YAML, too long, or refers to other parts of itself.
    """
    record = read_record(content)
    return None if record is None else metadata_of(record)


def read_record(content: bytes) -> dict[str, str] | None:
    """Return the texts of a photo's record, those of a mapping in it by `name.name`; as `read_photoprism`."""
    record = texts_of(read_tree(content, MAX_YAML))
    return record if is_photo(record) else None


def is_photo(record: Mapping[str, str]) -> bool:
    """Return whether these texts are those of a photo."""
    return bool(_UID.fullmatch(record.get("UID", "")))


def metadata_of(record: Mapping[str, str], sources: Collection[str] = STATED) -> Metadata:
    """Return the metadata in a record: values from these sources, and those that have none."""
    date = _date(record)
    lat, lng = None, None
    if record.get("PlaceSrc") in sources:
        lat, lng = valid_position(_number(record, "Lat"), _number(record, "Lng"))
    altitude = valid_altitude(_number(record, "Altitude") or 0.0) if lat is not None else 0
    has_title = record.get("TitleSrc") in sources
    has_keywords = record.get("Details.KeywordsSrc") in ENTERED
    has_subject = record.get("Details.SubjectSrc") in sources
    return Metadata(
        taken_local=date.local,
        utc_offset=date.offset,
        date_parts=date.parts,
        lat=lat,
        lng=lng,
        altitude=altitude,
        title=clean(record.get("Title", ""), limits.TITLE) if has_title else "",
        description=clean_text(_entered(record, sources, "Caption") or _entered(record, sources, "Description")),
        keywords=text.keywords([record.get("Details.Keywords", "")], split=True) if has_keywords else (),
        subject=clean(record.get("Details.Subject", "")) if has_subject else "",
        notes=clean_text(_entered(record, sources, "Details.Notes")),
        artist=clean(_entered(record, sources, "Details.Artist")),
        copyright=clean(_entered(record, sources, "Details.Copyright")),
        license=clean(_entered(record, sources, "Details.License")),
        original_name=clean(record.get("OriginalName", "")),
        favorite=record.get("Favorite") == "true",
        archived=bool(record.get("DeletedAt")),
        private=record.get("Private") == "true",
    )


def _entered(record: Mapping[str, str], sources: Collection[str], name: str) -> str:
    """Return a text that PhotoPrism does not generate, unless a program wrote it; old records have no source of it."""
    return record.get(name, "") if record.get(f"{name}Src", "") in {*sources, ""} else ""


def _number(record: Mapping[str, str], name: str) -> float | None:
    written = record.get(name, "")
    return float(written) if _NUMBER.fullmatch(written) else None


def _date(record: Mapping[str, str]) -> WrittenDate:
    """Return the wall time that a person entered, with its offset; the year, or year and month, of a partial date."""
    if record.get("TakenSrc") not in ENTERED:
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


def texts_of(tree: Mapping[str, Tree]) -> dict[str, str]:
    """Return the texts of a mapping by their names, and those of a mapping in it by `name.name`; lists are left out."""
    texts = {name: value for name, value in tree.items() if isinstance(value, str)}
    for outer, part in tree.items():
        if isinstance(part, dict):
            texts |= {f"{outer}.{name}": value for name, value in part.items() if isinstance(value, str)}
    return texts


def read_tree(content: bytes, most: int) -> dict[str, Tree]:
    """Return the texts in a mapping, and its mappings and lists; empty if the file has no mapping.

    The file is read as a sequence of events: nothing is made of tags or anchors.

    Raises:
        ValueError: it is no YAML, longer than `most` bytes, refers to other parts of itself, or is deeply nested.
    """
    if len(content) > most:
        raise ValueError
    try:
        with closing(yaml.parse(content, Loader=_LOADER)) as events:
            for event in events:
                if isinstance(event, yaml.NodeEvent):
                    tree = _node(event, events)
                    return tree if isinstance(tree, dict) else {}
    except yaml.YAMLError as error:
        raise ValueError from error
    return {}


def _node(event: yaml.Event, events: Iterator[yaml.Event], depth: int = 0) -> Tree:
    """Return the text, list or mapping that begins with an event; keys that are no texts are left out."""
    if isinstance(event, yaml.ScalarEvent):
        return str(event.value)
    if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
        raise ValueError
    parts: list[Tree] = []
    for inner in events:
        if isinstance(inner, yaml.CollectionEndEvent):
            break
        parts.append(_node(inner, events, depth + 1))
    if isinstance(event, yaml.SequenceStartEvent):
        return parts
    return {name: value for name, value in zip(parts[::2], parts[1::2], strict=True) if isinstance(name, str)}


_LOADER: Final = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
