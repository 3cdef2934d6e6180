"""The keys of a file: two files that share one may belong to the same photo. Equal files give equal keys."""

import hashlib
import re
from collections.abc import Collection, Iterator
from datetime import time
from typing import Final

from photosvc.core.geo import cell_token
from photosvc.core.values.stacks import BURST, DOCUMENT, LIVE, MOMENT, NAMES
from photosvc.index.describing.compose import split_name
from photosvc.index.extract import Extraction
from photosvc.index.stacking.names import burst_of, original_of, series_of, still_of
from photosvc.media.metadata import Metadata
from photosvc.query.fold import fold

#: Identifiers of XMP (`xmp.did:…`, `uuid:…`) and UUIDs; what else a camera writes may be the same for every picture.
_UNIQUE: Final = re.compile(r".+:.+|[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}", re.IGNORECASE | re.ASCII)


def keys_of(name: str, extraction: Extraction, kinds: Collection[str]) -> frozenset[int]:
    """The keys of the file with this name and content, for the kinds of stacks that are on."""
    return frozenset(map(_number, _texts(name, extraction, kinds)))


def name_key(name: str, *, video: bool) -> int:
    """The key that files of one folder share whose names say that they may be one photo."""
    folder, base, _ = split_name(name)
    return _number(("name", folder, _stem(base, video=video)))


def _stem(base: str, *, video: bool) -> str:
    base = still_of(base) if video else base
    return fold(original_of(base) or base)


def _texts(name: str, extraction: Extraction, kinds: Collection[str]) -> Iterator[tuple[str, ...]]:
    folder, base, _ = split_name(name)
    video = extraction.media_type == "video"
    metadata = extraction.metadata
    yield "name", folder, _stem(base, video=video)
    if LIVE in kinds and metadata.content_id:
        yield LIVE, metadata.content_id.upper()
    if BURST in kinds:
        if metadata.burst_id:
            yield BURST, metadata.burst_id.upper()
        if burst_of(base):
            yield BURST, folder, fold(burst_of(base))
    if DOCUMENT in kinds and metadata.document_id:
        unique = _UNIQUE.fullmatch(metadata.document_id) is not None
        yield DOCUMENT, metadata.document_id, "" if unique else _second(metadata)
    if MOMENT in kinds and not video:
        yield from _moments(metadata)
    if NAMES in kinds and not video:
        yield NAMES, folder, fold(series_of(base))


def _moments(metadata: Metadata) -> Iterator[tuple[str, ...]]:
    """When and where the picture was taken, and by which camera; none unless that tells it from other pictures.

    A burst has several pictures of one second, place and camera: the fractions of the second tell them apart. Two
    phones of one model take pictures at the same time: their serial numbers or positions tell them apart.
    """
    known = metadata.lat is not None and metadata.lng is not None
    local = metadata.taken_local
    exact = local is not None and local.microsecond > 0
    if local is None or not (_second(metadata) and metadata.camera_model and (known or metadata.camera_serial)):
        return
    if exact or known:
        cell = cell_token(metadata.lat or 0.0, metadata.lng or 0.0) if known else ""
        yield MOMENT, local.isoformat(), cell, metadata.camera_make, metadata.camera_model, metadata.camera_serial


def _second(metadata: Metadata) -> str:
    """The wall time up to the second; empty when unknown, or midnight, which stands for a date without a time."""
    local = metadata.taken_local
    return "" if local is None or local.time() == time() else local.isoformat(timespec="seconds")


def _number(texts: tuple[str, ...]) -> int:
    """64 bits: among ten million keys, two different ones are equal with a probability of 1 in 370,000."""
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big", signed=True)
