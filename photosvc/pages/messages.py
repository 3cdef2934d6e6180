"""The messages of errors, in the language of the page.

The packages below speak English, as the API and the command line do. The code of a message is its English sentence,
with a field for each value (see `photosvc/core/message.py`). Messages without values that pages and their scripts show
are listed here. A message without a translation is shown in English.
"""

from collections.abc import Iterator
from typing import Final

from flask import has_request_context, request

from photosvc.core.message import Message
from photosvc.core.problems import Reason
from photosvc.pages.language import ENGLISH, N_, _, grouped, language
from photosvc.query.filters import FILTERS, ValueKind

MESSAGES: Final = (
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
    N_("a credential cannot create one with more rights than its own"),
    # Rights and pages.
    N_("Permission denied."),
    N_("The credential's scope does not cover this."),
    N_("No such thing."),
    N_("It exists already, or changed meanwhile."),
    N_("The token in this link is not valid (any more): ask for a new link."),
    N_("Another site or program sent this request from a browser: open the page again and repeat it."),
    # Searches.
    N_("The search took longer than it may."),
    N_("Too many costly searches are running: try again in a moment, or make this one narrower."),
    N_("Visitors of a link, and guests, can filter by kind, shape and date only."),
    N_("this ) closes no group"),
    N_("this ( is not closed"),
    N_("this quote is not closed"),
    N_("too many words and signs"),
    N_("too many wildcards"),
    N_("in free text * may only end a word"),
    N_("order: is no condition; it stands at the top of q, beside its conditions, or is a parameter"),
    N_("the query and the smart albums in it have too many groups inside each other"),
    # Albums, links and photos.
    N_("there is no such album"),
    N_("there is no such link"),
    N_("there is no such photo"),
    N_("there is no such file"),
    N_("there is no such folder"),
    N_("there is no such label"),
    N_("there is no such person"),
    N_("none of the selected items exists"),
    N_("No items selected"),
    N_("Longer than maximum length {max}."),
    N_("Length must be between {min} and {max}."),
    N_("At most {max} characters."),
    N_("a smart album has no order by hand"),
    N_("the album contains no files"),
    N_("the album is private: show it to all accounts before you share it"),
    N_("Account: this is your own account"),
    N_("the album is shared with this account already"),
    N_("the album is not shared with this account"),
    N_("there is no such album among those that are shared with you"),
    N_("This album is shared with you for looking at it, not for adding photos."),
    N_("none of these photos in the album is one that you uploaded"),
    N_("the query of a smart album decides which photos it has: share it for looking at it alone"),
    N_("the query of a smart album decides which photos it has: visitors cannot add any"),
    N_("latitudes are from -90 to 90, longitudes from -180 to 180"),
    N_("send a name without commas"),
    N_("This deleted album does not exist, or you have no permission to see it."),
    N_("Somebody has changed this album since you opened the form."),
    N_("The picture does not exist, or is not shared."),
    N_("The link does not exist, or has ended: ask for a new one."),
    N_("The link needs its password."),
    N_("The photo changed meanwhile: read it again, and repeat the change if it still fits."),
    N_("The name is too long."),
    N_("no photo in searches has this label"),
    N_("the photo has no such label"),
    N_("there is no such marked area"),
    N_("the file has this area already"),
    N_("this area is in the file; remove its name instead"),
    N_("the file has changed: name people after it is indexed again"),
    N_("this change cannot be undone"),
    N_("only pictures can be turned"),
    N_("the file is the only one of its photo"),
    N_("nothing of this is in the trash"),
    N_("{field}: {message}"),
    N_("files of visitors count in the quota of the account that made the link, and this one has none"),
    N_("files of visitors would count in the quota of another account; make a link of your own"),
    # Files on their way.
    N_("The originals of this service are read-only (PHOTOSVC_READONLY)."),
    N_("The file is larger than allowed."),
    N_("The length of the file is not the announced one."),
    N_("No file can be stored under this name."),
    N_("A file or folder of this name exists already."),
    N_("There is no such upload."),
    N_("There is no space left for the file."),
    N_("The folder of originals cannot be written to."),
    N_("The disk of the originals is missing or does not respond; try again."),
    N_("The account may not upload so much; an administrator can raise PHOTOSVC_UPLOAD_QUOTA."),
    N_("There are too many files in this upload."),
    N_("The albums of uploaded files were deleted, or some files were refused or deleted before they were indexed."),
    N_("The upload was not continued in time."),
    N_("The request ended, or stopped for too long, before all of its body came."),
    N_("There is no such archive, or its hour is over: select the files again."),
    N_("The file has changed since it was indexed; an index run is due."),
    N_("The file cannot be read at present; try again."),
    N_("There is no such folder in the folder of imports."),
    # Not now.
    N_("The server is receiving too many files: try again in a moment."),
    N_("You are sending several files already: wait until one is complete."),
    N_("You are downloading several large files already: wait until one is complete."),
    N_("The server has too many such requests: try again in a moment."),
    N_("You have too many such requests in progress: wait until one is complete."),
    N_("Too many changes are waiting to be stored: try again in a moment."),
    N_("The server is changing too many selections of photos: try again in a moment."),
    N_("You are changing many photos already: wait until that is complete."),
    N_("The database is busy or cannot be reached; try again."),
    N_("The database is damaged; the operator must restore it."),
    N_("The body of the request is cut off or not in valid chunks."),
    N_("The library changed while this was read; try again."),
    N_("Another index run is active; wait until it ends."),
    N_("Internal error; the log has details."),
)


def table_texts() -> Iterator[str]:
    """Yield texts of lower packages that pages show: help and expected values of filters, problems of files."""
    yield from (spec.help for spec in FILTERS.values() if spec.kind is not ValueKind.ABSENT)
    yield from (kind.expected for kind in ValueKind)
    yield from (reason.template for reason in Reason)
    yield from ("picture", "video", "picture or video")  # what a file is not


def message_text(message: str) -> str:
    """Return the message of an error in the language of the page."""
    return Message(message).translated(_, grouped) if message and language() != ENGLISH else message


def text_for_script(message: str) -> str:
    """Return a message of the API: in the language of the page for our scripts, in English for other clients."""
    return message_text(message) if has_request_context() and request.headers.get("X-Photosvc") == "1" else message
