"""Divide files into photos. The result depends on the set of files alone, not on their order."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from photosvc.core.values.stacks import EDITED, LIVE
from photosvc.index.stacking.names import original_of, still_of
from photosvc.query.fold import fold

#: Most files of a photo. A key that more files share links none of them: a camera writes it into every picture.
MAX_FILES: Final = 200
#: The longest video of a Live Photo without identifier.
LIVE_NS: Final = 3_100_000_000


#: Folder, base name, and whether the bucket is that of longer videos.
_Name = tuple[str, str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file, and what decides with which others it is a photo."""

    id: int
    folder: str
    base: str
    video: bool
    duration_ns: int = 0
    """Of a video; 0 when unknown."""
    named: bool = True
    """Whether its name may link it; false when too many files have that name."""
    keys: frozenset[int] = frozenset()
    """The keys beside that of its name, see `keys`; without those that too many files share."""
    closed: int = 0
    """The id of its photo when a person took that out of stacks: only files of the same names may join it."""
    unstacked: bool = False
    """A person took this file out of its photo: it is a photo of its own."""

    @property
    def long(self) -> bool:
        """Whether it is a video that is more than the moving part of a Live Photo."""
        return self.video and not 0 < self.duration_ns <= LIVE_NS


@dataclass(slots=True)
class _Bucket:
    """Files of the same folder and base name; longer videos are a bucket of their own."""

    members: list[Member]

    @property
    def open(self) -> bool:
        """Whether other names may join it."""
        return not any(member.closed for member in self.members)

    @property
    def shows(self) -> bool:
        """Whether it contains a picture."""
        return not all(member.video for member in self.members)


def divide(members: Iterable[Member], kinds: Collection[str]) -> list[list[int]]:
    """The ids of the files of each photo, sorted.

    First by names alone: the same folder and base name, then Live Photos and edited copies. Then by the other keys,
    unless the photo would have more than `MAX_FILES` files.
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
    first: dict[int, _Name] = {}
    for name, bucket in buckets.items():
        for key in (key for member in bucket.members for key in member.keys if bucket.open):
            keyed.unite(first.setdefault(key, name), name)
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
    for member in sorted(members, key=lambda one: (one.folder, one.base, one.id)):
        base = member.base if member.named else f"{member.base}/{member.id}"
        buckets.setdefault((member.folder, base, member.long), _Bucket([])).members.append(member)
    return buckets


def _by_closed_photo(buckets: dict[_Name, _Bucket]) -> Iterator[tuple[_Name, _Name]]:
    """Pairs of buckets of one closed photo: what a person decided about it stays so."""
    first: dict[int, _Name] = {}
    for name, bucket in buckets.items():
        for member in bucket.members:
            if member.closed:
                yield first.setdefault(member.closed, name), name


def _by_names(buckets: dict[_Name, _Bucket], kinds: Collection[str]) -> Iterator[tuple[_Name, _Name]]:
    """Pairs of open buckets whose names say that they are one photo."""
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
            wanted.append(still_of(base))
        if EDITED in kinds and original_of(base):
            wanted.append(original_of(base))
        for other in wanted:
            found = folded.get((folder, fold(other), long), [])
            exact = (folder, other, long)
            if found:
                yield name, exact if exact in found else found[0]


class _Sets:
    """Disjoint sets; the root of a set is its first name in the given order."""

    def __init__(self, names: Iterable[_Name]) -> None:
        self._order = {name: position for position, name in enumerate(names)}
        self._parent = {name: name for name in self._order}

    def root(self, name: _Name) -> _Name:
        """The name that stands for the set of this one."""
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def unite(self, one: _Name, other: _Name) -> None:
        """Make one set of two."""
        first, second = sorted((self.root(one), self.root(other)), key=self._order.__getitem__)
        self._parent[second] = first

    def groups(self, names: Iterable[_Name] | None = None) -> list[list[_Name]]:
        """The sets, or those among these names."""
        found: dict[_Name, list[_Name]] = {}
        for name in self._order if names is None else names:
            found.setdefault(self.root(name), []).append(name)
        return list(found.values())
