"""The rules of stacks: the keys that link files, and the division of files into photos.

Base names tell edited copies, videos of Live Photos, previews of videos, bursts and numbered copies. Two files that
share a key may belong to the same photo; equal files give equal keys. Some keys count only for pictures that also look
alike. The division depends on the set of files alone, not on their order.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import time
from itertools import combinations
from typing import Final

from photosvc.core.geo import cell_token
from photosvc.core.vocabulary import BURST, DOCUMENT, EDITED, LIVE, MOMENT, NAMES
from photosvc.index.extract import Extraction
from photosvc.index.sidecar_values import EDITED_SUFFIXES, cut_original
from photosvc.media.metadata import Metadata
from photosvc.query.fold import fold

_EDITED: Final = re.compile(
    rf"(?P<original>.+)(?:{'|'.join(map(re.escape, EDITED_SUFFIXES))})(?P<number>\(\d{{1,4}}\))?", re.IGNORECASE
)
_APPLE_EDITED: Final = re.compile(r"(?P<head>IMG_)E(?P<number>\d{4,5})", re.IGNORECASE | re.ASCII)
_LIVE_VIDEO: Final = re.compile(r"(?P<still>.+)_HEVC", re.IGNORECASE)
#: Pixel phones name the picture `PXL_20240101_120000000.MP.jpg`; exports add its video as `PXL_20240101_120000000.MP`.
_MOVING: Final = "mp"
#: Cameras write the preview of `MVI_0001.AVI`, with its metadata, into `MVI_0001.THM`.
_PREVIEW: Final = "thm"
# `IMG_20150214_184515_BURST002`, `IMAG0020_BURST001_COVER`, `20151021_123456_Burst01`
_BURST: Final = re.compile(r"(?P<burst>.+?)[_-]?BURST(?P<frame>\d{1,5})(?:_COVER)?", re.IGNORECASE | re.ASCII)
# `00001IMG_00001_BURST20171111030039363_COVER`: the number is that of the frame, the time that of the burst.
_TIMED_BURST: Final = re.compile(r".*BURST(?P<burst>\d{12,20})(?:_COVER)?", re.IGNORECASE | re.ASCII)
_NUMBERED: Final = re.compile(
    r"(?P<first>.+?)(?: ?\(\d{1,3}\)| ?\([+-]\d{1,2}(?:\.\d{1,2})?\)| copy(?: \d{1,3})?| - Copy(?: \(\d{1,3}\))?)",
    re.IGNORECASE | re.ASCII,
)
#: Identifiers of XMP (`xmp.did:…`, `uuid:…`) and UUIDs; other texts of a camera may be the same for every picture.
_UNIQUE: Final = re.compile(r".+:.+|[0-9A-F]{8}(?:-[0-9A-F]{4}){3}-[0-9A-F]{12}", re.IGNORECASE | re.ASCII)
#: Most files of a photo. A key that more files share links none of them: a camera writes it into every picture.
MAX_FILES: Final = 200
#: The longest video of a Live Photo without identifier.
LIVE_NS: Final = 3_100_000_000
#: Bits of the perceptual hashes in which pictures of one document differ at most: resized, recompressed, retouched and
#: slightly cropped ones.
ALIKE_BITS: Final = 10
#: Folder, base name, and true for the bucket of longer videos.
_Name = tuple[str, str, bool]


def split_name(name: str) -> tuple[str, str, str]:
    """Return the folder, base name and extension (lower case, no dot) of a relative path."""
    folder, _, file = name.rpartition("/")
    base, dot, extension = file.rpartition(".")
    return (folder, base, extension.lower()) if dot and base else (folder, file, "")


def original_of(base: str) -> str:
    """Return the base name of the picture or video that an edited copy was made from; empty for other files."""
    if apple := _APPLE_EDITED.fullmatch(base):
        return apple["head"] + apple["number"]
    composed = unicodedata.normalize("NFC", base)
    google = _EDITED.fullmatch(composed)
    return google["original"] + (google["number"] or "") if google else cut_original(composed)


def still_of(base: str) -> str:
    """Return the base name of the still picture that a short video with this base name belongs to."""
    match = _LIVE_VIDEO.fullmatch(base)
    return match["still"] if match else base


def is_moving_part(name: str) -> bool:
    """Return whether the name says that the file is the moving part of a picture, however long it is."""
    return split_name(name)[2] == _MOVING


def is_preview(name: str) -> bool:
    """Return whether the name says that the file is the preview that a camera wrote beside a video or raw."""
    return split_name(name)[2] == _PREVIEW


def burst_of(base: str) -> str:
    """Return the common part of the names of a burst in one folder; empty when the name is not that of a burst."""
    match = _TIMED_BURST.fullmatch(base) or _BURST.fullmatch(base)
    return match["burst"] if match else ""


def is_cover(base: str) -> bool:
    """Return whether the camera chose the picture with this base name to show its burst."""
    return base.upper().endswith("_COVER")


def series_of(base: str) -> str:
    """Return the base name without the number of a copy: `IMG` of `IMG (2)`, `IMG copy 3` and `IMG`."""
    match = _NUMBERED.fullmatch(base)
    return match["first"] if match else base


def keys_of(name: str, extraction: Extraction, kinds: Collection[str]) -> frozenset[int]:
    """Return the keys of the file with this name and content, for the kinds of stacks that are on."""
    keys = set(map(_number, _texts(name, extraction, kinds)))
    document = "" if is_preview(name) else extraction.metadata.document_id
    if DOCUMENT in kinds and document and (_UNIQUE.fullmatch(document) or not _second(extraction.metadata)):
        keys.add(~_number((DOCUMENT, document, "")))
    return frozenset(keys)


def name_key(name: str, *, video: bool) -> int:
    """Return the key of the files in one folder whose names say that they may be one photo."""
    folder, base, _ = split_name(name)
    return _number(("name", folder, _stem(base, video=video)))


def _stem(base: str, *, video: bool) -> str:
    base = still_of(base) if video else base
    return fold(original_of(base) or base).removesuffix(f".{_MOVING}")


def _texts(name: str, extraction: Extraction, kinds: Collection[str]) -> Iterator[tuple[str, ...]]:
    folder, base, _ = split_name(name)
    video = extraction.media_type == "video"
    metadata = extraction.metadata
    yield "name", folder, _stem(base, video=video)
    if is_preview(name):
        return
    if LIVE in kinds and metadata.content_id:
        yield LIVE, metadata.content_id.upper()
    if BURST in kinds:
        if metadata.burst_id:
            yield BURST, metadata.burst_id.upper()
        if burst_of(base):
            yield BURST, folder, fold(burst_of(base))
    if DOCUMENT in kinds and metadata.document_id and _second(metadata):
        yield DOCUMENT, metadata.document_id, _second(metadata)
    if MOMENT in kinds and not video:
        yield from _moments(metadata)
    if NAMES in kinds and not video:
        yield NAMES, folder, fold(series_of(base))


def _moments(metadata: Metadata) -> Iterator[tuple[str, ...]]:
    """Yield the key of time, place and camera, if these tell the picture from other pictures.

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
    """Return the wall time up to the second; empty when unknown or midnight, which stands for a date without a time."""
    local = metadata.taken_local
    return "" if local is None or local.time() == time() else local.isoformat(timespec="seconds")


