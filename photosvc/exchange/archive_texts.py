"""The texts in the open archive that tell people and programs how to read it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Text:
    """A file with a text."""

    name: str
    content: str


README: Final = Text(
    "README.txt",
    """\
This folder is an archive of a photo library, written by photosvc. No program is needed to read it.

originals/            the pictures and videos in their folders; beside each the XMP sidecar with what people entered
                      about it, which photo programs read
photos.jsonl          all values of each photo, one photo a line, as JSON
albums.json           the albums and the photos in them; albums/ has each as a playlist (.m3u8)
people.json           people with a chosen name or a mark
labels.json           labels that are favorites
trash.json            files that wait in the trash (the files are not here)
history.jsonl         the changes that people made, the oldest first
manifest-sha256.txt   digests of all files: `sha256sum --check manifest-sha256.txt` finds damaged ones

FORMAT.txt explains the fields. Accounts, passwords, access tokens and public links are not in this archive.
""",
)
FORMAT: Final = Text(
    "FORMAT.txt",
    """\
photosvc archive, version 1

All text is UTF-8. JSON follows RFC 8259; *.jsonl has one object a line. Times are RFC 3339; TakenAtLocal is the wall
time at the place, written with +00:00. Unknown: -1 for Year, Month, Day; zz for Country; 0 for Lat and Lng together.

photos.jsonl     UID; the values with the names of the API; a field that ends in Src says who set the value before it:
                 manual (a person), xmp (a sidecar), meta (the file), estimate, name, location, empty (derived).
                 DeletedAt is the time at which the photo was archived. Stack: 1 stacked, 0 may be, -1 never.
  Files          Name is the path below originals/, in bytes of UTF-8; SHA1 of the content; Primary shows the photo;
                 PrimarySrc and OrientationSrc are manual if a person chose; Orientation is that of Exif, 1 to 8.
  Areas          boxes on the upright picture, as shares of its width and height from the top left; Type face or empty.
albums.json      Filter is the query of a smart album; Cover the UID of the chosen photo; Photos in the order by hand;
                 Hidden: removed from a smart album by hand.
history.jsonl    Before and After have the values that changed.
""",
)
