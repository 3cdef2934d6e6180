"""The rules of stacks: the keys that link files, and the division of files into photos.

Base names identify edited copies, videos of Live Photos, previews of videos, bursts and numbered copies. Two files that
share a key may belong to the same photo; equal files give equal keys. Files whose times or cameras contradict each
other never share a photo (`index.agreement`). The division depends only on the set of files and the places of their
copies, not on their order.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import time
from enum import IntEnum
from itertools import combinations, product
from typing import Final

from photosvc.core.geo import cell_token
from photosvc.core.vocabulary import BURST, DOCUMENT, EDITED, LIVE, MOMENT, NAMES
from photosvc.index.agreement import (
    ALIKE_BITS,
    NAMED_BITS,
    Facts,
    alike,
    contradict,
    is_unique,
    may_be_burst,
    may_be_one,
    same_moment,
)
from photosvc.index.extract import Extraction
from photosvc.index.name_groups import (
    MOVING,
    burst_of,
    common_base,
    is_preview,
    names_of_original,
    original_of,
    series_of,
    still_of,
)
from photosvc.media.formats import split_name
from photosvc.media.metadata import Metadata
from photosvc.query.fold import fold

#: Most files of a photo. A key that more files share links none of them: a camera writes it into every picture.
MAX_FILES: Final = 200
#: The longest video of a Live Photo without identifier.
LIVE_NS: Final = 3_100_000_000
#: Folder, base name, and true for the bucket of longer videos.
_Name = tuple[str, str, bool]


class StackLink(IntEnum):
    """The further condition for files that share a key to be one photo; it is the remainder of the key."""

    SURE = 0
    NAME = 1
    """No contradiction, and the same time or no other look."""
    BURST = 2
    """Times and cameras of one burst."""
    MOMENT = 3
    """No contradiction, and no other look."""
    EXACT = 4
    """The same where fractions of the second are known: a raw and its JPEG may look a little otherwise."""
    LOOK = 5
    """No contradiction, and the same look."""

    def joins(self, one: Facts, other: Facts) -> bool:
        """Return whether two files that share such a key may be one photo."""
        if self is StackLink.BURST:
            return may_be_burst(one, other)
        if self is StackLink.NAME:
            return may_be_one(one, other)
        looks = (True,) if self is StackLink.LOOK else (True, None)
        bits = NAMED_BITS if self is StackLink.EXACT else ALIKE_BITS
        return not contradict(one, other) and alike(one, other, bits=bits) in looks


_LINKS: Final = len(StackLink)


def keys_of(name: str, extraction: Extraction, kinds: Collection[str], copies: Collection[str] = ()) -> frozenset[int]:
    """Return the keys of a file with this name, copies and content, for the kinds of stacks that are on."""
    texts = [*_texts(name, extraction, kinds)]
    for own_name in (name, *copies):
        texts += _texts_of_name(own_name, extraction, kinds)
    return frozenset(_number(link, text) for link, text in texts)


def name_key(name: str, *, video: bool) -> int:
    """Return the key of the files in one folder whose names say that they may be one photo."""
    folder, base, _ = split_name(name)
    return _number(StackLink.NAME, ("name", folder, _stem(base, video=video)))


def _stem(base: str, *, video: bool) -> str:
    base = still_of(base) if video else base
    return fold(common_base(original_of(base) or base)).removesuffix(MOVING)


_Text = tuple[StackLink, tuple[str, ...]]


def _texts_of_name(name: str, extraction: Extraction, kinds: Collection[str]) -> Iterator[_Text]:
    folder, base, _ = split_name(name)
    video = extraction.media_type == "video"
    yield StackLink.NAME, ("name", folder, _stem(base, video=video))
    if is_preview(name):
        return
    if BURST in kinds and burst_of(base):
        yield StackLink.BURST, (BURST, folder, fold(burst_of(base)))
    if NAMES in kinds and not video:
        yield StackLink.NAME, (NAMES, folder, fold(series_of(base)))


def _texts(name: str, extraction: Extraction, kinds: Collection[str]) -> Iterator[_Text]:
    metadata = extraction.metadata
    if is_preview(name):
        return
    if LIVE in kinds and metadata.content_id:
        yield StackLink.SURE, (LIVE, metadata.content_id.upper())
    if BURST in kinds and metadata.burst_id:
        yield StackLink.SURE, (BURST, metadata.burst_id.upper())
    if DOCUMENT in kinds and metadata.document_id:
        if _second(metadata):
            yield StackLink.SURE, (DOCUMENT, metadata.document_id, _second(metadata))
        if is_unique(metadata.document_id) or not _second(metadata):
            yield StackLink.LOOK, (DOCUMENT, metadata.document_id, "")
    if MOMENT in kinds and extraction.media_type != "video":
        yield from _moments(metadata)


def _moments(metadata: Metadata) -> Iterator[_Text]:
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
        camera = metadata.camera_make, metadata.camera_model, metadata.camera_serial
        yield StackLink.EXACT if exact else StackLink.MOMENT, (MOMENT, local.isoformat(), cell, *camera)


def _second(metadata: Metadata) -> str:
    """Return the wall time up to the second; empty if unknown or midnight, which stands for a date without a time."""
    local = metadata.taken_local
    return "" if local is None or local.time() == time() else local.isoformat(timespec="seconds")


def _number(link: StackLink, texts: tuple[str, ...]) -> int:
    """Return 62 bits. Among ten million keys, two different texts have the same with a probability of 1 in 15,000."""
    digest = hashlib.blake2b("\0".join(texts).encode(), digest_size=8)
    return (int.from_bytes(digest.digest(), "big") >> 2) // _LINKS * _LINKS + link


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A file with everything that decides which files share its photo."""

    id: int
    folder: str
    base: str
    video: bool
    copies: tuple[tuple[str, str], ...] = ()
    """Folder and base name of files with the same content."""
    content: str = ""
    """The hash of its content, by which files are ordered: the order in which they came does not matter."""
    duration_ns: int = 0
    """Duration of a video; 0 when unknown."""
    moving: bool = False
    """True if its name says that it is the moving part of a picture."""
    preview: bool = False
    """True if its name says that it is the preview of a video or raw."""
    facts: Facts = Facts()
    missing: tuple[Facts, ...] = ()
    """The facts of the missing files of its photo."""
    named: bool = True
    """True if its name may link it with others; false if too many files have that name."""
    keys: frozenset[int] = frozenset()
    """The keys of `keys_of` that are not made of its names, except keys that too many files share."""
    closed: int = 0
    """The id of its photo if a person took that photo out of stacks: only files of the same names may join it."""
    stacked: int = 0
    """The id of its photo if a person stacked it: all such files of the photo stay one photo."""
    unstacked: bool = False
    """True if a person took this file out of its photo: it is a photo of its own."""

    @property
    def long(self) -> bool:
        """Return whether it is a video that is more than the moving part of a Live Photo."""
        return self.video and not (self.moving or 0 < self.duration_ns <= LIVE_NS)


