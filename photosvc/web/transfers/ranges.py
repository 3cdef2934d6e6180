"""Byte ranges and preconditions of a file (RFC 9110 sections 13 and 14).

Werkzeug's own answers 416 where a range has to be ignored, and 206 where 304 takes precedence.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Final

from werkzeug.datastructures import Headers
from werkzeug.http import parse_date, parse_etags, unquote_etag

#: More ranges than a player or download manager asks for are ignored: the whole file is cheaper to send.
MAX_RANGES: Final = 8
_LONGEST: Final = 512
_SPEC: Final = re.compile(r"(\d{0,19})-(\d{0,19})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes `start` up to but not including `stop`."""

    start: int
    stop: int

    @property
    def length(self) -> int:
        """Bytes in it."""
        return self.stop - self.start

    def content_range(self, size: int) -> str:
        """The value of `Content-Range` (section 14.4)."""
        return f"bytes {self.start}-{self.stop - 1}/{size}"


class RangeNotSatisfiableError(Exception):
    """No range that was asked for overlaps the file (section 15.5.17)."""


def parse_ranges(header: str, size: int) -> list[Range]:
    """The satisfiable ranges of a `Range` header, overlapping ones merged; empty when the header must be ignored.

    Ignored are other units, anything malformed, and more than `MAX_RANGES` ranges (section 14.2).

    Raises:
        RangeNotSatisfiableError: the header is valid and no range of it overlaps the file.

    """
    unit, equals, listed = header.partition("=")
    if not equals or unit.strip().lower() != "bytes" or len(header) > _LONGEST:
        return []
    specs = [spec for part in listed.split(",") if (spec := part.strip(" \t"))]
    if not specs or len(specs) > MAX_RANGES:
        return []
    found: list[Range] = []
    for spec in specs:
        match = _SPEC.fullmatch(spec)
        if match is None or not any(match.groups()):
            return []
        first, last = match.groups()
        if first and last and int(last) < int(first):
            return []
        if not first:
            start, stop = max(0, size - int(last)), size
        else:
            start, stop = int(first), min(int(last) + 1, size) if last else size
        if start < stop:
            found.append(Range(start, stop))
    if not found:
        raise RangeNotSatisfiableError
    return _merged(found)


def _merged(ranges: list[Range]) -> list[Range]:
    """The same bytes in ranges that neither overlap nor touch; the order of the request is kept when none did."""
    merged: list[Range] = []
    for one in sorted(ranges, key=lambda one: one.start):
        if merged and one.start <= merged[-1].stop:
            merged[-1] = Range(merged[-1].start, max(merged[-1].stop, one.stop))
        else:
            merged.append(one)
    return ranges if len(merged) == len(ranges) else merged


def check_preconditions(headers: Headers, etag: str, modified: datetime | None) -> HTTPStatus | None:
    """304 or 412 when a precondition of a GET or HEAD decides the answer; None when the file is to be sent.

    Args:
        headers: of the request.
        etag: the strong entity tag, without quotes.
        modified: when the file was last changed, in whole seconds; None when unknown.

    """
    if match := headers.get("If-Match"):
        if not parse_etags(match).contains(etag):
            return HTTPStatus.PRECONDITION_FAILED
    elif modified and (since := parse_date(headers.get("If-Unmodified-Since"))) and modified > since:
        return HTTPStatus.PRECONDITION_FAILED
    if none_match := headers.get("If-None-Match"):
        return HTTPStatus.NOT_MODIFIED if parse_etags(none_match).contains_weak(etag) else None
    if modified and (since := parse_date(headers.get("If-Modified-Since"))) and modified <= since:
        return HTTPStatus.NOT_MODIFIED
    return None


def range_applies(headers: Headers, etag: str, modified: datetime | None) -> bool:
    """Whether `If-Range` lets a range be answered: its tag is strong and equal, or its date is exact (13.1.5)."""
    condition = headers.get("If-Range", "").strip()
    if not condition:
        return True
    if condition.startswith(('"', "W/")):
        tag, weak = unquote_etag(condition)
        return tag == etag and not weak
    return modified is not None and parse_date(condition) == modified
