"""The tables, on a declarative base of our own that a host application does not share."""

from photosvc.models.access.accounts import (
    ACCESS_TOKEN,
    APP_PASSWORD,
    CLIENT_TOKEN,
    LOGIN_SESSION,
    Client,
    Credential,
    RecoveryCode,
    ThrottleBucket,
    User,
)
from photosvc.models.access.audit import AuditEntry
from photosvc.models.access.keys import StoredKey
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX, Base
from photosvc.models.content.journal import PhotoChange
from photosvc.models.content.library import (
    CANCELLED,
    CHANGES,
    ESTIMATES,
    INDEXER,
    PROJECTION,
    STACKING,
    STATE,
    UNKNOWN_ID,
    UNKNOWN_PLACE,
    Album,
    AlbumPhoto,
    Camera,
    Cell,
    Keyword,
    Lens,
    LibraryState,
    Place,
    photo_keywords,
)
from photosvc.models.content.look_alikes import DistinctPhoto, LookAlike
from photosvc.models.content.people import Subject, SubjectName
from photosvc.models.content.photo import ORIGINALS_ROOT, File, Marker, Photo, RejectedFile, StackKey
from photosvc.models.content.sidecars import GONE, Sidecar, file_sidecars
from photosvc.models.requests.dav import DavLock, DavProperty
from photosvc.models.requests.imports import ImportFailure, ImportReport
from photosvc.models.requests.index_runs import IndexRun
from photosvc.models.requests.uploads import ImportWish, Upload, UploadedFile
from photosvc.models.requests.wishes import IndexWish
from photosvc.models.requests.zips import ZipSelection
from photosvc.models.search.columns import SORT_KEYS
from photosvc.models.search.row import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    PATTERN_COLUMNS,
    PROJECTION_VERSION,
    RARE_COLUMNS,
    SCANNED_COLUMNS,
    SEARCH_COLUMNS,
    TIMELINE_KEYS,
    VALUE_COLUMNS,
    VALUE_GROUPS,
    SearchRow,
)
from photosvc.models.search.tables import SearchAlbum, SearchDocument, SearchText
from photosvc.models.search.values import NOWHERE, FileKey

__all__ = [
    "ACCESS_TOKEN",
    "APP_PASSWORD",
    "CANCELLED",
    "CHANGES",
    "CLIENT_TOKEN",
    "ESTIMATES",
    "FILTER_COLUMNS",
    "GONE",
    "INDEXER",
    "LOGIN_SESSION",
    "LOOKUP_COLUMNS",
    "NOWHERE",
    "ORIGINALS_ROOT",
    "PATTERN_COLUMNS",
    "PROJECTION",
    "PROJECTION_VERSION",
    "RARE_COLUMNS",
    "SCANNED_COLUMNS",
    "SCHEMA_VERSION",
    "SEARCH_COLUMNS",
    "SORT_KEYS",
    "STACKING",
    "STATE",
    "TABLE_PREFIX",
    "TIMELINE_KEYS",
    "UNKNOWN_ID",
    "UNKNOWN_PLACE",
    "VALUE_COLUMNS",
    "VALUE_GROUPS",
    "Album",
    "AlbumPhoto",
    "AuditEntry",
    "Base",
    "Camera",
    "Cell",
    "Client",
    "Credential",
    "DavLock",
    "DavProperty",
    "DistinctPhoto",
    "File",
    "FileKey",
    "ImportFailure",
    "ImportReport",
    "ImportWish",
    "IndexRun",
    "IndexWish",
    "Keyword",
    "Lens",
    "LibraryState",
    "LookAlike",
    "Marker",
    "Photo",
    "PhotoChange",
    "Place",
    "RecoveryCode",
    "RejectedFile",
    "SearchAlbum",
    "SearchDocument",
    "SearchRow",
    "SearchText",
    "Sidecar",
    "StackKey",
    "StoredKey",
    "Subject",
    "SubjectName",
    "ThrottleBucket",
    "Upload",
    "UploadedFile",
    "User",
    "ZipSelection",
    "file_sidecars",
    "photo_keywords",
]
