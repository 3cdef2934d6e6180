"""The texts of the scripts, which the page hands over in its language: a name, then the English text or its two forms.

Scripts put values in the place of `%(name)s`, and choose the form for the number `num` by the rules of the language.
With the texts they get the fields of a photo as the schema of changes has them.
"""

from functools import cache
from typing import Any, Final, TypeAlias

import orjson
from markupsafe import Markup
from marshmallow import fields, validate

from photosvc.pages.language import ENGLISH, N_, NP_, P_, catalogue, language
from photosvc.pages.wording import COLOR_LABELS
from photosvc.pages.wording import TYPES as KINDS_OF_FILES
from photosvc.query.filters import FILTERS, ValueKind
from photosvc.records.edits import DetailsEditSchema, Keywords, PhotoEditSchema
from photosvc.records.fields import Lines

Text: TypeAlias = str | tuple[str, str]
#: The texts of the grid, its viewer, panels and dialogs, of uploads and of the map.
_TEXTS: Final[dict[str, Text]] = {
    # The fields of the form of a photo, their groups and their choices.
    "Title": N_("Title"), "Description": N_("Description"), "Rating": N_("Rating"), "TakenAtLocal": N_("Date and time"),
    "Keywords": N_("Keywords"), "group1": N_("Place and time zone"), "Position": N_("Position"),
    "Altitude": N_("Altitude in metres"), "Country": N_("Country (if there is no position)"),
    "TimeZone": N_("Time zone"), "group2": N_("Rights and notes"), "Subject": N_("Subject"), "Artist": N_("Artist"),
    "Copyright": N_("Copyright"), "License": N_("License"), "Notes": N_("Notes"), "group3": N_("Camera and kind"),
    "CameraMake": N_("Camera make"), "CameraModel": N_("Camera model"), "LensMake": N_("Lens make"),
    "LensModel": N_("Lens model"), "Iso": N_("ISO"), "FocalLength": N_("Focal length in mm"),
    "FNumber": N_("Aperture (f/)"), "Exposure": N_("Exposure in seconds"), "Type": N_("Type"), "Scan": N_("Scanned"),
    "Panorama": N_("Panorama"), "0": N_("Not rated"), "-1": N_("Rejected"), "image": N_("Picture"), "raw": N_("RAW"),
    "live": N_("Live photo"), "video": N_("Video"), "animated": N_("Animated picture"), "true": N_("Yes"),
    "false": N_("No"),
    # The panel: its lines, and what it asks and tells.
    "aboutPhoto": N_("About this photo"), "Taken": N_("Date and time"), "Place": N_("Place"), "Camera": N_("Camera"),
    "Rights": N_("Rights and notes"), "addTitle": N_("Add a title"), "addDescription": N_("Add a description"),
    "editOf": N_("Edit %(names)s"), "photosLike": N_("Photos with %(name)s"), "whoIsThis": N_("Who is this?"),
    "stars": P_("%(num)s star", "%(num)s stars"), "saved": N_("%(field)s saved"),
    "placeByName": N_("Place by name"), "placeExample": N_("Bellagio, Italy"), "pinOnMap": N_("Pin on the map"),
    "takePlace": N_("Use this place"), "originalName": N_("Name before the import"),
    "rated": P_("%(num)s photo rated %(stars)s", "%(num)s photos rated %(stars)s"),
    "unrated": P_("%(num)s photo no longer rated", "%(num)s photos no longer rated"),
    # Memories.
    "memories": N_("Memories"), "closeMemories": N_("Close the memories for today"), "onThisDay": N_("On this day"),
    "yearsAgo": P_("%(num)s year ago", "%(num)s years ago"), "inYears": P_("%(num)s year", "%(num)s years"),
    "bestOf": N_("Best of %(month)s"), "trip": N_("A trip"),
    # Names of further values, in the history of a photo.
    "TakenAt": N_("Time"), "Lat": N_("Latitude"), "Lng": N_("Longitude"), "CameraID": N_("Camera"),
    "LensID": N_("Lens"), "Primary": N_("Main file"), "Files": N_("Files"), "Orientations": N_("Orientation"),
    "Names": N_("People"), "ArchivedAt": N_("Archived"), "Favorite": N_("Favorite"), "Private": N_("Private"),
    # Words.
    "photos": P_("%(num)s photo", "%(num)s photos"), "files": P_("File", "Files"), "photo": N_("Photo"),
    "noDate": N_("No date"), "liveBadge": N_("Live"), "favorite": N_("Favorite"),
    "private": N_("Private"), "select": N_("Select %(photo)s"), "position": N_("Position"), "month": N_("Month"),
    "of": N_("%(at)s of %(total)s"), "undo": N_("Undo"), "undone": N_("Undone"), "again": N_("Try again"),
    "cancel": N_("Cancel"), "close": N_("Close"), "open": N_("Open"), "add": N_("Add"), "album": N_("Album"),
    "delete": N_("Delete"), "bytes": N_("bytes"), "kB": N_("kB"), "suggestions": N_("Suggestions"),
    "history": N_("History"), "previous": N_("Previous"), "next": N_("Next"),
    # Actions, with their keys.
    "favoriteKey": N_("Favorite (f)"), "privateKey": N_("Private (p)"), "albumKey": N_("Add to album (l)"),
    "editKey": N_("Edit (e)"), "removeKey": N_("Remove from this album (Delete)"), "archiveKey": N_("Archive (a)"),
    "unarchiveKey": N_("Unarchive (a)"), "deleteKey": N_("Delete (Delete)"), "downloadKey": N_("Download (d)"),
    "details": N_("Details"), "detailsKey": N_("Details (i)"), "closeKey": N_("Close (Esc)"), "zoomKey": N_("Zoom (z)"),
    "playKey": N_("Play the moving picture (Space)"), "slideshow": N_("Slideshow"),
    "slideshowKey": N_("Slideshow (Shift S)"), "held": N_("Paused. Space continues."),
    "keySlideshow": N_("slideshow; Space holds it"), "takeOut": N_("Take out of the album"),
    # The trash.
    "restoreKey": N_("Restore (r)"), "keyRestore": N_("restore from the trash"), "deleteNow": N_("Delete now"),
    "days": P_("%(num)s day", "%(num)s days"), "lastDay": N_("Last day"),
    "restored": P_("%(num)s photo restored", "%(num)s photos restored"),
    "askPurge": P_(
        "Delete %(num)s photo for good? This cannot be undone.",
        "Delete %(num)s photos for good? This cannot be undone.",
    ),
    "purged": P_("%(num)s photo deleted for good", "%(num)s photos deleted for good"),
    # The order and the cover of an album.
    "coverKey": N_("Use as cover (c)"), "keyCover": N_("cover of the album"),
    "coverChanged": N_("Cover of the album changed"), "topKey": N_("To the top (t)"),
    "keyTop": N_("to the beginning of the album"), "moved": P_("%(num)s photo moved", "%(num)s photos moved"),
    "taken": N_("Taken up. Arrows move it, Space drops it, Esc puts it back."),
    "beforePhoto": N_("Before photo %(at)s of %(total)s"), "atEnd": N_("At the end"), "keySpace": N_("Space"),
    "keyTake": N_("take up, move by arrows, drop"),
    # The dialog that makes a link.
    "share": N_("Share"), "shareKey": N_("Share (s)"), "keyShare": N_("share by a link"), "makeLink": N_("Make a link"),
    "sharePhotos": P_("Share %(num)s photo", "Share %(num)s photos"), "sharedTitle": N_("Photos, %(day)s"),
    "shareBecomes": N_("Everybody with the link sees the photos. They also become an album of yours."),
    "shows": N_("Visitors see"), "pictures": N_("The pictures"), "metadata": N_("Pictures and their details"),
    "downloads": N_("Details and downloads"), "lasts": N_("Ends"), "in7": N_("In 7 days"), "in30": N_("In 30 days"),
    "in365": N_("In a year"), "never": N_("Never"), "linkMade": N_("The link is ready"), "copy": N_("Copy"),
    "copied": N_("Copied"), "linkCopied": N_("Link copied"), "linkAddress": N_("Address of the link"),
    # The bar of selected photos, and what became of them.
    "clear": N_("Clear selection"), "selection": N_("Selected photos"), "selected": P_("selected", "selected"),
    "selecting": N_("Selecting…"), "first": N_("First %(most)s of this search"),
    "all": N_("All %(total)s of this search"), "unarchive": N_("Unarchive"),
    "askArchive": P_("Archive %(num)s photo?", "Archive %(num)s photos?"),
    "askUnarchive": P_("Unarchive %(num)s photo?", "Unarchive %(num)s photos?"),
    "archived": P_("%(num)s photo archived", "%(num)s photos archived"),
    "unarchived": P_("%(num)s photo unarchived", "%(num)s photos unarchived"),
    "stack": N_("Stack"), "stacked": P_("%(num)s photo stacked", "%(num)s photos stacked"),
    "approved": P_("%(num)s photo approved", "%(num)s photos approved"),
    "favored": P_("%(num)s photo made a favorite", "%(num)s photos made favorites"),
    "unfavored": P_("%(num)s photo no longer a favorite", "%(num)s photos no longer favorites"),
    "hid": P_("%(num)s photo made private", "%(num)s photos made private"),
    "unhid": P_("%(num)s photo no longer private", "%(num)s photos no longer private"),
    "askDelete": P_("Delete %(num)s photo?", "Delete %(num)s photos?"),
    "trashUntil": N_("The originals move to the trash and can be restored until %(day)s."),
    "trashKept": N_("The originals move to the trash and can be restored until the trash is emptied."),
    "originalsStay": N_("The originals stay where they are; index runs leave them out."),
    "trashed": P_("%(num)s photo moved to the trash", "%(num)s photos moved to the trash"),
    "deleted": P_("%(num)s photo deleted", "%(num)s photos deleted"),
    "addedTo": P_("%(num)s photo added to %(album)s", "%(num)s photos added to %(album)s"),
    "hasAll": N_("%(album)s has them all already"),
    "removed": P_("%(num)s photo removed from this album", "%(num)s photos removed from this album"),
    "packed": P_("%(num)s file in one archive", "%(num)s files in one archive"),
    "withDetails": N_("Download with details"),
    "saveMine": N_("Save mine"),
    "unsaved": N_("Not saved. %(error)s"), "typeTime": N_("Type a whole date and time."),
    "butNot": N_("%(text)s, but %(rest)s not: %(error)s"), "noneLeft": N_("No photos left."),
    # Connections and the library.
    "unreachable": N_("The server cannot be reached. Try again."),
    "signedOut": N_("You are signed out. Sign in again in another tab, then try again here."),
    "answered": N_("The server answered %(status)s."), "libraryChanged": N_("The library has changed. Try again."),
    "offline": N_("Offline. Photos that are not loaded yet appear when the connection is back."),
    "indexing": N_("Indexing: %(done)s of %(total)s"),
    # The dialogs for an album, and for the values of several photos.
    "addToAlbum": N_("Add to an album"), "chooseAlbum": N_("Choose an album, or type the name of a new one."),
    "createAlbum": N_("Create album"),
    "unchanged": N_("Unchanged"), "addKeywords": N_("Add keywords"), "removeKeywords": N_("Remove keywords"),
    "keywordsExample": N_("lake, boat"),
    "shift": N_("Shift time by hours"), "change": P_("Change %(num)s photo", "Change %(num)s photos"),
    "editMany": P_("Edit %(num)s photo", "Edit %(num)s photos"), "emptyStay": N_("Empty fields stay unchanged."),
    "fillIn": N_("Fill in a field first."), "typeHours": N_("Type a number of hours, such as -1.5."),
    "undoneBut": P_(
        "Undone, except for %(num)s photo that changed since", "Undone, except for %(num)s photos that changed since"
    ),
    "undoneTaken": P_(
        "Undone, except for %(num)s file whose name is in use: %(file)s",
        "Undone, except for %(num)s files whose names are in use, such as %(file)s",
    ),
    "takenBack": N_("%(error)s; the changes are undone"), "changed": N_("%(total)s of %(photos)s changed"),
    "typeNumber": N_("%(field)s: type a number."),
    "typePosition": N_("Type latitude and longitude, such as 47.56903, 9.37510."),
    # The viewer, its panel, and files.
    "factPosition": N_("Position"), "factDuration": N_("Duration"), "factPeople": N_("People"),
    "onMap": N_("On the map"), "dateUnknown": N_("The date is not known"),
    "downloadFile": N_("Download %(file)s"), "showCurrent": N_("Show the current version"),
    "somebodyElse": N_("Somebody else changed this photo."), "undoOf": N_("Undo the change of %(names)s"),
    "show": N_("Show"), "asMain": N_("Use as main picture"), "turn": N_("Turn"), "rotate": N_("Rotate right"),
    "unstack": N_("Unstack"),
    "askUnstack": N_("Make a photo of its own of %(file)s? Later index runs do not stack it again."),
    "noPicture": N_("The picture is not available yet."), "noDetails": N_("The details cannot be loaded. Try again."),
    "noVideo": N_("This video cannot be played here."), "preparing": N_("Preparing…"),
    "preparingShare": N_("Preparing… %(percent)s"),
    "moving": N_("The moving picture of this photo"), "noMoving": N_("The moving picture cannot be played yet."),
    # The list of keys.
    "keys": N_("Keys"), "Enter": N_("Enter"), "keysMove": N_("Arrows, Home, End, Page Up, Page Down"),
    "keyMove": N_("to the next photo, row, screen; with Ctrl to the first and last"), "keyOpen": N_("open the photo"),
    "keyMonth": N_("to the next and previous month, year"), "keySelect": N_("select"),
    "keysRange": N_("Shift with arrows or a click"), "keyRange": N_("select up to here"),
    "keysAll": N_("Ctrl A, Esc"), "keyAll": N_("select all of this search, clear the selection"),
    "keyFavorite": N_("favorite"), "keyPrivate": N_("private"), "keyArchive": N_("archive"),
    "keyAlbum": N_("add to an album"), "keyEdit": N_("edit the selected photos"),
    "keyRemove": N_("remove from this album"), "keyDelete": N_("delete from the library"),
    "keyDownload": N_("download"), "keysUndo": N_("Ctrl Z"), "keyUndo": N_("undo the last action"),
    "keySearch": N_("search"), "keysViewer": N_("In the viewer: z, i, Space"), "keyViewer": N_("zoom, details, play"),
    "keysStars": N_("In the viewer: 0 to 5"), "keyStars": N_("give stars, or take them away"),
    "letters": N_("Single letters are keys"),
    "lettersKept": N_("This browser remembers it. With the focus on a photo, ? always opens this list."),
    # Uploads.
    "sending": N_("Sending: %(percent)s %%"),
    "because": N_("%(field)s: %(message)s"),
    "added": N_("Added"), "duplicate": N_("In the library already"), "refused": N_("Refused"),
    "damaged": N_("Stored, but damaged"), "not_shown": N_("Stored, but cannot be shown"),
    "stored": N_("Stored; it appears once it is indexed"), "lowQuality": N_("set aside: low quality"),
    "stopped": N_("Stopped"), "left": N_("Not complete"), "cancelled": N_("Cancelled"),
    "earlier": N_("Uploaded earlier"), "uploads": N_("Uploads"), "closeUploads": N_("Close the list of uploads"),
    "cancelAll": N_("Cancel all"), "cancelFile": N_("Cancel %(file)s"), "filesToUpload": N_("Files to upload"),
    "chooseToContinue": N_("%(percent)s: choose the file again to continue"),
    "mostFiles": N_("One upload has at most %(most)s files: add the others again."), "waiting": N_("Waiting"),
    "empty": N_("the file is empty"), "tooLarge": N_("larger than %(most)s MB, the most for one file"),
    "uploading": N_("Uploading %(at)s of %(total)s"), "adding": N_("Adding"), "addingAll": N_("Adding to the library…"),
    "lost": N_("The connection was lost"), "busy": N_("The server is busy"),
    "nextTry": N_("%(cause)s: next try in %(seconds)s s"),
    "unsure": N_("The server did not say whether the file was added. Try again to make sure."),
    "fileGone": N_("The file cannot be read any more: it was changed, moved or deleted."),
    "storedNothing": N_("The server stored nothing."),
    "chooseAgain": N_("The server does not have the file any more: choose it again."),
    # The search field.
    "recent": N_("Recent"), "Places": N_("Places"), "years": N_("Years"), "forget": N_("Forget this search"),
    "suggestionsFound": P_("%(num)s suggestion", "%(num)s suggestions"), "didYouMean": N_("Did you mean this?"),
    "inWords": N_("“%(words)s” in words"), "inWordsOf": N_("Titles, descriptions, file names, keywords"),
    "showFound": P_("Show %(num)s photo", "Show %(num)s photos"), "filters": N_("Filters"), "place": N_("Place"),
    # The kinds of suggestions.
    "filter": N_("Filter"), "camera": N_("Camera"), "lens": N_("Lens"), "city": N_("City"), "state": N_("State"),
    "country": N_("Country"), "person": N_("Person"), "keyword": N_("Keyword"), "color": N_("Color"),
    "type": N_("Kind"), "year": N_("Year"),
    # The map.
    "closer": N_("Closer"), "farther": N_("Farther"), "noneInView": N_("No photos in this view"),
    "inView": P_("About %(num)s photo in this view", "About %(num)s photos in this view"),
    "near": P_("%(num)s photo near %(place)s", "%(num)s photos near %(place)s"),
}  # fmt: skip
#: Further texts, each with the context that tells its meaning.
_MEANT: Final = {
    "archive": ("action", NP_("action", "Archive")), "approve": ("action", NP_("action", "Approve")),
    "keysDelete": ("key", NP_("key", "Delete")),
}  # fmt: skip


