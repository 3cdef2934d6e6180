"""The tables, on a declarative base of our own that a host application does not share."""

from photosvc.models.accounts.client import Client
from photosvc.models.accounts.credential import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, Credential
from photosvc.models.accounts.throttle import ThrottleBucket
from photosvc.models.accounts.user import RecoveryCode, User
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX, Base
from photosvc.models.library.album import Album, AlbumPhoto
from photosvc.models.library.camera import UNKNOWN_ID, Camera, Lens
from photosvc.models.library.file import ORIGINALS_ROOT, File, RejectedFile
from photosvc.models.library.keyword import Keyword, photo_keywords
from photosvc.models.library.marker import Marker
from photosvc.models.library.photo import Photo
from photosvc.models.library.place import UNKNOWN_PLACE, Cell, Place
from photosvc.models.library.state import CHANGES, PROJECTION, STATE, LibraryState
from photosvc.models.search.album import SearchAlbum
from photosvc.models.search.document import SearchDocument
from photosvc.models.search.file_key import FileKey
from photosvc.models.search.row import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    PROJECTION_VERSION,
    SEARCH_COLUMNS,
    VALUE_COLUMNS,
    SearchRow,
)
from photosvc.models.search.sort_keys import SORT_KEYS
from photosvc.models.search.text import SearchText
from photosvc.models.search.values import NOWHERE

__all__ = [
    "ACCESS_TOKEN",
    "APP_PASSWORD",
    "CHANGES",
    "CLIENT_TOKEN",
    "FILTER_COLUMNS",
    "LOGIN_SESSION",
    "LOOKUP_COLUMNS",
    "NOWHERE",
    "ORIGINALS_ROOT",
    "PROJECTION",
    "PROJECTION_VERSION",
    "SCHEMA_VERSION",
    "SEARCH_COLUMNS",
    "SORT_KEYS",
    "STATE",
    "TABLE_PREFIX",
    "UNKNOWN_ID",
    "UNKNOWN_PLACE",
    "VALUE_COLUMNS",
    "Album",
    "AlbumPhoto",
    "Base",
    "Camera",
    "Cell",
    "Client",
    "Credential",
    "File",
    "FileKey",
    "Keyword",
    "Lens",
    "LibraryState",
    "Marker",
    "Photo",
    "Place",
    "RecoveryCode",
    "RejectedFile",
    "SearchAlbum",
    "SearchDocument",
    "SearchRow",
    "SearchText",
    "ThrottleBucket",
    "User",
    "photo_keywords",
]
