"""The records of the open archive as they are read: every value has a type and limits, because anybody may write one.

`exchange.archive_records` writes them. The values of photos are those of `library.edits.snapshot`.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from photosvc.core.times import LONGEST_ZONE
from photosvc.core.vocabulary import PRIORITY, TYPES
from photosvc.index.file_columns import INT16, INT32
from photosvc.library.edits import FIELDS, wire_name
from photosvc.media.metadata import Region
from photosvc.media.xmp_regions import MAX_REGIONS
from photosvc.models import Photo
from photosvc.records import limits

#: No text of the library has a NUL, which PostgreSQL does not store.
_PLAIN: Final = r"\A[^\x00]*\Z"
Text: TypeAlias = Annotated[str, Meta(max_length=limits.TEXT, pattern=_PLAIN)]
Line: TypeAlias = Annotated[str, Meta(max_length=limits.LINE, pattern=_PLAIN)]
#: Paths below the originals, also in the trash.
Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=4096, pattern=_PLAIN)]
Word: TypeAlias = Annotated[str, Meta(max_length=limits.KEYWORD, pattern=_PLAIN)]
Time: TypeAlias = Annotated[datetime, Meta(tz=True)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Int16: TypeAlias = Annotated[int, Meta(ge=-INT16 - 1, le=INT16)]
Int32: TypeAlias = Annotated[int, Meta(ge=-INT32 - 1, le=INT32)]
Size: TypeAlias = Annotated[int, Meta(ge=0, le=1 << 50)]
Orientation: TypeAlias = Annotated[int, Meta(ge=1, le=8)]
Sha1: TypeAlias = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{40})?\Z")]
Source: TypeAlias = Literal[tuple(PRIORITY)]  # type: ignore[valid-type]
Country: TypeAlias = Annotated[str, Meta(pattern=r"\A[a-z]{2}\Z")]
Deletion: TypeAlias = Annotated[str, Meta(pattern=r"\A\d{8}T\d{6}Z-[0-9a-f]{8}\Z")]
Keywords: TypeAlias = Annotated[list[Word], Meta(max_length=limits.KEYWORDS)]
PhotoUID: TypeAlias = Annotated[str, Meta(pattern=r"\Ap[0-9a-z]{15}\Z")]
FileUID: TypeAlias = Annotated[str, Meta(pattern=r"\Af[0-9a-z]{15}\Z")]
MarkerUID: TypeAlias = Annotated[str, Meta(pattern=r"\Am[0-9a-z]{15}\Z")]
AlbumUID: TypeAlias = Annotated[str, Meta(pattern=r"\Aa[0-9a-z]{15}\Z")]
#: UIDs of photos, with blanks between them.
StackedFrom: TypeAlias = Annotated[str, Meta(max_length=4096, pattern=r"\A(?:p[0-9a-z]{15}(?: |\Z))*\Z")]
SubjectUID: TypeAlias = Annotated[str, Meta(pattern=r"\Aj[0-9a-z]{15}\Z")]


class Gear(Struct, forbid_unknown_fields=True):
    """A camera or a lens."""

    Make: Line
    Model: Line


class PlaceRecord(Struct, forbid_unknown_fields=True):
    """A place with its names."""

    ID: Annotated[str, Meta(pattern=r"\A(?:zz|[a-z]{2}:[0-9A-Za-z]{12})\Z")]
    Label: Text
    City: Text
    State: Text
    Country: Country


class Area(Struct):
    """A marked area."""

    UID: MarkerUID
    Type: Literal["", "face"]
    Src: Source
    Name: Line
    X: Share
    Y: Share
    W: Share
    H: Share


class AddedArea(Struct, forbid_unknown_fields=True):
    """An area that a person drew."""

    name: Line
    kind: Literal["", "face"]
    x: Share
    y: Share
    w: Share
    h: Share

    def region(self) -> Region:
        """Return it as the library has it."""
        return Region(self.name, self.kind, self.x, self.y, self.w, self.h)


AddedAreas: TypeAlias = Annotated[list[AddedArea], Meta(max_length=MAX_REGIONS)]
ChosenNames: TypeAlias = Annotated[
    list[tuple[Literal["", "face"], Share, Share, Share, Share, Line, Line]], Meta(max_length=MAX_REGIONS)
]


class FileRecord(Struct):
    """A file of a photo."""

    UID: FileUID
    Name: Name
    SHA1: Sha1
    Size: Size
    OriginalName: Text
    MediaType: Line
    Width: Int32
    Height: Int32
    Orientation: Orientation
    OrientationSrc: Literal["", "manual"]
    Primary: bool
    PrimarySrc: Literal["", "manual", "former"]
    Sidecar: bool
    Missing: bool
    Unstacked: bool
    StackedFrom: StackedFrom
    CreatedAt: Time
    Areas: Annotated[list[Area], Meta(max_length=4 * MAX_REGIONS)]
    AddedAreas: AddedAreas
    ChosenNames: ChosenNames


class Member(Struct):
    """A photo in an album."""

    UID: PhotoUID
    Hidden: bool
    AddedAt: Time


class AlbumRecord(Struct):
    """An album."""

    UID: AlbumUID
    Title: Annotated[str, Meta(min_length=1, max_length=limits.TITLE, pattern=_PLAIN)]
    Description: Text
    Category: Line
    Location: Line
    Notes: Text
    Filter: Text
    Order: Line
    Favorite: bool
    Private: bool
    Cover: Annotated[str, Meta(pattern=r"\A(?:p[0-9a-z]{15})?\Z")]
    CreatedAt: Time
    UpdatedAt: Time
    Photos: list[Member]


class PersonRecord(Struct):
    """A person with a chosen name or a mark."""

    UID: SubjectUID
    Name: Line
    OtherNames: Annotated[list[Line], Meta(max_length=10_000)]
    Favorite: bool
    Hidden: bool
    BirthDate: date | None = None


class LabelRecord(Struct):
    """A label that is a favorite."""

    Name: Word
    Favorite: bool


class TrashedRecord(Struct):
    """A file in the trash."""

    Name: Name
    Size: Size
    Deletion: Deletion


class ChangeRecord(Struct):
    """A change in the history; the values are checked by `Changed` and stored as they are written."""

    PhotoUID: PhotoUID
    Action: Line
    Actor: Line
    At: Time
    Batch: Annotated[str, Meta(pattern=r"\A[0-9]{1,19}\Z")]
    Undoes: Annotated[int, Meta(ge=1)] | None
    Before: dict[str, Any]
    After: dict[str, Any]


_RANGES: Final[Mapping[str, Any]] = {
    "type": Literal[TYPES],
    "time_zone": Annotated[str, Meta(max_length=LONGEST_ZONE, pattern=_PLAIN)],
    "country": Country,
    "cell_id": Annotated[str, Meta(pattern=r"\A(?:zz|s2:[0-9a-f]{1,16})\Z")],
    "year": Annotated[int, Meta(ge=-1, le=9999)],
    "month": Annotated[int, Meta(ge=-1, le=12)],
    "day": Annotated[int, Meta(ge=-1, le=31)],
    "lat": Annotated[float, Meta(ge=-90, le=90)],
    "lng": Annotated[float, Meta(ge=-180, le=180)],
    "stack": Annotated[int, Meta(ge=-1, le=1)],
    "taken_at": Time,
    "taken_at_local": Time,
    "archived_at": Time | None,
}
_OF_COLUMNS: Final[Mapping[type, Any]] = {bool: bool, int: Int32, float: float, str: Text}


def _type_of(column: str) -> Any:  # noqa: ANN401 - a type
    python_type = Photo.__table__.columns[column].type.python_type
    return _RANGES.get(column) or _OF_COLUMNS[python_type]


_SOURCES: Final = (*dict.fromkeys(field.source for field in FIELDS if field.source), "keywords_src")
#: Column of a photo -> the type of its values, for all that a snapshot copies.
COLUMNS: Final[Mapping[str, Any]] = {
    **{field.column: _type_of(field.column) for field in FIELDS if not field.relation},
    **dict.fromkeys(_SOURCES, Source),
}
_FIELDS: Final = [(column, kind, msgspec.field(name=wire_name(column))) for column, kind in COLUMNS.items()]
_BY_FILE: Final = {
    "keywords": Keywords,
    "primary": Annotated[str, Meta(pattern=r"\A(?:f[0-9a-z]{15})?\Z")],
    "files": list[Name],
    "orientations": dict[FileUID, Orientation],
    "names": dict[FileUID, ChosenNames],
    "areas": dict[FileUID, AddedAreas],
    "stacked": dict[FileUID, StackedFrom],
    "camera": Gear,
    "lens": Gear,
    "place": PlaceRecord,
    "albums": list[Line],
}
#: Name in the history -> column or value of a snapshot; rows stand in place of their numbers.
COLUMN_OF: Final = {wire_name(name): name for name in (*COLUMNS, *_BY_FILE)}


class PhotoKeys(Struct, kw_only=True):
    """The values of a photo that no snapshot has."""

    uid: PhotoUID = msgspec.field(name="UID")
    keywords: Keywords = msgspec.field(name="Keywords")
    camera: Gear = msgspec.field(name="Camera")
    lens: Gear = msgspec.field(name="Lens")
    place: PlaceRecord = msgspec.field(name="Place")
    created_at: Time = msgspec.field(name="CreatedAt")
    edited_at: Time | None = msgspec.field(name="EditedAt")
    files: Annotated[Sequence[FileRecord], Meta(max_length=1000)] = msgspec.field(name="Files")


#: A photo with all its values, by their columns.
PhotoRecord: Any = msgspec.defstruct("PhotoRecord", _FIELDS, bases=(PhotoKeys,), kw_only=True)
#: Values that a change has.
Changed: Any = msgspec.defstruct(
    "Changed",
    [
        (name, kind | UnsetType, msgspec.field(name=wire_name(name), default=UNSET))
        for name, kind in {**COLUMNS, **_BY_FILE}.items()
    ],
    forbid_unknown_fields=True,
    kw_only=True,
)
