"""The tables of the database, on a declarative base of their own that a host application does not share."""

from photosvc.core.vocabulary import UNKNOWN_PLACE
from photosvc.models import indexes as indexes
from photosvc.models.accounts import (
    ACCESS_TOKEN,
    APP_PASSWORD,
    CLIENT_TOKEN,
    LOGIN_SESSION,
    VISIT,
    AlbumShare,
    AuditEntry,
    Client,
    Credential,
    Link,
    RecoveryCode,
    StoredKey,
    ThrottleBucket,
    User,
    Visit,
)
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX, Base
from photosvc.models.counters import (
    CHANGES,
    ESTIMATES,
    OPEN_STATE,
    PROJECTION,
    PROJECTION_VERSION,
    STACKING,
    STATE,
    LibraryState,
    named_number,
    set_named_numbers,
)
from photosvc.models.jobs import DavLock, DavProperty, Job, JobFailure, Upload, UploadedFile, ZipSelection
from photosvc.models.library import (
    UNKNOWN_ID,
    Album,
    Camera,
    Cell,
    Disk,
    Keyword,
    Lens,
    PhotoChange,
    Place,
    Subject,
    SubjectName,
)
from photosvc.models.photo import (
    GONE,
    ORIGINALS_ROOT,
    File,
    Marker,
    Photo,
    RejectedFile,
    Sidecar,
    StackKey,
    copy_sidecars,
    file_sidecars,
    photo_keywords,
)
from photosvc.models.photo_sets import AlbumPhoto, DistinctPhoto, LookAlike
from photosvc.models.search import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    PATTERN_COLUMNS,
    RARE_COLUMNS,
    SCANNED_COLUMNS,
    SEARCH_COLUMNS,
    TIMELINE_KEYS,
    VALUE_COLUMNS,
    VALUE_GROUPS,
    SearchAlbum,
    SearchDocument,
    SearchRow,
    SearchText,
)
from photosvc.models.search_values import NOWHERE, SORT_KEYS, FileKey

__all__ = [
    "ACCESS_TOKEN", "APP_PASSWORD", "CHANGES", "CLIENT_TOKEN", "ESTIMATES", "FILTER_COLUMNS", "GONE", "LOGIN_SESSION",
    "LOOKUP_COLUMNS", "NOWHERE", "OPEN_STATE", "ORIGINALS_ROOT", "PATTERN_COLUMNS", "PROJECTION", "PROJECTION_VERSION",
    "RARE_COLUMNS", "SCANNED_COLUMNS", "SCHEMA_VERSION", "SEARCH_COLUMNS", "SORT_KEYS", "STACKING", "STATE",
    "TABLE_PREFIX", "TIMELINE_KEYS", "UNKNOWN_ID", "UNKNOWN_PLACE", "VALUE_COLUMNS", "VALUE_GROUPS", "VISIT",
    "Album", "AlbumPhoto", "AlbumShare", "AuditEntry", "Base", "Camera", "Cell", "Client", "Credential", "DavLock",
    "DavProperty", "Disk", "DistinctPhoto", "File", "FileKey", "Job", "JobFailure", "Keyword", "Lens",
    "LibraryState", "Link", "LookAlike", "Marker", "Photo", "PhotoChange", "Place", "RecoveryCode", "RejectedFile",
    "SearchAlbum", "SearchDocument", "SearchRow", "SearchText", "Sidecar", "StackKey", "StoredKey", "Subject",
    "SubjectName", "ThrottleBucket", "Upload", "UploadedFile", "User", "Visit", "ZipSelection", "copy_sidecars",
    "file_sidecars", "named_number", "photo_keywords", "set_named_numbers",
]  # fmt: skip
