"""The metadata in records of IPTC-IIM (IPTC IIM 4.2), and the Photoshop image resources that hold the records."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from photosvc.media import text
from photosvc.media.metadata import Metadata, WrittenDate, read_date
from photosvc.media.text import clean, clean_text
from photosvc.records import limits

MAX_RESOURCES: Final = 500
IPTC_RESOURCE: Final = 0x0404
MAX_RECORDS: Final = 1000
_MAX_BYLINES: Final = 16
_UTF8: Final = b"\x1b%G"  # the escape sequence of 1:90 CodedCharacterSet
_DIGITIZED, _DIGITIZED_TIME = 62, 63
_TITLE, _KEYWORDS, _DATE, _TIME, _BYLINE, _HEADLINE, _COPYRIGHT, _CAPTION = 5, 25, 55, 60, 80, 105, 116, 120
_CITY, _STATE, _COUNTRY_CODE, _COUNTRY = 90, 95, 100, 101
Records = Mapping[tuple[int, int], list[bytes]]


def resource(block: bytes, number: int) -> bytes:
    """Return the data of a Photoshop image resource (Photoshop file format, Image Resource Blocks); empty if absent."""
    return next((data for kind, data in _resources(block) if kind == number), b"")


def _resources(block: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for _ in range(MAX_RESOURCES):
        if block[start : start + 4] != b"8BIM" or start + 12 > len(block):
            return
        number = int.from_bytes(block[start + 4 : start + 6], "big")
        begin = start + 6 + (block[start + 6] + 2) // 2 * 2  # a name with its length, padded to an even number
        size = int.from_bytes(block[begin : begin + 4], "big")
        yield number, block[begin + 4 : begin + 4 + size]
        start = begin + 4 + size + size % 2


def read_iptc(block: bytes) -> Metadata:
    """Read the metadata of a block of IIM records, up to the first record that is not well formed."""
    if not block:
        return Metadata()
    records = _records(block)
    encoding = "utf-8" if _UTF8 in records.get((1, 90), [b""])[0] else ""

    def first(number: int) -> str | bytes:
        return _decoded(records.get((2, number), [b""])[0], encoding)

    bylines = records.get((2, _BYLINE), [])[:_MAX_BYLINES]
    date = _date_and_time(clean(first(_DATE)), clean(first(_TIME)))
    if date.local is None:
        date = _date_and_time(clean(first(_DIGITIZED)), clean(first(_DIGITIZED_TIME)))
    return Metadata(
        taken_local=date.local,
        utc_offset=date.offset,
        date_parts=date.parts,
        title=clean(first(_TITLE), limits.TITLE) or clean(first(_HEADLINE), limits.TITLE),
        description=clean_text(first(_CAPTION)),
        keywords=text.keywords(_decoded(word, encoding) for word in records.get((2, _KEYWORDS), ())),
        artist=clean(", ".join(filter(None, (clean(_decoded(name, encoding)) for name in bylines)))),
        copyright=clean(first(_COPYRIGHT)),
        city=clean(first(_CITY)),
        state=clean(first(_STATE)),
        country=clean(first(_COUNTRY)) or clean(first(_COUNTRY_CODE)),
    )


def _records(block: bytes) -> Records:
    records: defaultdict[tuple[int, int], list[bytes]] = defaultdict(list)
    start = 0
    for _ in range(MAX_RECORDS):
        if start + 5 > len(block) or block[start] != 0x1C:
            break
        size = int.from_bytes(block[start + 3 : start + 5], "big")
        if size & 0x8000:  # an extended data set, used for pictures and not for texts
            break
        records[block[start + 1], block[start + 2]].append(block[start + 5 : start + 5 + size])
        start += 5 + size
    return records


def _decoded(value: bytes, encoding: str) -> str | bytes:
    return value.decode(encoding, "replace") if encoding else value


def _date_and_time(date: str, time: str) -> WrittenDate:
    """Return the date with its time, or without it when the time is missing or wrong."""
    whole = read_date(f"{date} {time}") if time else WrittenDate()
    return read_date(date) if whole.local is None else whole
