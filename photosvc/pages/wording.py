"""Types of photos, scopes, roles, times and browsers in plain words."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

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
from photosvc.pages.language import N_, _, date_text, decimal, ngettext

#: The types of photos.
TYPES: Final = {
    "image": N_("Pictures"), "raw": N_("RAW"), "live": N_("Live photos"), "video": N_("Videos"),
    "animated": N_("Animations"), "vector": N_("Drawings"), "audio": N_("Sounds"), "document": N_("Documents"),
}  # fmt: skip
COLOR_LABELS: Final = {
    "black": N_("Black"), "grey": N_("Grey"), "brown": N_("Brown"), "gold": N_("Gold"), "white": N_("White"),
    "purple": N_("Purple"), "blue": N_("Blue"), "cyan": N_("Cyan"), "teal": N_("Teal"), "green": N_("Green"),
    "lime": N_("Lime"), "yellow": N_("Yellow"), "magenta": N_("Magenta"), "orange": N_("Orange"), "red": N_("Red"),
    "pink": N_("Pink"),
}  # fmt: skip
_LIBRARY: Final = "albums config files folders labels moments people photos places"
_DAY: Final = 86_400
_UNITS: Final = (N_("bytes"), N_("kB"), N_("MB"), N_("GB"), N_("TB"))


class ScopeChoice(NamedTuple):
    """One of the usual scopes of app passwords."""

    scope: str
    label: str
    hint: str


CHOICES: Final = (
    ScopeChoice(
        f"{_LIBRARY} read", N_("See photos"), N_("Searches, albums, thumbnails and downloads. For photo frames.")
    ),
    ScopeChoice(
        _LIBRARY,
        N_("See and change photos"),
        N_("Also titles, albums, favorites and uploads. For apps that sort photos."),
    ),
    ScopeChoice("webdav", N_("Network folder"), N_("The originals over WebDAV. For file managers and sync apps.")),
    ScopeChoice(
        ALL, N_("Everything but this account"), N_("Never passwords or two-factor authentication. For phone apps.")
    ),
)
#: The usual scopes of clients and access tokens, which belong to no account.
CLIENT_CHOICES: Final = (
    *CHOICES[:2],
    ScopeChoice("metrics", N_("Monitoring figures"), N_("For Prometheus and the like.")),
    ScopeChoice(
        "logs read", N_("The security log"), N_("For programs that collect logs. Needs a client with all rights.")
    ),
    ScopeChoice(ALL, N_("Everything its rights allow"), N_("Never accounts, clients, or the network folder.")),
)
#: The choices of `CLIENT_CHOICES` that are of use to access tokens.
TOKEN_CHOICES: Final = tuple(choice for choice in CLIENT_CHOICES if choice.scope != "logs read")
#: The lifetimes that the form of a client offers for its tokens, in seconds.
TOKEN_LIFETIMES: Final = (
    (3600, N_("An hour")), (_DAY, N_("A day")), (7 * _DAY, N_("7 days")), (31 * _DAY, N_("31 days")),
)  # fmt: skip
#: The lifetimes that the form of an app password offers, in seconds.
LIFETIMES: Final = (
    (365 * _DAY, N_("In a year")), (90 * _DAY, N_("In 90 days")), (30 * _DAY, N_("In 30 days")), (-1, N_("Never")),
)  # fmt: skip


class Role(NamedTuple):
    """A role of accounts."""

    name: str
    label: str
    hint: str


ROLES: Final = (
    Role(
        GUEST,
        N_("See shared albums"),
        N_("The albums that are shared with the account, and nothing else of the library."),
    ),
    Role(VIEWER, N_("See photos"), N_("Searches, albums and downloads, without private photos. Changes nothing.")),
    Role(USER, N_("See and change photos"), N_("Also private photos, uploads, albums, and the network folder.")),
    Role(ADMIN, N_("Everything"), N_("Also accounts, clients, the security log, and the upkeep of the library.")),
)
CLIENT_RIGHTS: Final = (
    Role(CLIENT, N_("Without private photos"), N_("As far as its scopes reach.")),
    Role(ADMIN, N_("All rights"), N_("Also private photos, the upkeep of the library and the security log.")),
)
_ROLE_NAMES: Final = {ADMIN: N_("Administrator"), USER: N_("User"), VIEWER: N_("Viewer"), GUEST: N_("Guest")}

METHODS: Final = {
    BY_PASSWORD: N_("By password"), BY_PASSCODE: N_("By password and code"),
    BY_RECOVERY_CODE: N_("By password and recovery code"), BY_APP_PASSWORD: N_("By app password"),
}  # fmt: skip
_BROWSERS: Final = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS", "Firefox"), ("Chromium/", "Chromium"),
    ("CriOS", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"), ("rclone/", "rclone"),
)  # fmt: skip
_SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Mac OS X", "Mac"),
    ("CrOS", "Chrome OS"), ("Linux", "Linux"),
)  # fmt: skip
_SHOWN: Final = 60


def scope_words(scope: str, choices: Sequence[ScopeChoice] = CHOICES) -> str:
    """Return a scope in words: the label of a choice, such as `See photos`, or `Read albums and photos`."""
    words = set(scope.split())
    if not words:
        return _("Nothing")
    for choice in choices:
        if words == set(choice.scope.split()):
            return _(choice.label)
    names = sorted(word for word in words - MODES if word != ALL and not word.endswith(":false"))
    closed = sorted(word.removesuffix(":false") for word in words if word.endswith(":false"))
    what = _("everything") if ALL in words or not names else _listed([name.removesuffix(":true") for name in names])
    if words & MODES == {READ}:
        text = _("Read %(what)s", what=what)
    elif words & MODES == {WRITE}:
        text = _("Change %(what)s", what=what)
    else:
        text = _("Read and change %(what)s", what=what)
    return _("%(rights)s, but not %(what)s", rights=text, what=_listed(closed)) if closed else text


def role_label(role: str) -> str:
    """Return the label of a role."""
    return _(_ROLE_NAMES.get(role, role))


def ago(then: datetime, now: datetime) -> str:
    """Return the time since a moment, such as `4 minutes ago`; after 60 days its date."""
    seconds = max(0, int((now - then).total_seconds()))
    if seconds < 60:
        return _("just now")
    if seconds < 3600:
        return ngettext("%(num)s minute ago", "%(num)s minutes ago", seconds // 60)
    if seconds < _DAY:
        return ngettext("%(num)s hour ago", "%(num)s hours ago", seconds // 3600)
    if seconds < 60 * _DAY:
        return ngettext("%(num)s day ago", "%(num)s days ago", seconds // _DAY)
    return _("on %(day)s", day=day(then))


def ends(then: datetime | None, now: datetime) -> str:
    """Return the time of an end in words: `ends in 6 days`, `ends 3 March 2027`."""
    if then is None:
        return _("no end date")
    left = then - now
    if left <= timedelta(0):
        return _("has ended")
    if left < timedelta(days=14):
        return ngettext("ends in %(num)s day", "ends in %(num)s days", max(1, round(left.total_seconds() / _DAY)))
    return _("ends %(day)s", day=day(then))


def day(moment: datetime) -> str:
    """Return the date of a moment in words: `3 March 2027`."""
    return date_text(moment.date())


def lasted(time: timedelta) -> str:
    """Return a duration in words: `0.4 s`, `2 min 5 s`, `1 h 3 min`."""
    seconds = time.total_seconds()
    if seconds < 10:
        return f"{decimal(max(seconds, 0), 1)} s"
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
        return _("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or user_agent[:_SHOWN] or _("Unknown program")


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return _("%(names)s and %(last)s", names=", ".join(names[:-1]), last=names[-1])


def size_text(size: int) -> str:
    """Return a number of bytes in words: `3.4 MB`."""
    number, unit = float(size), 0
    while number >= 1000 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{decimal(number, 0 if unit == 0 or number >= 100 else 1)} {_(_UNITS[unit])}"