def _number(texts: tuple[str, ...]) -> int:
    """Return 63 bits: among ten million keys, two different ones are equal with a probability of 1 in 180,000.

    Its complement, which is negative, is a key that links pictures only if they also look alike.
    """
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") >> 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file with everything that decides which others share its photo."""

    id: int
    folder: str
    base: str
    video: bool
    duration_ns: int = 0
    """Duration of a video; 0 when unknown."""
    moving: bool = False
    """True if its name says that it is the moving part of a picture."""
    preview: bool = False
    """True if its name says that it is the preview of a video or raw."""
    look: int | None = None
    """The perceptual hash; None without one."""
    named: bool = True
    """True if its name may link it; false when too many files have that name."""
    keys: frozenset[int] = frozenset()
    """The keys besides that of its name, see `keys_of`; without those that too many files share."""
    closed: int = 0
    """The id of its photo when a person took that out of stacks: only files of the same names may join it."""
    unstacked: bool = False
    """True if a person took this file out of its photo: it is a photo of its own."""

    @property
    def long(self) -> bool:
        """Return whether it is a video that is more than the moving part of a Live Photo."""
        return self.video and not (self.moving or 0 < self.duration_ns <= LIVE_NS)

    def looks_like(self, other: "Member") -> bool:
        """Return whether both are pictures that look alike."""
        if self.look is None or other.look is None:
            return False
        return (self.look ^ other.look).bit_count() <= ALIKE_BITS


@dataclass(slots=True)
class _Bucket:
    """Files of the same folder and base name; longer videos are a bucket of their own."""

    members: list[Member]

    @property
    def open(self) -> bool:
        """Return whether files of other names may join it."""
        return not any(member.closed for member in self.members)

    @property
    def shows(self) -> bool:
        """Return whether it contains a picture."""
        return not all(member.video for member in self.members)


