"""Limits of texts, passwords, lists and numbers, shared by schemas, operations, forms and the readers of files.

Limits of texts are the most characters, unless the name says bytes.
"""

from typing import Final

#: Titles of photos and albums.
TITLE: Final = 200
#: Descriptions, notes, and queries of smart albums.
TEXT: Final = 4096
#: Other texts of one line, such as an author or the name of a camera.
LINE: Final = 255
#: Names of people, clients and credentials.
NAME: Final = 160
#: The readable end of the address of a link.
SLUG: Final = 160
#: The name or UID of an account in a request.
ACCOUNT: Final = 250
#: The note of a public link.
LINK_COMMENT: Final = 500
#: A shutter time as cameras show it, such as `1/250`.
EXPOSURE: Final = 32
#: A path in a request.
PATH: Final = 1024

#: Keywords of a photo, the characters of each, and the bytes of all together in an edit: the journal stores them before
#: and after each change.
KEYWORDS, KEYWORD, KEYWORD_BYTES = 256, 255, 16_384

#: Passwords of accounts, and of public links.
SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 128
SHORTEST_LINK_PASSWORD: Final = 4

#: Items of a list in a request; scripts of pages send longer lists in portions of this size.
ITEMS: Final = 1000
#: Albums to which added files go.
ALBUMS: Final = 50
#: Visits to which a public link may be limited.
LINK_VISITS: Final = 1_000_000

#: Metres above or below sea level.
ALTITUDE: Final = 100_000
#: Stars; -1 is rejected, 0 unrated.
LOWEST_RATING, HIGHEST_RATING = -1, 5
#: Sensitivity by ISO, f-number, and focal length in millimetres.
ISO: Final = 10_000_000
F_NUMBER: Final = 1000
FOCAL_LENGTH: Final = 100_000