def script_texts() -> Markup:
    """Return the texts of the scripts as JSON, to stand in an element of the page."""
    return _packed(language())


def photo_fields() -> dict[str, tuple[str, object, str]]:
    """Return the kind, the most characters or the choices, and the part of each value of a photo that a form shows."""
    parts = {"": PhotoEditSchema().fields, "Details": DetailsEditSchema().fields}
    return {
        name: (*_kind(field), part)
        for part, all_fields in parts.items()
        for name, field in all_fields.items()
        if name in _TEXTS
    }


def _kind(field: fields.Field[Any]) -> tuple[str, object]:
    for validator in field.validators:
        if isinstance(validator, validate.OneOf):
            return "choice", list(validator.choices)
        if isinstance(validator, validate.Length):
            return "lines" if isinstance(field, Lines) else "line", validator.max
    kinds = {fields.Boolean: "flag", fields.Number: "number", fields.String: "line", Keywords: "keywords"}
    return next((name for kind, name in kinds.items() if isinstance(field, kind)), "time"), None


@cache
def _packed(name: str) -> Markup:
    texts = catalogue(name)
    found: dict[str, Any] = {
        key: texts.gettext(text) if isinstance(text, str) else [texts.ngettext(*text, 1), texts.ngettext(*text, 2)]
        for key, text in _TEXTS.items()
    }
    found |= {key: texts.pgettext(context, text) for key, (context, text) in _MEANT.items()}
    if name != ENGLISH:  # the API suggests in English
        found |= {
            f"filter:{spec.name}": texts.gettext(spec.help)
            for spec in FILTERS.values()
            if spec.kind is not ValueKind.ABSENT
        }
        labels = {"color": COLOR_LABELS, "type": KINDS_OF_FILES}
        found |= {
            f"{kind}:{value}": texts.gettext(text) for kind, table in labels.items() for value, text in table.items()
        }
    found["fields"] = photo_fields()
    found["value"] = ""  # a suggested value of a filter, which the text before it names
    # No text ends the element: `<` is escaped, as `tojson` does.
    return Markup(orjson.dumps(found).decode().replace("<", "\\u003c"))  # noqa: S704  # nosec B704