def divide(members: Iterable[Member], kinds: Collection[str]) -> list[list[int]]:
    """Return the ids of the files of each photo, sorted.

    Files are united first by names alone: the same folder and base name, then Live Photos and edited copies. Then by
    the other keys, unless the photo would have more than `MAX_FILES` files. Each pair of files with a key that needs a
    look is compared.
    """
    members = list(members)
    alone = [[member.id] for member in members if member.unstacked]
    buckets = _buckets(member for member in members if not member.unstacked)
    named = _Sets(buckets)
    for one, other in (*_by_closed_photo(buckets), *_by_names(buckets, kinds)):
        named.unite(one, other)
    keyed = _Sets(buckets)
    for name in buckets:
        keyed.unite(name, named.root(name))
    for one, other in _by_keys(buckets):
        keyed.unite(one, other)
    parts: list[list[int]] = []
    for group in keyed.groups():
        small = sum(len(buckets[name].members) for name in group) <= MAX_FILES
        parts += [
            [member.id for name in names for member in buckets[name].members]
            for names in ([group] if small else named.groups(group))
        ]
    return sorted(map(sorted, alone + parts))


def _buckets(members: Iterable[Member]) -> dict[_Name, _Bucket]:
    buckets: dict[_Name, _Bucket] = {}
    for member in sorted(members, key=lambda one: (one.folder, one.base, one.preview, one.id)):
        base = member.base if member.named else f"{member.base}/{member.id}"
        beside_video = member.preview and (member.folder, base, True) in buckets
        name = member.folder, base, member.long or beside_video
        buckets.setdefault(name, _Bucket([])).members.append(member)
    return buckets


def _by_keys(buckets: dict[_Name, _Bucket]) -> Iterator[tuple[_Name, _Name]]:
    """Yield pairs of open buckets that share a key, and where it needs that, have files that look alike."""
    first: dict[int, _Name] = {}
    compared: dict[int, list[tuple[_Name, Member]]] = defaultdict(list)
    for name, bucket in buckets.items():
        keys = [(member, key) for member in bucket.members for key in member.keys if bucket.open]
        for member, key in keys:
            if key < 0:
                compared[key].append((name, member))
            else:
                yield first.setdefault(key, name), name
    for members in compared.values():
        for (name, one), (other_name, other) in combinations(members, 2):
            if one.looks_like(other):
                yield name, other_name


def _by_closed_photo(buckets: dict[_Name, _Bucket]) -> Iterator[tuple[_Name, _Name]]:
    """Yield pairs of buckets of one closed photo: people's decisions about it stay."""
    first: dict[int, _Name] = {}
    for name, bucket in buckets.items():
        for member in bucket.members:
            if member.closed:
                yield first.setdefault(member.closed, name), name


def _by_names(buckets: dict[_Name, _Bucket], kinds: Collection[str]) -> Iterator[tuple[_Name, _Name]]:
    """Yield pairs of open buckets whose names say that they are one photo."""
    folded: dict[_Name, list[_Name]] = defaultdict(list)
    for name, bucket in buckets.items():  # in the order of their names
        if bucket.open and bucket.members[0].named and (bucket.shows or name[2]):
            folded[name[0], fold(name[1]), name[2]].append(name)
    for name, bucket in buckets.items():
        folder, base, long = name
        if not (bucket.open and bucket.members[0].named):
            continue
        wanted = []
        if LIVE in kinds and not long and not bucket.shows:
            wanted += [still_of(base), f"{base}.{_MOVING}"]
        if EDITED in kinds and original_of(base):
            wanted.append(original_of(base))
        for other in wanted:
            exact = (folder, other, long)
            if found := folded.get((folder, fold(other), long)):
                yield name, exact if exact in found else found[0]


class _Sets:
    """Disjoint sets; the root of a set is its first name in the given order."""

    def __init__(self, names: Iterable[_Name]) -> None:
        self._order = {name: position for position, name in enumerate(names)}
        self._parent = {name: name for name in self._order}

    def root(self, name: _Name) -> _Name:
        """Return the name that stands for the set of this one."""
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def unite(self, one: _Name, other: _Name) -> None:
        """Make one set of two."""
        first, second = sorted((self.root(one), self.root(other)), key=self._order.__getitem__)
        self._parent[second] = first

    def groups(self, names: Iterable[_Name] | None = None) -> list[list[_Name]]:
        """Return the sets, or the parts of them that are among these names."""
        found: dict[_Name, list[_Name]] = {}
        for name in self._order if names is None else names:
            found.setdefault(self.root(name), []).append(name)
        return list(found.values())