@dataclass(slots=True)
class _Bucket:
    """Files of the same folder and base name. Longer videos have a bucket of their own."""

    named: bool
    members: list[Member]

    @property
    def open(self) -> bool:
        """Return whether files of other names may join it."""
        return not any(member.closed for member in self.members)

    @property
    def shows(self) -> bool:
        """Return whether it contains a picture."""
        return not all(member.video for member in self.members)


#: Two files that may be one photo, and whether a name says that one is an edited copy of the other.
_Pair = tuple[Member, Member, bool]


def divide(members: Iterable[Member], kinds: Collection[str]) -> list[list[int]]:
    """Return the ids of the files of each photo, sorted.

    Names unite files first: the same folder and base name, then Live Photos and edited copies. The other keys follow,
    unless the photo would have more than `MAX_FILES` files. Among the pairs that a name, document or moment links,
    pairs with the same time come first, then pairs that look alike. A pair unites its photos unless any of their files
    contradict each other.
    """
    ordered = sorted(members, key=lambda member: (member.content, member.id))
    alone = [[member.id] for member in ordered if member.unstacked]
    ordered = list(_beside_originals([member for member in ordered if not member.unstacked]))
    buckets = _buckets(ordered)
    closed = {member.id for bucket in buckets.values() if not bucket.open for member in bucket.members}
    by_key: dict[int, list[Member]] = defaultdict(list)
    for member in ordered:
        for key in member.keys if member.id not in closed else ():
            by_key[key].append(member)
    photos = _Photos(ordered)
    photos.unite(_by_decision(ordered))
    photos.unite_agreeing(_pairs_by_names(buckets, kinds))
    named = photos.numbers()
    photos.unite_agreeing(_pairs_by_keys(by_key, (StackLink.NAME, StackLink.MOMENT, StackLink.EXACT, StackLink.LOOK)))
    photos.unite(_pairs_by_keys(by_key, (StackLink.BURST,)))
    photos.unite(_pairs_of_sure_keys(by_key))
    parts: list[list[int]] = []
    for photo in photos.groups():
        parts_by_name: dict[int, list[int]] = defaultdict(list)
        for member in photo:
            parts_by_name[named[member.id] if len(photo) > MAX_FILES else 0].append(member.id)
        parts += parts_by_name.values()
    return sorted(map(sorted, alone + parts))


def _beside_originals(members: Sequence[Member]) -> Iterator[Member]:
    """Yield the members; previews and copies in conflict get the base name of their original, if that is among them."""
    names = {(member.folder, fold(member.base)): member.base for member in members}
    for member in members:
        others = names_of_original(member.base, preview=member.preview)
        found = (names.get((member.folder, fold(other)), "") for other in others)
        base = next(filter(None, found), member.base)
        yield replace(member, base=base) if base != member.base else member


def _link(key: int) -> StackLink:
    return StackLink(key % _LINKS)


