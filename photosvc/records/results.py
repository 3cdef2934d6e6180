"""The types of search results for apps that search without HTTP: the records of `records.photos`."""

from typing import NotRequired, TypedDict


class FoundMarker(TypedDict):
    """A named area of the upright picture."""

    UID: str
    FileUID: str
    Type: str
    Src: str
    Name: str
    SubjUID: str
    X: float
    Y: float
    W: float
    H: float
    CreatedAt: str


class FoundFile(TypedDict):
    """A file of a photo."""

    UID: str
    PhotoUID: str
    Name: str
    Root: str
    Hash: str
    Size: int
    Primary: bool
    Codec: str
    FileType: str
    MediaType: str
    Mime: str
    Sidecar: NotRequired[bool]
    Video: NotRequired[bool]
    Duration: NotRequired[int]
    FPS: NotRequired[float]
    Frames: NotRequired[int]
    Width: int
    Height: int
    Orientation: int
    AspectRatio: float
    Colors: str
    Luminance: str
    Diff: int
    Chroma: int
    CreatedAt: str
    UpdatedAt: str
    ModTime: int
    Markers: list[FoundMarker]


class FoundPhoto(TypedDict):
    """A file that a search found, with the metadata of its photo; times are in the form of RFC 3339."""

    ID: str
    DocumentID: NotRequired[str]
    UID: str
    Type: str
    TypeSrc: str
    TakenAt: str
    TakenAtLocal: str
    TakenSrc: str
    TimeZone: str
    Path: str
    Name: str
    OriginalName: str
    Title: str
    Description: str
    Caption: str
    Year: int
    Month: int
    Day: int
    Country: str
    Stack: int
    Favorite: bool
    Private: bool
    Rating: NotRequired[int]
    Iso: int
    FocalLength: int
    FNumber: float
    Exposure: str
    Faces: NotRequired[int]
    Quality: int
    Resolution: int
    Duration: NotRequired[int]
    Color: int
    Scan: bool
    Panorama: bool
    CameraID: int
    CameraSrc: str
    CameraSerial: str
    CameraMake: str
    CameraModel: str
    CameraType: NotRequired[str]
    LensID: int
    LensMake: NotRequired[str]
    LensModel: str
    Altitude: NotRequired[int]
    Lat: float
    Lng: float
    CellID: str
    PlaceID: str
    PlaceSrc: str
    PlaceLabel: str
    PlaceCity: str
    PlaceState: str
    PlaceCountry: str
    InstanceID: str
    FileUID: str
    FileRoot: str
    FileName: str
    Hash: str
    Mime: str
    Width: int
    Height: int
    Portrait: bool
    CreatedAt: str
    UpdatedAt: str
    EditedAt: str
    CheckedAt: str
    Merged: bool
    Files: list[FoundFile]
