"""The tables, on a declarative base of our own. SQLAlchemy lives here; Flask never."""

from photosvc.models.album import Album, AlbumPhoto
from photosvc.models.base import SCHEMA_VERSION, TABLE_PREFIX, Base
from photosvc.models.camera import UNKNOWN_ID, Camera, Lens
from photosvc.models.client import Client
from photosvc.models.credential import ACCESS_TOKEN, APP_PASSWORD, CLIENT_TOKEN, LOGIN_SESSION, Credential
from photosvc.models.file import ORIGINALS_ROOT, File, RejectedFile
from photosvc.models.file_key import FileKey
from photosvc.models.keyword import Keyword, photo_keywords
from photosvc.models.library import CHANGES, PROJECTION, STATE, LibraryState
from photosvc.models.marker import Marker
from photosvc.models.photo import Photo
from photosvc.models.place import UNKNOWN_PLACE, Cell, Place
from photosvc.models.search_album import SearchAlbum
from photosvc.models.search_row import INDEXED, NOWHERE, PROJECTION_VERSION, SearchDocument, SearchRow
from photosvc.models.search_text import SearchText
from photosvc.models.throttle import ThrottleBucket
from photosvc.models.user import RecoveryCode, User

__all__ = [
    "ACCESS_TOKEN",
    "APP_PASSWORD",
    "CHANGES",
    "CLIENT_TOKEN",
    "INDEXED",
    "LOGIN_SESSION",
    "NOWHERE",
    "ORIGINALS_ROOT",
    "PROJECTION",
    "PROJECTION_VERSION",
    "SCHEMA_VERSION",
    "STATE",
    "TABLE_PREFIX",
    "UNKNOWN_ID",
    "UNKNOWN_PLACE",
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
