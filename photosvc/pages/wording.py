"""Types of photos, scopes, roles, times and browsers in plain words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from photosvc.auth.scopes import ALL, MODES, READ, WRITE
from photosvc.core.accounts import (
    ADMIN,
    BY_APP_PASSWORD,
    BY_PASSCODE,
    BY_PASSWORD,
    BY_RECOVERY_CODE,
    CLIENT,
    GUEST,
    USER,
    VIEWER,
)

#: The types of photos.
TYPES: Final = {
    "image": "Pictures",
    "raw": "RAW",
    "live": "Live photos",
    "video": "Videos",
    "animated": "Animations",
    "vector": "Drawings",
    "audio": "Sounds",
    "document": "Documents",
}
_LIBRARY: Final = "albums config files folders labels moments people photos places"
_DAY: Final = 86_400


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the usual scopes of app passwords."""

    scope: str
    label: str
    hint: str


CHOICES: Final = (
    Choice(f"{_LIBRARY} read", "See photos", "Searches, albums, thumbnails and downloads. For photo frames."),
    Choice(_LIBRARY, "See and change photos", "Also titles, albums, favorites and uploads. For apps that sort photos."),
    Choice("webdav", "Network folder", "The originals over WebDAV. For file managers and sync apps."),
    Choice(ALL, "Everything but this account", "Never passwords or two-factor authentication. For phone apps."),
)
#: The usual scopes of clients and access tokens, which belong to no account.
CLIENT_CHOICES: Final = (
    *CHOICES[:2],
    Choice("metrics", "Monitoring figures", "For Prometheus and the like."),
    Choice("logs read", "The security log", "For programs that collect logs. Needs a client with all rights."),
    Choice(ALL, "Everything its rights allow", "Never accounts, clients, or the network folder."),
)
#: The choices of `CLIENT_CHOICES` that are of use to access tokens.
TOKEN_CHOICES: Final = tuple(choice for choice in CLIENT_CHOICES if choice.scope != "logs read")
#: The lifetimes that the form of a client offers for its tokens, in seconds.
TOKEN_LIFETIMES: Final = ((3600, "An hour"), (_DAY, "A day"), (7 * _DAY, "7 days"), (31 * _DAY, "31 days"))
#: The lifetimes that the form of an app password offers, in seconds.
LIFETIMES: Final = ((365 * _DAY, "In a year"), (90 * _DAY, "In 90 days"), (30 * _DAY, "In 30 days"), (-1, "Never"))


@dataclass(frozen=True, slots=True)
class Role:
    """A role of accounts."""

    name: str
    label: str
    hint: str


ROLES: Final = (
    Role(GUEST, "See shared albums", "The albums that are shared with the account, and nothing else of the library."),
    Role(VIEWER, "See photos", "Searches, albums and downloads, without private photos. Changes nothing."),
    Role(USER, "See and change photos", "Also private photos, uploads, albums, and the network folder."),
    Role(ADMIN, "Everything", "Also accounts, clients, the security log, and the upkeep of the library."),
)
CLIENT_RIGHTS: Final = (
    Role(CLIENT, "Without private photos", "As far as its scopes reach."),
    Role(ADMIN, "All rights", "Also private photos, the upkeep of the library and the security log."),
)
_ROLE_NAMES: Final = {ADMIN: "Administrator", USER: "User", VIEWER: "Viewer", GUEST: "Guest"}

METHODS: Final = {
    BY_PASSWORD: "By password",
    BY_PASSCODE: "By password and code",
    BY_RECOVERY_CODE: "By password and recovery code",
    BY_APP_PASSWORD: "By app password",
}
_BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS", "Firefox"), ("Chromium/", "Chromium"),
    ("CriOS", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"), ("rclone/", "rclone"),
)  # fmt: skip
_SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "Mac"),
    ("CrOS", "Chrome OS"), ("Linux", "Linux"),
)  # fmt: skip
_SHOWN: Final = 60
_STEPS: Final = ((60, 1, "second"), (3600, 60, "minute"), (_DAY, 3600, "hour"), (60 * _DAY, _DAY, "day"))


def scope_words(scope: str, choices: Sequence[Choice] = CHOICES) -> str:
    """Describe a scope: by the label of a choice, such as `See photos`, or in words: `Read albums and photos`."""
    words = set(scope.split())
    if not words:
        return "Nothing"
    for choice in choices:
        if words == set(choice.scope.split()):
            return choice.label
    names = sorted(word for word in words - MODES if word != ALL and not word.endswith(":false"))
    closed = sorted(word.removesuffix(":false") for word in words if word.endswith(":false"))
    what = "everything" if ALL in words or not names else _listed([name.removesuffix(":true") for name in names])
    verb = {frozenset({READ}): "Read", frozenset({WRITE}): "Change"}.get(frozenset(words & MODES), "Read and change")
    return f"{verb} {what}" + (f", but not {_listed(closed)}" if closed else "")


def role_label(role: str) -> str:
    """Return the label of a role."""
    return _ROLE_NAMES.get(role, role)


def ago(then: datetime, now: datetime) -> str:
    """Say how long ago a moment was, such as `4 minutes ago`; after two months give its date."""
    seconds = max(0, int((now - then).total_seconds()))
    for limit, unit, name in _STEPS:
        if seconds < limit:
            number = seconds // unit
            return "just now" if name == "second" else f"{number} {name}{'s' if number > 1 else ''} ago"
    return f"on {day(then)}"


def ends(then: datetime | None, now: datetime) -> str:
    """Say when something ends: `ends in 6 days`, `ends 3 March 2027`."""
    if then is None:
        return "no end date"
    left = then - now
    if left <= timedelta(0):
        return "has ended"
    if left < timedelta(days=14):
        days = max(1, round(left.total_seconds() / _DAY))
        return f"ends in {days} day{'s' if days > 1 else ''}"
    return f"ends {day(then)}"


def day(moment: datetime) -> str:
    """Return the date of a moment in words: `3 March 2027`."""
    return f"{moment.day} {moment:%B} {moment.year}"


def lasted(time: timedelta) -> str:
    """Say how long something took: `0.4 s`, `2 min 5 s`, `1 h 3 min`."""
    seconds = time.total_seconds()
    if seconds < 10:
        return f"{max(seconds, 0):.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def browser_name(user_agent: str) -> str:
    """Return the browser and system that a `User-Agent` names, such as `Firefox on Linux`."""
    browser = next((name for sign, name in _BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or user_agent[:_SHOWN] or "Unknown program"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
