"""Scopes: sets of words that say what a credential may reach (spec section 5.3).

    scope    = word (blank word)*
    word     = "*" | "read" | "write" | resource [":true" | ":false"]

- Resources open themselves, `*` opens all; `name:false` closes one again, whatever else stands there.
- `read` or `write` alone limits the open resources to reading or writing; both together, or neither, limit nothing.
- Where only modes stand (`read`, `write`, `read write`), all resources are open.
- The empty scope opens nothing.
"""

import difflib
import re
from dataclasses import dataclass
from functools import lru_cache

from photosvc.auth.errors import ScopeTooWideError, UnknownScopeError
from photosvc.auth.scope_names import ALL, MODES, READ, RESOURCES, SCOPES, WRITE
from photosvc.core.errors import InvalidValueError

__all__ = ["EVERYTHING", "NOTHING", "SCOPES", "Scope", "intersect", "is_within", "narrow", "parse_scope"]

_CLOSED = ":false"
_MAX_LENGTH = 1000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,31}\Z")
_KNOWN = frozenset({ALL, *MODES, *RESOURCES})
#: Stands for all resources that a scope does not name, those of later versions too.
_ANY_OTHER = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """A parsed scope; its text is the sorted words, `*` first."""

    words: frozenset[str] = frozenset()

    @property
    def modes(self) -> frozenset[str]:
        """`read`, `write` or both: what may be done with the open resources."""
        return (self.words & MODES) or MODES

    @property
    def names(self) -> frozenset[str]:
        """The resources opened by name."""
        return frozenset(word for word in self.words - MODES - {ALL} if not word.endswith(_CLOSED))

    @property
    def closed(self) -> frozenset[str]:
        """The resources closed by name."""
        return frozenset(word.removesuffix(_CLOSED) for word in self.words if word.endswith(_CLOSED))

    @property
    def is_open(self) -> bool:
        """Whether resources that are not named are reached."""
        return ALL in self.words or (bool(self.words & MODES) and not self.names)

    def covers(self, resource: str, *, write: bool) -> bool:
        """Whether the scope reaches `resource`, for writing or for reading."""
        return (
            (WRITE if write else READ) in self.modes
            and resource not in self.closed
            and (resource in self.words or self.is_open)
        )

    def __bool__(self) -> bool:
        return any(self.covers(name, write=write) for name in _mentioned(self) for write in (False, True))

    def __str__(self) -> str:
        return " ".join(sorted(self.words))


EVERYTHING = Scope(frozenset({ALL}))
NOTHING = Scope()


@lru_cache(maxsize=1024)
def parse_scope(text: str, *, known_only: bool = True) -> Scope:
    """The scope that `text` names; letter case, order and repeats do not matter.

    Args:
        text: words separated by blanks, at most 1000 characters.
        known_only: refuse names that this version does not have. What was stored by a later version keeps them.

    Raises:
        UnknownScopeError: a name is unknown; the sentence offers the nearest one.
        InvalidValueError: a word has no meaning.

    """
    if len(text) > _MAX_LENGTH:
        msg = f"a scope has at most {_MAX_LENGTH} characters"
        raise InvalidValueError(msg, field="scope")
    return Scope(frozenset(_word(word, known_only=known_only) for word in text.lower().split()))


def _word(word: str, *, known_only: bool) -> str:
    name, colon, value = word.partition(":")
    if colon and (name == ALL or name in MODES):
        msg = f'"{name}" cannot be limited with a colon'
        raise InvalidValueError(msg, field="scope")
    if colon and value not in {"true", "false"}:
        msg = f'only ":true" and ":false" can follow the scope "{name[:32]}"'
        raise InvalidValueError(msg, field="scope")
    if name not in _KNOWN and (known_only or not _NAME.match(name)):
        raise UnknownScopeError(_unknown(name), field="scope")
    return name + _CLOSED if value == "false" else name


def _unknown(name: str) -> str:
    nearest = difflib.get_close_matches(name[:32], sorted(_KNOWN), n=1, cutoff=0.5)
    return f'"{name[:32]}" is not a scope' + (f'; did you mean "{nearest[0]}"?' if nearest else "")


def is_within(inner: Scope, outer: Scope) -> bool:
    """Whether `outer` covers all that `inner` covers, now and when further resources come."""
    return all(
        outer.covers(name, write=write)
        for name in _mentioned(inner, outer)
        for write in (False, True)
        if inner.covers(name, write=write)
    )


def intersect(left: Scope, right: Scope) -> Scope:
    """What both cover; one of the two as it stands when it lies within the other."""
    if is_within(left, right):
        return left
    if is_within(right, left):
        return right
    modes = left.modes & right.modes
    if not modes:
        return NOTHING
    limit = modes if modes != MODES else frozenset()
    if left.is_open and right.is_open:
        closed = {name + _CLOSED for name in left.closed | right.closed}
        return Scope(frozenset({ALL, *closed}) | limit)
    names = {name for name in left.names | right.names if _reaches(left, name) and _reaches(right, name)}
    return Scope(limit | names) if names else NOTHING


def narrow(granted: Scope, requested: Scope) -> Scope:
    """`requested`, which must lie within `granted` (RFC 6749 section 3.3).

    Raises:
        ScopeTooWideError: it asks for more.

    """
    if not is_within(requested, granted):
        msg = f'the scope "{requested}" is wider than "{granted}"'
        raise ScopeTooWideError(msg, field="scope")
    return requested


def _reaches(scope: Scope, name: str) -> bool:
    return any(scope.covers(name, write=write) for write in (False, True))


def _mentioned(*scopes: Scope) -> frozenset[str]:
    named = frozenset[str]().union(*(scope.names | scope.closed for scope in scopes))
    return named | frozenset({*RESOURCES, _ANY_OTHER})
