"""The messages of errors, in the language of the page.

The packages below speak English, as the API and the command line do. Those of their messages that pages show are listed
here, with a pattern where a message contains values; one that is not listed is shown in English.
"""

import re
from typing import Final

from photosvc.pages.language import N_, _, grouped

_FIXED: Final = (
    # Signing in, passwords and accounts.
    N_("Invalid credentials."),
    N_("Invalid passcode."),
    N_("Too many failures: try again later."),
    N_("Too many passwords are being checked: try again in a moment."),
    N_("a user name is needed"),
    N_("a user name has letters a to z, digits and . _ - @ only, and begins with a letter or a digit"),
    N_("an email address is one such as me@example.org, or empty for none"),
    N_("the password must not be the user name"),
    N_("this password is one of the most common ones, which attackers try first: choose another"),
    N_("A user of this name exists already."),
    N_("The account has the most app passwords allowed: revoke one that is no longer used."),
    N_("The last enabled administrator must remain: make another user an administrator first."),
    N_("Two-factor authentication is already on, or has not been set up."),
    N_("the scope covers nothing; `*` covers everything"),
    N_("no such user"),
    # Rights and pages.
    N_("Permission denied."),
    N_("No such thing."),
    N_("It exists already, or changed meanwhile."),
    N_("The token in this link is not valid (any more): ask for a new link."),
    N_("Another site or program sent this request from a browser: open the page again and repeat it."),
    N_("The search took longer than it may."),
    N_("Too many costly searches are running: try again in a moment, or make this one narrower."),
    # Albums, links and photos.
    N_("there is no such album"),
    N_("there is no such link"),
    N_("there is no such photo"),
    N_("none of the selected items exists"),
    N_("the album is private: show it to all accounts before you share it"),
    N_("Account: this is your own account"),
    N_("the album is shared with this account already"),
    N_("the album is not shared with this account"),
    N_("latitudes are from -90 to 90, longitudes from -180 to 180"),
    N_("send a name without commas"),
    N_("This deleted album does not exist, or you have no permission to see it."),
    N_("Somebody has changed this album since you opened the form."),
    N_("The picture does not exist, or is not shared."),
    N_("The link does not exist, or has ended: ask for a new one."),
    N_("The photo changed meanwhile: read it again, and repeat the change if it still fits."),
    N_("The name is too long."),
)
_PATTERNS: Final = (
    (re.compile(r"a password has (?P<least>\d+) to (?P<most>\d+) characters"),
     N_("a password has %(least)s to %(most)s characters")),
    (re.compile(r"Password: the password of a link has (?P<least>\d+) to (?P<most>\d+) characters"),
     N_("Password: the password of a link has %(least)s to %(most)s characters")),
    (re.compile(r"a user name has at most (?P<most>\d+) characters"),
     N_("a user name has at most %(most)s characters")),
    (re.compile(r"at most (?P<most>\d+) printable characters"), N_("at most %(most)s printable characters")),
    (re.compile(r"a name has 1 to (?P<most>\d+) printable characters"),
     N_("a name has 1 to %(most)s printable characters")),
    (re.compile(r"an album has at most (?P<most>\d+) links: end one that is no longer used"),
     N_("an album has at most %(most)s links: end one that is no longer used")),
    (re.compile(r"Nothing was deleted: there are (?P<found>\d+) files by now, not (?P<expected>\d+)\."),
     N_("Nothing was deleted: there are %(found)s files by now, not %(expected)s.")),
    (re.compile(r"Longer than maximum length (?P<most>\d+)\."), N_("Longer than maximum length %(most)s.")),
)  # fmt: skip
_KNOWN: Final = {text.casefold().removesuffix("."): text for text in _FIXED}
#: The most characters of a message that patterns are compared with.
_LONGEST: Final = 200


def message_text(message: str) -> str:
    """Return the message of an error in the language of the page, with the capital and full stop that it came with."""
    if not message:
        return ""
    if (known := _KNOWN.get(message.casefold().removesuffix("."))) is not None:
        return _like(_(known), message)
    for pattern, text in _PATTERNS:
        if found := pattern.fullmatch(message[:1].lower() + message[1:_LONGEST]) or pattern.fullmatch(
            message[:_LONGEST]
        ):
            return _like(_(text, **{name: grouped(int(digits)) for name, digits in found.groupdict().items()}), message)
    return _(message)


def _like(text: str, message: str) -> str:
    """Return a text that begins and ends as the message does, which a page may have made a sentence."""
    first = text[:1].upper() if message[:1].isupper() else text[:1]
    return first + text[1:].removesuffix(".") + ("." if message.endswith(".") else "")