def _buckets(members: Iterable[Member]) -> dict[_Name, _Bucket]:
    places = [
        (folder, base if number or member.named else f"{base}/{member.id}", member.preview, at, member)
        for at, member in enumerate(members)
        for number, (folder, base) in enumerate(((member.folder, member.base), *member.copies))
    ]
    buckets: dict[_Name, _Bucket] = {}
    for folder, base, preview, _, member in sorted(places, key=lambda place: place[:4]):
        beside_video = preview and (folder, base, True) in buckets
        name = folder, base, member.long or beside_video
        buckets.setdefault(name, _Bucket(named="/" not in base, members=[])).members.append(member)
    return buckets


def _pairs_by_keys(by_key: Mapping[int, Sequence[Member]], links: Collection[StackLink]) -> Iterator[_Pair]:
    """Yield the pairs of files that share a key of these kinds and fulfil its condition."""
    for key, members in by_key.items():
        if (link := _link(key)) in links:
            for one, other in combinations(members, 2):
                if link.joins(one.facts, other.facts):
                    yield one, other, False


def _pairs_of_sure_keys(by_key: Mapping[int, Sequence[Member]]) -> Iterator[_Pair]:
    """Yield the first file of each sure key with each file of it."""
    for key, members in by_key.items():
        if _link(key) is StackLink.SURE:
            for member in members:
                yield members[0], member, False


def _by_decision(members: Iterable[Member]) -> Iterator[_Pair]:
    """Yield pairs of files that people's decisions keep in one photo."""
    first: dict[int, Member] = {}
    for member in members:
        if photo_id := member.closed or member.stacked:
            yield first.setdefault(photo_id, member), member, False


def _pairs_by_names(buckets: Mapping[_Name, _Bucket], kinds: Collection[str]) -> Iterator[_Pair]:
    """Yield the pairs of files that are one photo by their names and may be so by their contents."""
    for bucket in buckets.values():
        for one, other in combinations(bucket.members, 2):
            if may_be_one(one.facts, other.facts):
                yield one, other, False
    for name, other_name, edited in _by_names(buckets, kinds):
        for one, other in product(buckets[name].members, buckets[other_name].members):
            if may_be_one(one.facts, other.facts, edited=edited):
                yield one, other, edited


def _by_names(buckets: Mapping[_Name, _Bucket], kinds: Collection[str]) -> Iterator[tuple[_Name, _Name, bool]]:
    """Yield pairs of open buckets whose names say that they are one photo, and whether the first is edited."""
    folded: dict[_Name, list[_Name]] = defaultdict(list)
    for name, bucket in buckets.items():  # in the order of their names
        if bucket.open and bucket.named and (bucket.shows or name[2]):
            folded[name[0], fold(name[1]), name[2]].append(name)
    for name, bucket in buckets.items():
        folder, base, long = name
        if not (bucket.open and bucket.named):
            continue
        others = []
        if LIVE in kinds and not long and not bucket.shows:
            others += [(still_of(base), False), (f"{base}{MOVING}", False)]
        if EDITED in kinds and original_of(base):
            others.append((original_of(base), True))
        for other, edited in others:
            exact = (folder, other, long)
            if names := folded.get((folder, fold(other), long)):
                yield name, exact if exact in names else names[0], edited


class _Photo:
    """The files of a photo so far, and the photos whose files contradict them."""

    def __init__(self, member: Member) -> None:
        self.members = [member]
        self.others: set[_Photo] = set()

    def facts(self) -> set[Facts]:
        """Return the facts of its files, the missing ones included."""
        return {facts for member in self.members for facts in (member.facts, *member.missing)}


class _Photos:
    """Disjoint sets of files."""

    def __init__(self, members: Iterable[Member]) -> None:
        self._of = {member.id: _Photo(member) for member in members}

    def unite(self, pairs: Iterable[_Pair]) -> None:
        """Unite the photos of each pair."""
        for one, other, _ in pairs:
            self._unite(self._of[one.id], self._of[other.id])

    def unite_agreeing(self, pairs: Iterable[_Pair]) -> None:
        """Unite the photos of each pair unless any of their files contradict each other."""

        def weight(pair: _Pair) -> tuple[bool, bool, str, str]:
            one, other, _ = pair
            first, second = sorted((one.content, other.content))
            return same_moment(one.facts, other.facts) is not True, not alike(one.facts, other.facts), first, second

        for one, other, _ in sorted(pairs, key=weight):
            first, second = self._of[one.id], self._of[other.id]
            if first is second or second in first.others:
                continue
            if any(contradict(a, b) for a, b in product(first.facts(), second.facts())):
                first.others.add(second)
                second.others.add(first)
            else:
                self._unite(first, second)

    def numbers(self) -> dict[int, int]:
        """Return the id of each file -> a number of its photo."""
        return {member: id(photo) for member, photo in self._of.items()}

    def groups(self) -> Iterator[list[Member]]:
        """Yield the files of each photo."""
        return (photo.members for photo in set(self._of.values()))

    def _unite(self, one: _Photo, other: _Photo) -> None:
        if one is other:
            return
        if len(one.members) < len(other.members):
            one, other = other, one
        one.members += other.members
        for photo in other.others:
            photo.others.discard(other)
            photo.others.add(one)
        one.others |= other.others
        for member in other.members:
            self._of[member.id] = one
